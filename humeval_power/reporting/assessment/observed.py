"""From which observed difference on comparisons of a collection were significant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

from humeval_power.planning.assessment import ObservedMDE, Threshold
from humeval_power.reporting.document import Document, Fact, Paragraph, Picture, Section, Table
from humeval_power.reporting.numbers import counted, percent
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result

if TYPE_CHECKING:  # Matplotlib is slow to import
    from matplotlib.figure import Figure

SELECTION = (
    "Difference and p-value come from the same ratings, so the comparisons above a threshold were chosen "
    "by their luck too: this describes what was significant. It is no power and no plan; for those see "
    "'assessment power' and 'assessment mde'."
)
ALL = "all"


@dataclass(frozen=True, kw_only=True)
class ObservedThresholds(Result):
    """Thresholds of a collection (the group 'all') and of the groups in it."""

    schema: ClassVar[str] = "humeval_power/observed_mde/1"

    found: Mapping[str, ObservedMDE]
    alpha: float
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    @property
    def whole(self) -> ObservedMDE:
        """What all comparisons together show."""
        return self.found[ALL]

    def body(self) -> Document:
        """The thresholds, and why they are no power."""
        whole = self.whole
        pages = [Section("Share that is significant", (self._picture(), self._scatter()))]
        groups = (
            [Section("Groups", (self._groups(), Paragraph(_dash(whole))))] if len(self.found) > 1 else []
        )
        return Document(
            "From which observed difference on comparisons were significant",
            lead=self._lead(),
            headline=(
                _threshold_fact("First", whole.first, whole, "smallest difference that reaches the share"),
                _threshold_fact(
                    "Stable", whole.stable, whole, "from here on every larger difference reaches it"
                ),
            ),
            caveats=(SELECTION,),
            sections=(*groups, *pages),
        )

    def _lead(self) -> str:
        whole = self.whole
        share = f"{100 * whole.share:g} % of the comparisons"
        stable = f"No observed difference is so large that {share} from there on were significant"
        if whole.stable is not None:
            large = f"{whole.stable.difference:.4g}"
            stable = f"From an observed difference of {large} on, {share} or more were significant"
        return (
            f"{stable}. Of {counted(whole.n, 'comparison')} {whole.n_significant:,} have p < {self.alpha:g}; the "
            f"median observed difference is {whole.median_difference:.4g}."
        )

    def _groups(self) -> Table:
        rows = [
            (
                name,
                f"{each.n:,}",
                f"{each.n_significant:,}",
                f"{each.median_difference:.4g}",
                _short(each.first),
                _short(each.stable),
            )
            for name, each in self.found.items()
            if name != ALL
        ]
        return Table(("group", "comparisons", "significant", "median", "first", "stable"), tuple(rows))

    def _picture(self) -> Picture:
        return Picture(
            "thresholds",
            self._figure,
            words="Share of the comparisons with a difference or a larger one that are significant, against the "
            "difference, and the share that is asked for.",
        )

    def _figure(self) -> Figure:
        from humeval_power.reporting.assessment.figures import threshold_figure

        return threshold_figure(self.whole)

    def _scatter(self) -> Picture:
        return Picture(
            "comparisons",
            self._scattered,
            words="Each comparison by the size of its observed difference and its p-value, the level, and the "
            "first threshold where there is one.",
        )

    def _scattered(self) -> Figure:
        from humeval_power.reporting.assessment.pair_figures import comparisons_figure

        whole = self.whole
        return comparisons_figure(
            whole.difference, whole.p_value, self.alpha, threshold=_difference(whole.first)
        )

    def content(self) -> Record:
        """What was asked and the thresholds of each group."""
        return {
            "alpha": self.alpha,
            "share": self.whole.share,
            "fewest_above": self.whole.fewest_above,
            "groups": [{"group": name, **_row(each)} for name, each in self.found.items()],
            "caution": SELECTION,
        }

    def table_rows(self) -> list[Record]:
        """A row for each group, with the differences of its thresholds."""
        rows = []
        for name, each in self.found.items():
            ends = {key: _difference(getattr(each, key)) for key in ("first", "stable")}
            rows.append({"group": name, **_row(each), **ends})
        return rows


def _difference(threshold: Threshold | None) -> float | None:
    return None if threshold is None else threshold.difference


def _dash(whole: ObservedMDE) -> str:
    return f"A dash: no difference with {whole.fewest_above} comparisons or more at or above it will do."


def _row(found: ObservedMDE) -> Record:
    return {
        "comparisons": found.n,
        "significant": found.n_significant,
        "median_difference": found.median_difference,
        "first": _threshold(found.first),
        "stable": _threshold(found.stable),
    }


def _threshold(threshold: Threshold | None) -> Record | None:
    if threshold is None:
        return None
    return {**asdict(threshold), "rate": threshold.rate, "interval": list(threshold.interval)}


def _threshold_fact(label: str, threshold: Threshold | None, found: ObservedMDE, meaning: str) -> Fact:
    if threshold is None:
        return label, f"none with {found.fewest_above} comparisons or more at or above it"
    low, high = threshold.interval
    return label, (
        f"{threshold.difference:.4g} ({meaning}: {threshold.n_significant} of {threshold.n_above} at or "
        f"above it are significant, {100 * threshold.rate:.1f} %, interval {percent(low)} to {percent(high)})"
    )


def _short(threshold: Threshold | None) -> str:
    return "-" if threshold is None else f"{threshold.difference:.4g}"
