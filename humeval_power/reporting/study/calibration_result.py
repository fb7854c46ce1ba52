"""How often tests find an effect where there is none: the table, the verdicts, the picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from humeval_power.choices import Response
from humeval_power.designs import Design
from humeval_power.planning.study.calibration import (
    BAND,
    VERDICT_CONFIDENCE,
    Calibrated,
    Calibration,
    calibration_table,
)
from humeval_power.reporting.document import (
    Document,
    Fact,
    Facts,
    Paragraph,
    Picture,
    Section,
    Table,
)
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.reporting.rule_words import margin_words
from humeval_power.reporting.study.reported_p import credible, reported_p
from humeval_power.reporting.study.study_content import category_facts
from humeval_power.rules import claim
from humeval_power.scales import RatingScale

if TYPE_CHECKING:  # pandas and Matplotlib are slow to import
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class CalibrationResult(Result):
    """Tests of one study without an effect, or with one at the margin of the rule, under one setting or several.

    With a `p` the rates are the shares of studies whose p-value is at most that, to be compared with `alpha`.
    """

    schema: ClassVar[str] = "humeval_power/calibration/3"

    settings: tuple[Calibrated, ...]
    design: Design
    response: Response
    alpha: float
    p: float | None = None
    scale: RatingScale | None = None
    provenance: Provenance = UNKNOWN

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the design had to round, and tests that failed."""
        failed = [
            f"{result.label}: no answer in {result.estimate.n_failed:,} of "
            f"{result.estimate.n_simulations:,} studies. They count as not significant."
            for each in self.settings
            for result in each.results
            if result.estimate.n_failed
        ]
        return (*self.design.notes, *failed)

    def body(self) -> Document:
        """The planned test's verdict, then the table of all tests and what the verdicts mean."""
        if self.p is not None:
            return reported_p(self.p, self.alpha, self.design, self.settings)
        title = "How often tests find what is not there"
        if len(self.settings) == 1:
            (only,) = self.settings
            return Document(
                title,
                lead=_answer(only),
                sections=(
                    Section("", (Facts(tuple(self._facts(only))),)),
                    Section("", (_table(only), self._picture(only))),
                    Section("", tuple(map(Paragraph, _legend(only)))),
                ),
            )
        answers = (f"{each.setting}: {_answer(each)}" for each in self.settings)
        sections = [
            Section(
                each.setting,
                (
                    Facts(tuple(self._facts(each))),
                    _table(each),
                    self._picture(each),
                    *map(Paragraph, _legend(each)),
                ),
            )
            for each in self.settings
        ]
        return Document(title, lead=" ".join(answers), sections=tuple(sections))

    def _facts(self, each: Calibrated) -> Iterator[Fact]:
        rule = each.results[0].rule
        truth = "no difference between the systems"
        if rule.margin is not None:
            yield "Margin", margin_words(rule, self.scale)
            truth = f"a true difference B - A of {rule.null_effect:g}, at the margin"
        yield "Setting", f"{each.setting}, {truth}"
        yield from category_facts(each.parameters.with_difference(rule.null_effect))
        yield "Study", str(self.design)
        yield "Planned", f"{rule} (* below)"
        simulated = max(result.estimate.n_simulations for result in each.results)
        yield "Studies", f"{simulated:,} simulated, the same for every test"

    def _picture(self, each: Calibrated) -> Picture:
        from humeval_power.reporting.study.calibration_figure import calibration_figure

        name = "calibration" if each is self.settings[0] else f"calibration-{each.setting}"
        words = "For each test the share of studies in which it finds an effect, with its interval."
        return Picture(name, lambda: calibration_figure(calibration_table(each.results)), words=words)

    def content(self) -> Record:
        """All tests with what they were computed from, setting by setting."""
        rule, design = replace(self.settings[0].results[0].rule, alpha=self.alpha), self.design
        understood = {} if rule.margin is None else {"understood": margin_words(rule, self.scale)}
        return {
            **understood,
            "p": self.p,
            "rows": [self._row(each, result) for each in self.settings for result in each.results],
            "settings": {
                each.setting: each.parameters.with_difference(rule.null_effect).as_dict()
                for each in self.settings
            },
            "rule": asdict(rule),
            "design": str(design),
            "n_workers": design.n_workers,
            "n_items": design.n_items,
            "ratings_per_item": design.ratings_per_item,
            "n_ratings": design.n_ratings,
            "response": self.response,
        }

    def _row(self, each: Calibrated, result: Calibration) -> dict[str, object]:
        judged = {} if self.p is None else {"credible": credible(result, self.alpha)}
        return {"setting": each.setting, **result.as_dict(), **judged}

    def to_frame(self) -> pd.DataFrame:
        """A row for each setting and test: its rates with intervals, the verdict, and the numbers of studies."""
        import pandas as pd

        return pd.DataFrame([self._row(each, one) for each in self.settings for one in each.results])


def _answer(each: Calibrated) -> str:
    planned = each.planned
    if planned.verdict == "not defined":
        return f"{planned.label}: not defined for this design."
    rate, (low, high) = planned.judged[0], planned.judged_interval
    verdict = f"The planned test ({planned.label}) is {planned.verdict}"
    if planned.verdict == "unclear":
        verdict = f"Whether the planned test ({planned.label}) keeps its level is unclear"
    errs = (
        "finds a difference that is not there" if planned.rule.margin is None else "shows what is not true"
    )
    return (
        f"{verdict}: it {errs} in {100 * rate:.1f} % of studies ({100 * VERDICT_CONFIDENCE:g} % "
        f"interval {100 * low:.1f} to {100 * high:.1f}), where {100 * planned.rule.alpha:g} % are promised."
    )


def _table(each: Calibrated) -> Table:
    """All tests; a claim with a margin has no direction."""
    if each.results[0].rule.margin is None:
        header: tuple[str, ...] = ("test", "significant", "B better", "interval", "verdict")
        return Table(header, tuple(map(_line, each.results)))
    lines = map(_line, each.results)
    rows = tuple((label, shown, *rest) for label, shown, _, *rest in lines)
    return Table(("test", "shown", "interval", "verdict"), rows)


def _legend(each: Calibrated) -> Iterator[str]:
    first = next((result for result in each.results if result.estimate.n_usable), each.results[0])
    low, high = first.band
    judged = {"two-sided": "significant", "greater": "B better"}.get(first.rule.alternative, "shown")
    yield (
        f"The verdict is on '{judged}' and follows from its interval ({100 * VERDICT_CONFIDENCE:g} %): too "
        f"bold if all of it lies above {first.rule.alpha:g}, too careful if below; calibrated if all of it "
        f"lies between {low:.3g} and {high:.3g}, which is {100 * BAND:g} % either way."
    )
    needed = max((result.needed_simulations or 0 for result in each.results), default=0)
    if needed:
        yield f"Unclear: not shown to be off, nor to be right; about {needed:,} studies would tell."
    if any(result.verdict == "not defined" for result in each.results):
        yield "Not defined: the design lacks the pairs that the test compares."
    if first.rule.margin is not None:
        yield (
            f"Shown: {claim(first.rule)}, which is just not true here. Tests that know no margin are left "
            "out."
        )
    if first.rule.alternative == "equivalent":
        yield (
            "The upper margin is the mirror image of the lower one. Where the margin is small against the "
            "standard error every test looks careful, because none can show anything: 'non-inferior' tells "
            "how bold a test is."
        )


def _line(result: Calibration) -> tuple[str, ...]:
    label = result.label + (" *" if result.is_rule else "")
    if result.verdict == "not defined":
        return (label, "", "", "", result.verdict)
    low, high = result.judged_interval
    estimate = result.estimate
    return (
        label,
        f"{estimate.rejection_rate:.3f}",
        f"{estimate.power:.3f}",
        f"{low:.3f}-{high:.3f}",
        result.verdict,
    )
