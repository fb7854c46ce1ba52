"""A pilot's table, read with the columns, scale and systems that the study names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from humeval_power.interfaces.asking.command import asked_study
from humeval_power.interfaces.cli.options import TableOptions
from humeval_power.study import FIELDS

if TYPE_CHECKING:  # pandas is slow to import
    from humeval_power.ratings import Ratings


def read_pilot(path: str) -> Ratings:
    """The ratings of two systems or more.

    Raises
    ------
    InputError
        All problems of the table at once.
    """
    from humeval_power.interfaces.cli.loading import load_ratings

    kept: dict[str, Ratings] = click.get_current_context().meta.setdefault("humeval_power.pilots", {})
    if path in kept:
        return kept[path]
    asked, typed = asked_study(), click.get_current_context().params
    said = {} if asked is None else asked.fields
    systems = said.get("systems")
    table = TableOptions(
        worker=said.get("worker"),
        item=said.get("item"),
        system=said.get("system"),
        rating=said.get("rating"),
        criterion_column=said.get("criterion_column"),
        criterion=said.get("criterion"),
        systems=None if systems is None else FIELDS["systems"].kind.read(systems),
        scale=typed.get("scale"),
        lower_is_better=bool(typed.get("lower_is_better")),
        missing=tuple(said.get("missing") or ()),
        rejected_rows=said.get("rejected_rows"),
        document=said.get("document"),
        covariates=tuple(said.get("covariates") or ()),
        order_column=said.get("order_column"),
    )
    ratings = load_ratings(path, table, require_pair=False)
    if ratings.n_systems < 2:
        load_ratings(path, table)  # says what is wrong
    kept[path] = ratings
    return ratings
