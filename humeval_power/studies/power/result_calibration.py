"""How often tests find an effect where there is none, and whether a reported p-value is credible."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Literal

from humeval_power.choices import Response
from humeval_power.designs import Design
from humeval_power.parameters import Parameters
from humeval_power.rules import ComparisonFamily, claim
from humeval_power.saying.chart import Chart, EstimateRow, EstimateRows
from humeval_power.saying.document import (
    Document,
    Fact,
    Facts,
    Paragraph,
    Points,
    Section,
    Table,
    table,
)
from humeval_power.saying.numbers import counted, interval_words, level_of, power_words
from humeval_power.saying.quantities import values
from humeval_power.saying.result import UNKNOWN, Provenance, Record, Result
from humeval_power.saying.rule_words import margin_words
from humeval_power.scales import RatingScale
from humeval_power.studies.power.calibration import (
    BAND,
    VERDICT_CONFIDENCE,
    Calibration,
    SettingCalibration,
)
from humeval_power.studies.power.result_several import family_words
from humeval_power.studies.power.study_content import category_facts, setting_labels, setting_words

# Is a reported p-value credible? How often studies without a difference give it or less, by every test.

QUESTION = "How often do tests find what is not there?"
Credible = Literal["yes", "no", "unclear", "not defined"]
_COMMON = "item-means-t"  # what is reported most, beside the planned test


def credible(result: Calibration, alpha: float) -> Credible:
    """Whether a test gives the p-value in at most alpha of the studies without a difference: by the whole interval
    of the share, so far as it tells."""
    low, high = result.judged_interval
    if math.isnan(low):
        return "not defined"
    return "no" if low > alpha else "yes" if high <= alpha else "unclear"


def reported_p(p: float, alpha: float, design: Design, settings: Sequence[SettingCalibration]) -> Document:
    """Whether the p-value is credible, then how often chance gives it by every test under every setting."""
    level = f"{100 * alpha:g} %"
    said = {
        "yes": f"credible at {level}",
        "no": f"not credible at {level}",
        "unclear": f"at the edge of {level}",
        "not defined": "not to be had from this design",
    }
    labels = setting_labels(each.setting for each in settings)
    verdicts = [(each, labels[each.setting], said[credible(each.planned, alpha)]) for each in settings]
    size = f"{counted(design.n_workers, 'worker')} and {counted(design.n_items, 'item')}"
    answer = f"p = {p:g} from {size} is {verdicts[0][2]}"
    if len({verdict for *_, verdict in verdicts}) > 1:
        parts = ", ".join(f"{verdict} under {setting}" for _, setting, verdict in verdicts)
        answer = f"It depends on the ratings: p = {p:g} from {size} is {parts}"
    points = []
    for each, label, verdict in verdicts:
        share = ""
        if each.planned.verdict != "not defined":
            share = (
                f"{100 * each.planned.judged[0]:.1f} % of studies without any difference give that p or less "
                f"({_interval(each.planned)}); "
            )
        points.append(f"{label}: {share}{verdict}.")
    simulated = max(result.estimate.n_simulations for each in settings for result in each.results)
    facts = (
        ("Study", str(design)),
        ("Studies", f"{simulated:,} simulated without a difference, the same for every test"),
    )
    return Document(
        f"Is p = {p:g} credible?",
        lead=f"{answer} ({settings[0].planned.label}).",
        sections=(
            Section("", (Points(tuple(points)), Facts(facts), _tests(p, alpha, settings))),
            Section("", tuple(map(Paragraph, _legend(alpha, settings)))),
        ),
    )


CLAIMS_OF_CHANCE = {
    "two-sided": "Studies without an effect that find one, %",
    "greater": "Studies without an effect that claim B is better, %",
    "non-inferior": "Studies at the margin that claim non-inferiority, %",
    "equivalent": "Studies at the margin that claim equivalence, %",
}


_OF_SEVERAL = "Studies of equal systems that find a difference between any two, %"


def calibration_rows(results: Sequence[Mapping[Any, Any]], *, several: bool = False) -> EstimateRows:
    """The tests that the design allows with their rates of rejection under no effect, the boldest on top, about
    alpha and what counts as calibrated; marked are those that are too bold.

    results : as `Calibration.as_dict` gives them, all of one alpha and alternative; of `several` systems.
    """
    alpha, alternative = 100 * results[0]["alpha"], results[0]["alternative"]
    keys = ("upper_rate" if alternative == "greater" else "rejection_rate", "judged_low", "judged_high")
    defined = [one for one in results if one["verdict"] != "not defined"]
    band = [100 * one[end] for one in defined for end in ("band_low", "band_high")]
    rows = []
    for one in defined:
        value, low, high = (100 * one[key] for key in keys)
        name = one["label"] + (" *" if one["is_rule"] else "")
        rows.append(EstimateRow(name, value, low, high, one["verdict"] == "too bold"))
    return EstimateRows(
        tuple(rows),
        nouns="tests",
        x_label=_OF_SEVERAL if several else CLAIMS_OF_CHANCE[alternative],
        usual_label="not shown to be too bold",
        marked_label="too bold",
        null=None,
        whole=alpha,
        whole_label=f"promised: {alpha:g} %",
        whole_interval=(min(band), max(band)) if band else None,
    )


def _interval(result: Calibration) -> str:
    low, high = result.judged_interval
    return f"{level_of(VERDICT_CONFIDENCE)} interval {100 * low:.1f} to {100 * high:.1f}"


def _named(result: Calibration) -> str:
    """A test, the planned one with its mark."""
    return result.label + (" *" if result.is_rule else "")


def _tests(p: float, alpha: float, settings: Sequence[SettingCalibration]) -> Table:
    header = ["test"]
    for label in setting_labels(each.setting for each in settings).values():
        header += [label, "credible"]
    rows = []
    for results in zip(*(each.results for each in settings), strict=True):
        row = [_named(results[0])]
        for result in results:
            share = "" if math.isnan(result.judged_interval[0]) else f"{result.judged[0]:.3f}"
            row += [share, credible(result, alpha)]
        rows.append(tuple(row))
    caption = f"Share of studies without any difference in which a test gives p = {p:g} or less"
    return Table(tuple(header), tuple(rows), caption=caption)


def _legend(alpha: float, settings: Sequence[SettingCalibration]) -> Iterator[str]:
    yield (
        f"Look for the test that the p-value comes from (*: the planned one). Its share is what the p-value should "
        f"have been. Credible: its {level_of(VERDICT_CONFIDENCE)} interval ends at {alpha:g} or below."
    )
    common = [result for each in settings for result in each.results if result.test == _COMMON]
    if any(credible(result, alpha) == "no" for result in common):
        shares = " and ".join(f"{100 * result.judged[0]:.0f} %" for result in common)
        yield (
            f"Beware of tests that take the workers of the study for all there are: {common[0].label} gives it by "
            f"chance in {shares} of the studies."
        )


@dataclass(frozen=True, kw_only=True)
class CalibrationResult(Result):
    """Tests of one study without an effect, or with one at the margin of the rule, under one setting or several.

    With a `p` the rates are the shares of studies whose p-value is at most that, to be compared with `alpha`.
    """

    schema: ClassVar[str] = "humeval_power/calibration/3"

    settings: tuple[SettingCalibration, ...]
    design: Design
    response: Response
    alpha: float
    p: float | None = None
    scale: RatingScale | None = None
    family: ComparisonFamily | None = None  # of several systems
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
        labels = setting_labels(each.setting for each in self.settings)
        answers, sections = [], []
        for each in self.settings:
            label = labels[each.setting] if len(self.settings) > 1 else ""
            answers.append(f"{label}: {_answer(each)}" if label else _answer(each))
            facts, legend = (
                Facts(tuple(self._facts(each))),
                map(Paragraph, _legend_of_verdicts(each, several=self.family is not None)),
            )
            tests = _table(each, several=self.family is not None)
            sections.append(Section(label, (facts, tests, *self._pictures(each), *legend)))
        title = "How often tests find what is not there"
        return Document(title, lead=" ".join(answers), sections=tuple(sections))

    def _facts(self, each: SettingCalibration) -> Iterator[Fact]:
        rule = each.results[0].rule
        truth = "no difference between the systems"
        if rule.margin is not None:
            yield "Margin", margin_words(rule, self.scale)
            truth = f"a true difference B - A of {rule.null_effect:g}, at the margin"
        yield "Setting", f"{setting_words(each.setting)}, {truth}"
        if isinstance(each.parameters, Parameters):
            yield from category_facts(each.parameters.with_difference(rule.null_effect))
        yield "Study", str(self.design)
        yield "Test", f"{rule} (planned, * below)"
        if self.family is not None:
            yield "Tests", family_words(self.family, self.design.n_systems)
        simulated = max(result.estimate.n_simulations for result in each.results)
        yield "Studies", f"{simulated:,} simulated, the same for every test"

    def _pictures(self, each: SettingCalibration) -> Iterator[Chart]:
        rows = calibration_rows(
            [result.as_dict() for result in each.results], several=self.family is not None
        )
        if rows.rows:
            yield rows.chart(
                "calibration" if each is self.settings[0] else f"calibration-{each.setting}",
                title=QUESTION,
                words="For each test the share of studies in which it finds an effect, with its interval.",
            )

    def content(self) -> Record:
        """All tests with what they were computed from, setting by setting."""
        rule, design = replace(self.settings[0].results[0].rule, alpha=self.alpha), self.design
        understood = {} if rule.margin is None else {"understood": margin_words(rule, self.scale)}
        return {
            **understood,
            "p": self.p,
            "rows": [
                {
                    "setting": each.setting,
                    **result.as_dict(),
                    **({} if self.p is None else {"credible": credible(result, self.alpha)}),
                }
                for each in self.settings
                for result in each.results
            ],
            "settings": {
                each.setting: (
                    each.parameters.with_difference(rule.null_effect)
                    if isinstance(each.parameters, Parameters)
                    else each.parameters
                ).as_dict()
                for each in self.settings
            },
            **(
                {}
                if self.family is None
                else {"n_systems": design.n_systems, "family": asdict(self.family)}
            ),
            "rule": asdict(rule),
            "design": str(design),
            **values(design, "n_workers", "n_items", "ratings_per_item", "n_ratings"),
            "response": self.response,
        }


def _answer(each: SettingCalibration) -> str:
    planned = each.planned
    if planned.verdict == "not defined":
        return f"{planned.label}: not defined for this design."
    verdict = f"The planned test ({planned.label}) is {planned.verdict}"
    if planned.verdict == "unclear":
        verdict = f"Whether the planned test ({planned.label}) keeps its level is unclear"
    more = f" About {needed:,} studies would tell." if (needed := planned.needed_simulations) else ""
    errs = (
        "finds a difference that is not there" if planned.rule.margin is None else "shows what is not true"
    )
    return (
        f"{verdict}: it {errs} in {100 * planned.judged[0]:.1f} % of studies ({_interval(planned)}), where "
        f"{100 * planned.rule.alpha:g} % are promised.{more}"
    )


def _table(each: SettingCalibration, *, several: bool) -> Table:
    """All tests; a claim with a margin has no direction, nor have those of several systems together."""
    has_margin = each.results[0].rule.margin is not None

    def known(cell: Callable[[Calibration], str]) -> Callable[[Calibration], str]:
        return lambda one: "" if one.verdict == "not defined" else cell(one)

    columns = {
        "test": _named,
        "shown" if has_margin else "any found" if several else "significant": known(
            lambda one: f"{one.estimate.rejection_rate:.3f}"
        ),
        "interval": known(lambda one: interval_words(*one.judged_interval, digits=3)),
        "B better": known(lambda one: power_words(one.estimate.power)),
        "verdict": lambda one: one.verdict,
    }
    if has_margin or several:
        del columns["B better"]
    elif each.results[0].rule.alternative == "greater":  # whose interval is that of 'B better'
        columns |= {name: columns.pop(name) for name in ("interval", "verdict")}
    return table(each.results, columns)


def _legend_of_verdicts(each: SettingCalibration, *, several: bool) -> Iterator[str]:
    first = next((result for result in each.results if result.estimate.n_usable), each.results[0])
    low, high = first.band
    judged = {"two-sided": "significant", "greater": "B better"}.get(first.rule.alternative, "shown")
    if several:
        judged = "any found"
    yield (
        f"The verdict is on '{judged}' and follows from its interval ({level_of(VERDICT_CONFIDENCE)}): too "
        f"bold if all of it lies above {first.rule.alpha:g}, too careful if below; calibrated if all of it "
        f"lies between {low:.3g} and {high:.3g}, which is {100 * BAND:g} % either way."
    )
    if any(result.verdict == "unclear" for result in each.results):
        yield "Unclear: more simulated studies would tell."
    if any(result.verdict == "not defined" for result in each.results):
        yield "Not defined: the design lacks the pairs that the test compares."
    if first.rule.margin is not None:
        yield f"Shown: {claim(first.rule)}, which is just not true here. Tests that know no margin are left out."
    if first.rule.alternative == "equivalent":
        yield (
            "The upper margin is the mirror image of the lower one. Where the margin is small against the "
            "standard error every test looks careful, because none can show anything: 'non-inferior' tells "
            "how bold a test is."
        )
