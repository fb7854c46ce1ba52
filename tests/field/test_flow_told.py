"""What left an export is told wherever the ratings are: in the table's check, the analysis and the forms."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from humeval_power.doors.terminal.main import main


def run(*args: object) -> str:
    result = CliRunner().invoke(main, [str(arg) for arg in args])
    assert result.exit_code == 0, result.output
    return result.stdout if "--json" in args else result.output


@pytest.fixture
def export(tmp_path):
    """20 items of two systems by 8 annotators, every 40th annotation cancelled; 312 ratings are left."""
    rng = np.random.default_rng(1)
    tasks, number = [], 0
    for item in range(20):
        for system in ("base", "new"):
            annotations = []
            for worker in range(8):
                number += 1
                rating = int(np.clip(round(rng.normal(3 + 0.4 * (system == "new"), 1)), 1, 5))
                annotations.append(
                    {
                        "id": number,
                        "completed_by": worker + 1,
                        "was_cancelled": number % 40 == 0,
                        "lead_time": 9.5,
                        "result": [
                            {
                                "from_name": "quality",
                                "to_name": "t",
                                "type": "rating",
                                "value": {"rating": rating},
                            }
                        ],
                    }
                )
            data = {"item_id": f"s{item:02d}", "system": system, "output": "Hi"}
            tasks.append({"id": len(tasks) + 1, "data": data, "annotations": annotations})
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks))
    return path


TOLD = (
    "Of the export export.json (label-studio), 40 tasks, with 320 annotations were read; 320 rows of the export "
    "were read; 8 were left out (was_cancelled is 'true': 8); 312 ratings were kept."
)


def test_directly_and_by_way_of_a_table_the_paper_says_the_same(export, tmp_path):
    table, imported = tmp_path / "table", tmp_path / "imported"
    as_asked = ("--scale", "1:5", "--systems", "base,new", "-q")
    run("analyze", export, *as_asked, "-o", tmp_path / "direct.json")
    run("import", export, "-o", imported)
    run("analyze", imported / "ratings.csv", *as_asked, "-o", tmp_path / "table.json")
    direct = run("report", tmp_path / "direct.json", "--form", "paper", "--format", "markdown")
    table = run("report", tmp_path / "table.json", imported, "--form", "paper", "--format", "markdown")
    assert TOLD in direct.replace("\\", "").replace("\n", " ")
    assert TOLD in table.replace("\\", "").replace("\n", " ")
    answers = json.loads(run("report", tmp_path / "table.json", imported, "--form", "arr", "--json"))
    assert sum(TOLD in str(one["answer"]) for one in answers["fields"]) == 1


def test_a_record_of_another_import_is_told(export, tmp_path):
    run("import", export, "-o", tmp_path / "imported")
    record = tmp_path / "imported" / "record.json"
    record.write_text(json.dumps(json.loads(record.read_text()) | {"n_ratings": 311}))
    run("analyze", export, "--scale", "1:5", "--systems", "base,new", "-q", "-o", tmp_path / "direct.json")
    told = run("report", tmp_path / "direct.json", record, "--form", "paper")
    assert "tells of 311 ratings, the analysis has read 312 rows" in told


def test_the_check_shows_the_export_before_the_table(export):
    told = run("check", export, "--scale", "1:5")
    assert "export.json: left out  8: was_cancelled is 'true': 8" in told
    rows = json.loads(run("check", export, "--scale", "1:5", "--json"))
    (before,) = rows["exports"]
    assert before["platform"] == "label-studio"
    assert [step["rows"] for step in before["flow"]] == [40, 320, 8, 312, 312]


def test_a_table_of_ratings_has_no_exports(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text(
        "worker,item,system,rating\n"
        + "".join(f"w{w},i{i},{s},{(w + i) % 5 + 1}\n" for w in range(4) for i in range(5) for s in "AB")
    )
    assert "exports" not in json.loads(run("check", path, "--scale", "1:5", "--json"))


@pytest.mark.slow
def test_many_exports_are_counted_together_and_each_stands_in_one_row(tmp_path):
    left_out = {place: place % 3 for place in range(1, 31)}  # blank ratings of each file
    paths = []
    for place, blank in left_out.items():
        lines = [
            f"w{place},i{item},{system},{'' if system == 'new' and item < blank else 1 + (item + place) % 5}"
            for item in range(4)
            for system in ("base", "new")
        ]
        paths.append(tmp_path / f"answers-{place:02d}.csv")
        paths[-1].write_text("\n".join(["worker,item,system,rating", *lines, ""]))
    n_out = sum(left_out.values())
    said = run("import", *paths, "--keep-ids", "-o", tmp_path / "import/", "-q")
    assert said == ""
    page = (tmp_path / "import" / "index.html").read_text()
    assert page.count("<table") == 2
    said = run("import", *paths, "--keep-ids")
    assert f"left out {n_out} cell is blank" in " ".join(said.split())
    assert f"{n_out} rows were left out (cell is blank)." in " ".join(said.split())
    assert said.count("are read as table") == 1
    for path, blank in zip(paths, left_out.values(), strict=True):
        row = next(line for line in reversed(said.splitlines()) if line.split()[:1] == [path.name])
        assert row.split()[1:] == [str(8 - blank), *([f"{blank}:", "cell", "is", "blank"] if blank else [])]
    record = json.loads((tmp_path / "import" / "record.json").read_text())
    assert len(record["exports"]) == 30  # in which each file keeps its own
    table = tmp_path / "import" / "ratings.csv"
    run("analyze", table, "-o", tmp_path / "analysis/", "-q", "--force")
    paper = run("report", tmp_path / "analysis", tmp_path / "import", "--form", "paper", "-q")
    text = " ".join(paper.split())
    assert text.count("Of the export ") == 1
    assert (
        f"Of the export answers-01.csv and 29 more (table), 240 rows of the export were read; {n_out} "
        in text
    )
    assert f"{240 - n_out} ratings were kept." in text
