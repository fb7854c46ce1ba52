"""Names that are commands, formulas or invisible somewhere, through every command and every medium."""

import csv
import io
import json
import re
import subprocess
import sys
import unicodedata
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from cases import each_case, few_fast
from click.testing import CliRunner
from own_scripts import without_own_scripts
from study_files import FORMATS, FORMS, Names, given, write_pictures, write_study

import humeval_power
from humeval_power.doors.terminal.main import main
from humeval_power.safe_text import original_cells, visible

STEMS = (
    "\x1b[31mred\x07",
    "\u202egnp\u2066",
    "a\u2028b\x9b",
    "x\nError: forged",
    "=1+2",
    "山田\u200b",
    "$x_1$ \\end",
    "\x7f\x01--<i>",
)
SYSTEMS = ("=old \x1b]0;t\x07 山田", "@new \u202e x\nError: forged")
NAMES = Names(STEMS, tuple(reversed(STEMS)), SYSTEMS, "\u2067how\x1b[2J $a$ \x02")
DIRECTIONS = (
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\u200b\u2028\u2029"
)


FORMULA = re.compile("[=+@\t\r\uff1d\uff0b\uff0d\uff20-]")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?")


def hidden_in(text: str) -> set[str]:
    """Characters that a terminal obeys or nobody sees, by Unicode's categories."""
    return {
        mark
        for mark in text
        if mark != "\n" and (unicodedata.category(mark) in ("Cc", "Cs") or mark in DIRECTIONS)
    }


def run(*words: object, code: int = 0) -> str:
    """What a command prints, on both streams: nothing that a terminal obeys, and no line from a name."""
    result = CliRunner().invoke(main, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    told = result.stdout + result.stderr
    assert result.exit_code == code, told
    assert hidden_in(told) == set()
    assert "x\nError: forged" not in told
    return told


class Page(HTMLParser):
    """The tags of a page, and whether they are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)


def look_at(path: Path) -> None:
    """A file is well formed for its readers, and hides nothing."""
    content = path.read_bytes()
    if path.suffix == ".png":
        assert content.startswith(b"\x89PNG")
        return
    text = content.decode()
    if path.suffix == ".csv":
        cells = [cell for line in csv.reader(io.StringIO(text, newline="")) for cell in line]
        assert not [cell for cell in cells if FORMULA.match(cell) and not NUMBER.fullmatch(cell)]
        return
    assert hidden_in(text) == set(), path
    if path.suffix == ".json":
        json.loads(text)
    elif path.suffix == ".svg":
        ElementTree.fromstring(text)
    elif path.suffix == ".tex":
        assert text.isascii()
    elif path.suffix == ".html":
        page = Page()
        page.feed(without_own_scripts(text))
        assert not {"script", "i"} & page.tags


def look_at_all(folder: Path) -> list[str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    for path in files:
        look_at(path)
    return [path.name for path in files]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return write_study(tmp_path_factory.mktemp("hostile"), NAMES)


@pytest.mark.slow
def test_every_file_of_a_study_is_well_formed(study):
    for name in ("plan.json", "power.json", "parameters.json", "analysis.json"):
        look_at(study / name)
    assert json.loads((study / "analysis.json").read_text())["systems"] == sorted(SYSTEMS)
    assert len(look_at_all(write_pictures(study))) >= 8
    assert "table.csv" in look_at_all(study / "surface")


@few_fast(
    "words",
    [
        ("check", "ratings.csv"),
        ("check", "ratings.csv", "--json"),
        ("fit", "ratings.csv", "--scale", "1:5"),
        ("fit", "ratings.csv", "--scale", "1:5", "--json"),
        ("analyze", "ratings.csv", "--scale", "1:5", "--plan", "plan.json"),
        ("release", "ratings.csv", "--scale", "1:5", "--secret-text", "a key that is long enough"),
        ("assign", "--plan", "plan.json", "--json"),
        ("report", "check", "analysis.json", "--form", "heds"),
        ("report", "check", "analysis.json", "--form", "heds", "--json"),
        ("parameters", "show", "--library", "parameters.json"),
    ],
    fast=1,
)
def test_a_command_prints_nothing_that_a_terminal_obeys(study, monkeypatch, words):
    monkeypatch.chdir(study)
    if words[0] == "parameters":
        run(
            "report", "--findings", "analysis.json", "--form", "parameters", "-o", "library.json", "--force"
        )
        run("parameters", "add", "library.json", "--library", "own.json")
        assert (
            "=old" in run("parameters", "list", "--library", "own.json") + (study / "own.json").read_text()
        )
        look_at(study / "own.json")
        return
    told = run(*words)
    if "--json" in words:
        json.loads(told[told.index("{") : told.rindex("}") + 1])


@few_fast("form", FORMS, fast=1)
def test_a_report_hides_nothing_in_any_format(study, form):
    for ending in FORMATS:
        path = study / f"{form}.{ending}"
        run("report", *given(study, *FORMS[form]), "--form", form, "-o", path, "--force", "-q")
        look_at(path)


@pytest.mark.slow
def test_a_monitored_study_hides_nothing(study, tmp_path):
    pilot = study / "pilot.csv"
    plan = tmp_path / "plan.json"
    run(
        *("plan", pilot, "--scale", "1:5", "--effect", "0.12", "--items", "20:60:4", "--max-workers", "20"),
        *("--ratings-per-item", "1:3", "--cost-per-rating", "0.12", "--looks", "2", "--simulations", "100"),
        *("-o", plan),
    )
    look_at(plan)
    table = tmp_path / "table.csv"
    run("assign", "--plan", plan, "-o", table)
    look_at(table)
    filled = filled_in(table, tmp_path / "filled.csv")
    run("monitor", filled, "--worker", "worker_slot", "--plan", plan, "--scale", "1:5")


def filled_in(table: Path, path: Path) -> Path:
    """Ratings for a table of work, as somebody who edits it in a spreadsheet adds them."""
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0], "rating"])
        writer.writeheader()
        for place, row in enumerate(rows):
            better = row["system"].startswith("'@new")
            writer.writerow({**row, "rating": 1 + (place * 7 + 2 * better) % 5})
    return path


def test_the_names_come_back_from_our_own_tables(study, tmp_path):
    """assign -> collected ratings -> analyze: the systems are those of the plan."""
    table = tmp_path / "table.csv"
    run("assign", "--plan", study / "plan.json", "-o", table)
    look_at(table)
    filled = filled_in(table, tmp_path / "filled.csv")
    run(
        *("analyze", filled, "--worker", "worker_slot", "--plan", study / "plan.json", "--scale", "1:5"),
        *("-o", tmp_path / "analysis.json"),
    )
    found = json.loads((tmp_path / "analysis.json").read_text())
    assert set(found["systems"]) == set(SYSTEMS)
    assert any("apostrophe" in notice for notice in found["notices"])


def test_the_key_of_a_blind_table_is_no_formula(study, tmp_path):
    run("assign", "--plan", study / "plan.json", "--key", tmp_path / "key.csv", "-o", tmp_path / "work.csv")
    look_at(tmp_path / "key.csv")
    look_at(tmp_path / "work.csv")
    with (tmp_path / "key.csv").open(encoding="utf-8", newline="") as file:
        column = [row["system"] for row in csv.DictReader(file)]
    assert set(original_cells(column)) == set(SYSTEMS)


def test_a_bundle_has_the_names_and_hides_nothing(study, tmp_path):
    out = tmp_path / "bundle"
    run(
        "release",
        study / "ratings.csv",
        "--scale",
        "1:5",
        "--secret-text",
        "a key that is long enough",
        "-o",
        out,
    )
    look_at_all(out)
    run("fit", out / "ratings.csv", "--scale", "1:5", "-o", tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text())["systems"] == sorted(SYSTEMS)


def scores(path: Path, names: tuple[str, ...]) -> Path:
    rows = [
        [f"{STEMS[i % 8]}{i}", *((i * 7 + 3 * s * s) % 11 for s in range(len(names)))] for i in range(24)
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["item", *names], *rows])
    return path


def test_compared_scores_hide_nothing(tmp_path):
    two = scores(tmp_path / "two.csv", SYSTEMS)
    asked = ("--question", "mean", "--resamples", "200")
    run("compare", "scores", two, *asked, "-o", tmp_path / "pair")
    many = scores(tmp_path / "many.csv", (*SYSTEMS, "=third\x07"))
    run("compare", "scores", many, *asked, "-o", tmp_path / "many")
    assert "table.csv" in look_at_all(tmp_path / "many")
    assert "index.html" in look_at_all(tmp_path / "pair")
    for ending in (".md", ".tex", ".txt"):
        run("compare", "scores", many, *asked, "-o", tmp_path / f"many{ending}")
        look_at(tmp_path / f"many{ending}")


def claims(path: Path) -> Path:
    path.write_text(
        "name,task,n,baseline,improvement\n"
        + "".join(f'"{stem}","all",1000,0.{70 + i},0.02\n' for i, stem in enumerate(STEMS)),
        encoding="utf-8",
    )
    return path


@few_fast("words", [(), ("--format", "html")])
def test_claims_hide_nothing(tmp_path, words):
    told = run("accuracy", "claims", claims(tmp_path / "claims.csv"), *words)
    assert r"\x1b[31m" in told or not words


@pytest.mark.slow
def test_pictures_of_claims_hide_nothing(tmp_path):
    run("accuracy", "claims", claims(tmp_path / "claims.csv"), "-o", tmp_path / "claims")
    assert "claims.svg" in look_at_all(tmp_path / "claims")


def test_a_leaderboard_and_its_picture_hide_nothing(tmp_path):
    (tmp_path / "board.csv").write_text(
        "system,date,accuracy\n"
        + "".join(f'"{stem}",2020-05-0{i + 1},0.{80 + i}\n' for i, stem in enumerate(STEMS)),
        encoding="utf-8",
    )
    run("accuracy", "leaderboard", tmp_path / "board.csv", "--n", "1000")
    run("accuracy", "leaderboard", tmp_path / "board.csv", "--n", "1000", "-o", tmp_path / "board")
    assert "leaderboard.svg" in look_at_all(tmp_path / "board")


def test_published_studies_and_preferences_hide_nothing(tmp_path):
    (tmp_path / "published.csv").write_text(
        "name,effect,low,high,items,workers,ratings_per_item,p\n"
        + "".join(f'"{stem}",0.1,0,1,50,10,3,0.04\n' for stem in STEMS),
        encoding="utf-8",
    )
    run("survey", tmp_path / "published.csv", "--preset", "high", "-o", tmp_path / "survey")
    assert "table.csv" in look_at_all(tmp_path / "survey")
    (tmp_path / "prefer.csv").write_text(
        "worker,item,winner\n"
        + "".join(f'"{STEMS[i % 8]}","i{i // 3}",{"AB"[i % 3 % 2]}\n' for i in range(48)),
        encoding="utf-8",
    )
    run("preference", "test", tmp_path / "prefer.csv")


def test_criteria_of_any_name_are_listed_and_named_in_remedies(tmp_path):
    table = tmp_path / "t.csv"
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["worker", "item", "system", "rating", "criterion"])
        for criterion in ("$(touch owned) \x1b[2J", "x\nError: forged"):
            writer.writerows(
                [f"w{w}", f"i{i}", system, (w + i) % 5 + 1, criterion]
                for w in range(3)
                for i in range(4)
                for system in "AB"
            )
    assert "$'$(touch owned) \\x1b[2J'" in " ".join(run("check", table).split())
    assert "--criterion $'$(touch owned)" in " ".join(run("fit", table, code=2).split())


def test_a_setting_may_be_called_anything(study, tmp_path):
    path = tmp_path / "\x1b[31mred\u202e$x$.json"
    path.write_bytes((study / "parameters.json").read_bytes())
    sizes = ("--workers", "8", "--items", "24", "--ratings-per-item", "3", "--effect", "0.1,0.2")
    told = run("surface", "--parameters", path, *sizes, "--simulations", "20", "-o", tmp_path / "out")
    assert r"\x1b[31mred\u202e$x$" in told
    look_at_all(tmp_path / "out")
    run("power", "--parameters", path, *sizes[:6], "--effect", "0.1", "--simulations", "20")


@each_case(
    ("table", "words"),
    [
        ("worker,item,system,rating\nw,i,A,\x1b[31mfour\u202e\n", ()),
        ("worker,item,system,rating\nw,i,A\x07,4\nw,i,B,4\nw,i,C,4\n", ()),
        ("worker\x1b,item,\u202esystem,rating\nw,i,A,4\n", ()),
        ("a\x1b,b\x07,c\u2028,d\n1,2,3,4\n", ()),
        ("worker,item,system,rating\nw,i,A,4\nw,i,B,5\n", ("--system", "\x1b[31mx")),
        ("worker,item,system,rating\nw,i,A,4\nw,i,B,5\n", ("--systems", "\u202eA,B\x07")),
        ("worker,item,system,rating\nw,i,A,4\nw,i,B,5\n", ("--criterion", "\x1b[2J")),
        ("worker,item,system,rating\nw,i,A,4\nw,i,B,5\n", ("--scale", "\x1b[2J")),
        ("worker,item,system,rating\nw,i,A,4\nw,i,B,5\n", ("--\x1b[2J", "x")),
        ('{"worker": "\\ud800", "item": "i", "system": "\\u001b", "rating": "\\udfff"}\n', ()),
    ],
)
def test_an_error_shows_what_it_quotes(tmp_path, table, words):
    path = tmp_path / "\x1b[31mtable\u202e.csv"
    path.write_text(table, encoding="utf-8")
    told = run("fit", path, *words, code=2)
    assert "Error" in told


def test_the_command_is_shown_so_that_it_can_be_pasted(study, tmp_path):
    words = [
        "humeval-power",
        "fit",
        str(study / "ratings.csv"),
        "--scale",
        "1:5",
        "--criterion",
        NAMES.criterion,
        "-o",
        str(tmp_path / "p.json"),
    ]
    run(*words[1:])
    command = json.loads((tmp_path / "p.json").read_text())["command"]
    assert hidden_in(command) == set()
    done = subprocess.run(
        ["bash", "-c", f"humeval-power() {{ printf '%s\\0' humeval-power \"$@\"; }}; {command}"],
        capture_output=True,
        check=True,
        env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
    )
    assert done.stdout.decode().split("\0")[:-1] == words


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_a_terminal_of_any_encoding_gets_the_answer(tmp_path, encoding):
    path = tmp_path / "t.csv"
    rows = [
        f"w{w},i{i},{s},{(w + i) % 5 + 1}" for w in range(3) for i in range(3) for s in ("山田", "é\x9b")
    ]
    path.write_text("\n".join(["worker,item,system,rating", *rows]), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "humeval_power.doors.terminal.main", "check", str(path)],
        capture_output=True,
        env={
            "PYTHONIOENCODING": f"{encoding}:strict",
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": ":".join(sys.path),
        },
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    told = done.stdout.decode("utf-8" if encoding == "ascii" else encoding)
    assert "山田" in told if encoding in ("ascii", "utf-8") else r"\u5c71\u7530" in told


def test_data_on_a_pipe_are_the_bytes_of_the_file(tmp_path):
    words = (
        "assign",
        "--workers",
        "4",
        "--items",
        "3",
        "--systems",
        "=\x1b[31mA,B\u202e",
        "--format",
        "csv",
    )
    result = CliRunner().invoke(main, [*words, "-q"])
    CliRunner().invoke(main, [*words, "-q", "-o", str(tmp_path / "t.csv")])
    assert result.stdout_bytes == (tmp_path / "t.csv").read_bytes()
    assert "'=\x1b[31mA" in result.stdout


def test_only_one_place_prints():
    root = Path(humeval_power.__file__).parent
    printing = re.compile(  # a call of print in quotes is one of R
        r"click\.echo\(|(?<![\w.'\"])print\(|sys\.std(out|err)\.write|\.to_csv\((?!'ratings)|csv\.writer\("
    )
    found = {path.name for path in root.rglob("*.py") if printing.search(path.read_text(encoding="utf-8"))}
    assert found == {"output.py"}


def test_the_table_of_a_name_is_wide_enough_for_it(study):
    told = run("check", study / "ratings.csv")
    assert all(visible(name).replace("\n", "\\n") in told for name in SYSTEMS)
