"""What results of comparisons say alike: tables by their columns, plain values, and the line for a paper."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from humeval_power.clusters import Clusters
from humeval_power.saying.clustered_words import (
    PAPER,
    Independence,
    independence_record,
    independence_section,
)
from humeval_power.saying.document import Document, Paragraph, Section
from humeval_power.saying.document import table as table
from humeval_power.saying.numbers import counted
from humeval_power.saying.result import DIGITS, NAME, Record, Result, cluster_entry, short, versions


def flat(record: Any) -> Record:
    """A record as a row of a table: the ends of its `interval` are `low` and `high`."""
    row = asdict(record)
    row["low"], row["high"] = row.pop("interval")
    return row


_MOST_NAMED = 4  # pairs in a sentence


def above(a: str, b: str, difference: float) -> str:
    """'new above old', by the sign of B - A."""
    return f"{b} above {a}" if difference > 0 else f"{a} above {b}"


def pairs_lead(
    shown: Sequence[str], n_pairs: int, how: str, claim: str = "a difference", *, of: str = "pair"
) -> str:
    """In how many pairs a difference is shown, and which these are if they are few.

    >>> pairs_lead(["new above old"], 3, "alpha 0.05, corrected by Holm")
    'A difference is shown in 1 of 3 pairs (alpha 0.05, corrected by Holm): new above old.'
    """
    claim = claim[0].upper() + claim[1:]
    if n_pairs == 1:
        return f"{claim} is {'' if shown else 'not '}shown ({how})."
    which = f": {', '.join(shown)}" if 0 < len(shown) <= _MOST_NAMED else ""
    many = len(shown) or "none"
    return f"{claim} is shown in {many} of {counted(n_pairs, of)} ({how}){which}."


def signature(**entries: object) -> str:
    """A line of `name:value` entries that says what was computed, in their order; what is None is left out.

    True stands for a name without a value, `Clusters` or (name, number) for the column and number of clusters.

    >>> signature(model="paired", alpha=0.05, two=True, draws=None).partition("|model:")[2]
    'paired|alpha:.05|two'
    """
    said = [NAME, f"v:{versions()['humeval-power']}"]
    for name, value in entries.items():
        if isinstance(value, Clusters):
            said += cluster_entry(value.name, value.n_clusters)
        elif isinstance(value, tuple):
            said += cluster_entry(*value)
        elif value is not None:
            plain = short(value) if isinstance(value, float) else value
            said.append(name if value is True else f"{name}:{plain}")
    return "|".join(said)


def data_entry(sha256: str | None) -> str | None:
    """The first digits of a table's hash, for the entry `data`."""
    return f"sha256:{sha256[:DIGITS]}" if sha256 else None


@dataclass(frozen=True, kw_only=True)
class PaperResult(Result):
    """A result that ends with what was not independent, what a paper says of it, and its signature.

    Subclasses have the document before that in `answer`, and the record without it in `numbers`.
    """

    signature_key: ClassVar[str] = "signature"  # in the record

    @abstractmethod
    def answer(self) -> Document:
        """The document without its end."""

    @abstractmethod
    def numbers(self) -> Record:
        """The record without its end."""

    @abstractmethod
    def independence(self) -> tuple[Independence, ...]:
        """What was not independent, and whether the analysis takes it into account."""

    def paper(self) -> tuple[str, ...]:
        """Paragraphs for a paper."""
        return ()

    @property
    def signature(self) -> str:
        """The line that says what was computed."""
        return ""

    def body(self) -> Document:
        answer, paper = self.answer(), tuple(map(Paragraph, self.paper()))
        end = (independence_section(self.independence()), *((Section(PAPER, paper),) if paper else ()))
        return replace(answer, sections=(*answer.sections, *end), signature=self.signature)

    def content(self) -> Record:
        signature = {self.signature_key: self.signature} if self.signature else {}
        return {
            **self.numbers(),
            "independence": independence_record(self.independence()),
            **signature,
        }
