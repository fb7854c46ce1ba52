"""May a change go in? Whether a candidate is worse than a baseline by more than a margin, as a decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from humeval_power.inference.clustered import ClusteredMean
from humeval_power.saying.compared import three_digits
from humeval_power.saying.document import Document, Facts, Section
from humeval_power.saying.numbers import counted, level_of, p_words
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record, Result

Fails = Literal["worse", "unproven"]


@dataclass(frozen=True, kw_only=True)
class GateResult(Result):
    """A difference of means and the decision by it.

    `found` is the mean of candidate - baseline, turned round where a lower score is better; `p_worse` is of the
    test that the candidate is worse by more than `margin`, `p_not_worse` of the test that it is not. `changed`
    counts items of scores 0 and 1 that the candidate alone, and the baseline alone, has right.
    """

    schema: ClassVar[str] = "humeval_power/compare_gate/1"

    systems: tuple[str, str]
    metric: str
    means: tuple[float, float]
    found: ClusteredMean
    p_worse: float
    p_not_worse: float
    margin: float
    fails: Fails
    alpha: float
    lower_is_better: bool = False
    changed: tuple[int, int] | None = None
    clusters: str = ""
    notices: tuple[str, ...] = ()

    @property
    def is_worse(self) -> bool:
        """Whether it is shown that the candidate is worse by more than the margin."""
        return self.p_worse <= self.alpha

    @property
    def is_not_worse(self) -> bool:
        """Whether it is shown that the candidate is not worse by the margin."""
        return self.p_not_worse <= self.alpha

    @property
    def passed(self) -> bool:
        """The decision."""
        return not self.is_worse if self.fails == "worse" else self.is_not_worse

    @property
    def interval(self) -> tuple[float, float]:
        """Of confidence 1 - 2 alpha: an end beyond -margin is what the tests decide by."""
        return self.found.interval(1 - 2 * self.alpha)

    @property
    def missed(self) -> str:
        return "" if self.passed else f"{self.systems[1]} does not pass."

    @property
    def remarks(self) -> tuple[str, ...]:
        return self.notices

    def body(self) -> Document:
        baseline, candidate = self.systems
        facts = [
            (baseline, f"{self.means[0]:.4g}, the mean {self.metric}"),
            (candidate, f"{self.means[1]:.4g}"),
            ("Better by", f"{self.found.estimate:+.4g} ({self._interval()})"),
            ("Rule", self._rule()),
            ("Shown to be worse", f"{'yes' if self.is_worse else 'no'} ({p_words(self.p_worse)})"),
            ("Shown not to be", f"{'yes' if self.is_not_worse else 'no'} ({p_words(self.p_not_worse)})"),
            ("Items", f"{self.found.n:,}{self._of_clusters()}"),
        ]
        if self.changed is not None:
            helped, hurt = self.changed
            facts.append(("Items changed", f"{helped:,} helped ({candidate} alone right), {hurt:,} hurt"))
        few = f"{counted(self.found.n_clusters, 'cluster')} ({self.found.df:.1f} degrees of freedom)"
        rough = f"The interval rests on {few}: it is no more than a hint."
        return Document(
            f"{candidate} against {baseline}",
            lead=self._lead(),
            caveats=(rough,) if self.found.is_rough else (),
            sections=(Section("", (Facts(tuple(facts)),)),),
        )

    def _lead(self) -> str:
        baseline, candidate = self.systems
        by = f"by more than {self.margin:g} " if self.margin else ""
        first = "Passed" if self.passed else "Failed"
        if self.is_worse:
            said = f"{candidate} is worse than {baseline} {by}on average ({p_words(self.p_worse)})"
        elif self.is_not_worse:
            most = f"by {self.margin:g} or more" if self.margin else "at all"
            said = f"{candidate} is not worse than {baseline} {most} ({p_words(self.p_not_worse)})"
        else:
            said = (
                f"it is not shown that {candidate} is worse than {baseline} {by}({p_words(self.p_worse)}); nor is "
                f"the contrary ({p_words(self.p_not_worse)}), for which it takes more items"
            )
        side = "better" if self.found.estimate >= 0 else "worse"
        return f"{first}: {said}. It scored {three_digits(abs(self.found.estimate))} {side} ({self._interval()})."

    def _interval(self) -> str:
        low, high = self.interval
        return f"{level_of(1 - 2 * self.alpha)} interval {low:+.3g} to {high:+.3g}"

    def _of_clusters(self) -> str:
        return f" in {self.found.n_clusters:,} clusters ({self.clusters})" if self.clusters else ""

    def _rule(self) -> str:
        level = f"{level_of(1 - self.alpha)} confidence"
        by = f" by more than {self.margin:g}" if self.margin else ""
        if self.fails == "worse":
            return f"fails where it is shown to be worse{by}, with {level}"
        return f"fails unless it is shown not to be worse{by}, with {level}"

    def content(self) -> Record:
        helped, hurt = self.changed or (None, None)
        return {
            "baseline": self.systems[0],
            "candidate": self.systems[1],
            **values(self, "metric", "passed", "fails", "margin", "alpha", "lower_is_better"),
            **values(self, "interval", "p_worse", "p_not_worse"),
            "mean_baseline": self.means[0],
            "mean_candidate": self.means[1],
            "better_by": self.found.estimate,
            "confidence": 1 - 2 * self.alpha,
            "n_items": self.found.n,
            **values(self.found, "n_clusters", "df"),
            "n_helped": helped,
            "n_hurt": hurt,
        }
