"""A subject: a group of commands of declared ones, with its forms."""

from __future__ import annotations

from dataclasses import dataclass

import click

from humeval_power.interfaces.asking.declared import Declared
from humeval_power.interfaces.asking.form import Form
from humeval_power.interfaces.asking.questions import Questions


@dataclass(frozen=True)
class Subject:
    """Commands that stand under one word.

    declared : its own, in the order of help.
    questions : power, mde, size and surface of its comparisons.
    questions_first : help lists them before its own.
    after : its own that stand behind the questions.
    first : commands that are not declared here, before all others.
    """

    name: str
    help: str
    declared: tuple[Declared, ...]
    questions: Questions | None = None
    questions_first: bool = False
    after: tuple[Declared, ...] = ()
    group: type[click.Group] = click.Group
    first: tuple[click.Command, ...] = ()

    def command(self) -> click.Group:
        """The group of the terminal."""
        group = self.group(self.name, help=self.help)
        own = [one.command() for one in self.declared]
        asked = [] if self.questions is None else self.questions.commands()
        for each in (*self.first, *asked, *own) if self.questions_first else (*self.first, *own, *asked):
            group.add_command(each)
        for one in self.after:
            group.add_command(one.command())
        return group

    def forms(self) -> tuple[Form, ...]:
        """Its pages: those of its own commands and of the questions."""

        def of(declared: tuple[Declared, ...]) -> tuple[Form, ...]:
            return tuple(form for one in declared if (form := one.form()) is not None)

        asked = () if self.questions is None else self.questions.forms()
        return (*of(self.declared), *asked, *of(self.after))
