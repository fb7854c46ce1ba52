"""Options of `humeval-power assign`: the size of the study, and how its work is laid out."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import click

from humeval_power.choices import DESIGN_KINDS, MAX_RATE, PresentationOrder
from humeval_power.interfaces.cli.numbers import RealNumber, WholeNumber
from humeval_power.interfaces.cli.options import Function, decorated
from humeval_power.interfaces.cli.plan.options import amend_option, plan_option
from humeval_power.interfaces.cli.study.options import DOCUMENT_OPTIONS
from humeval_power.interfaces.cli.systems_options import MOST_SYSTEMS, names_of

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
    click.option("--workers", type=WholeNumber(), help="Number of workers, where there is no plan."),
    click.option("--items", type=WholeNumber(), help="Number of items."),
    click.option(
        "--n-systems",
        type=WholeNumber(min=2, largest=MOST_SYSTEMS),
        help="Number of systems. [2, or those of --systems]",
    ),
    click.option(
        "--ratings-per-item",
        type=WholeNumber(min=1),
        help="Ratings of each item under each system. [every worker rates every item]",
    ),
    click.option(
        "--paired/--unpaired",
        default=None,
        help="Whether the same worker sees an item under all systems, or other workers under each as far as "
        "there are enough. [paired]",
    ),
    click.option(
        "--design",
        "kind",
        type=click.Choice([kind for kind in DESIGN_KINDS if kind not in ("k-per-item", "split")]),
        help="A nested or counterbalanced design. [crossed, or k per item]",
    ),
    click.option(
        "--max-ratings-per-worker",
        type=WholeNumber(min=1),
        help="Most that a worker may be shown, with repeats and checks.",
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
    click.option(
        "--systems",
        metavar="A,B,...",
        callback=names_of,
        help="Names of the systems, which also say how many there are. [A,B,...]",
    ),
    click.option("--item-names", metavar="FILE", help="Names of the items, one per line. [i01, i02, ...]"),
    click.option("--batch-size", type=WholeNumber(min=1), help="Most ratings in a batch. [one batch each]"),
    click.option(
        "--order",
        type=click.Choice(get_args(PresentationOrder)),
        default="random",
        show_default=True,
        help="Show the outputs of an item far apart in a batch (two half a batch, K a K-th of it), or one after "
        "the other.",
    ),
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
    click.option(
        "--replacements",
        type=WholeNumber(min=0, largest=100_000),
        default=0,
        help="Spare slots r01, r02, ... for workers who drop out.",
    ),
    click.option(
        "--replace",
        "takeovers",
        metavar="SPARE=SLOT",
        multiple=True,
        callback=_takeovers,
        help="Give only what this spare does for this slot: r01=w07, or r01=w07:3 from batch 3 on; "
        "repeatable.",
    ),
    click.option(
        "--key",
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
