"""A budget of CPU time for tests that are not marked slow: `pytest --cpu-budget 2`.

A test above it, with its child processes and without fixtures that it shares with others, is run again alone
when all are done, twice in one process: the second time, imports and kernels are loaded. It fails the run only
where it is above the budget there too. So a busy machine fails nothing, and no test grows slow unseen.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from math import inf
from typing import Any, NamedTuple

import cases
import pytest
from _pytest.runner import runtestprotocol

EXEMPT = ("slow", "r")
ALONE = "HUMEVAL_TESTS_ALONE"


class Reading(NamedTuple):
    """CPU seconds of this process and its children that ended, those of shared fixtures, and tried cases."""

    seconds: float
    shared: float
    n_cases: int


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cpu-budget",
        type=float,
        metavar="SECONDS",
        help="fail if a test that is not marked slow takes more CPU seconds than this, run alone too",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Budget(config), "cpu-budget-of-tests")


class Budget:
    """Measures where tests run, and judges where their reports arrive."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.budget: float | None = config.getoption("--cpu-budget")
        self.shared = 0.0
        self.began = Reading(0.0, 0.0, 0)
        self.n_cases = 0
        self.above: dict[str, float] = {}
        self.again: dict[str, float] = {}

    def now(self) -> Reading:
        times = os.times()
        seconds = times.user + times.system + times.children_user + times.children_system
        return Reading(seconds, self.shared, cases.n_tried)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[Any]:
        """Count apart what a fixture costs that several tests share."""
        began = self.now()
        result = yield
        if fixturedef.scope != "function":
            self.shared = began.shared + self.now().seconds - began.seconds
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        if ALONE in os.environ:
            runtestprotocol(item, log=False, nextitem=None)
            item.user_properties.clear()
        self.began = self.now()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[Any]:
        """The last test of a file also ends what the others shared: that is not counted."""
        before = self.now()
        result = yield
        last = nextitem is None or nextitem.path != item.path
        found = before if last else self.now()
        seconds = found.seconds - self.began.seconds - (found.shared - self.began.shared)
        item.user_properties.append(("cases", max(1, found.n_cases - self.began.n_cases)))
        if not any(item.get_closest_marker(name) for name in EXEMPT):
            item.user_properties.append(("cpu_seconds", seconds))
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Where reports arrive: in this process, from here or from the workers of xdist."""
        if report.when != "teardown":
            return
        noted = dict(report.user_properties)
        self.n_cases += int(noted.get("cases", 0))
        seconds = float(noted.get("cpu_seconds", 0.0))
        if ALONE in os.environ:
            print(f"\n{ALONE}={seconds:.2f}")
        elif self.budget is not None and seconds > self.budget:
            self.above[report.nodeid] = seconds

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if hasattr(self.config, "workerinput"):
            return
        for name in self.above:
            self.again[name] = self.alone(name)
        if exitstatus == pytest.ExitCode.OK and self.too_slow:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def alone(self, name: str) -> float:
        """CPU seconds of one test in a process of its own, where nothing has to be loaded."""
        words = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-s",
            *("-p", "no:xdist"),
            *("-p", "no:cacheprovider"),
        ]
        done = subprocess.run(
            [*words, name],
            cwd=self.config.rootpath,
            env={**os.environ, ALONE: "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        found = re.search(rf"^{ALONE}=([\d.]+)", done.stdout, re.MULTILINE)
        return float(found[1]) if found and done.returncode == 0 else inf

    @property
    def too_slow(self) -> list[str]:
        return [name for name, seconds in self.again.items() if self.budget and seconds > self.budget]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.n_cases:
            terminalreporter.write_line(f"{self.n_cases:,} cases, those within a test counted.")
        if not self.above:
            return
        terminalreporter.section(f"above {self.budget:g} CPU seconds, children included")
        for name, seconds in sorted(self.above.items(), key=lambda one: -one[1]):
            end = ": make it faster, or mark it slow beside a fast one" if name in self.too_slow else ""
            terminalreporter.write_line(f"{seconds:6.1f} s, alone {self.again[name]:.1f} s  {name}{end}")
