"""What is in a table of ratings, and what is unusual about it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from humeval_power.checking.columns import shortened
from humeval_power.parameters import PARAMETER_NAMES
from humeval_power.saying.document import (
    Block,
    Document,
    Drawing,
    Fact,
    Facts,
    Paragraph,
    Picture,
    Points,
    Section,
    Table,
)
from humeval_power.saying.numbers import counted
from humeval_power.saying.result import UNKNOWN, Provenance, Record, Result
from humeval_power.saying.row_flow import flow_record, flow_rows
from humeval_power.studies.fit.who_rated_what import (
    Spread,
    TableSummary,
    WhoRatedWhat,
    same_assignment,
    summarise_table,
    who_rated_what,
    who_rated_what_blocks,
)

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from humeval_power.comparisons.agreement.leading import LeadingAlphas
    from humeval_power.ratings import Ratings
    from humeval_power.studies.power.unmodelled import Unmodelled

_KINDS = {
    "documents": "documents that items come out of",
    "sessions": "sessions",
    "order": "the order of showing",
    "position": "a position in the session",
    "time": "a time; what changes with it needs a number for each rating",
}
_NO_HARM = 0.005  # more false positives than this are worth a word


@dataclass(frozen=True, kw_only=True)
class CheckResult(Result):
    """Ratings of one criterion or more, described one after the other, with how far other workers would agree.

    `unmodelled` are, for each, the columns that look like something a model of workers and items alone leaves out.
    """

    schema: ClassVar[str] = "humeval_power/check/1"

    checked: tuple[Ratings, ...]
    agreement: tuple[LeadingAlphas, ...]
    unmodelled: tuple[tuple[Unmodelled, ...], ...] = ()
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    @cached_property
    def summaries(self) -> tuple[TableSummary, ...]:
        """The description of each."""
        return tuple(map(summarise_table, self.checked))

    @cached_property
    def patterns(self) -> tuple[WhoRatedWhat, ...]:
        """Who rated what, of each."""
        return tuple(map(who_rated_what, self.checked))

    def body(self) -> Document:
        """Rows, scale, design, agreement and systems, and what is unusual, for each criterion."""
        first, several = self.checked[0], len(self.checked) > 1
        named = f", criterion {first.criterion}" if first.criterion and not several else ""
        parts = zip(self.checked, self.summaries, strict=True)
        n, n_can = len(self.checked), sum(not _why_not(each) for each in self.summaries)
        criteria = f"All {n} criteria" if n_can == n else f"{n_can} of {n} criteria"
        return Document(
            f"Ratings in {first.source}{named}",
            lead=f"{criteria} can be analysed, each by itself."
            if several
            else _lead(first, self.summaries[0]),
            sections=tuple(
                section
                for place, (each, summary) in enumerate(parts, start=1)
                for section in (
                    *_sections(
                        each,
                        summary,
                        place if several else 0,
                        self._who(place - 1),
                        self.agreement[place - 1].sentence,
                    ),
                    *self._left_out(each, place - 1, several=several),
                )
            ),
        )

    def _who(self, place: int) -> Section:
        """Who rated what under a criterion; what is as under the first is not told again."""
        ratings, first = self.checked[place], self.checked[0]
        of = f"{ratings.criterion}: " if len(self.checked) > 1 else ""
        if place and same_assignment(ratings, first):
            return Section(f"{of}Who rated what", (Paragraph(f"As under {first.criterion}."),))
        blocks = who_rated_what_blocks(
            ratings, self.patterns[place], "assignment" + f"-{place + 1}" * bool(place)
        )
        return Section(f"{of}Who rated what", blocks)

    def _left_out(self, ratings: Ratings, place: int, *, several: bool) -> Iterator[Section]:
        left_out = self.unmodelled[place] if self.unmodelled else ()
        if left_out:
            of = f"{ratings.criterion}: " if several else ""
            points = Points(tuple(left_out_words(one, ratings.system_names) for one in left_out))
            yield Section(f"{of}Not in the model unless you name it", (points,))

    def content(self) -> Record:
        """Counts, shares and means of the only criterion, or of each under `criteria`."""
        records = [_record(each, s) for each, s in zip(self.checked, self.summaries, strict=True)]
        for record, pattern in zip(records, self.patterns, strict=True):
            record["who_rated_what"] = pattern.content()
        for record, alphas in zip(records, self.agreement, strict=True):
            record["agreement"] = alphas.record()
        for record, values in zip(records, self.unmodelled, strict=False):
            record["unmodelled"] = [
                {**asdict(one.suspect), "option": one.suspect.option, **_numbers(one)} for one in values
            ]
        return records[0] if len(records) == 1 else {"criteria": records}

    def to_frame(self) -> pd.DataFrame:
        """A row for each system of each criterion, with its counts and its mean on the raw scale."""
        import pandas as pd

        return pd.DataFrame(
            [
                {"criterion": each.criterion, **asdict(system)}
                for each, summary in zip(self.checked, self.summaries, strict=True)
                for system in summary.systems
            ]
        )


def _numbers(one: Unmodelled) -> Record:
    known = not math.isnan(one.rate)
    return {
        "false_positive_rate": one.rate if known else None,
        "size": one.size if known else None,
        "n_simulations": one.n_simulations,
    }


def left_out_words(one: Unmodelled, systems: tuple[str, ...]) -> str:
    """What a column looks like, and what leaving it out does."""
    suspect = one.suspect
    where = "The names of the items" if suspect.column is None else f"Column {suspect.column!r}"
    verb = "look" if suspect.column is None else "looks"
    said = f"{where} {verb} like {_KINDS[suspect.kind]} ({suspect.why})."
    name = f"a column of them by {suspect.option}" if suspect.column is None else f"it by {suspect.option}"
    if math.isnan(one.rate):
        return f"{said} If so, name {name}."
    how = f"{one.n_simulations:,} simulated studies" if one.n_simulations else "by formula"
    rate = f"from {100 * one.alpha:g} % to {100 * one.rate:.2g} % ({how})"
    b_minus_a = " - ".join(reversed(systems))
    if suspect.option == "--document":
        size = f"the difference {b_minus_a} varies between them with SD {one.size:.3g}"
    else:
        size = f"it moves the difference {b_minus_a} by {one.size:+.3g}"
    if one.rate <= one.alpha + _NO_HARM:
        return (
            f"{said} In these ratings {size}: leaving it out raises no false positives. If so, name {name}."
        )
    return f"{said} In these ratings {size}: left out, it would raise false positives {rate}. If so, name {name}."


def _record(ratings: Ratings, summary: TableSummary) -> Record:
    return {
        "data": {"source": ratings.source},
        "columns": {} if ratings.origin is None else dict(ratings.origin.columns),
        "criterion_name": ratings.criterion,
        "scale": asdict(ratings.scale),
        **flow_record(ratings),
        **summary.as_dict(),
        "notices": list(ratings.notices),
    }


def _lead(ratings: Ratings, summary: TableSummary) -> str:
    counts = (
        f"{counted(summary.n_ratings, 'rating')}, {counted(summary.n_workers, 'worker')}, "
        f"{counted(summary.n_items, 'item')}, {counted(summary.n_systems, 'system')}"
    )
    if why := _why_not(summary):
        return f"This table cannot be analysed, as it has {why}: {counts}."
    warned = sum(notice.startswith("WARNING") for notice in ratings.notices)
    limits = f", within limits ({counted(warned, 'warning')} below)" if warned else ""
    return f"This table can be analysed{limits}: {counts}."


def _why_not(summary: TableSummary) -> str:
    if summary.n_systems < 2:
        return "only one system"
    least = len(PARAMETER_NAMES)
    return f"fewer than {least} ratings" if summary.n_ratings < least else ""


def _sections(
    ratings: Ratings, summary: TableSummary, place: int, who: Section, agreement: str
) -> Iterator[Section]:
    """Of one criterion; its `place` among several, from 1, or 0 where it is the only one; `who` rated what."""
    of = f"{ratings.criterion}: " if place else ""
    name = f"ratings-{place}" if place else "ratings"
    lead = (("Ratings", _lead(ratings, summary)),) if place else ()
    yield Section(f"{of}Rows", (Facts((*lead, *_columns(ratings), *_flow(ratings))),))
    yield Section(f"{of}Scale", (_scale(ratings, summary),))
    yield Section(f"{of}Design", (Table((), tuple(_design(summary))),))
    yield who
    yield Section(f"{of}Agreement", (Paragraph(agreement),))
    yield Section(f"{of}Systems", (_systems(summary), ratings_picture(ratings, name)))
    if ratings.notices:
        yield Section(f"{of}Notes", (Points(ratings.notices),))


def ratings_picture(ratings: Ratings, name: str = "ratings") -> Picture:
    """How the ratings of each system are spread over the scale."""

    def by_system() -> dict[str, NDArray[np.float64]]:
        return {
            name: ratings.raw_rating[ratings.system == code]
            for code, name in enumerate(ratings.system_names)
        }

    def draw() -> Figure:
        from humeval_power.studies.fit.figures import ratings_figure

        return ratings_figure(by_system(), ratings.scale)

    def svg() -> str:
        from humeval_power.studies.fit.ratings_svg import ratings_svg

        return ratings_svg(by_system(), ratings.scale, title, words)

    title = "Where do the ratings of each system lie?"
    words = "For each system the share of its ratings at each value of the scale, and their mean."
    return Drawing(name, draw, svg, title=title, words=words)


def _columns(ratings: Ratings) -> Iterator[Fact]:
    """Which column was taken as what."""
    if ratings.origin is not None:
        named = ((role, name) for role, name in ratings.origin.columns.items() if name)
        yield "Columns", ", ".join(f"{role} from {shortened(str(name))!r}" for role, name in named)


def _flow(ratings: Ratings) -> Iterator[Fact]:
    for name, rows, reason in flow_rows(flow_record(ratings)):
        yield name, rows + (f": {reason}" if reason else "")


def _scale(ratings: Ratings, summary: TableSummary) -> Block:
    scale = ratings.scale
    origin = "as declared" if scale.source == "declared" else "taken from the ratings"
    return Facts(
        (
            ("Range", f"{scale}, {origin}"),
            (f"Lowest, {scale.low:g}", f"{_percent(summary.share_at_low)} of the ratings"),
            (f"Highest, {scale.high:g}", f"{_percent(summary.share_at_high)} of the ratings"),
            ("Different ratings", f"{summary.n_values:,}"),
        )
    )


def _design(summary: TableSummary) -> Iterator[Fact]:
    yield "workers", f"{summary.n_workers:,}"
    yield "items", f"{summary.n_items:,}"
    yield "systems", f"{summary.n_systems:,}"
    yield "ratings", f"{summary.n_ratings:,}"
    yield "ratings per worker", _spread(summary.ratings_per_worker)
    yield "ratings per item and system", _spread(summary.ratings_per_item_and_system)
    if summary.n_systems > 1:
        seen = "both systems" if summary.n_systems == 2 else "two systems or more"
        yield f"worker-item pairs that saw {seen}", _percent(summary.share_paired)
        yield "items rated under one system only", f"{summary.n_items_one_system:,}"
        yield "workers who rated one system only", f"{summary.n_workers_one_system:,}"
    yield "repeated ratings, beyond the first in a cell", f"{summary.n_repeats:,}"
    connected = "yes" if summary.n_parts == 1 else f"no, {summary.n_parts:,} separate parts"
    yield "workers and items connected by ratings", connected


def _systems(summary: TableSummary) -> Table:
    return Table(
        ("system", "ratings", "workers", "items", "mean"),
        tuple(
            (s.system, f"{s.n_ratings:,}", f"{s.n_workers:,}", f"{s.n_items:,}", f"{s.mean:.4g}")
            for s in summary.systems
        ),
        caption="Means are on the raw scale.",
    )


def _spread(spread: Spread) -> str:
    if spread.minimum == spread.maximum:
        return f"{spread.minimum:,} each"
    return f"{spread.minimum:,} to {spread.maximum:,}, median {spread.median:,g}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
