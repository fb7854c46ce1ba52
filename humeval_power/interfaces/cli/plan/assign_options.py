"""Options of `humeval-power assign`: the size of the study, and how its work is laid out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from humeval_power.choices import MAX_RATE
from humeval_power.interfaces.asking.options import field_option
from humeval_power.interfaces.cli.numbers import RealNumber
from humeval_power.interfaces.cli.options import Function, decorated
from humeval_power.interfaces.cli.plan.options import amend_option, plan_option
from humeval_power.interfaces.cli.study.options import DOCUMENT_OPTIONS

if TYPE_CHECKING:
    from humeval_power.reporting.plan.assignment import Takeover


def _takeovers(
    _ctx: click.Context, _option: click.Parameter, texts: tuple[str, ...]
) -> tuple[Takeover, ...]:
    """(spare, slot, first batch) for each --replace."""
    found = []
    for text in texts:
        spare, _, rest = text.partition("=")
        slot, colon, batch = rest.partition(":")
        if not spare or not slot or (colon and not batch.isdecimal()):
            raise click.BadParameter(f"write SPARE=SLOT such as r01=w07, or r01=w07:3; got {text!r}.")
        found.append((spare.strip(), slot.strip(), int(batch or 1)))
    for what, names in (("spare", [spare for spare, _, _ in found]), ("slot", [s for _, s, _ in found])):
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise click.BadParameter(f"the {what} {twice!r} is named twice.")
    return tuple(found)


_SIZE_OPTIONS = (
    plan_option,
    amend_option,
    field_option("workers", help="Number of workers, where there is no plan."),
    field_option("items"),
    field_option("n_systems", help="Number of systems. [2, or those of --systems]"),
    field_option("ratings_per_item"),
    field_option(
        "paired",
        usual=None,
        help="Whether the same worker sees an item under all systems, or other workers under each as far as "
        "there are enough. [paired]",
    ),
    field_option("design", "kind"),
    field_option(
        "max_ratings_per_worker", help="Most that a worker may be shown, with repeats and checks."
    ),
    *DOCUMENT_OPTIONS,
    click.option(
        "--documents-together/--documents-spread",
        "together",
        default=False,
        help="Give a document to a worker as a whole, its items one after the other in their order; or deal "
        "its items one by one. [spread]",
    ),
)
_TABLE_OPTIONS = (
    field_option(
        "systems",
        metavar="A,B,...",
        help="Names of the systems, which also say how many there are. [A,B,...]",
    ),
    click.option("--item-names", metavar="FILE", help="Names of the items, one per line. [i01, i02, ...]"),
    field_option("batch_size"),
    field_option("order"),
    click.option(
        "--checks",
        type=RealNumber(0, MAX_RATE),
        help="Attention checks, as a share of each worker's ratings. [the plan's, else 0]",
    ),
    click.option(
        "--repeats",
        type=RealNumber(0, MAX_RATE),
        help="Outputs to show once more, as a share of each worker's ratings. [the plan's, else 0]",
    ),
    field_option("replacements"),
    click.option(
        "--replace",
        "takeovers",
        metavar="SPARE=SLOT",
        multiple=True,
        callback=_takeovers,
        help="Give only what this spare does for this slot: r01=w07, or r01=w07:3 from batch 3 on; "
        "repeatable.",
    ),
    field_option(
        "key",
        metavar="PATH",
        help="Write what the codes stand for here, and only here; or use the key of this study that is here.",
    ),
)


def size_options(command: Function) -> Function:
    """Add the options that say how large the study is: a plan, or its counts."""
    return decorated(command, _SIZE_OPTIONS)


def assignment_options(command: Function) -> Function:
    """Add the options of the table: names, batches, order, checks, repeats, replacements, key."""
    return decorated(command, _TABLE_OPTIONS)
