"""Claims of improvement beside what their test sets could have shown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import ClassVar

from humeval_power.checking.columns import shortened
from humeval_power.choices import PairedTest, PowerOn
from humeval_power.comparisons.accuracy.agreement import FITTED_ACCURACIES
from humeval_power.comparisons.accuracy.charts import (
    baselines_chart,
    claims_chart,
    improvements_chart,
    leaderboard_chart,
    methods_chart,
    overlap_chart,
)
from humeval_power.comparisons.accuracy.claims import (
    ClaimMethods,
    ClaimsRegression,
    DetectableAccuracy,
    FittedOverlap,
    JudgedClaims,
    JudgedSubmission,
)
from humeval_power.saying.answer_words import of_hundred
from humeval_power.saying.chart import Chart
from humeval_power.saying.document import Block, Document, Paragraph, Points, Section, Table
from humeval_power.saying.numbers import counted, p_cell, percent
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record, Result
from humeval_power.saying.stated import table

_LEGEND = (
    "Improvements in points of 100. smallest: found with the target power; expected: predicted from the other "
    "claims, and the power if that is true; p: of the claim, at the agreement predicted."
)
METHODS = {"glue": "GLUE", "squad": "SQuAD"} | {
    name: name for name in ("middle", "least", "most", "unpaired")
}
_METHODS_LEGEND = (
    "The smallest improvement found if agreement is as regressions on GLUE or SQuAD 2.0 systems predict it, in the "
    "middle (Lachenbruch 1992), the least or the most possible, or if each system had items of its own."
)
_TASKS_LEGEND = "Below, the smallest improvement found over the best baseline of the task, best so far."


@dataclass(frozen=True, kw_only=True)
class ClaimsResult(Result):
    """Every claim as it was judged; `overlap` says how the agreement was guessed."""

    schema: ClassVar[str] = "humeval_power/accuracy_claims/1"

    judged: JudgedClaims
    methods: ClaimMethods
    overlap: str
    test: PairedTest
    remarks: tuple[str, ...] = ()

    def body(self) -> Document:
        judged, tasks = self.judged, self.methods.tasks
        claimed = table(
            judged.claims,
            {
                "claim": lambda each: each.claim.name,
                "n": lambda each: f"{each.claim.n_items:,}",
                "baseline": lambda each: f"{100 * each.claim.baseline:.2f}",
                "claimed": lambda each: f"{100 * each.claim.improvement:+z.2f}",
                "smallest": lambda each: _points(each.detectable),
                "claim is": lambda each: "below" if each.is_below else "",
                "expected": lambda each: _or_dash(100 * each.expected, "+.2f"),
                "power": lambda each: _or_dash(each.power),
                "p": lambda each: p_cell(each.p_value),
            },
        )
        by_method = [
            (each.claim.name, f"{100 * each.claim.improvement:+z.2f}", *_by_method(found))
            for each, found in zip(judged.claims, self.methods.smallest, strict=True)
        ]
        by_method.append(("reached by", "", *(percent(self.methods.reached[name]) for name in METHODS)))
        means = table(
            tasks,
            {
                "task": lambda each: each.task,
                "claims": lambda each: str(each.n_claims),
                "n": lambda each: f"{each.n_items:,}",
                "mean gain": lambda each: f"{100 * each.mean_improvement:+z.2f}",
                "SE": lambda each: _or_dash(100 * each.standard_error),
                "best so far": lambda each: f"{100 * each.best_baseline:.2f}",
            },
        )
        of_tasks = tuple((each.task, *_by_method(each.smallest)) for each in tasks)
        first, *pictures = self._pictures()
        return Document(
            "Could the test sets have shown the improvements that were claimed?",
            lead=f"The test sets could show {sum(not each.is_below for each in judged.claims)} of "
            f"{counted(len(judged.claims), 'claimed improvement')}; the others are smaller than what "
            f"{of_hundred(judged.target)} of 100 studies of that size find.",
            sections=(
                Section("", (claimed, Paragraph(_LEGEND))),
                Section("In all", (Points(tuple(self._shares())), first)),
                Section(
                    "By how the agreement is guessed",
                    (
                        Table(("claim", "claimed", *METHODS.values()), tuple(by_method), has_total=True),
                        Paragraph(_METHODS_LEGEND),
                    ),
                ),
                Section(
                    "By task",
                    (means, Table(("task", *METHODS.values()), of_tasks), Paragraph(_TASKS_LEGEND)),
                ),
                Section("", tuple(pictures)),
            ),
        )

    def _shares(self) -> Iterator[str]:
        judged, fit = self.judged, self.judged.regression
        yield f"{percent(judged.share_significant)} would be significant at the agreement that is predicted."
        if judged.predicted:
            yield (
                f"{percent(judged.share_powered)} of {len(judged.predicted)} had that power for the improvement "
                f"that the other claims let one expect; {percent(judged.share_both)} had it and are significant."
            )
        explained = "" if math.isnan(fit.r_squared) else f"R2 {fit.r_squared:.2f}; "
        yield (
            f"Regression on baseline and task: {explained}{100 * fit.per_baseline:+z.2f} points for a baseline "
            "100 points better."
        )

    def _pictures(self) -> Iterator[Chart]:
        claims, regression = [each.claim for each in self.judged.claims], self.judged.regression
        if chart := claims_chart(self.judged):
            yield chart
        yield improvements_chart(claims)
        yield baselines_chart(claims, regression)
        yield methods_chart(claims, self.methods)

    def content(self) -> Record:
        judged = self.judged
        shares = ("share_below", "share_powered", "share_significant", "share_both")
        return {
            "overlap": self.overlap,
            "test": self.test,
            "power": judged.target,
            "claims": [{**asdict(each), "is_below": each.is_below} for each in judged.claims],
            "smallest": list(self.methods.smallest),
            "reached": self.methods.reached,
            "tasks": [asdict(each) for each in self.methods.tasks],
            **values(judged, "alpha", "regression", *shares),
        }

    def table_rows(self) -> list[Record]:
        rows = []
        for each, smallest in zip(self.judged.claims, self.methods.smallest, strict=True):
            values = asdict(each)
            by_method = {f"smallest_{name}": results for name, results in smallest.items()}
            rows.append({**values.pop("claim"), **values, "is_below": each.is_below, **by_method})
        return rows


def _by_method(smallest: Mapping[str, float]) -> Iterator[str]:
    return (_points(smallest[name]) for name in METHODS)


def _or_dash(value: float, form: str = ".2f") -> str:
    return "-" if math.isnan(value) else format(value, form)


def _points(share: float) -> str:
    return "none" if math.isnan(share) else f"{100 * share:.2f}"


# What a test set can show where the agreement of two systems is not known.

_TITLES = {
    "least": "the least possible (worst)",
    "middle": "half-way (Lachenbruch 1992)",
    "most": "the most possible (best)",
    "glue": "as GLUE systems agree",
    "squad": "as SQuAD 2.0 systems agree",
    "unpaired": "none: items of their own",
}
_CARD2020 = {  # their columns, in their order
    "unpaired": "binomial: items of their own",
    "middle": "Lachenbruch: half-way",
    "most": "Lachenbruch, lower: the most possible",
    "least": "Lachenbruch, upper: the least possible",
    "glue": "regression: as GLUE systems agree",
    "squad": "regression: as SQuAD 2.0 systems agree",
}
_NO_ROOM = (
    "Computed as in Tables 2 and 9 of Card et al. (2020), which do not ask whether the accuracy of A leaves room: "
    "what is above the largest possible cannot be gained. Without --compat it is not shown."
)
_EXPECTED = (
    "expected: what a regression of the claims on GLUE on baseline and task lets one expect over this baseline "
    "(Table 7)."
)
_NONE_POSSIBLE = (
    "None possible: even the largest improvement that the agreement and the accuracy of A leave room for is "
    "found too rarely (where that is 0, the agreement itself is impossible)."
)


@dataclass(frozen=True, kw_only=True)
class BoundsResult(Result):
    """The smallest improvement found, by how the agreement is guessed; accuracies as shares.

    `expected` is what Card et al. (2020) expect of each GLUE task; where it is there, `found` is as they
    computed it.
    """

    schema: ClassVar[str] = "humeval_power/accuracy_bounds/1"

    n: int
    baseline: float
    test: PairedTest
    power: float
    alpha: float
    found: Mapping[str, DetectableAccuracy]
    expected: Mapping[str, float] = field(default_factory=dict)

    @property
    def remarks(self) -> tuple[str, ...]:
        low, high = FITTED_ACCURACIES
        if low <= self.baseline <= high:
            return ()
        return (f"The regressions have seen accuracies of {low:g} to {high:g} only.",)

    def body(self) -> Document:
        return Document(
            f"The smallest improvement that {counted(self.n, 'item')} can show",
            lead=self._lead(),
            caveats=self.remarks,
            sections=(Section("", tuple(self._blocks())),),
        )

    def _lead(self) -> str:
        rest = (
            f"A is right on {100 * self.baseline:.4g} % of the items; McNemar's test ({self.test}), alpha "
            f"{self.alpha:g}."
        )
        possible = [100 * each.effect for each in self.found.values() if each.is_possible]
        if not possible:
            return f"No improvement is found by {of_hundred(self.power)} of 100 such studies. {rest}"
        somewhere = ", where it is possible at all" if len(possible) < len(self.found) else ""
        return (
            f"{counted(self.n, 'item')} show an improvement of {min(possible):.3g} to {max(possible):.3g} points "
            f"of 100 in {of_hundred(self.power)} of 100 such studies, by how often the systems agree{somewhere}. "
            f"{rest}"
        )

    def _blocks(self) -> Iterator[Block]:
        if self.expected:
            rows = [_row_of_bounds(title, self.found[name])[:3] for name, title in _CARD2020.items()]
            yield Table(("column", "smallest", "largest possible"), tuple(rows))
            yield Paragraph(_NO_ROOM)
            gains = [(task, f"{100 * gain:+z.2f}") for task, gain in self.expected.items()]
            yield Table(("task", "expected"), tuple(gains))
            yield Paragraph(_EXPECTED)
            return
        header = ("agreement", "smallest", "largest possible", "its power")
        yield Table(
            header, tuple(_row_of_bounds(title, self.found[name]) for name, title in _TITLES.items())
        )
        if any(not each.is_possible for each in self.found.values()):
            yield Paragraph(_NONE_POSSIBLE)

    def content(self) -> Record:
        compat = {"compat": "card2020", "expected": dict(self.expected)} if self.expected else {}
        record = {name: asdict(each) for name, each in self.found.items()}
        return {**values(self, "n", "baseline", "test", "power", "alpha"), "found": record, **compat}

    def table_rows(self) -> list[Record]:
        return [{"agreement": name, **asdict(each)} for name, each in self.found.items()]


def _row_of_bounds(title: str, each: DetectableAccuracy) -> tuple[str, ...]:
    return (
        title,
        f"{100 * each.effect:.3g}" if each.is_possible else "none possible",
        f"{100 * each.largest:.3g}",
        "" if math.isnan(each.best_power) else f"{each.best_power:.3f}",
    )


# Submissions to a leaderboard in order of time, each beside the best before it.

_NO_POWER = "Without a column 'validation' no power is known: significance alone decides."
_ON = {
    "test": "the power is that of the test set",
    "validation": "the power is that which the validation set would have",
}
_LEGEND_LEADERBOARD = (
    "to best: beside the best before it, which is the first submission until one is called a new best; power: of a "
    "significant improvement, if that on the validation set is true; agree: items on which both are right or both "
    "wrong. Accuracies and agreement in per cent."
)


@dataclass(frozen=True, kw_only=True)
class LeaderboardResult(Result):
    """Every submission but the first as it was judged, on a test set of `n` items."""

    schema: ClassVar[str] = "humeval_power/accuracy_leaderboard/1"

    judged: tuple[JudgedSubmission, ...]
    n: int
    overlap: str
    test: PairedTest
    power: float
    alpha: float
    n_validation: int | None = None
    power_on: PowerOn = "test"
    said: tuple[str, ...] = ()

    @property
    def remarks(self) -> tuple[str, ...]:
        return (*self.said, *self._caveats())

    def _caveats(self) -> tuple[str, ...]:
        known = any(not math.isnan(each.power) for each in self.judged)
        return () if known else (_NO_POWER,)

    @property
    def n_powered(self) -> int:
        """Submissions whose improvement on the validation set promised the target power."""
        return sum(each.power >= self.power for each in self.judged)

    def body(self) -> Document:
        submissions = table(
            self.judged,
            {
                "system": lambda each: each.submission.name,
                "date": lambda each: each.submission.date,
                "accuracy": lambda each: f"{100 * each.submission.accuracy:.2f}",
                "to best": lambda each: f"{100 * each.improvement:+z.2f}",
                "agree": lambda each: f"{100 * each.agreement:.1f}",
                "power": lambda each: _or_dash(each.power),
                "p": lambda each: p_cell(each.p_value),
                "verdict": lambda each: (
                    "new best" if each.is_best else "underpowered" if each.is_significant else ""
                ),
            },
        )
        picture = leaderboard_chart(self.judged)
        best = [each.submission.name for each in self.judged if each.is_best]
        named = f": {', '.join(map(shortened, best))}" if best else ""
        if len(best) > 3:
            named = f", the last of them {shortened(best[-1])}"
        guess = ", if systems agree as often as is guessed" if best and self.n_validation is None else ""
        lucky = sum(each.is_significant and not each.is_best for each in self.judged)
        more = ""
        if lucky:
            more = (
                f" {lucky} more {'are' if lucky > 1 else 'is'} significant, though the test set is too small to "
                "find such an improvement reliably."
            )
        return Document(
            "Which submissions were improvements one can trust?",
            lead=f"{len(best) or 'None'} of {counted(len(self.judged), 'submission')} "
            f"{'is' if len(best) < 2 else 'are'} a new best{named}{guess}.{more} A test set of "
            f"{counted(self.n, 'item')}, {'' if self._caveats() else f'power {self.power:g}, '}"
            f"alpha {self.alpha:g}.",
            caveats=self._caveats(),
            sections=(
                Section("", (Points(self._counted()),)),
                Section("", (submissions, Paragraph(_LEGEND_LEADERBOARD))),
                Section("", (picture,) if self.judged else ()),
            ),
        )

    def _counted(self) -> tuple[str, ...]:
        """How many had the power, and what their improvements let one expect next."""
        guessed = "guessed from the accuracy of the better one before"
        if self.n_validation is not None:
            guessed = f"that on {counted(self.n_validation, 'item')} of the validation set"
        agreement = f"The agreement of two systems is {guessed}."
        if self._caveats():
            return (agreement,)
        said = f"{self.n_powered} of {len(self.judged)} had power {self.power:g} or more, of which "
        n_best = sum(each.is_best for each in self.judged)
        said += f"{n_best} {'is' if n_best == 1 else 'are'} significant; {_ON[self.power_on]}."
        return (said, agreement)

    def content(self) -> Record:
        return {
            "overlap": self.overlap if self.n_validation is None else None,
            **values(self, "n", "test", "power", "alpha", "n_validation", "power_on", "n_powered"),
            "submissions": [asdict(each) for each in self.judged],
        }

    def table_rows(self) -> list[Record]:
        rows = [asdict(each) for each in self.judged]
        return [{**row.pop("submission"), **row} for row in rows]


# How often systems do alike, as a regression on one's own pairs of them.

_LEGEND_OVERLAP = (
    "accuracy: that of the worse system; difference: how much better the other is; all are shares. The pairs share "
    "systems, so that standard errors and p-values are too small: use the prediction, test nothing by it."
)
_USE = (
    "To use it, write it with -o FILE.json, and give --overlap FILE.json to compare accuracy power, mde or "
    "claims."
)


@dataclass(frozen=True, kw_only=True)
class OverlapResult(Result):
    """The regression of agreement, and that of improvements on the accuracy before."""

    schema: ClassVar[str] = "humeval_power/accuracy_overlap/1"

    fitted: FittedOverlap
    improvements: ClaimsRegression
    remarks: tuple[str, ...] = ()

    def body(self) -> Document:
        low, high = self.fitted.regression.seen
        agreements = [each.agreement for each in self.fitted.pairs]
        picture = overlap_chart(self.fitted)
        return Document(
            "How often do two systems do alike?",
            lead=f"Two systems are right or wrong together on {percent(min(agreements))} to "
            f"{percent(max(agreements))} of the items. Accuracy and difference explain "
            f"{percent(self.fitted.fit.r_squared)} of how this varies over "
            f"{counted(len(agreements), 'pair')}, the worse systems of accuracies {low:.3f} to {high:.3f}.",
            sections=(
                Section("Agreement", _regression(self.fitted.fit)),
                Section("Difference", _regression(self.improvements)),
                Section("", (Paragraph(_LEGEND_OVERLAP), Paragraph(_USE), picture)),
            ),
        )

    def content(self) -> Record:
        return {
            "overlap": asdict(self.fitted.regression),
            "n_pairs": len(self.fitted.pairs),
            "agreement": asdict(self.fitted.fit),
            "difference": asdict(self.improvements),
        }

    def table_rows(self) -> list[Record]:
        both = (("agreement", self.fitted.fit), ("difference", self.improvements))
        return [{"of": of, **asdict(term)} for of, fit in both for term in fit.terms]


def _regression(fit: ClaimsRegression) -> tuple[Block, Block]:
    terms = table(
        fit.terms,
        {
            "": lambda term: term.name,
            "estimate": lambda term: f"{term.estimate:.4f}",
            "SE": lambda term: f"{term.standard_error:.4f}",
            "95 % interval": lambda term: f"{term.low:.4f} to {term.high:.4f}",
            "p": lambda term: p_cell(term.p_value),
        },
    )
    return terms, Paragraph(
        f"R2 {fit.r_squared:.3f}, adjusted {fit.adjusted_r_squared:.3f}; residual SD {fit.residual_sd:.4f}; "
        f"F {fit.f_statistic:,.2f} on {len(fit.terms) - 1} and {fit.df:,} df."
    )
