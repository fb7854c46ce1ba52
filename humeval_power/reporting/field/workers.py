"""The names of workers in what is shown and written: pseudonyms by a secret, their ids, or none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from humeval_power.reporting.release.pseudonyms import is_pseudonym, pseudonyms

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Names:
    """How workers are named: by pseudonyms where there is a `secret`, else by their ids, or not at all.

    Ids of platforms are personal data. Pseudonyms, as in a table that was imported, stay where all names are such.
    """

    secret: str | None = field(default=None, repr=False)
    hidden: bool = False

    def of(self, workers: pd.Series) -> pd.Series:
        """What each worker is called; '' stays ''."""
        if self.hidden:
            return workers.map(lambda _: "")
        if self.secret is None or all(map(is_pseudonym, (name for name in workers.unique() if name))):
            return workers
        made = pseudonyms((name for name in workers.unique() if name), key=self.secret, kind="worker")
        return workers.map(lambda name: made.get(name, ""))


BY_ID = Names()


def with_pseudonyms(frame: pd.DataFrame, secret: str) -> pd.DataFrame:
    """A table with a pseudonym for each worker: the same secret always gives the same ones."""
    return frame.assign(worker=Names(secret).of(frame["worker"].astype(str)))
