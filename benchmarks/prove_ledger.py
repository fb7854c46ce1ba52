"""Kill `humeval-power monitor` at random moments, 200 times: the ledger must stay whole, and no forgery may pass.

Each round goes on with the study: the look that is due is taken by a process that is killed (SIGKILL) after a
random time; now and then one is let finish. After every kill the ledger is read: its chain must hold, no look
may be there twice, or be gone that was there before, and the secret that it names must be on the disk. Then each
of its lines is changed and the chain sealed anew without the secret, in every way that one can: the seals by the
secret left out, kept from before, or made with another secret. Every one must be refused.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd

from humeval_power.designs import crossed
from humeval_power.errors import InputError
from humeval_power.scales import RatingScale
from humeval_power.simulation.study import simulate
from humeval_power.studies.monitor.files import (
    LedgerEntry,
    StudySecret,
    check_secret_seals,
    read_ledger,
    read_secret,
    sealed_line,
)
from humeval_power.studies.power.files import preset

PROGRAM = [sys.executable, "-m", "humeval_power.doors.terminal.main"]
N_ITEMS, N_LOOKS = 40, 20


def main(kills: int, seed: int) -> None:
    choose = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = prepare(folder)
        command = [*PROGRAM, "monitor", "so_far.csv", "--plan", "plan.json", "--scale=-1:2", "-q"]
        before: tuple[LedgerEntry, ...] = ()
        in_the_write = losses = forged = passed = 0
        for _ in range(kills):
            done = sum(entry.kind == "look" for entry in before)
            if done == N_LOOKS - 1:
                (folder / "plan.looks.jsonl").unlink()
                (folder / "plan.looks.secret").unlink()
                before, done = (), 0
            part(table, done + 1).to_csv(folder / "so_far.csv", index=False)
            process = subprocess.Popen(
                command, cwd=folder, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
            )
            wait_for_the_write(process, folder, choose)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            after = read_ledger(folder / "plan.looks.jsonl")
            for loss in losses_between(before, after, folder):
                losses += 1
                print(f"LOSS: {loss}.")
            tried, slipped = forgeries(after, folder)
            forged, passed = forged + tried, passed + slipped
            in_the_write += len(after) > len(before)
            before = after
    print(f"{kills} kills, {losses} losses; in {in_the_write} the look was on the disk already.")
    print(f"{forged} forgeries, {passed} of them not noticed.")
    sys.exit(1 if losses or passed else 0)


def forgeries(entries: tuple[LedgerEntry, ...], folder: Path) -> tuple[int, int]:
    """How many lines were changed with the chain sealed anew, and how many of them pass as the study's."""
    secret = read_secret(folder / "plan.looks.secret")
    if not entries or secret is None:
        return 0, 0
    check_secret_seals(entries, secret, "ledger")
    tried = passed = 0
    for row in range(len(entries)):
        for another in (None, StudySecret(bytes(32))):
            for kept in (False, True):
                chain: list[LedgerEntry] = []
                for entry in entries:
                    content = (
                        {**entry.content, "forged": True} if entry.number == row + 1 else entry.content
                    )
                    before = chain[-1] if chain else None
                    made = sealed_line(entry.kind, content, before, secret=another)[1]
                    chain.append(replace(made, hmac=entry.hmac) if kept or entry.number <= row else made)
                tried += 1
                try:
                    check_secret_seals(chain, secret, "ledger")
                    passed += 1
                except InputError:
                    continue
    return tried, passed


def losses_between(
    before: tuple[LedgerEntry, ...], after: tuple[LedgerEntry, ...], folder: Path
) -> list[str]:
    """What a kill has lost or doubled."""
    found = []
    looks = [sum(entry.kind == "look" for entry in entries) for entries in (before, after)]
    if after[: len(before)] != before:
        found.append("an earlier line is gone or changed")
    if looks[1] > looks[0] + 1:
        found.append("a look is there twice")
    secret = read_secret(folder / "plan.looks.secret")
    if after and (secret is None or secret.fingerprint != after[0].content["secret"]):
        found.append("the ledger names a secret that is not there")
    return found


def prepare(folder: Path) -> pd.DataFrame:
    """A plan with twenty looks, and the ratings of its study."""
    words = (
        f"--preset low --effect 0.05 --items {N_ITEMS} --workers 6 --ratings-per-item 6 --cost-per-rating 1"
    )
    words += f" --looks {N_LOOKS} --simulations 20 -q -o plan.json"
    subprocess.run([*PROGRAM, "plan", *words.split()], cwd=folder, check=False, stdout=subprocess.DEVNULL)
    parameters = preset("low").with_difference(0.0)
    return simulate(parameters, crossed(6, N_ITEMS), seed=4).to_frame(RatingScale(0, 1))


def part(table: pd.DataFrame, looks: int) -> pd.DataFrame:
    return table[table["item"].isin(sorted(table["item"].unique())[: looks * N_ITEMS // N_LOOKS])]


def wait_for_the_write(process: subprocess.Popen[bytes], folder: Path, choose: random.Random) -> None:
    """Half of the kills come at any time, half within milliseconds of the ledger's first growth."""
    if choose.random() < 0.5:
        time.sleep(choose.uniform(0.2, 3.0))
        return
    ledger = folder / "plan.looks.jsonl"
    size = ledger.stat().st_size if ledger.exists() else 0
    while process.poll() is None and (ledger.stat().st_size if ledger.exists() else 0) == size:
        time.sleep(0.0002)
    time.sleep(choose.uniform(0.0, 0.002))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    main(chosen.kills, chosen.seed)
