"""What is in a table of ratings, and what is unusual about it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
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
from humeval_power.safe_text import cut
from humeval_power.saying.chart import Axis
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
from humeval_power.saying.numbers import counted, significant, with_minus
from humeval_power.saying.render.svg import COLOURS, WIDTH, svg_element, svg_text, svg_width
from humeval_power.saying.result import UNKNOWN, Provenance, Record, Result
from humeval_power.saying.row_flow import flow_record, flow_rows
from humeval_power.saying.stated import table
from humeval_power.scales import RatingScale
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
    from matplotlib.figure import Figure

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
        return ratings_svg(by_system(), ratings.scale, title, words)

    title = "Where do the ratings of each system lie?"
    words = "For each system the share of its ratings at each value of the scale, and their mean."
    return Drawing(name, draw, svg, title=title, words=words)


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


# Where the bars of a picture of ratings begin and end.

# How ratings are spread over their scale as SVG: upright bars for each system, with its mean.

MOST_ROWS = 12  # systems that one picture shows
_MOST_VALUES, _BINS = 21, 20
Floats = NDArray[np.float64]


def rating_edges(ratings: Floats, scale: RatingScale | None) -> Floats:
    """Bins around each different value where there are few, else equal ones over all ratings."""
    values = np.unique(np.round(ratings, 9))
    if scale is not None and scale.points is not None and scale.points <= _MOST_VALUES:
        values = np.union1d(values, np.linspace(scale.low, scale.high, scale.points).round(9))
    if len(values) > _MOST_VALUES:
        low, high = (0.0, 1.0) if scale is None else (scale.low, scale.high)
        return np.linspace(min(low, float(values[0])), max(high, float(values[-1])), _BINS + 1)
    step = float(np.diff(values).min()) if len(values) > 1 else 1.0
    return np.unique(np.concatenate([values - step / 2, values + step / 2]).round(9))


_SIZE = 13.0
_LEFT, _RIGHT, _TOP = 42.0, 14.0, 4.0
_ROW, _BARS = 66.0, 42.0  # heights of a row and of its bars
_GAP = 0.08  # between bars, in their width


def ratings_svg(
    by_system: Mapping[str, NDArray[np.float64]], scale: RatingScale | None, title: str, words: str
) -> str:
    """A row of bars for each system: the share of its ratings at each value."""
    shown = dict(list(by_system.items())[:MOST_ROWS])
    edges = rating_edges(np.concatenate(list(shown.values())), scale)
    axis = Axis("Rating", float(edges[0]), float(edges[-1]))
    shares = [np.histogram(ratings, edges)[0] / len(ratings) for ratings in shown.values()]
    most = max(float(each.max()) for each in shares)
    parts = []

    def across(value: float) -> float:
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * axis.share(value)

    for row, ((name, ratings), share) in enumerate(zip(shown.items(), shares, strict=True)):
        top = _TOP + _ROW * row
        base, mean = top + 18 + _BARS, float(ratings.mean())
        sentence = f"mean {with_minus(significant(mean))}"
        room = int((WIDTH - _LEFT - _RIGHT - svg_width(sentence, _SIZE)) / (0.56 * _SIZE)) - 1
        parts.append(_words(cut(name, max(room, 8)), _LEFT, top + 13))
        parts.append(
            f'<g class="f1" fill="{COLOURS[1]}">{svg_text(sentence, WIDTH - _RIGHT, top + 13, anchor="end")}</g>'
        )
        parts.append(_words(f"{100 * most:.0f} %", _LEFT - 5, base - _BARS + 10, anchor="end"))
        bars = "".join(
            f"M{across(low) + _GAP * (across(high) - across(low)):.1f} {base:.1f}v-{_BARS * part / most:.1f}"
            f"h{(1 - 2 * _GAP) * (across(high) - across(low)):.1f}V{base:.1f}z"
            for low, high, part in zip(edges[:-1].tolist(), edges[1:].tolist(), share.tolist(), strict=True)
            if part > 0
        )
        parts.append(f'<path d="{bars}" class="f0" fill="{COLOURS[0]}"/>')
        parts.append(
            f'<path d="M{_LEFT:.1f} {base:.1f}H{WIDTH - _RIGHT:.1f}" stroke="currentColor" stroke-opacity="0.5"/>'
        )
        parts.append(
            f'<path d="M{across(mean):.1f} {base:.1f}v-{_BARS:.1f}" class="s1" stroke="{COLOURS[1]}" '
            'stroke-width="2"/>'
        )
    bottom = _TOP + _ROW * len(shown)
    values = (edges[:-1] + edges[1:]) / 2
    ticks = values.tolist() if len(values) <= 7 else list(axis.ticks())
    for tick in ticks:
        text = with_minus(f"{tick:g}") if len(values) <= 7 else axis.tick_text(tick)
        parts.append(_words(text, across(tick), bottom + 10, anchor="middle"))
    lower = "" if scale is None or scale.higher_is_better else ", lower is better"
    parts.append(_words(f"Rating{lower}", WIDTH / 2, bottom + 28, anchor="middle"))
    height = bottom + 36
    if len(by_system) > len(shown):
        parts.append(_words(f"The first {len(shown)} of {len(by_system):,} systems", 4, bottom + 46))
        height += 18
    return svg_element(title, words, height, "".join(parts))


def _words(text: str, x: float, y: float, *, anchor: str = "") -> str:
    return f'<g fill="currentColor">{svg_text(text, x, y, anchor=anchor)}</g>'
