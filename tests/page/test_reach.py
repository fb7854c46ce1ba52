"""What a link can reach: of all that may be set in one, only options that name files read files, and none writes.

Python tells of every file that is opened and of every program that is started while a command runs (PEP 578).
"""

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import pytest
from cases import each_case
from places import ROOT

from humeval_power.doors.page.answers import Work, answer
from humeval_power.doors.page.requests import (
    FORMS,
    file_names,
    may_read_files,
    offered,
    request_of,
    words_of,
)

# What a command needs besides the option that is tried, as in its link.
BASES = {
    "power": "preset=high workers=4 items=8 effect=0.1 method=analytic",
    "check": "ratings=pilot.csv",
    "fit": "ratings=pilot.csv scale=1:5",
    "analyze": "ratings=pilot.csv scale=1:5",
    "import": "exports=pilot.csv",
    "compare scores": "files=scores.csv simulations=100",
    "assessment test": "table=pilot.csv",
    "accuracy test": "files=labels.txt files=others.txt gold=labels.txt",
    "accuracy estimate": "files=labels.txt files=others.txt gold=labels.txt",
    "corpus test": "system-a=labels.txt system-b=others.txt reference=labels.txt",
    "contingency test": "gold=labels.txt system-a=labels.txt system-b=others.txt positive=yes",
    "judge estimate": "table=judged.csv",
    "runs test": "table=runs.csv nested=1",
    "runs check": "table=runs.csv",
    "rank battles": "table=battles.csv",
    "rank scores": "files=scores.csv",
    "judge agreement": "table=rated.csv",
    "judge bias": "table=rated.csv own=1",
    "contingency estimate": "gold=labels.txt system-a=labels.txt system-b=others.txt positive=yes",
}
CODE = "__import__('os').system('touch OUTSIDE/made')"
TEXTS = (
    "OUTSIDE/secret.csv",
    "../secret.csv",
    f"score ~ {{{CODE}}}",
    CODE,
    "$(touch OUTSIDE/made)",
    "--output=OUTSIDE/made",
)
WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = (
    "os.rename",
    "os.remove",
    "os.mkdir",
    "os.rmdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.chmod",
)
PROGRAMS = ("os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "socket.connect")


class Watch:
    """What Python tells of while it is on: a hook can never be taken away."""

    def __init__(self) -> None:
        self.progress: list[str] = []
        self.places: tuple[Path, ...] = ()
        sys.addaudithook(self.hear)

    def hear(self, event: str, args: tuple[object, ...]) -> None:
        if not self.places:
            return
        if event == "open":
            path, mode, flags = args
            writes = isinstance(flags, int) and bool(flags & WRITE)
            if self._is_in(path, self.places[0]) or (writes and self._is_in(path, self.places[1])):
                self.progress.append(f"open {path} {mode}")
        elif event in CHANGES:
            changed = args[1:] if event in ("os.link", "os.symlink") else args
            if any(self._is_in(path, place) for path in changed for place in self.places):
                self.progress.append(f"{event} {args}")
        elif event in PROGRAMS:
            self.progress.append(f"{event} {args}")

    @staticmethod
    def _is_in(path: object, place: Path) -> bool:
        return isinstance(path, str | bytes | os.PathLike) and os.path.realpath(
            os.fsdecode(path)
        ).startswith(f"{place}/")

    @contextmanager
    def on(self, outside: Path, chosen: Path) -> Iterator[list[str]]:
        """Listen for what is opened in one folder, and what is changed in either."""
        self.progress, self.places = [], (outside, chosen)
        try:
            yield self.progress
        finally:
            self.places = ()


@pytest.fixture(scope="module")
def watch() -> Watch:
    return Watch()


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """One that nothing may be read from, and the chosen one."""
    outside, chosen = tmp_path / "outside", tmp_path / "chosen"
    outside.mkdir()
    chosen.mkdir()
    pilot = (ROOT / "data" / "pilot.csv").read_bytes()
    (outside / "secret.csv").write_bytes(pilot)
    (chosen / "pilot.csv").write_bytes(pilot)
    lines = "".join(f"{item},0.{item % 7},0.{item % 5}\n" for item in range(20))
    (chosen / "scores.csv").write_text("item,A,B\n" + lines, encoding="utf-8")
    cells = [(item, system) for item in range(20) for system in (1, 2)]
    judged = "".join(
        f"{item},{system},0.{item % 7}{system},{system * (item % 2) or ''},p{item // 4}\n"
        for item, system in cells
    )
    (chosen / "judged.csv").write_text("item,system,judge,human,passage\n" + judged, encoding="utf-8")
    rated = "".join(
        f"{item},w{worker},{system},{worker}.{item % 5}{system},0.{item % 7}{system}\n"
        for item, system in cells
        for worker in range(3)
    )
    (chosen / "rated.csv").write_text("item,worker,system,human,judge\n" + rated, encoding="utf-8")
    won = [(a, b, "ABC"[(n + n // 3) % 3]) for n in range(30) for a, b in ("AB", "BC", "CA")]
    battles = "".join(
        f"{a},{b},{w if w in (a, b) else 'tie'},u{n % 9}\n" for n, (a, b, w) in enumerate(won)
    )
    (chosen / "battles.csv").write_text("model_a,model_b,winner,user\n" + battles, encoding="utf-8")
    runs = "".join(
        f"{item},{system},{run},0.{item * run % 7}{system}\n" for item, system in cells for run in (1, 2)
    )
    (chosen / "runs.csv").write_text("item,system,generation,score\n" + runs, encoding="utf-8")
    (chosen / "labels.txt").write_text("yes\nno\n" * 10, encoding="utf-8")
    (chosen / "others.txt").write_text("yes\nyes\n" * 10, encoding="utf-8")
    return outside, chosen


def work_of(path: tuple[str, ...], query: list[tuple[str, str]], chosen: Path) -> Work:
    form = FORMS[path]
    asked = request_of(path, query, form.hides)
    files = tuple((named, str(chosen / named)) for named in file_names(asked, form.hides))
    return Work(words_of(asked, form.hides), files)


def texts_of(path: tuple[str, ...]) -> list[str]:
    """The options whose values are texts and not files."""
    return [
        name
        for name, option in offered(path, FORMS[path].hides).items()
        if isinstance(option.type, click.types.StringParamType) and not may_read_files(path, option)
    ]


TRIED = [(" ".join(path), name) for path in FORMS for name in texts_of(path) if " ".join(path) in BASES]


@pytest.mark.slow
@pytest.mark.parametrize(("words", "option"), TRIED, ids=lambda one: str(one).replace(" ", "-"))
def test_no_text_in_a_link_opens_a_file_or_starts_a_program(
    words: str, option: str, folders: tuple[Path, Path], watch: Watch
) -> None:
    outside, chosen = folders
    path = tuple(words.split())
    base = [(name, value) for name, _, value in (pair.partition("=") for pair in shlex.split(BASES[words]))]
    before = {file.name: file.read_bytes() for file in chosen.iterdir()}
    for text in TEXTS:
        value = text.replace("OUTSIDE", str(outside))
        query = [(name, given) for name, given in base if name != option] + [(option, value)]
        with watch.on(outside, chosen) as told:
            answer(work_of(path, query, chosen), lambda _told: None)
        assert told == []
    assert [file.name for file in outside.iterdir()] == ["secret.csv"]
    assert {file.name: file.read_bytes() for file in chosen.iterdir()} == before


def test_the_watch_sees_what_it_is_for(folders: tuple[Path, Path], watch: Watch) -> None:
    outside, chosen = folders
    with watch.on(outside, chosen) as told:
        (outside / "secret.csv").read_bytes()
        (chosen / "pilot.csv").read_bytes()
        (chosen / "new.csv").write_bytes(b"")
        (chosen / "new.csv").rename(chosen / "renamed.csv")
    assert [each.split()[0] for each in told] == ["open", "open", "os.rename"]


def test_a_command_with_its_files_reads_them_and_changes_nothing(
    folders: tuple[Path, Path], watch: Watch
) -> None:
    outside, chosen = folders
    with watch.on(outside, chosen) as told:
        found = answer(work_of(("check",), [("ratings", "pilot.csv")], chosen), lambda _told: None)
    assert (found.exit_code, told) == (0, [])


@each_case("path", list(FORMS), ids=" ".join)
def test_no_link_sets_where_something_is_written_or_computed(path: tuple[str, ...]) -> None:
    forbidden = {"output", "force", "on", "jobs", "amend", "code", "draft", "template", "into", "dry-run"}
    assert not forbidden & set(offered(path, FORMS[path].hides))
