"""Kill commands that write sets of files with SIGKILL, and let several write at once: nothing is lost or mixed.

Each try lets a real command write over what an earlier one wrote, kills it (most while it writes, some at any
time), lets the next command see what is left, and looks at the files: all as before, or all new. `prove_writers`
counts tries, tracebacks, losses (a file, or an entry that was said to be added, is gone) and torn sets: the last
three are 0. `inside` are the kills in the writing itself, `completed` and `cleared` what the next command did.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from humeval_power.doors.terminal.main import main as program
from humeval_power.files.disk import JOURNAL, STAGING
from humeval_power.parameters import preset
from humeval_power.saying.result import PARAMETERS_SCHEMA

PILOT = Path(__file__).resolve().parents[1] / "data" / "pilot.csv"
PATIENCE = 300.0


@dataclass
class Counts:
    """What happened; `inside` are the kills between the first and the last change of the disk."""

    tries: int = 0
    inside: int = 0
    completed: int = 0
    cleared: int = 0
    tracebacks: int = 0
    losses: int = 0
    torn: int = 0
    details: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, int]:
        """The counts by name."""
        return {name: value for name, value in vars(self).items() if isinstance(value, int)}


@dataclass
class Run:
    """A command in a process of its own, forked off so that it starts at once."""

    process: int
    log: Path

    @classmethod
    def start(cls, words: list[str], log: Path) -> Run:
        """Begin; what it says goes to the log."""
        process = os.fork()
        if process == 0:
            code = 70
            try:
                for stream in (1, 2):
                    os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
                program(words, standalone_mode=True)
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 1
            except BaseException:
                import traceback

                traceback.print_exc()
            finally:
                os._exit(code)
        return cls(process, log)

    def wait(self) -> int:
        """Its exit code, or minus the signal that ended it."""
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])

    def kill_at(self, moment: Callable[[], bool], delay: float) -> int:
        """Kill it after `delay` seconds from the moment on, unless it ends before."""
        deadline = time.monotonic() + PATIENCE
        while not moment() and time.monotonic() < deadline:
            if os.waitid(os.P_PID, self.process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                break
        time.sleep(delay)
        with suppress(ProcessLookupError):
            os.kill(self.process, signal.SIGKILL)
        return self.wait()


@dataclass(frozen=True)
class Target:
    """A command that writes a set: its words for the n-th try, and where the set lies."""

    name: str
    words: Callable[[Path, int], list[str]]
    files: Callable[[Path], list[Path]]
    share: int
    staged_in: Callable[[Path], list[Path]]


def targets() -> list[Target]:
    """The commands, with how many of 100 tries are theirs; every file differs from try to try."""

    def assign_words(folder: Path, n: int) -> list[str]:
        # ever more items: a key is used again, and has to change with the table
        size = ["--workers", str(4 + n % 7), "--items", str(20 + n), "--ratings-per-item", "2"]
        places = ["-o", f"{folder}/table.csv", "--key", f"{folder}/keys/key.csv"]
        return ["assign", *size, "--seed", str(n + 1), *places, "--force"]

    def release_words(folder: Path, n: int) -> list[str]:
        secret = ["--secret-text", f"a long secret of try {n}", "--licence", f"Licence {n}"]
        return ["release", str(PILOT), *secret, "-o", f"{folder}/rel", "--force"]

    def surface_words(folder: Path, n: int) -> list[str]:
        size = ["--workers", str(4 + n % 50), "--items", "20", "--ratings-per-item", "1"]
        how = ["--effect", "0.2", "--simulations", "10", "--seed", str(n), "--jobs", "1"]
        return ["surface", "--preset", "high", *size, *how, "-o", f"{folder}/surface", "--force"]

    def plan_words(folder: Path, n: int) -> list[str]:
        size = ["--items", str(40 + n % 50), "--workers", "5,6", "--ratings-per-item", "1,2"]
        how = ["--effect", "0.15", "--cost-per-rating", "0.1", "--simulations", "10", "--jobs", "1"]
        seed = ["--seed", str(n), "--research-question", f"Question {n}?"]
        return ["plan", str(PILOT), *size, *how, *seed, "-o", f"{folder}/plan.json", "--force"]

    def inside(*names: str) -> Callable[[Path], list[Path]]:
        return lambda folder: [path for name in names for path in sorted((folder / name).glob("[!.]*"))]

    return [
        Target(
            "assign",
            assign_words,
            lambda folder: [folder / "table.csv", folder / "keys" / "key.csv"],
            45,
            lambda folder: [folder, folder / "keys"],
        ),
        Target("release", release_words, inside("rel"), 35, lambda folder: [folder]),
        Target(
            "surface", surface_words, inside("surface"), 10, lambda folder: [folder / "surface", folder]
        ),
        Target(
            "plan",
            plan_words,
            lambda folder: [folder / f"plan{ending}" for ending in (".json", ".md", ".html")],
            10,
            lambda folder: [folder],
        ),
    ]


def prove_writers(n_kills: int, seed: int) -> dict[str, int]:
    """Kill writers `n_kills` times, a fifth of them while several add to one library; the counts by name."""
    counts = Counts()
    choose = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        kills_of_adders = n_kills // 5
        for target in targets():
            folder = Path(name, target.name)
            folder.mkdir()
            share = max(1, round((n_kills - kills_of_adders) * target.share / 100))
            _kill_one(target, folder, share, choose, counts)
        _kill_adders(Path(name), kills_of_adders, choose, counts)
    for line in counts.details:
        print(line)
    return counts.as_dict()


def _kill_one(target: Target, folder: Path, n_kills: int, choose: random.Random, counts: Counts) -> None:
    log = folder.with_suffix(".log")
    assert Run.start(target.words(folder, 0), log).wait() in (0, 3), log.read_text()
    spent = 0.2
    for number in range(1, n_kills + 1):
        before = _digests(target, folder)
        began = time.monotonic()
        run = Run.start(target.words(folder, number), log)
        staging = [place / STAGING for place in target.staged_in(folder)]
        anywhere = choose.random() < 0.2

        sign = "" if choose.random() < 0.4 else JOURNAL  # the journal is there for a moment only

        def writing(places: list[Path] = staging, sign: str = sign) -> bool:
            return any((place / sign).exists() for place in places)

        late = (
            choose.uniform(0, spent)
            if anywhere
            else choose.choice((0, 0.001, 0.003, 0.01)) * choose.random()
        )
        run.kill_at((lambda: True) if anywhere else writing, late)
        spent = max(spent, min(2.0, time.monotonic() - began))
        counts.tries += 1
        counts.inside += any(map(Path.exists, staging))
        if target.name == "release" and (folder / "rel" / STAGING).exists():
            counts.torn += 1
            counts.details.append(
                f"release, try {number}: something unfinished lies in the published folder"
            )
        _let_the_next_command_see(target, folder, log, counts)
        after = _digests(target, folder)
        changed = [name for name in after if after[name] != before.get(name)]
        if set(before) != set(after) or 0 < len(changed) < len(after) or any(map(Path.exists, staging)):
            counts.torn += 1
            counts.details.append(f"{target.name}, try {number}: changed {changed} of {sorted(after)}")
        counts.losses += len(set(before) - set(after))
    _count_tracebacks(log.read_text(), counts)


def _count_tracebacks(said: str, counts: Counts) -> None:
    _, *others = said.split("Traceback")
    counts.tracebacks += len(others)
    counts.details += [f"Traceback{each[:4000]}" for each in others]


def _digests(target: Target, folder: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in target.files(folder)
        if path.is_file()
    }


def _let_the_next_command_see(target: Target, folder: Path, log: Path, counts: Counts) -> None:
    """A command that reads one of the files; which, and whether it can use it, does not matter."""
    told = len(log.read_text())
    Run.start(["check", str(target.files(folder)[-1])], log).wait()
    said = log.read_text()[told:]
    counts.completed += "complete now" in " ".join(said.split())
    counts.cleared += "left by a run that was stopped" in " ".join(said.split())


def _kill_adders(folder: Path, n_kills: int, choose: random.Random, counts: Counts) -> None:
    """Four at a time add to one library, and one of them is killed: what was added stays."""
    log, library, source = folder / "add.log", folder / "library.json", folder / "parameters.json"
    source.write_text(json.dumps({"schema": PARAMETERS_SCHEMA, "parameters": preset("high").as_dict()}))
    added: set[str] = set()
    for number in range(n_kills):
        names = [f"entry{number}x{each}" for each in range(4)]
        logs = [folder / f"{name}.log" for name in names]
        runs = {
            name: Run.start(
                ["parameters", "add", str(source), "--name", name, "--library", str(library)], log
            )
            for name, log in zip(names, logs, strict=True)
        }
        victim = choose.choice(names)
        ends = {victim: runs[victim].kill_at(lambda: (folder / STAGING).exists(), choose.uniform(0, 0.02))}
        ends |= {name: run.wait() for name, run in runs.items() if name != victim}
        counts.tries += 1
        said = "".join(path.read_text() for path in logs)
        _count_tracebacks(said, counts)
        counts.inside += (folder / STAGING).exists()
        Run.start(["parameters", "list", "--library", str(library)], log).wait()
        _count_tracebacks(log.read_text(), counts)
        log.write_text("")
        failed = [name for name, end in ends.items() if end != 0 and name != victim]
        counts.losses += len(failed)
        counts.details += [f"{name} was not added: {said}" for name in failed]
        added |= {name for name, end in ends.items() if end == 0}
        there = (
            {entry["name"] for entry in json.loads(library.read_text())["entries"]}
            if library.exists()
            else set()
        )
        counts.losses += len(added - there)
        counts.details += [f"{name} was said to be added and is gone" for name in added - there]
        added &= there


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=250)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    found = prove_writers(given.kills, given.seed)
    print(", ".join(f"{name} {count}" for name, count in found.items()))
    raise SystemExit(any(found[name] for name in ("tracebacks", "losses", "torn")))
