"""Where the first minute after installation goes: kernels compiled by each command, and seconds.

    python benchmarks/bench_cold.py [--functions 15] [--only NAME]

Each command runs in a new process with an empty cache, then again with what the first run left. Times are the
processor's, so that other work on the machine counts little; imports are part of them. `compiled` counts
kernels and the functions of NumPy that they call. The table of functions is for `warm-up`: the seconds of each
without those of the functions it calls.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from studies import machine, print_table

SIZE = ["--preset", "high", "--workers", "6", "--items", "20", "--effect", "0.1"]
SPLIT = [*SIZE, "--ratings-per-item", "3"]
COMMANDS = {
    "help": ["--help"],
    "power, formula": ["power", *SPLIT, "--method", "analytic"],
    "power, complete": ["power", *SIZE],
    "power, simulated": ["power", *SPLIT, "--simulations", "500"],
    "fit, small table": ["fit", "TABLE"],
    "warm-up": ["warm-up", "--jobs", "1"],
}
RUN = """
import json, sys, time
started = time.process_time()
rows, open_ = [], []

def register():
    from numba.core import event
    class Watch(event.Listener):
        def on_start(self, happening):
            open_.append([time.thread_time(), 0.0])
        def on_end(self, happening):
            begun, inner = open_.pop()
            spent = time.thread_time() - begun
            if open_:
                open_[-1][1] += spent
            function = happening.data["dispatcher"].py_func
            rows.append([function.__module__.rpartition(".")[2] + "." + function.__qualname__, spent - inner])
    event.register("numba:compile", Watch())

arguments = json.loads(sys.argv[1])
if arguments != ["--help"]:
    register()
from humeval_power.interfaces.cli.main import main
try:
    main(arguments)
except SystemExit:
    pass
print("\\nMEASURED " + json.dumps({"seconds": time.process_time() - started, "rows": rows}))
"""


def measure(arguments: list[str], cache: str) -> dict[str, object]:
    """Seconds of the processor and what was compiled, of a command in a new process."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(arguments)],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    measured: dict[str, object] = json.loads(done.stdout.rpartition("MEASURED ")[2])
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--functions", type=int, default=15, help="how many functions to list")
    parser.add_argument("--only", choices=list(COMMANDS), help="one command")
    options = parser.parse_args()
    print(machine())
    table, functions = [], {}
    with tempfile.TemporaryDirectory() as folder:
        ratings = str(Path(folder, "ratings.csv"))
        measure(["simulate", *SPLIT, "--seed", "1", "-o", ratings], str(Path(folder, "simulate")))
        for name in [options.only] if options.only else COMMANDS:
            arguments = [ratings if word == "TABLE" else word for word in COMMANDS[name]]
            cache = str(Path(folder, name.replace(" ", "-")))
            cold, warm = measure(arguments, cache), measure(arguments, cache)
            rows = cold["rows"]
            compiling = sum(seconds for _, seconds in rows)
            table.append(
                [
                    name,
                    f"{cold['seconds']:.1f}",
                    f"{compiling:.1f}",
                    str(len(rows)),
                    f"{warm['seconds']:.1f}",
                ]
            )
            if name == "warm-up":
                for function, seconds in rows:
                    count, total = functions.get(function, (0, 0.0))
                    functions[function] = (count + 1, total + seconds)
    print_table(["command", "cold s", "of it compiling", "compiled", "warm s"], table)
    slowest = sorted(functions.items(), key=lambda entry: -entry[1][1])[: options.functions]
    if slowest:
        print()
        print_table(
            ["function", "times", "seconds"],
            [[name, str(count), f"{seconds:.2f}"] for name, (count, seconds) in slowest],
        )


if __name__ == "__main__":
    main()
