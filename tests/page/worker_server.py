"""A server with workers: a job that has started a process of its own runs, and their numbers are printed."""

import asyncio
import json
import signal
import sys

import page_runs

from humeval_power.doors.page.answers import Work
from humeval_power.doors.page.working.jobs import Workers


async def serve(output: str) -> None:
    workers = Workers(page_runs.fake, n_live=1, warm=(Work(("say", "hallo")),), later=(), kernels=False)
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    await workers.start()
    answer = await workers.live(Work(("say", "hallo")), "tab")
    assert answer is not None
    job = workers.job("key", Work(("count_with_child",), output=output))
    while job.progress is None or not job.progress.share:
        await job.news(20)
    print(json.dumps([*workers.pids, int(job.progress.what)]), flush=True)
    await ended.wait()
    await workers.close()


asyncio.run(serve(sys.argv[1]))
