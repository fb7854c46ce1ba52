"""What is in a table of ratings, and what is unusual about it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.columns import listing, shortened
from humeval_power.checking.rows import OF_ANOTHER_CRITERION
from humeval_power.errors import HumevalPowerError
from humeval_power.parameters import PARAMETER_NAMES
from humeval_power.ratings import Ratings, criteria_notices
from humeval_power.rules import DEFAULT_RULE
from humeval_power.saying.chart import LaterChart
from humeval_power.saying.document import (
    Block,
    Document,
    Fact,
    Facts,
    Paragraph,
    Points,
    Section,
    Table,
)
from humeval_power.saying.numbers import counted
from humeval_power.saying.result import UNKNOWN, Provenance, Record, Result
from humeval_power.saying.row_flow import flow_record, flow_rows
from humeval_power.saying.stated import table
from humeval_power.studies.fit.figures import ratings_chart
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
    import pandas as pd

    from humeval_power.checking.suspects import Suspect
    from humeval_power.comparisons.agreement.leading import LeadingAlphas
    from humeval_power.estimation.fit import Fit


_KINDS = {
    "documents": "documents that items come out of",
    "sessions": "sessions",
    "order": "the order of showing",
    "position": "a position in the session",
    "time": "a time; what changes with it needs a number for each rating",
}
_LEFT_OUT = "Not in the model unless you name it"
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
        """Rows, scale, design, agreement and systems, and what is unusual; several criteria side by side."""
        first = self.checked[0]
        if len(self.checked) > 1:
            return Document(
                f"Ratings in {first.source}", lead=self._lead(), sections=tuple(self._criteria())
            )
        summary = self.summaries[0]
        named = f", criterion {first.criterion}" if first.criterion else ""
        notes = (Section("Notes", (Points(first.notices),)),) if first.notices else ()
        left_out = self._left_out(0)
        return Document(
            f"Ratings in {first.source}{named}",
            lead=_lead(first, summary),
            sections=(
                Section("Rows", (Facts((*_columns(first), *_flow(first))),)),
                Section("Scale", (_scale(first, summary),)),
                Section("Design", (_design(summary),)),
                Section("Who rated what", self._who[0]),
                Section("Agreement", (Paragraph(self.agreement[0].sentence),)),
                Section("Systems", (_systems(summary), ratings_picture(first))),
                *notes,
                *((Section(_LEFT_OUT, (Points(left_out),)),) if left_out else ()),
            ),
        )

    def _lead(self) -> str:
        """How many of several criteria can be analysed, and what stands in the way of the others."""
        n, why_not = len(self.checked), list(map(_why_not, self.summaries))
        n_can = why_not.count("")
        criteria = f"All {n} criteria" if n_can == n else f"{n_can} of {n} criteria"
        counts = sorted({_counts(each) for each in self.summaries})
        of_each = f": {counts[0]} each" if len(counts) == 1 else ""
        cannot = [
            f"{each.criterion} cannot be: it has {why}."
            for each, why in zip(self.checked, why_not, strict=True)
            if why
        ]
        warned = sum(
            one.startswith("WARNING") for one in {one for each in self.checked for one in each.notices}
        )
        limits = [f"Within limits: {counted(warned, 'warning')} below."] if warned else []
        return " ".join([f"{criteria} can be analysed, each by itself{of_each}.", *cannot, *limits])

    def _criteria(self) -> Iterator[Section]:
        """Several criteria: a row for each, their means, and the rest once for all that share it."""
        yield Section("By criterion", (self._by_criterion(),))
        yield Section("Means", (self._means(),))
        rows = [(Facts((*_columns(each), *_flow(each, all_criteria=True))),) for each in self.checked]
        yield from self._shared("Rows", rows)
        yield from self._shared("Design", [(_design(summary),) for summary in self.summaries])
        yield from self._shared("Who rated what", self._who)
        for place, each in enumerate(self.checked, start=1):
            yield Section(f"{each.criterion}: ratings", (ratings_picture(each, f"ratings-{place}"),))
        yield from self._points("Notes", criteria_notices(self.checked))
        yield from self._points(_LEFT_OUT, list(map(self._left_out, range(len(self.checked)))))

    def _by_criterion(self) -> Table:
        checked, summaries = self.checked, self.summaries
        return table(
            range(len(checked)),
            {
                "criterion": lambda k: str(checked[k].criterion),
                "ratings": lambda k: f"{summaries[k].n_ratings:,}",
                "scale": lambda k: f"{checked[k].scale.low:g} to {checked[k].scale.high:g}",
                "lowest": lambda k: _percent(summaries[k].share_at_low),
                "highest": lambda k: _percent(summaries[k].share_at_high),
                "values": lambda k: f"{summaries[k].n_values:,}",
                "agreement": lambda k: self.agreement[k].ends,
            },
            caption="Lowest, highest: the share of the ratings at the ends of the scale; values: how many "
            "different ones. Agreement: Krippendorff's alpha of other workers like these within a system, from "
            "the system with the least to that with the most; 1 is perfect, 0 chance.",
        )

    def _means(self) -> Table:
        """Rows are criteria or systems, whichever are more."""
        systems = sorted({one.system for each in self.summaries for one in each.systems})
        criteria = [str(each.criterion) for each in self.checked]
        means = {
            (name, one.system): f"{one.mean:.4g}"
            for name, each in zip(criteria, self.summaries, strict=True)
            for one in each.systems
        }
        caption = "Of each system, on the raw scale."
        if len(criteria) >= len(systems):
            rows = tuple((name, *(means.get((name, one), "-") for one in systems)) for name in criteria)
            return Table(("criterion", *systems), rows, caption=caption)
        rows = tuple((one, *(means.get((name, one), "-") for name in criteria)) for one in systems)
        return Table(("system", *criteria), rows, caption=caption)

    def _shared(self, title: str, blocks: Sequence[tuple[Block, ...]]) -> Iterator[Section]:
        """A section for all criteria of which the same is to be said, and one for each other group of them."""
        groups: dict[tuple[Block, ...], list[str]] = {}
        for each, said in zip(self.checked, blocks, strict=True):
            groups.setdefault(said, []).append(str(each.criterion))
        for said, names in groups.items():
            yield Section(title if len(groups) == 1 else f"{title}: {listing(names)}", said)

    def _points(self, title: str, points: Sequence[tuple[str, ...]]) -> Iterator[Section]:
        """Sentences, each once, with the names of the criteria that it is of where it is not of all."""
        names: dict[str, list[str]] = {}
        for each, of_each in zip(self.checked, points, strict=True):
            for one in of_each:
                names.setdefault(one, []).append(str(each.criterion))
        every = len(self.checked)
        said = [one if len(of) == every else f"{listing(of)}: {one}" for one, of in names.items()]
        if said:
            yield Section(title, (Points(tuple(said)),))

    @cached_property
    def _who(self) -> tuple[tuple[Block, ...], ...]:
        """Who rated what under each criterion; the same blocks for the same assignment."""
        blocks: list[tuple[Block, ...]] = []
        for place, (ratings, pattern) in enumerate(zip(self.checked, self.patterns, strict=True)):
            like = next((n for n in range(place) if same_assignment(self.checked[n], ratings)), None)
            name = "assignment" + f"-{place + 1}" * bool(place)
            blocks.append(who_rated_what_blocks(ratings, pattern, name) if like is None else blocks[like])
        return tuple(blocks)

    def _left_out(self, place: int) -> tuple[str, ...]:
        names = self.checked[place].system_names
        return tuple(
            left_out_words(one, names) for one in (self.unmodelled[place] if self.unmodelled else ())
        )

    def content(self) -> Record:
        """Counts, shares and means of the only criterion, or of each under `criteria`."""
        records = [
            {
                "data": {"source": ratings.source},
                "columns": {} if ratings.origin is None else dict(ratings.origin.columns),
                "criterion_name": ratings.criterion,
                "scale": asdict(ratings.scale),
                **flow_record(ratings),
                **summary.as_dict(),
                "notices": list(ratings.notices),
                "who_rated_what": pattern.content(),
                "agreement": alphas.record(),
            }
            for ratings, summary, pattern, alphas in zip(
                self.checked, self.summaries, self.patterns, self.agreement, strict=True
            )
        ]
        for record, columns in zip(records, self.unmodelled, strict=False):
            record["unmodelled"] = [one.record() for one in columns]
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


def _counts(summary: TableSummary) -> str:
    return (
        f"{counted(summary.n_ratings, 'rating')}, {counted(summary.n_workers, 'worker')}, "
        f"{counted(summary.n_items, 'item')}, {counted(summary.n_systems, 'system')}"
    )


def _lead(ratings: Ratings, summary: TableSummary) -> str:
    if why := _why_not(summary):
        return f"This table cannot be analysed, as it has {why}: {_counts(summary)}."
    warned = sum(notice.startswith("WARNING") for notice in ratings.notices)
    limits = f", within limits ({counted(warned, 'warning')} below)" if warned else ""
    return f"This table can be analysed{limits}: {_counts(summary)}."


def _why_not(summary: TableSummary) -> str:
    if summary.n_systems < 2:
        return "only one system"
    if all(system.n_workers == 1 for system in summary.systems):
        return "one worker only for each system"
    if all(system.n_items == 1 for system in summary.systems):
        return "one item only for each system"
    least = len(PARAMETER_NAMES)
    return f"fewer than {least} ratings" if summary.n_ratings < least else ""


def ratings_picture(ratings: Ratings, name: str = "ratings") -> LaterChart:
    """How the ratings of each system are spread over the scale."""

    def by_system() -> dict[str, NDArray[np.float64]]:
        return {
            name: ratings.raw_rating[ratings.system == code]
            for code, name in enumerate(ratings.system_names)
        }

    words = "For each system the share of its ratings at each value of the scale, and their mean."
    return LaterChart(name, lambda: ratings_chart(by_system(), ratings.scale, name, words), words=words)


def _columns(ratings: Ratings) -> Iterator[Fact]:
    """Which column was taken as what, where its name is another."""
    if ratings.origin is not None:
        columns = ratings.origin.columns.items()
        other = [f"{role} from {shortened(str(name))!r}" for role, name in columns if name and name != role]
        if other:
            yield "Columns", ", ".join(other)


def _flow(ratings: Ratings, *, all_criteria: bool = False) -> Iterator[Fact]:
    """Rows that were read, left out and analysed; of all criteria what was read and left out of them all."""
    for name, rows, reason in flow_rows(flow_record(ratings)):
        if not (all_criteria and (reason.startswith(OF_ANOTHER_CRITERION) or name == "Analysed")):
            label = "Usable" if name == "Analysed" else name  # nothing is analysed yet
            yield label, rows + (f": {reason}" if reason else "")


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


def _design(summary: TableSummary) -> Table:
    rows = [
        ("workers", f"{summary.n_workers:,}"),
        ("items", f"{summary.n_items:,}"),
        ("systems", f"{summary.n_systems:,}"),
        ("ratings", f"{summary.n_ratings:,}"),
        ("ratings per worker", _spread(summary.ratings_per_worker)),
        ("ratings per item and system", _spread(summary.ratings_per_item_and_system)),
    ]
    if summary.n_systems > 1:
        seen = "both systems" if summary.n_systems == 2 else "two systems or more"
        rows += [
            (f"worker-item pairs that saw {seen}", _percent(summary.share_paired)),
            ("items rated under one system only", f"{summary.n_items_one_system:,}"),
            ("workers who rated one system only", f"{summary.n_workers_one_system:,}"),
        ]
    connected = "yes" if summary.n_parts == 1 else f"no, {summary.n_parts:,} separate parts"
    rows += [
        ("repeated ratings, beyond the first in a cell", f"{summary.n_repeats:,}"),
        ("workers and items connected by ratings", connected),
    ]
    return Table((), tuple(rows))


def _systems(summary: TableSummary) -> Table:
    return table(
        summary.systems,
        {
            "system": lambda one: one.system,
            "ratings": lambda one: f"{one.n_ratings:,}",
            "workers": lambda one: f"{one.n_workers:,}",
            "items": lambda one: f"{one.n_items:,}",
            "mean": lambda one: f"{one.mean:.4g}",
        },
        caption="Means are on the raw scale.",
    )


def _spread(spread: Spread) -> str:
    if spread.minimum == spread.maximum:
        return f"{spread.minimum:,} each"
    return f"{spread.minimum:,} to {spread.maximum:,}, median {spread.median:,g}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


# What a column that is left out of the model does to the test: false positives, at what these ratings show.

MOST_RATINGS = 20_000  # of a table that is fitted unasked


@dataclass(frozen=True, slots=True)
class Unmodelled:
    """A suspected column, and how often a test that leaves it out would find a difference that is not there.

    rate : NaN where it was not computed. size : the standard deviation between documents or sessions of the
        difference B - A, or what an order or position adds to it where it is left out; on [0, 1].
    n_simulations : 0 where the rate is by formula.
    """

    suspect: Suspect
    rate: float = math.nan
    size: float = math.nan
    n_simulations: int = 0

    @property
    def alpha(self) -> float:
        """The nominal rate."""
        return DEFAULT_RULE.alpha

    def record(self) -> Record:
        """As plain values; null where nothing was computed."""
        known = not math.isnan(self.rate)
        return {
            **asdict(self.suspect),
            "option": self.suspect.option,
            "false_positive_rate": self.rate if known else None,
            "size": self.size if known else None,
            "n_simulations": self.n_simulations,
        }


def left_out(suspect: Suspect, ratings: Ratings) -> Unmodelled:
    """What leaving the column out does, from ratings read with it; not known where they cannot be fitted."""
    from humeval_power.estimation.crossed.problem import few_fits
    from humeval_power.estimation.fitting import fit

    if len(ratings.rating) > MOST_RATINGS or ratings.n_systems != 2:
        return Unmodelled(suspect)
    try:
        with few_fits():
            fitted = fit(ratings)
        of = _left_out_documents if suspect.option == "--document" else _left_out_covariate
        return of(suspect, ratings, fitted)
    except HumevalPowerError:
        return Unmodelled(suspect)


def _left_out_documents(suspect: Suspect, ratings: Ratings, fitted: Fit) -> Unmodelled:
    """Of documents or sessions: studies of this very design without an effect, drawn at what the model with
    documents finds, and analysed without them."""
    from humeval_power.studies.power.outlook import without_documents
    from humeval_power.studies.power.scenario import RatingStudy

    result = without_documents(RatingStudy(fitted.parameters.with_difference(0.0), ratings.design()))
    if result is None or not fitted.converged:
        return Unmodelled(suspect)
    return Unmodelled(suspect, result.rate, fitted.parameters.sd_document_slope, result.n_simulations)


def _left_out_covariate(suspect: Suspect, ratings: Ratings, fitted: Fit) -> Unmodelled:
    """Of an order or a position: what it adds to the difference where the systems were not balanced over it, and
    how often that alone would be found."""
    from humeval_power.studies.power.formula import effect_precision, power_at

    precision = effect_precision(fitted.parameters, ratings.design())
    columns = ratings.covariate_columns
    b = ratings.system == 1
    shift = columns[b].mean(axis=0) - columns[~b].mean(axis=0)
    known = {effect.label: effect.estimate for effect in fitted.covariates}
    coefficients = np.array([known[label] for one in ratings.covariates for label in one.labels])
    bias = float(shift @ coefficients)
    return Unmodelled(suspect, power_at(bias, precision).rejection_rate, bias)
