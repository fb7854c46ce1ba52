"""Options that say how exports are read, and name the files of an assignment: who sees what when, the key of its
codes, and who withdrew."""

from __future__ import annotations

from dataclasses import dataclass

import click

from humeval_power.checking.exports.assigned import Assigned, Key
from humeval_power.interfaces.cli.options import Function, collected, decorated
from humeval_power.interfaces.formats.assigned import read_assignment, read_key, read_withdrawn
from humeval_power.interfaces.formats.exports.platforms import PLATFORMS


@dataclass(frozen=True, slots=True)
class FieldFiles:
    """What the files of an assignment hold; None for those that were not given."""

    assignment: Assigned | None
    key: Key | None
    withdrawn: tuple[str, ...]


_OPTIONS = (
    click.option(
        "--assignment",
        metavar="FILE",
        multiple=True,
        help="The table that 'assign' wrote, and again for each that a spare was given.",
    ),
    click.option("--key", metavar="FILE", help="What its codes stand for: the key that 'assign' wrote."),
    click.option(
        "--withdrawn",
        metavar="FILE",
        help="Workers who took their consent back, an id a line: all that they gave is left out.",
    ),
)


_EXPORTS = (
    click.option("--map", "mapping", metavar="FILE", help="The mapping that --draft wrote, edited. [none]"),
    click.option(
        "--from",
        "platform",
        type=click.Choice([one.name for one in PLATFORMS]),
        metavar="NAME",
        help=f"Whose export it is: {', '.join(one.name for one in PLATFORMS)}. [told from its content]",
    ),
)


def export_options(command: Function) -> Function:
    """Add the options that say how exports are read."""
    return decorated(command, _EXPORTS)


def field_options(command: Function) -> Function:
    """Add the options; the command gets what their files hold as `field: FieldFiles`."""
    return collected(command, _OPTIONS, name="field", collect=_read)


def _read(values: dict[str, object]) -> FieldFiles:
    paths, key, withdrawn = (values.pop(name) for name in ("assignment", "key", "withdrawn"))
    assert isinstance(paths, tuple)
    return FieldFiles(
        read_assignment(*paths) if paths else None,
        None if key is None else read_key(str(key)),
        () if withdrawn is None else read_withdrawn(str(withdrawn)),
    )
