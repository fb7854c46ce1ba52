"""The page under load: users who drag a slider on one server at once, as a browser does it.

Each user moves a slider once in a while and waits for the answer. Printed are the errors, the answers a second and
how long they took. Run on a quiet machine: `python benchmarks/bench_page.py --users 50 --seconds 20`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from random import Random

import httpx2 as httpx

STUDY = "preset=high&items=100&effect=0.1&ratings-per-item=3"
SETTLING = 20.0  # seconds in which the workers load the commands that nobody has asked for yet
THINKING = 1.0  # seconds between two movements of a user, on average


async def user(
    number: int, client: httpx.AsyncClient, base: str, until: float, took: list, wrong: list
) -> None:
    """Drag until the time is over."""
    random = Random(number)
    workers = random.randint(10, 60)
    while time.monotonic() < until:
        await asyncio.sleep(random.expovariate(1 / THINKING))
        workers = max(4, workers + random.choice((-2, -1, 1, 2)))
        started = time.monotonic()
        try:
            said = await client.get(
                f"{base}/live/power?{STUDY}&workers={workers}",
                headers={"X-Tab": f"user-{number}", "Accept": "application/json"},
            )
            right = said.status_code == 204 or (said.status_code == 200 and not said.json()["problems"])
        except httpx.HTTPError as error:
            wrong.append(repr(error))
            continue
        took.append(time.monotonic() - started)
        if not right:
            wrong.append(said.text[:200])


async def drag(link: str, users: int, seconds: float) -> tuple[list[float], list[str]]:
    """The seconds that answers took, and what went wrong."""
    base = re.match(r"http://[^/]+", link)[0]
    took: list[float] = []
    wrong: list[str] = []
    limits = httpx.Limits(max_connections=users)
    async with httpx.AsyncClient(follow_redirects=True, timeout=60, limits=limits) as client:
        await client.get(link)
        while "starting" in (await client.get(f"{base}/live/power?{STUDY}&workers=9")).text[:40]:
            await asyncio.sleep(0.5)
        await asyncio.sleep(SETTLING)
        until = time.monotonic() + seconds
        await asyncio.gather(*(user(number, client, base, until, took, wrong) for number in range(users)))
    return took, wrong


def main() -> None:
    """Start a server, drag, print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--users", type=int, default=50)
    options.add_argument("--seconds", type=float, default=20)
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "humeval_power.doors.terminal.main",
                "page",
                "--no-browser",
                "--folder",
                folder,
            ],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert server.stdout is not None
        try:
            link = next(
                found[0] for line in server.stdout if (found := re.search(r"http://\S+token=\S+", line))
            )
            took, wrong = asyncio.run(drag(link, asked.users, asked.seconds))
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(30)
    print(f"{asked.users} users, {asked.seconds:g} s: {len(took)} answers, {len(wrong)} errors")
    print(f"{len(took) / asked.seconds:.0f} answers a second")
    parts = statistics.quantiles(took, n=20)
    print(f"median {1000 * statistics.median(took):.0f} ms, 95 % under {1000 * parts[-1]:.0f} ms")
    for text in wrong[:5]:
        print(text)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
