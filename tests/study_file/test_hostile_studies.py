"""Study files that are wrong: one clear error, with the place, whatever they hold; and nothing is written."""

import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from cases import each_case, every_case
from click.testing import CliRunner, Result

from humeval_power.asking.study_file import read_study
from humeval_power.doors.terminal.main import main
from humeval_power.errors import InputError
from humeval_power.study import FIELDS, SCHEMA

HEAD = f'schema = "{SCHEMA}"\n'
GOOD = HEAD + (
    '[variation]\npreset = "high"\n[effect]\neffect = 0.1\n'
    "[design]\nworkers = 10\nitems = 20\nratings_per_item = 3\n"
)
# No field takes any of these.
WRONG = {
    "two deep": "{ a = { b = 1 } }",
    "a list of lists": "[[1]]",
    "a list of yes": "[true]",
    "mixed": '[1, "a"]',
    "not a number": "nan",
    "endless": "inf",
    "beyond 64 bits as a float": "1e400",
    "a number of a billion digits": "1e999999999",
    "too small": "1e-300",
    "a date": "2020-01-01",
    "a time": "10:00:00",
    "50,000 names": "[" + ",".join(f'"n{place}"' for place in range(50_000)) + "]",
    "a text of 200,000": f'"{"x" * 200_000}"',
    "NUL": r'"a\u0000b"',
}


_LONG = ("50,000 names", "a text of 200,000")


def _power(folder: Path, content: bytes) -> Result:
    path = folder / "study.toml"
    path.write_bytes(content)
    return CliRunner().invoke(main, ["power", str(path), "--method", "analytic"])


def test_every_field_refuses_every_wrong_kind_at_its_line(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    with every_case() as cases:
        for name, one in FIELDS.items():
            if (
                one.kind.flag is None
                and not one.kind.is_number
                and name not in ("workers_range", "preset", "values")
            ):
                continue  # one of each kind: `test_hardest_values_of_other_kinds` has the rest
            for said, value in WRONG.items():
                if said in _LONG and name != "preset":
                    continue
                with cases.case(f"{name}: {said}"):
                    path.write_text(f"{HEAD}[{one.section}]\n{name} = {value}\n", encoding="utf-8")
                    _assert_refused(path, f"line 3, [{one.section}] {name}: ")


@each_case(
    "name", ["criteria", "systems", "shares", "exclude_if", "labels", "scale", "looks", "upload", "goal"]
)
def test_hardest_values_of_other_kinds(name: str, tmp_path: Path) -> None:
    path, section = tmp_path / "study.toml", FIELDS[name].section
    for said, value in WRONG.items():
        if said in _LONG and name not in ("systems", "goal"):
            continue
        path.write_text(f"{HEAD}[{section}]\n{name} = {value}\n", encoding="utf-8")
        _assert_refused(path, f"line 3, [{section}] {name}: ")


def _assert_refused(path: Path, place: str) -> None:
    with pytest.raises(InputError) as caught:
        read_study(path)
    assert len(caught.value.problems) == 1
    assert place in str(caught.value)
    # A place, a rule of at most three lines of 300 letters, and a remedy: never the value as a whole.
    assert len(str(caught.value)) < 1_500


def _dotted(depth: int) -> str:
    return ".".join(["a"] * depth)


NOT_READ: Mapping[str, tuple[bytes, str]] = {
    "empty": (b"", "is no study file"),
    "half-written": (GOOD.encode()[:-4], "is not TOML"),
    "a key twice": (f"{GOOD}items = 3\n".encode(), "is not TOML"),
    "another encoding": (f"{GOOD}# \xe9".encode("latin-1"), "not UTF-8"),
    "NUL": (GOOD.encode() + b"\0", "NUL"),
    "dotted key": (f"{HEAD}{_dotted(50_000)} = 1\n".encode(), "more than 20 names"),
    "deep": (f"{HEAD}[design]\nworkers = {'[' * 50_000}{']' * 50_000}".encode(), "too deep"),
    "long key": (f"{HEAD}[design]\n{'k' * 40_000} = 1\n".encode(), "there is no such key"),
    "long section": (f"{HEAD}[{'k' * 40_000}]\n".encode(), "there is no such section"),
    "20,000 keys": (
        (HEAD + "[design]\n" + "\n".join(f"k{place} = 1" for place in range(20_000))).encode(),
        "there may be more",
    ),
    "a table twice": (f"{HEAD}[[design]]\nworkers = 3\n".encode(), "[design] on a line of its own"),
    "wrong section": (
        f"{HEAD}[design]\nworker = 3\n".encode(),
        "line 3, [design] worker: is a key of [columns], and its value cannot be that. Did you mean workers?",
    ),
    "no section": (f"{HEAD}worker = 3\n".encode(), "line 2, worker: give a text in quotes"),
    "in two sections": (
        f"{HEAD}items = 5\n[cost]\nitems = 3\n".encode(),
        "line 4, [cost] items: stands twice in this file. Keep one; see line 2, items",
    ),
    "near": (
        f"{HEAD}[design]\nratings-per-item = 3\n".encode(),
        "Did you mean ratings_per_item, of [design]?",
    ),
    "quoted number": (f'{HEAD}[design]\nworkers = "3"\n'.encode(), "without quotes"),
    "both of two": (f"{GOOD}[test]\nmargin = 0.1\nmargin_raw = 1\n".encode(), "line 12, [test] margin_raw"),
    "itself": (f'{HEAD}[files]\npilot = "study.toml"\n'.encode(), "names this study file itself"),
    "standard input": (f'{HEAD}[files]\npilot = "-"\n'.encode(), "must be the name of a file"),
    "address": (f'{HEAD}[files]\npilot = "https://a.b/c"\n'.encode(), "must be the name of a file"),
    "outside": (f'{HEAD}[files]\nplan = "../plan"\n'.encode(), "must lie in the folder of the study"),
    "of another command": (b'schema = "humeval_power/config/1"\n', "reads it: --config"),
    "another version": (b'schema = "humeval_power/study/2"\n', "a study file has"),
}


def test_a_file_that_cannot_be_read_ends_with_2_and_one_clear_error(tmp_path: Path) -> None:
    with every_case() as cases:
        for place, (name, (content, told)) in enumerate(NOT_READ.items()):
            folder = tmp_path / str(place)
            folder.mkdir()
            with cases.case(name):
                begun = time.process_time()
                found = _power(folder, content)
                assert found.exit_code == 2
                assert isinstance(found.exception, SystemExit)
                assert told in " ".join(found.output.split())
                assert len(found.output) < 20_000  # a hundred problems, with the path of each
                assert [path.name for path in folder.iterdir()] == ["study.toml"]
                # What is promised: an error within 5 s.
                assert time.process_time() - begun < 5


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    wrong = f'{HEAD}[design]\nworkers = "3"\nitems = true\n[effect]\neffect = nan\n[test]\nalpha = 2\n'
    told = " ".join(_power(tmp_path, wrong.encode()).output.split())  # lines end where the path is long
    assert [line for line in (3, 4, 6, 8) if f"line {line}" not in told] == []


@each_case("encoding", ["utf-8-sig", "utf-16", "crlf", "cr"])
def test_a_study_is_read_in_any_usual_encoding(encoding: str, tmp_path: Path) -> None:
    ends = {"crlf": "\r\n", "cr": "\r"}.get(encoding, "\n")
    text = GOOD.replace("\n", ends)
    content = text.encode("utf-8" if encoding in ("crlf", "cr") else encoding)
    assert _power(tmp_path, content).exit_code == 0
