"""Every command with long simulations is lists of blocks: computed anywhere in any order, interrupted, once."""

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from cases import few_fast
from cli import run

from humeval_power.files import file_sets
from humeval_power.files import file_sets as partial_folder
from humeval_power.sweep.blocks import Block, digest_of, sweeping

ROOT = Path(__file__).parents[2]
PILOT = ROOT / "data" / "pilot.csv"
OWN = f"{ROOT / 'examples' / 'own_scenario.py'}:make"
DRAWN = "--seed 3 --simulations"
PRICES = "--cost-per-rating 0.12 --cost-per-worker 3"
PLAN = f"plan {PILOT} --scale 1:5 --effect 0.15 --items 20:60:20 --max-workers 20 {PRICES}"

# name: a command, and how many blocks it has at least
SWEEPS = {
    "power": (f"power --preset low --workers 6 --items 24 --effect 0.1 {DRAWN} 5000", 3),
    "power, calibrated": (
        f"power --preset low --workers 6 --items 24 --effect 0.1 --df calibrated {DRAWN} 100",
        6,
    ),
    "power, systems": (
        f"power --preset low --workers 6 --items 24 --n-systems 4 --effect 0.1 {DRAWN} 2100",
        2,
    ),
    "mde": (f"mde --preset low --workers 6 --items 24 --method simulate {DRAWN} 5000", 3),
    "size": (f"size --preset low --find items --workers 10 --effect 0.1 {DRAWN} 3000", 2),
    "surface": (f"surface --preset low --workers 4,6 --items 24 --effect 0.1,0.2 {DRAWN} 3000", 4),
    "calibrate": (f"calibrate --preset low --workers 4 --items 20 {DRAWN} 1200", 3),
    "calibrate a calibrated rule": (
        f"calibrate --preset low --workers 4 --items 20 --df calibrated {DRAWN} 600",
        7,
    ),
    "plan": (f"{PLAN} {DRAWN} 2100", 2),
    "plan, looks": (f"{PLAN} --looks 2 {DRAWN} 300", 10),
    "looks study": (f"looks study --preset high --workers 6 --items 24 --effect 0.2 {DRAWN} 9000", 6),
    "looks accuracy": (f"looks accuracy --n 300 --effect 0.05 --agreement 0.8 {DRAWN} 100", 3),
    "looks preference": (f"looks preference --n 200 --effect 0.1 {DRAWN} 200", 3),
    "looks scores": (f"looks scores --n 200 --effect 0.2 {DRAWN} 200", 3),
    "looks pool": (f"looks pool --simulated 3 {DRAWN} 20", 6),
    "resample": (f"resample {PILOT} --scale 1:5 --shift 0.08 --tests mann-whitney {DRAWN} 150", 1),
    "compare surface": (
        f"compare surface --n 40,60 --effect 0.05 --sd-difference 0.2 --method simulate {DRAWN} 200",
        2,
    ),
    "accuracy power": (f"accuracy power --n 500 --effect 0.02 --agreement 0.9 {DRAWN} 2100", 2),
    "preference surface": (
        f"preference surface --n 50,100 --effect 0.1 --method simulate {DRAWN} 200",
        2,
    ),
    "corpus power": (f"corpus power --n 300 --effect 1 {DRAWN} 200", 1),
    "assessment power": (f"assessment power --n 600 --effect 2 {DRAWN} 200", 1),
    "scenario surface": (f"scenario {OWN} surface --n 40,60 --effect 0.2 {DRAWN} 200", 2),
    "fit, intervals": (f"fit {PILOT} --scale 1:5 --intervals bootstrap {DRAWN} 1100", 2),
    "fit, bootstrap": (f"fit {PILOT} --scale 1:5 --df bootstrap {DRAWN} 2000", 1),
}

LONG = (
    "power, systems",
    "looks study",
    "fit, intervals",
    "plan, looks",
    "looks pool",
    "looks scores",
    "size",
    "plan",
    "fit, bootstrap",
    "assessment power",
)


class Elsewhere:
    """Computes blocks as other processes would: from their pickles, the last first, by one thread."""

    def __init__(self) -> None:
        self.sent: dict[str, bytes] = {}

    def run(self, blocks: Sequence[tuple[str, Block]]) -> Iterator[tuple[str, Any]]:
        for key, block in reversed(blocks):
            self.sent[key] = pickle.dumps(block)
            assert pickle.loads(self.sent[key]).arguments is not block.arguments
            result = pickle.dumps(pickle.loads(self.sent[key]).run())
            assert len(result) < 1_000_000
            yield key, pickle.loads(result)


class Interrupted:
    """Computes so many blocks, and is stopped then."""

    def __init__(self, after: int) -> None:
        self.left = after

    def run(self, blocks: Sequence[tuple[str, Block]]) -> Iterator[tuple[str, Any]]:
        for key, block in blocks:
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
            yield key, block.run()


class Kept:
    """A store in memory."""

    def __init__(self) -> None:
        self.results: dict[str, Any] = {}

    def get(self, key: str) -> Any | None:
        return self.results.get(key)

    def put(self, key: str, result: Any) -> None:
        assert result is not None
        self.results[key] = result


@pytest.fixture(autouse=True)
def _in_a_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["humeval-power"])


def answer(command: str) -> str:
    found = run(*command.split(), "--json")
    return found.stdout


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in SWEEPS]
)
def test_blocks_computed_elsewhere_and_after_an_interruption_give_the_same_bytes(name):
    command, n_blocks = SWEEPS[name]
    plain = answer(command)
    engine, store = Elsewhere(), Kept()
    with sweeping(engine, store):
        assert answer(command) == plain
    assert len(engine.sent) >= n_blocks
    assert set(store.results) == set(engine.sent), "an argument has no digest"
    half = len(store.results) // 2
    begun = Kept()
    with sweeping(Interrupted(half), begun):
        assert run(*command.split(), "--json", code=None).exit_code != 0
    assert len(begun.results) == half
    with sweeping(store=begun) as sweep:
        assert answer(command) == plain
    assert sweep.n_kept >= half
    assert set(begun.results) == set(store.results)
    assert [digest_of(pickle.loads(content)) for content in engine.sent.values()] == list(engine.sent)


DIGESTS = """
import pickle, sys
from humeval_power.sweep.blocks import digest_of
for content in pickle.load(open(sys.argv[1], "rb")):
    print(digest_of(pickle.loads(content)))
"""


@pytest.mark.slow
@few_fast("hash_seed", ["1", "2"])
def test_blocks_have_the_same_digests_in_another_process(tmp_path, hash_seed):
    keys, sent = [], []
    for name in ("power, systems", "surface", "calibrate", "looks study", "looks pool", "resample"):
        engine = Elsewhere()
        with sweeping(engine):
            answer(SWEEPS[name][0])
        keys += engine.sent
        sent += engine.sent.values()
    (tmp_path / "sent").write_bytes(pickle.dumps(sent))
    found = subprocess.run(
        [sys.executable, "-c", DIGESTS, str(tmp_path / "sent")],
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.split() == keys


@pytest.mark.long
@few_fast("name", ["calibrate", "scenario surface", "looks study", "plan, looks"], fast=2)
def test_a_command_stopped_by_ctrl_c_goes_on_to_the_same_bytes(name, monkeypatch):
    monkeypatch.setattr(partial_folder, "PATIENCE", 0.0)
    monkeypatch.setattr(file_sets, "SAVE_EVERY", 0.0)
    words = SWEEPS[name][0].split()
    run(*words, "-o", "answer.json")
    plain = Path("answer.json").read_bytes()
    Path("answer.json").unlink()
    compute = Block.run
    computed = []

    def stopped(block: Block, n_jobs: int = 1) -> Any:
        if len(computed) == 1:
            raise KeyboardInterrupt
        computed.append(block)
        return compute(block, n_jobs)

    with monkeypatch.context() as patched:
        patched.setattr(Block, "run", stopped)
        said = run(*words, "-o", "answer.json", code=130).stderr
    assert "kept in .answer.json.partial" in " ".join(said.split())
    assert not Path("answer.json").exists()
    again = run(*words, "-o", "answer.json")
    assert "Going on where an earlier run was stopped" in again.stderr
    assert Path("answer.json").read_bytes() == plain
    assert os.listdir() == ["answer.json"]
