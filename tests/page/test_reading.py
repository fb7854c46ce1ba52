"""How a file of ratings is read on the page: what is proposed, and put right; its ratings are those of the file."""

import html
import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import pandas as pd
import pytest
from cases import each_case

pytest.importorskip("starlette")
from export_shapes import BAD, ITEMS, POINTS, SHAPES, SYSTEMS, WORDS, WORKERS
from in_process_parts import a_client, said
from starlette.testclient import TestClient

from humeval_power.checking.exports.imported import imported
from humeval_power.checking.exports.mapping import Condition, ErrorWeights, Mapping, RatingColumns, Template
from humeval_power.errors import InputError
from humeval_power.files.exports.mapping_file import mapping_text, parsed_mapping
from humeval_power.files.exports.platforms import read_export
from humeval_power.files.exports.proposal import choices_of, families, mapping_of, points_in, proposed

FILES = {**SHAPES, **BAD}
SAME_WORKERS = [name for name in FILES if name not in ("project-1.json", "blank.csv")]
IN_WORDS = {"Batch_1_results.csv", "words.csv"}


def export_of(folder: Path, name: str):
    path = folder / name
    path.write_bytes(FILES[name]())
    try:
        return read_export(path)
    except InputError:
        return read_export(path, platform="table")


def points(frame: pd.DataFrame) -> dict[tuple[str, str, str], float]:
    return {
        (one.worker, one.item, one.system): float(one.rating)
        for one in frame.itertuples(index=False)
        if getattr(one, "criterion", "fluency") == "fluency"
    }


@pytest.mark.parametrize("name", SAME_WORKERS)
def test_what_is_proposed_reads_the_points_that_were_given(tmp_path, name):
    export = export_of(tmp_path, name)
    those = families(export)
    said, _ = proposed(export, those)
    shift = 0.5 if name == "commas.csv" else 0.0
    if name in IN_WORDS:
        said = replace(said, words={word: place for place, word in enumerate(WORDS, start=1)})
    if shift:
        said = replace(said, words={f"{point},5": point + 0.5 for point in range(1, 6)})
    found = points(imported([export], mapping_of(said, those, export.mapping)).frame)
    assert found == {key: point + shift for key, point in POINTS.items()}


@each_case("name", FILES)
def test_choices_that_are_kept_come_back_as_they_were(tmp_path, name):
    export = export_of(tmp_path, name)
    those = families(export)
    said, _ = proposed(export, those)
    mapping = mapping_of(said, those, export.mapping)
    text = mapping_text(mapping, export.platform)
    assert parsed_mapping(text, place="kept") == (mapping, export.platform)
    again = families(export, mapping)
    assert mapping_of(choices_of(mapping, export.frame, again), again, mapping) == mapping


def test_a_mapping_of_every_kind_is_written_as_it_is_read():
    mapping = Mapping(
        ratings=(
            RatingColumns(Template("Q{slot}"), 'flu"ency'),
            RatingColumns(Template("x {{y}}"), "b = 1"),
        ),
        columns={"worker": Template("who"), "time_s": Template("t\nt")},
        split={"id": Template("{item}|{system}")},
        slots={"1": {"item": "a", "system": "b, c"}},
        words={"gut": 4.0, "1/2": 0.5},
        missing=("N/A", ""),
        where=(
            Condition("Status", ("1", "x")),
            Condition("Ok", ("no",), drop=True),
            Condition("Aside", (), drop=True),
        ),
        checks={"Q9": "2"},
        keep=("Age",),
    )
    assert parsed_mapping(mapping_text(mapping, "table"), place="kept") == (mapping, "table")
    errors = Mapping(columns={"item": Template("seg")}, errors=ErrorWeights("cat", "sev", {"* | *": 2.5}))
    assert parsed_mapping(mapping_text(errors), place="kept") == (errors, None)


@each_case(
    ("text", "number"),
    [
        ("4 - good", 4),
        ("(2) bad", 2),
        ("good (4)", 4),
        ("3,5", 3.5),
        ("-1: no", -1),
        ("good", None),
        ("4", None),
    ],
)
def test_words_say_their_own_points_where_a_number_stands_in_them(text, number):
    assert points_in(text) == number


@pytest.fixture
def chosen(tmp_path: Path) -> Path:
    folder = tmp_path / "chosen"
    folder.mkdir()
    return folder


@pytest.fixture
def client(tmp_path: Path, chosen: Path) -> TestClient:
    return a_client(tmp_path / "private", chosen, follow_redirects=True)


def begun(chosen: Path, name: str) -> str:
    """A study of this file; its name."""
    folder = chosen / "mine"
    folder.mkdir()
    (folder / name).write_bytes(FILES[name]())
    (folder / "study.toml").write_text(f'schema = "humeval_power/study/1"\n[files]\nratings = "{name}"\n')
    return "mine"


def form(page: str) -> dict[str, list[str]]:
    """What a browser would send of the form."""
    found: dict[str, list[str]] = {}
    text = re.search(r'<form class="reading".*?</form>', page, re.DOTALL)[0]
    for one in re.finditer(r'<input([^>]*)>|<select name="([^"]*)".*?</select>', text, re.DOTALL):
        if one[2]:
            value = re.search(r'value="([^"]*)" selected', one[0])
            found.setdefault(one[2], []).append(html.unescape(value[1]) if value else "")
        else:
            about = dict(re.findall(r'(\w+)="([^"]*)"', one[1]))
            if about.get("type") != "checkbox" or " checked" in one[1]:
                found.setdefault(about["name"], []).append(html.unescape(about.get("value", "")))
    return found


def test_looking_writes_nothing_and_taking_writes_the_mapping_and_the_ratings(client, chosen):
    begun(chosen, "long.csv")
    page = client.get("/study/mine/decide").text
    assert sorted(path.name for path in (chosen / "mine").iterdir()) == ["long.csv", "study.toml"]
    assert "192<span> ratings of 8 workers, 12 items, 2 systems" in page
    done = client.post("/table/mine", data={**form(page), "do": "take"})
    assert "This table can be analysed" in done.text
    assert said(chosen) == {"exports": ["long.csv"], "ratings": "ratings.csv"}
    mapping, platform = parsed_mapping((chosen / "mine" / "mapping.toml").read_text(), place="kept")
    assert (mapping.columns["worker"].text, platform) == ("who", "table")
    assert len(pd.read_csv(chosen / "mine" / "ratings.csv")) == len(POINTS)


def test_words_get_points_and_may_be_no_rating(client, chosen):
    begun(chosen, "words.csv")
    page = client.get("/study/mine/decide").text
    assert "one question is open" in page
    assert page.count('aria-describedby="trouble-word"') == 5
    assert 'value="take"' not in page
    sent = form(page)
    shown = re.findall(r'<th scope="row">([^<]*)</th><td>\d', page)
    for place, word in enumerate(shown):
        sent[f"word-{place}"] = [str(WORDS.index(word) + 1)]
    sent[f"none-{shown.index('very bad')}"] = ["1"]
    page = client.post("/table/mine", data={**sent, "do": "read"}).text
    assert "184<span> ratings" in page
    mapping, _ = parsed_mapping((chosen / "mine" / "mapping.toml").read_text(), place="kept")
    assert dict(mapping.words) == {word: place for place, word in enumerate(WORDS, start=1) if place > 1}
    assert "very bad" in mapping.missing


def test_undo_goes_back_to_what_was_proposed(client, chosen):
    begun(chosen, "long.csv")
    first = client.get("/study/mine/decide").text
    sent = form(first)
    sent["role-0"] = [""]
    page = client.post("/table/mine", data={**sent, "do": "read"}).text
    assert "Which column is the worker?" in page
    assert 'value="take"' not in page
    page = client.post("/table/mine", data={**form(page), "do": "undo"}).text
    assert not (chosen / "mine" / "mapping.toml").exists()
    assert "192<span> ratings" in page
    assert 'value="undo"' not in page


def test_a_reading_without_ratings_is_kept_on_the_page_and_not_written(client, chosen):
    begun(chosen, "long.csv")
    sent = form(client.get("/study/mine/decide").text)
    sent["role-3"] = [""]
    page = client.post("/table/mine", data={**sent, "do": "take"}).text
    assert "No column holds the ratings yet." in page
    assert not (chosen / "mine" / "mapping.toml").exists()
    sent = form(page)
    sent["role-3"] = ["rating"]
    assert "192<span> ratings" in client.post("/table/mine", data={**sent, "do": "read"}).text


def test_two_columns_of_one_part_are_a_question_beside_the_second(client, chosen):
    begun(chosen, "long.csv")
    sent = form(client.get("/study/mine/decide").text)
    sent["role-4"] = ["item"]
    page = client.post("/table/mine", data={**sent, "do": "read"}).text
    assert re.search(r'id="role-4"[^>]*aria-invalid="true"', page)
    assert "Another column is the item too." in page


def test_rows_with_a_blank_worker_are_left_out_by_a_tick(client, chosen):
    begun(chosen, "blank.csv")
    page = client.get("/study/mine/decide").text
    assert "No worker in 4 of the ratings" in page
    sent = form(page)
    del sent["keep-0"]
    page = client.post("/table/mine", data={**sent, "do": "read"}).text
    assert "188<span> ratings" in page
    assert "Left out: 4" in page


def test_rejected_rows_of_an_export_come_back_by_a_tick(client, chosen):
    begun(chosen, "project-1.json")
    page = client.get("/study/mine/decide").text
    assert "191<span> ratings" in page
    assert "was_cancelled is" in page


def test_systems_that_are_not_ticked_are_not_analysed_and_one_alone_is_no_comparison(client, chosen):
    folder = chosen / "mine"
    folder.mkdir()
    rows = [f"{w},{i},{s},{POINTS[w, i, SYSTEMS[s != 'A']]}" for w, i, s in product(WORKERS, ITEMS, "ABC")]
    (folder / "three.csv").write_text("\n".join(["who,what,which,mark", *rows, ""]))
    (folder / "study.toml").write_text('schema = "humeval_power/study/1"\n[files]\nratings = "three.csv"\n')
    sent = form(client.get("/study/mine/decide").text)
    assert sent["system"] == ["0", "1", "2"]
    page = client.post("/table/mine", data={**sent, "system": ["1"], "do": "read"}).text
    assert "Two systems at least are compared." in page
    assert "systems" not in said(chosen)
    client.post("/table/mine", data={**sent, "system": ["0", "2"], "do": "read"})
    assert said(chosen)["systems"] == ["A", "C"]


def test_of_several_criteria_those_that_are_ticked_are_tested(client, chosen):
    begun(chosen, "two-systems.csv")
    sent = form(client.get("/study/mine/decide?table=open").text)
    assert sent["slot-0-criterion"] == ["fluency"]
    done = client.post("/table/mine", data={**sent, "do": "take"})
    assert "All 2 criteria can be analysed" in done.text
    assert said(chosen)["criteria"] == ["adequacy", "fluency"]


def test_what_another_tab_has_kept_is_not_written_over(client, chosen):
    begun(chosen, "long.csv")
    sent = form(client.get("/study/mine/decide").text)
    client.post("/table/mine", data={**sent, "role-4": ["status"], "do": "read"})
    before = (chosen / "mine" / "mapping.toml").read_text()
    late = client.post("/table/mine", data={**sent, "role-4": ["batch"], "do": "read"})
    assert late.status_code == 409
    assert (chosen / "mine" / "mapping.toml").read_text() == before


def test_the_script_of_the_page_gets_the_answer_alone(client, chosen):
    begun(chosen, "long.csv")
    sent = form(client.get("/study/mine/decide").text)
    found = client.post(
        "/table/mine", data={**sent, "do": "read"}, headers={"accept": "application/json"}
    ).json()
    assert found["version"] == sent["version"][0]
    assert "192<span> ratings" in found["html"]


@pytest.mark.parametrize("name", FILES)
def test_no_option_and_no_file_format_stands_in_what_one_reads(client, chosen, name):
    begun(chosen, name)
    page = client.get("/study/mine/decide?table=open").text
    text = html.unescape(
        re.sub(
            r"<[^>]+>",
            " ",
            page[page.index('class="reading"') : page.index("</form>", page.index('class="reading"'))],
        )
    )
    assert "--" not in text
    assert "toml" not in text.lower()


def test_exports_are_read_together_with_their_participants_and_without_the_one_that_differs(tmp_path):
    from humeval_power.doors.page.workspace.reading import reading_of

    head, *rows = FILES["long.csv"]().decode().splitlines(keepends=True)
    people = ["Submission id,Participant id,Status,Time taken"] + [
        f"s{number},{worker},APPROVED,100" for number, worker in enumerate(WORKERS)
    ]
    contents = {
        "one.csv": [head, *rows[:90]],
        "two.csv": [head, *rows[90:]],
        "people.csv": [f"{line}\n" for line in people],
        "other.csv": [head.replace("mark", "points"), *rows[:5]],
    }
    paths = {name: tmp_path / name for name in contents}
    for name, lines in contents.items():
        paths[name].write_text("".join(lines))
    export = read_export(paths["one.csv"], platform="table")
    fine = reading_of(export, "", (str(paths["two.csv"]), str(paths["people.csv"])))
    assert fine.troubles == ()
    assert fine.n_ratings == len(POINTS) == len(rows)
    assert fine.files == (
        ("one.csv", 90, ""),
        ("two.csv", len(rows) - 90, ""),
        ("people.csv", len(WORKERS), ""),
    )
    wrong = reading_of(export, "", (str(paths["other.csv"]), str(tmp_path / "absent.csv")))
    assert [one.text.split()[0] for one in wrong.troubles] == ["other.csv", "absent.csv"]


def test_a_table_that_begins_with_its_first_rating_and_one_without_rows_are_said_to_be_so(tmp_path):
    from humeval_power.doors.page.workspace.reading import reading_of

    rows = [f"w{k % 4},i{k % 6},{'ab'[k % 2]},{1 + k % 5}\n" for k in range(60)]
    file = tmp_path / "table.csv"
    file.write_text("".join(rows))
    found = reading_of(read_export(file, platform="table"), "")
    assert [one.text.partition(":")[0] for one in found.troubles] == [
        "The first row seems to be no row of names"
    ]
    file.write_text("worker,item,system,rating\n" + "".join(rows))
    found = reading_of(read_export(file, platform="table"), "")
    assert (found.troubles, found.n_ratings) == ((), 60)
    file.write_text("worker,item,system,rating\n")
    found = reading_of(read_export(file, platform="table"), "")
    assert [one.text for one in found.troubles] == [
        "has the names of its columns, and no row below them. Is this the right file?"
    ]


def _rows(name: str, header: str, of_row) -> str:
    """A table of six workers, twenty items and two systems."""
    every = [(w, i, s) for w in range(6) for i in range(1, 21) for s in ("old", "new")]
    lines = [",".join(map(str, of_row(k, *one))) for k, one in enumerate(every, start=1)]
    return "\n".join([header.format(name), *lines, ""])


@pytest.mark.parametrize("name", ["Nr", "No.", "#", "ID", "Nummer", "index", "number"])
def test_a_column_of_numbers_is_the_item_where_they_stand_for_items_alone(tmp_path, name):
    shapes = {
        "items by number": (
            _rows(name, "{},who,engine,points", lambda k, w, i, s: (i, f"r{w}", s, k % 5)),
            {name: "item", "who": "worker", "engine": "system", "points": "rating"},
        ),
        "beside their texts": (
            _rows(
                name,
                "{},text,who,engine,points",
                lambda k, w, i, s: (i, f"the {i}. text", f"r{w}", s, k % 5),
            ),
            {name: "item", "who": "worker", "engine": "system", "points": "rating"},
        ),
        "rows by number": (
            _rows(name, "{},text,who,engine,points", lambda k, w, i, s: (k, f"t{i}", f"r{w}", s, k % 5)),
            {"text": "item", "who": "worker", "engine": "system", "points": "rating"},
        ),
        "workers by number": (
            _rows(name, "{},text,engine,points", lambda k, w, i, s: (w, f"t{i}", s, k % 5)),
            {"text": "item", name: "worker", "engine": "system", "points": "rating"},
        ),
        "a row an item": (
            "\n".join(
                [
                    f"{name},a_old,a_new,b_old,b_new",
                    *(f"{k},{k % 2},{k % 3},{k % 4},{k % 5}" for k in range(1, 21)),
                    "",
                ]
            ),
            {name: "item", **dict.fromkeys(("a_old", "a_new", "b_old", "b_new"), "rating")},
        ),
    }
    for shape, (text, roles) in shapes.items():
        (tmp_path / "table.csv").write_text(text)
        export = read_export(tmp_path / "table.csv", platform="table")
        assert dict(proposed(export, families(export))[0].roles) == roles, shape


@pytest.mark.parametrize("day", ["2026-03-{:02} 12:00", "{}.3.2026", "2026/3/{}"])
def test_a_date_that_repeats_is_not_taken_for_a_worker(tmp_path, day):
    def of_row(k, w, i, s):
        return f"r{w}", f"t{i}", s, k % 5, day.format(1 + k % 11)

    path = tmp_path / "table.csv"
    path.write_text(_rows("", "{}Teilnehmer,what,engine,points,stamp", of_row), encoding="utf-8")
    export = read_export(path, platform="table")
    found = proposed(export, families(export))[0].roles
    assert found["Teilnehmer"] == "worker"
    assert "stamp" not in found
