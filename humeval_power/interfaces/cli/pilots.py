"""A pilot's table, read with the columns, scale and systems that the study names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from humeval_power.interfaces.asking.command import asked_study
from humeval_power.interfaces.asking.study_values import StudyValues
from humeval_power.study import FIELDS

if TYPE_CHECKING:  # pandas is slow to import
    from humeval_power.ratings import Ratings

_OF_TABLE = [name for name, one in FIELDS.items() if one.section == "columns" or name == "criterion"]


def read_pilot(study: StudyValues) -> Ratings:
    """The ratings of two systems or more.

    Raises
    ------
    InputError
        All problems of the table at once.
    """
    from humeval_power.interfaces.cli.loading import load_ratings

    kept: dict[str, Ratings] = click.get_current_context().meta.setdefault("humeval_power.pilots", {})
    path = study.pilot
    if path in kept:
        return kept[path]
    asked = asked_study()
    said = {} if asked is None else asked.fields
    table = study.with_(**{name: said[name] for name in _OF_TABLE if name in said and not study.says(name)})
    ratings = load_ratings(path, table, require_pair=False)
    if ratings.n_systems < 2:
        load_ratings(path, table)  # says what is wrong
    kept[path] = ratings
    return ratings
