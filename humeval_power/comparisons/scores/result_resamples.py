"""The picture of a bootstrap: what its resamples came to, and what they are held against."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.comparisons.scores.answers import PairedTest, Resamples, TestSettings
from humeval_power.comparisons.scores.comparison import PairComparison
from humeval_power.comparisons.scores.primer import REMARK, PrimerCounts
from humeval_power.saying.answer_words import share_words, with_names
from humeval_power.saying.chart import Axis, Chart, Mark, Series, Upright
from humeval_power.saying.document import Document, Fact, Facts, Listing, Section, Table
from humeval_power.saying.numbers import (
    counted,
    level_of,
    p_cell,
    p_words,
    percent,
    significant,
    significant_interval,
)
from humeval_power.saying.result import Record, Result

_ABOUT = {"mean": "Mean of B - A in a resample", "median": "Median of B - A in a resample"}
_T = "t of a resample, about the observed mean"


def comparison_chart(comparison: PairComparison) -> tuple[Chart, ...]:
    """The resamples of the test that was run, if it is a bootstrap."""
    test = comparison.test
    if test.resamples is None:
        return ()
    resamples, settings = test.resamples, comparison.request.settings
    if test.name == "primer":
        return (primer_chart(resamples, estimate=test.estimate, systems=comparison.names),)
    band = None if resamples.what == "t" else (f"{level_of(test.confidence)} interval", test.interval)
    return (
        _chart(
            resamples,
            _how_judged(test, resamples, settings),
            estimate=test.estimate,
            band=band,
            systems=comparison.names,
        ),
    )


def primer_chart(resamples: Resamples, *, estimate: float, systems: tuple[str, str] = ("A", "B")) -> Chart:
    """The resampled means, those that are not above the null difference shaded: their share is the primer's p."""
    a, b = systems
    words = (
        f"Means of the resamples. In {percent(resamples.not_above)} of them {b} is not ahead of {a} (the mean is "
        f"{significant(resamples.at)} or less): this is the primer's p."
    )
    start, end = resamples.edges[0], resamples.cut
    band = (f"{b} not ahead", (start, end)) if start < end else None
    return _chart(resamples, words, estimate=estimate, band=band, systems=systems)


def _chart(
    resamples: Resamples,
    words: str,
    *,
    estimate: float,
    band: tuple[str, tuple[float, float]] | None,
    systems: tuple[str, str],
) -> Chart:
    """How many resamples came to what; what they are held against and the estimate are marked, a part is shaded."""
    top = 1.05 * 100 * max(resamples.shares)
    if resamples.what == "t":
        marks: tuple[Mark, ...] = (Upright("observed t", resamples.at, 1),)
    else:
        null_is = "no difference" if resamples.at == 0 else f"null difference {resamples.at:g}"
        marks = (Upright(null_is, resamples.at), Upright(f"observed {resamples.what}", estimate, 1))
    places = [
        resamples.edges[0],
        resamples.edges[-1],
        *(mark.x for mark in marks if isinstance(mark, Upright)),
    ]
    low, high = min(places), max(places)
    room = 0.02 * (high - low) or 0.5
    shaded = () if band is None else (Series("band", band[0], band[1], low=(0.0, 0.0), high=(top, top)),)
    steps = Series(
        "steps",
        "resamples",
        (resamples.edges[0], *resamples.edges),
        (0.0, *(100 * each for each in resamples.shares), 0.0),
    )
    rows = tuple(
        (f"{significant(low)} to {significant(high)}", f"{100 * part:.2f} %")
        for low, high, part in zip(resamples.edges[:-1], resamples.edges[1:], resamples.shares, strict=True)
    )
    return Chart(
        name="resamples",
        title="What did the resamples come to?",
        words=words,
        x=Axis(with_names(_ABOUT.get(resamples.what, _T), systems), low - room, high + room),
        y=Axis("Resamples", 0, top, unit="%"),
        series=(*shaded, steps),
        marks=marks,
        numbers=Table(("from, to", "resamples"), rows),
    )


def _how_judged(test: PairedTest, resamples: Resamples, settings: TestSettings) -> str:
    if resamples.what == "t":
        tails = {
            "two-sided": "p is twice the smaller part",
            "greater": "p is the part at it or above",
            "less": "p is the part at it or below",
        }[settings.alternative]
        return (
            "t of the resamples, each in its own errors about the observed mean: where t lies without a "
            f"difference. {percent(resamples.not_above)} of them are at the observed t of "
            f"{significant(resamples.at)} or below; {tails}."
        )
    away = f"as far from the observed {resamples.what} as that is from the null difference"
    side = {
        "two-sided": f"p is the share of resamples at least {away}, on either side",
        "greater": f"p is the share of resamples above it and at least {away}",
        "less": f"p is the share of resamples below it and at least {away}",
    }[settings.alternative]
    return (
        f"{resamples.what.capitalize()}s of the resamples, about the observed {resamples.what} of "
        f"{significant(test.estimate)}; {percent(resamples.not_above)} of them are at the null difference or "
        f"below. The test moves them to the null difference: {side}."
    )


# The bootstrap primer's p of counts of items helped and hurt: what is said of it, its picture and the
# record.


@dataclass(frozen=True, kw_only=True)
class PrimerCountsResult(Result):
    """The primer's p of counts, exactly, beside the tests of the same counts."""

    schema: ClassVar[str] = "humeval_power/primer/1"

    found: PrimerCounts

    def body(self) -> Document:
        counts = self.found
        picture = primer_chart(counts.resamples, estimate=counts.difference)
        return Document(
            "The bootstrap primer's p",
            lead=f"B is not ahead in {share_words(counts.p_value)} of the resamples of "
            f"{counted(counts.n_items, 'item')}: the primer's {p_words(counts.p_value)}, exactly.",
            caveats=(REMARK,),
            sections=(
                Section("", (Facts(self._facts()), picture)),
                Section("What tests say of these counts", (self._tests(), Listing(self._next()))),
            ),
        )

    def _facts(self) -> tuple[Fact, ...]:
        counts = self.found
        same = counts.n_items - counts.n_helped - counts.n_hurt
        return (
            (
                "Items",
                f"{counts.n_items:,}: B right and A wrong on {counts.n_helped:,} (helped), A right and B wrong on "
                f"{counts.n_hurt:,} (hurt), no difference on {same:,}",
            ),
            ("B - A", f"{100 * counts.difference:+.4g} points of accuracy"),
            ("Resamples, 95 %", f"{significant_interval(*counts.interval)}, the middle of their means"),
            (
                "Sums of exactly 0",
                f"{share_words(counts.share_of_zero)} of the resamples; the primer counts them as not helped",
            ),
        )

    def _tests(self) -> Table:
        counts = self.found
        rows = (
            ("McNemar, mid-p", "two-sided", p_cell(counts.mid_p)),
            ("McNemar, exact conditional", "two-sided", p_cell(counts.exact_p)),
            ("sign test", "one-sided, B better", p_cell(counts.sign_p)),
            ("the primer's p", "one-sided, B better", p_cell(counts.p_value)),
        )
        return Table(("test", "alternative", "p"), rows)

    def _next(self) -> str:
        result = self.found
        counts = f"--only-b {result.n_helped} --only-a {result.n_hurt} --n {result.n_items}"
        return f"humeval-power compare accuracy test {counts}"

    def content(self) -> Record:
        return {**asdict(self.found), "difference": self.found.difference}

    def table_rows(self) -> list[Record]:
        """One row, without the histogram."""
        record = self.content()
        low, high = self.found.interval
        kept = {name: value for name, value in record.items() if name not in ("resamples", "interval")}
        return [{**kept, "low": low, "high": high}]
