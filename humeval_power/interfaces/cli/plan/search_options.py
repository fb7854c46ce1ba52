"""Options of `humeval-power plan`: what may vary, what is spent, how sure it must be, what the plan says."""

from __future__ import annotations

from typing import Any

from humeval_power.choices import LARGEST_COUNT
from humeval_power.fields import whole
from humeval_power.interfaces.asking.options import field_option
from humeval_power.interfaces.cli.exclusion_options import exclude_if_option
from humeval_power.interfaces.cli.options import Function, collected, date_option

_LIMITS = (
    field_option("budget"),
    field_option("spend_budget"),
    field_option("workers_range", "workers"),
    field_option("max_workers"),
    field_option("items_range", "items", required=True),
    field_option("documents_range", "documents"),
    field_option("max_documents"),
    field_option("ratings_per_item_range", "ratings_per_item"),
    field_option(
        "max_ratings_per_worker", kind=whole(1, largest=LARGEST_COUNT), help="What a worker can be asked."
    ),
    field_option("pairing"),
)
_CAUTION = tuple(map(field_option, ("robust", "confidence", "safe")))
_STATED = (
    field_option("question"),
    field_option("exclusions"),
    exclude_if_option("Leave out workers in the analysis by these rules, sealed with the plan"),
    date_option,
)


def limit_options(command: Function) -> Function:
    """Add the options of the search; the command gets them as `limits`, to be handed to `make_plan`."""
    sizes = ("workers", "max_workers", "items", "documents", "max_documents", "ratings_per_item")
    names = ("budget", "spend_budget", *sizes, "max_ratings_per_worker", "pairing")
    return collected(command, _LIMITS, name="limits", collect=_taken(*names))


def caution_options(command: Function) -> Function:
    """Add the options of how sure the plan must be, as `caution`."""
    return collected(command, _CAUTION, name="caution", collect=_taken("robust", "confidence", "safe"))


def statement_options(command: Function) -> Function:
    """Add what the plan is to say, as `stated`."""
    names = ("question", "exclusions", "exclude_if", "created")
    return collected(command, _STATED, name="stated", collect=_taken(*names))


def _taken(*names: str) -> Any:
    return lambda values: {name: values.pop(name) for name in names}
