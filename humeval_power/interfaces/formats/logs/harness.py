"""What the program knows of a harness: its name, how its logs are told, and how they are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from humeval_power.checking.logs.log import Log
from humeval_power.choices import HarnessName
from humeval_power.interfaces.formats.logs.raw import RawLog


class Harness(NamedTuple):
    """A program that evaluates models and logs every sample.

    known_by : why a file is a log of it; None where it is none.
    read : the logs in a file that is known, one for each system and task.
    """

    name: HarnessName
    title: str
    known_by: Callable[[RawLog], str | None]
    read: Callable[[RawLog, str], list[Log]]
