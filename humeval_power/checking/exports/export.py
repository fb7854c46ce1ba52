"""A platform's export as one table of text, before anything is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from humeval_power.checking.exports.mapping import Mapping as ColumnMapping
from humeval_power.checking.exports.templates import Template
from humeval_power.checking.rows import FlowStep
from humeval_power.safe_text import shell_word


@dataclass(frozen=True, slots=True, eq=False)
class Export:
    """A platform's export as one table of text.

    `why` is what it was known by. `frame` has its cells as text, numbered by an index named 'row' as the file
    counts its rows. `questions` are those that stand over a column beside its name. `flow` are rows that
    are no answers by the format itself. `mapping` is all that the format says without the person; None where
    it says too little to read a rating. `people` marks a table of participants, without ratings, that is joined
    to the others on `person`. `path` is where it was read, to be named in commands. `templates` are
    the parts whose columns names tell, for a draft where there is no mapping.
    """

    platform: str
    why: str
    source: str
    frame: pd.DataFrame
    mapping: ColumnMapping | None = None
    questions: Mapping[str, str] = field(default_factory=dict)
    flow: tuple[FlowStep, ...] = ()
    notices: tuple[str, ...] = ()
    person: str | None = None
    people: bool = False
    path: str = ""
    templates: Mapping[str, Template] = field(default_factory=dict)

    @property
    def draft(self) -> str:
        """The command that drafts a mapping of it."""
        named = " --from table" if self.platform == "table" else ""
        return f"humeval-power import {shell_word(self.path or self.source)}{named} --draft -o mapping.toml"
