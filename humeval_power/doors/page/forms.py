"""All pages that ask a command, by its words: from the commands themselves."""

from __future__ import annotations

from collections.abc import Iterator

import click

from humeval_power.asking.form import Form
from humeval_power.doors.terminal.main import main


def _forms(group: click.Group) -> Iterator[Form]:
    """The forms of the commands of a group."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        form: Form | None = getattr(command, "form", None)
        if form is not None:
            yield form
        if isinstance(command, click.Group):
            yield from _forms(command)


FORMS: dict[tuple[str, ...], Form] = {form.command: form for form in _forms(main)}
