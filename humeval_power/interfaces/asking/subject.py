"""A subject: a group of declared commands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import click

from humeval_power.interfaces.asking.declared import Declared
from humeval_power.interfaces.asking.questions import Questions


@dataclass(frozen=True)
class Subject:
    """Commands that stand under one word.

    parts : its commands, in the order of the page; of comparisons their four questions are one part.
    """

    name: str
    help: str
    parts: tuple[Declared | Questions | click.Command, ...]
    group: type[click.Group] = click.Group

    def command(self) -> click.Group:
        """The group of the terminal."""
        group = self.group(self.name, help=self.help)
        for part in self.parts:
            for command in self._commands(part):
                group.add_command(command)
        return group

    @staticmethod
    def _commands(part: Declared | Questions | click.Command) -> Iterator[click.Command]:
        if isinstance(part, Questions):
            yield from part.commands()
        else:
            yield part.command() if isinstance(part, Declared) else part
