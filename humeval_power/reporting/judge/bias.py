"""Whether a judge prefers the outputs of its own family: the estimate, its test, and the warning by its name."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.checking.columns import shortened
from humeval_power.inference.judge.own_family import NAME, OwnFamilyBias
from humeval_power.reporting.document import Document, Fact, Paragraph, Section, Table
from humeval_power.reporting.drawing import Drawing
from humeval_power.reporting.estimate_rows import EstimateRow, EstimateRows
from humeval_power.reporting.independence import Independence, independence_record, independence_section
from humeval_power.reporting.judge.answers import judge_signature
from humeval_power.reporting.numbers import counted, decimals, p_words, significant, significant_interval
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result

_CORRECTED = (
    "Plain means of the judge's scores carry this bias in full. 'judge estimate' does not: it corrects the judge "
    "by the humans' values, within the same systems."
)
_SYSTEMS = Independence(
    "judges",
    "assumed",
    "The test is about these systems and this judge. That systems differ in how much a judge likes them, "
    "whatever their family, is asked apart, by all choices of as many systems.",
)
_LOW = 0.5


def bias_warning(found: OwnFamilyBias) -> str:
    """What an estimate warns of, under the name of the bias; '' where there is none to tell."""
    if not found.is_found:
        return ""
    return (
        f"{NAME}: the judge scores {', '.join(map(shortened, found.own))} higher than the humans' values make one "
        f"expect, by {significant(found.in_human_units.estimate)} in their units "
        f"({p_words(found.bias.p_value)}). The estimate with the judge is corrected for it; plain means of its "
        "scores are not."
    )


@dataclass(frozen=True, kw_only=True)
class JudgeBias(Result):
    """The bias in units of the judge and of the humans, and what each system gets beyond its human values."""

    schema: ClassVar[str] = "humeval_power/judge_bias/1"

    found: OwnFamilyBias
    answers: tuple[Independence, ...] = ()
    cluster: str | None = None
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """The bias, whether systems differ as much by themselves, and each system."""
        return Document(
            NAME,
            lead=self._lead(),
            headline=self._facts(),
            caveats=self._caveats(),
            sections=(
                Section("Each system", (self._table(), self._picture())),
                Section("What it means", (Paragraph(_CORRECTED), Paragraph(self._slope()))),
                Section("For a paper", (Paragraph(self._paper()),)),
                independence_section((*self.answers, _SYSTEMS)),
            ),
            signature=self._signature,
        )

    def _lead(self) -> str:
        found, own = self.found, ", ".join(map(shortened, self.found.own))
        bias, p = found.in_human_units.estimate, p_words(found.bias.p_value)
        amount = f"{significant(abs(bias))} {'more' if bias > 0 else 'less'}"
        favours = f"favours its own family, {own}"
        shown = (
            f"The judge {favours} ({p})"
            if found.is_found
            else f"It is not shown that the judge {favours} ({p})"
        )
        return (
            f"{shown}: it scores them {amount} than the humans' values make one expect, in units of the humans. "
            f"Judged beside {counted(len(found.systems) - len(found.own), 'other system')} on "
            f"{counted(found.n_items, 'item')} with human values."
        )

    def _facts(self) -> tuple[Fact, ...]:
        found = self.found
        percent = f"{100 * found.confidence:g} % interval"
        facts = [
            (
                "Bias",
                f"{significant(found.in_human_units.estimate)} in units of the humans, {percent} "
                f"{significant_interval(*found.in_human_units.interval)}",
            ),
            (
                "The test",
                f"{significant(found.bias.estimate)} in units of the judge, {percent} "
                f"{significant_interval(*found.bias.interval)}, {p_words(found.bias.p_value)}",
            ),
        ]
        if math.isfinite(found.p_systems):
            facts.append(
                (
                    "Among systems",
                    f"{p_words(found.p_systems)} that {counted(len(found.own), 'system')} chosen blindly show as "
                    f"much ({found.n_choices:,} choices)",
                )
            )
        return tuple(facts)

    def _caveats(self) -> tuple[str, ...]:
        found = self.found
        said = []
        if found.slope is not None and found.reliability < _LOW:
            said.append(
                f"The human means are noisy (reliability {decimals(found.reliability, 2)}): the slope of the "
                "judge on them rests on a large correction."
            )
        if found.n_choices < 20:
            said.append(
                f"With {counted(len(found.systems), 'system')} nothing can be said of families beyond these "
                f"systems: the p-value among systems is {1 / found.n_choices:.2g} at least."
            )
        return tuple(said)

    def _table(self) -> Table:
        rows = tuple(
            (
                shortened(one.system),
                "own" if one.is_own else "other",
                f"{one.n_outputs:,}",
                significant(one.judge),
                significant(one.human),
                significant(one.excess),
            )
            for one in self.found.systems
        )
        caption = (
            "Means of judge and humans, less those of all outputs; excess: what the judge gives beyond the humans' "
            "values, in their units."
        )
        return Table(("system", "family", "outputs", "judge", "humans", "excess"), rows, caption=caption)

    def _picture(self) -> Drawing:
        found = self.found
        both = (
            EstimateRow(
                "own family",
                found.in_human_units.estimate,
                *found.in_human_units.interval,
                marked=found.is_found,
            ),
        )
        drawn = EstimateRows(
            both,
            "estimates",
            "Bias in units of the humans",
            usual_label="not shown",
            marked_label="found",
            whole=0.0,
            whole_label="no bias",
            is_ordered=False,
        )
        return drawn.drawing(
            "bias",
            title=NAME,
            words="The judge's bias towards its own family with its interval.",
            width=5.0,
        )

    def _slope(self) -> str:
        found = self.found
        if found.slope is None:
            return (
                "Judge and humans are taken to use the same scale: a point of one is a point of the other."
            )
        return (
            f"A point of the humans' scale is {significant(found.slope.estimate)} of the judge's "
            f"({significant_interval(*found.slope.interval)}), found within systems and freed of the noise of the "
            f"ratings (reliability of the human means {decimals(found.reliability, 2)})."
        )

    @property
    def _signature(self) -> str:
        found = self.found
        slope = "same-scale" if found.slope is None else "errors-in-variables"
        entries = ["model:own-family", f"slope:{slope}", f"own:{len(found.own)}", f"k:{len(found.systems)}"]
        return judge_signature(
            [*entries, f"items:{found.n_items}"],
            cluster=self.cluster,
            n_clusters=found.n_clusters,
            confidence=found.confidence,
        )

    def _paper(self) -> str:
        found = self.found
        by = f"clusters of items ({self.cluster})" if self.cluster else "items"
        return (
            f"The judge's preference for its own family ({', '.join(map(shortened, found.own))}), its scores "
            f"against what the human values of {found.n_items:,} items make one expect, was "
            f"{significant(found.in_human_units.estimate)} in units of the humans "
            f"({100 * found.confidence:g} % interval {significant_interval(*found.in_human_units.interval)}, "
            f"{p_words(found.bias.p_value)}, jackknife over {by})."
        )

    def content(self) -> Record:
        """All of it."""
        return {
            "name": NAME,
            **asdict(self.found),
            "is_found": self.found.is_found,
            "cluster": self.cluster,
            "independence": independence_record((*self.answers, _SYSTEMS)),
            "signature": self._signature,
        }

    def table_rows(self) -> list[Record]:
        """A row for each system."""
        return [asdict(one) for one in self.found.systems]
