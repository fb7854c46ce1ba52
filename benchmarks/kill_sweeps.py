"""Kill a sweep with SIGKILL again and again and let the same command go on: the same bytes as without kills.

Each try runs a real command with an output in a process of its own and kills it at a random moment, most while it
computes, some while it begins or writes its answer. When it has ended by itself, its output is compared with that
of a run that nobody disturbed, the folder of its unfinished work must be gone, and the next question begins.
`prove_sweeps` counts kills, answers, tracebacks, refusals (a run that did not go on), losses (blocks that were
kept and are not any more) and answers with other bytes: the last four are 0.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from humeval_power.doors.terminal.main import main as program
from humeval_power.files import file_sets
from humeval_power.files import file_sets as partial_folder
from humeval_power.files.file_sets import BLOCKS, QUESTION, partial_of
from humeval_power.sweep.versions import versions_here

OUTPUT = "s.json"


@dataclass
class Counts:
    """What happened; `kept` are the kills that left a folder to go on from."""

    kills: int = 0
    kept: int = 0
    answers: int = 0
    tracebacks: int = 0
    refusals: int = 0
    losses: int = 0
    other_bytes: int = 0
    details: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, int]:
        """The counts by name."""
        return {name: value for name, value in vars(self).items() if isinstance(value, int)}


def words_of(number: int, n_simulations: int) -> list[str]:
    """A command of 15 cells of blocks of 2,048 simulations; another question for each number."""
    size = ["--workers", "4:8:1", "--items", "20,30,40"]
    how = ["--effect", "0.1", "--simulations", str(n_simulations), "--seed", str(number), "--jobs", "1"]
    return ["surface", "--preset", "high", *size, *how, "-o", OUTPUT]


def start(words: list[str], folder: Path) -> int:
    """The command in a process of its own, forked off so that it starts at once; its words go to a log."""
    process = os.fork()
    if process:
        return process
    code = 70
    try:
        os.chdir(folder)
        for stream in (1, 2):
            os.dup2(os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
        partial_folder.PATIENCE = file_sets.SAVE_EVERY = 0.0  # every block is saved, so that most kills hit
        sys.argv[1:] = words
        program(words, standalone_mode=True)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)


def ended(process: int) -> int:
    """Its exit code, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def killed(process: int, delay: float) -> int:
    """The same after a kill, unless it ends before."""
    deadline = time.monotonic() + delay
    while time.monotonic() < deadline:
        if os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return ended(process)
        time.sleep(0.002)
    os.kill(process, signal.SIGKILL)
    return ended(process)


def blocks_in(folder: Path) -> int:
    """How many finished blocks are kept; what a killed run had begun to save is undone on a copy. Without the
    question, which is written last, none of them counts."""
    place = partial_of(folder / OUTPUT)
    if not (place / BLOCKS).exists() or not (place / QUESTION).exists():
        return 0
    with tempfile.TemporaryDirectory() as name:
        for path in place.iterdir():
            shutil.copy(path, name)
        with closing(sqlite3.connect(Path(name, BLOCKS))) as file:
            try:
                return int(file.execute("SELECT count(*) FROM blocks").fetchone()[0])
            except sqlite3.OperationalError:  # killed before its tables were there
                return 0


def prove_sweeps(n_kills: int, seed: int, n_simulations: int) -> dict[str, int]:
    """Kill sweeps `n_kills` times; the counts by name."""
    counts, choose = Counts(), random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        _load(Path(name, "load.json"))
        number = 0
        while counts.kills < n_kills:
            number += 1
            _one_question(Path(name), words_of(number, n_simulations), number, n_kills, choose, counts)
    for line in counts.details:
        print(line)
    return counts.as_dict()


def _load(output: Path) -> None:
    """Have in this process all that the command needs, so that those that are forked off compute at once."""
    with suppress(SystemExit):
        program([*words_of(0, 10)[:-1], str(output), "--quiet"], standalone_mode=True)
    assert output.exists()
    versions_here()


def _one_question(
    root: Path, words: list[str], number: int, n_kills: int, choose: random.Random, counts: Counts
) -> None:
    """Run one command undisturbed, and again with kills until it has ended."""
    folders = [root / f"plain{number}", root / f"killed{number}"]
    for folder in folders:
        folder.mkdir()
    plain, disturbed = folders
    began = time.monotonic()
    assert ended(start(words, plain)) == 0, (plain / "log").read_text()
    whole = time.monotonic() - began
    before = 0
    while True:
        process = start(words, disturbed)
        delay = choose.uniform(0.0, whole / 2) if counts.kills < n_kills else 1e9
        code = killed(process, delay)
        log = (disturbed / "log").read_text()
        if code != -signal.SIGKILL:
            break
        counts.kills += 1
        if (disturbed / OUTPUT).exists():  # killed between the answer and its end
            break
        now = blocks_in(disturbed)
        counts.kept += now > 0
        if now < before:
            counts.losses += 1
            counts.details.append(f"question {number}: {before} blocks were kept, then {now}")
        before = now
    counts.answers += 1
    counts.tracebacks += "Traceback" in log
    if code not in (0, -signal.SIGKILL) or "Error" in log:
        counts.refusals += 1
        counts.details.append(f"question {number}: exit code {code}\n{log}")
    elif (plain / OUTPUT).read_bytes() != (disturbed / OUTPUT).read_bytes():
        counts.other_bytes += 1
        counts.details.append(f"question {number}: other bytes")
    if code == 0 and partial_of(disturbed / OUTPUT).exists():
        counts.losses += 1
        counts.details.append(f"question {number}: the folder of unfinished work is still there")


def main() -> None:
    """Print the counts as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--simulations", type=int, default=30_000)
    options = parser.parse_args()
    print(json.dumps(prove_sweeps(options.kills, options.seed, options.simulations)))


if __name__ == "__main__":
    main()
