"""What sending blocks costs, and how far it goes: measured on local processes, on paper to 10,000 cores.

Measured: the scheduler's time for a task that does nothing, by the length of the queue; the bytes of a task and of
its result for a real surface. Simulated: a schedule of real tasks on 10 to 10,000 cores, where the client and the
scheduler handle one message after the other, each as long as was measured. Times of the scheduler are CPU seconds
of its process, so that a busy machine does not change them much.
"""

from __future__ import annotations

import argparse
import heapq
import pickle
import random
import time

from distributed import Client, LocalCluster
from null_block import nothing

from humeval_power.designs import k_per_item
from humeval_power.parameters import preset
from humeval_power.studies.power.estimate import Tally
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.sweep.blocks import Block
from humeval_power.sweep.dask_engine import DaskEngine
from humeval_power.sweep.dispatch import QUEUED, Packer

CORES = (10, 100, 1000, 10_000)
TASK_SECONDS = (1.0, 5.0, 30.0)
TASKS_EACH = 20  # for each core


def scheduler_seconds(n_tasks: int, n_workers: int) -> dict[str, float]:
    """CPU milliseconds of scheduler, client and worker together for a task, each block sent alone.

    All are threads of this process, so that its CPU time is that of all: more than the scheduler's.
    """
    blocks = [(str(place), Block(nothing, (place,), 60.0)) for place in range(n_tasks)]
    with (
        LocalCluster(
            n_workers, threads_per_worker=1, processes=False, dashboard_address=None, silence_logs=50
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        engine = DaskEngine(client)
        assert len(dict(engine.run(blocks[:20]))) == 20
        began, wall = time.process_time(), time.perf_counter()
        sent = _alone(engine, blocks)
        both = time.process_time() - began
        wall = time.perf_counter() - wall
    return {"tasks": sent, "both_ms": 1e3 * both / sent, "wall_ms": 1e3 * wall / sent}


def _alone(engine: DaskEngine, blocks: list[tuple[str, Block]]) -> int:
    """Run every block as a task of its own."""
    from humeval_power.sweep import dispatch

    together, dispatch.MOST_TOGETHER = dispatch.MOST_TOGETHER, 1
    try:
        return sum(1 for _ in engine.run(blocks))
    finally:
        dispatch.MOST_TOGETHER = together


def sizes() -> dict[str, int]:
    """Bytes of a task of a surface, of an array that travels once, and of the result of a block."""
    from humeval_power.studies.power.estimate import draw_block, tally

    study = RatingStudy(preset("high").with_difference(0.1), k_per_item(30, 200, ratings_per_item=3))
    packer = Packer()
    parcel = packer.pack([Block(draw_block, (study, 1, n * 2048, 2048)) for n in range(5)])
    found = study.draw(64, seed=1)
    counted: Tally = tally(found, alpha=0.05, true_effect=0.1)
    arrays = sum(array.nbytes for array in packer.arrays.values())
    return {"task": len(parcel.content), "arrays": arrays, "result": len(pickle.dumps(counted))}


def efficiency(cores: int, task_seconds: float, message_seconds: float, *, seed: int = 1) -> float:
    """Share of the time that cores compute, on a simulated schedule.

    Tasks take between half and one and a half times `task_seconds`. One server handles a message for each
    task that ends, one after the other; a core has QUEUED tasks, of which it computes one while the other waits.
    """
    choose = random.Random(seed)
    n_tasks = TASKS_EACH * cores
    ends = []  # (time of an end, core)
    sent, server, busy = 0, 0.0, 0.0
    waiting = [0] * cores
    free_since = [0.0] * cores
    for _ in range(QUEUED):
        for core in range(cores):
            server += message_seconds
            sent += 1
            waiting[core] += 1
            if waiting[core] == 1 and free_since[core] == 0.0:
                length = task_seconds * choose.uniform(0.5, 1.5)
                busy += length
                heapq.heappush(ends, (server + length, core))
                free_since[core] = -1.0
                waiting[core] = 0
    arrivals: list[tuple[float, int]] = []
    last = 0.0
    while ends or arrivals:
        if arrivals and (not ends or arrivals[0][0] <= ends[0][0]):
            now, core = heapq.heappop(arrivals)
            waiting[core] += 1
        else:
            now, core = heapq.heappop(ends)
            last = now
            free_since[core] = now
            if sent < n_tasks:
                server = max(server, now) + message_seconds
                sent += 1
                heapq.heappush(arrivals, (server, core))
        if free_since[core] >= 0 and waiting[core]:
            waiting[core] -= 1
            length = task_seconds * choose.uniform(0.5, 1.5)
            busy += length
            free_since[core] = -1.0
            heapq.heappush(ends, (now + length, core))
    return busy / (cores * last)


def main() -> None:
    """Print the tables of docs/sweeps.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=2000)
    parser.add_argument(
        "--message-ms", type=float, help="Take this for a task's overhead, measure nothing."
    )
    given = parser.parse_args()
    for name, count in sizes().items():
        print(f"bytes of {name:8} {count:>9,}")
    message = given.message_ms
    if message is None:
        measured = scheduler_seconds(given.tasks, 2)
        message = measured["both_ms"]
        print(
            f"{measured['tasks']:,.0f} tasks of nothing: {message:.2f} ms CPU of scheduler, client and worker"
        )
        print(f"together for each, {measured['wall_ms']:.2f} ms on the clock")
    print("cores   " + "".join(f"{f'tasks of {seconds:g} s':>16}" for seconds in TASK_SECONDS))
    for cores in CORES:
        shares = [efficiency(cores, seconds, message / 1e3) for seconds in TASK_SECONDS]
        print(f"{cores:<8,}" + "".join(f"{share:>16.0%}" for share in shares))


if __name__ == "__main__":
    main()
