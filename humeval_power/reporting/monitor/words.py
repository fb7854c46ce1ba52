"""What a look shows, in words: of ratings, and of independent judgements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from humeval_power.planning.looks.judgement_plan import JudgementPlan
from humeval_power.planning.monitor.after_stopping import after_stopping, false_positive_chance
from humeval_power.planning.monitor.followed import Followed
from humeval_power.planning.monitor.state import JudgementData, LookData, Monitoring, TakenLook
from humeval_power.planning.plan.plan import Plan
from humeval_power.reporting.document import Fact
from humeval_power.reporting.numbers import interval_words, p_words

_STEPS = "The boundary decides, as it was planned; these looks do not use alpha to the last digit."
_PASSED_ALL_THE_SAME = f"the boundary was passed, although p is above alpha. {_STEPS}"
_NOT_PASSED_ALL_THE_SAME = f"the boundary was not passed, although p is at most alpha. {_STEPS}"


class LookWords(Protocol):
    """What one kind of study says of its looks; `unit` names what is counted."""

    @property
    def unit(self) -> str:
        """Ratings, scores, judgements or items."""
        ...

    def size(self, look: TakenLook) -> int:
        """How many of them were in."""
        ...

    def planned_size(self) -> int:
        """How many there are at the planned end."""
        ...

    def data(self, look: TakenLook) -> str:
        """What was in."""
        ...

    def estimate(self, look: TakenLook) -> str:
        """What was found."""
        ...

    def shown(self, look: TakenLook) -> float:
        """The estimate as readers know it."""
        ...

    def result(self) -> list[Fact]:
        """What to report after the last look."""
        ...

    def effect(self) -> str:
        """The effect of interest."""
        ...


def words_of(state: Monitoring, plan: Followed) -> LookWords:
    """The words for a study."""
    return RatingWords(state, plan) if isinstance(plan, Plan) else JudgementWords(state, plan)


def _known(state: Monitoring, look: TakenLook) -> str:
    return f"{100 * look.data.information / state.maximum_information:.1f} % of the planned information"


@dataclass(frozen=True, slots=True)
class RatingWords:
    """A rating study."""

    state: Monitoring
    plan: Plan
    unit: str = "ratings"

    def size(self, look: TakenLook) -> int:
        """Ratings."""
        assert isinstance(look.data, LookData)
        return look.data.n_ratings

    def planned_size(self) -> int:
        """Ratings of the design."""
        return self.plan.design().n_ratings

    def data(self, look: TakenLook) -> str:
        """Ratings, workers, items, information."""
        data = look.data
        assert isinstance(data, LookData)
        return (
            f"{data.n_ratings:,} of {self.planned_size():,} ratings, {data.n_workers} workers, "
            f"{data.n_items} items; {_known(self.state, look)}"
        )

    def estimate(self, look: TakenLook) -> str:
        """The difference with its standard error and df."""
        data = look.data
        a, b = self.plan.systems
        return f"{b} - {a} = {data.estimate:.4f} on [0, 1], SE {data.standard_error:.4f}, df {data.df:.1f}"

    def shown(self, look: TakenLook) -> float:
        """The difference on [0, 1]."""
        return look.data.estimate

    def result(self) -> list[Fact]:
        """Stage-wise inference."""
        found = after_stopping(self.state, self.plan)
        a, b = self.plan.systems
        said = (
            f"{b} - {a} = {found.estimate:.4f} ({100 * found.confidence:g} % interval "
            f"{interval_words(*found.interval)}), {p_words(found.p_value)}, taking the looks into account "
            f"(stage-wise ordering; median-unbiased); the plain estimate is {found.naive:.4f}"
        )
        return [("Result", said)]

    def effect(self) -> str:
        """The difference of interest."""
        return f"the difference is {self.state.effect:g} as planned"


@dataclass(frozen=True, slots=True)
class JudgementWords:
    """Independent judgements."""

    state: Monitoring
    plan: JudgementPlan

    @property
    def unit(self) -> str:
        """Scores, judgements or items."""
        return self.plan.unit

    def size(self, look: TakenLook) -> int:
        """How many were in."""
        return _seen(look).n_judgements

    def planned_size(self) -> int:
        """How many there are at the end."""
        return self.plan.n

    def data(self, look: TakenLook) -> str:
        """Counts by system, and the information."""
        data = _seen(look)
        a, b = self.plan.systems
        parts = {
            "scores": f"{data.n_a:,} of {a}, {data.n_b:,} of {b}",
            "preference": f"{data.n_b:,} for {b}, {data.n_a:,} for {a}, {data.n_ties:,} ties",
            "accuracy": f"{data.n_b:,} that {b} alone got right, {data.n_a:,} that {a} alone did",
        }[self.plan.kind]
        return f"{data.n_judgements:,} of {self.plan.n:,} {self.unit} ({parts}); {_known(self.state, look)}"

    def estimate(self, look: TakenLook) -> str:
        """In the units of the test; of scores the difference of means too."""
        data = _seen(look)
        means = f"; means differ by {data.difference:+.2f}" if self.plan.kind == "scores" else ""
        return (
            f"{self._name} = {self.shown(look):.4f}, SE {data.standard_error:.4f}{means}; {self.plan.test}"
        )

    def shown(self, look: TakenLook) -> float:
        """A share, or a difference of accuracy."""
        return look.data.estimate + self._shift

    def result(self) -> list[Fact]:
        """Stage-wise inference, exact for counts; and how often these looks err."""
        found, shift = after_stopping(self.state, self.plan), self._shift
        how = "stage-wise ordering; median-unbiased"
        if self.plan.kind != "scores":
            how += "; exact, given how many judgements were decided"
        low, high = found.interval
        said = (
            f"{self._name} = {found.estimate + shift:.4f} ({100 * found.confidence:g} % interval "
            f"{interval_words(low + shift, high + shift)}), {p_words(found.p_value)}, taking the looks into "
            f"account ({how}); the plain estimate is {found.naive + shift:.4f}"
        )
        exactly = "" if self.plan.kind == "scores" else ", exactly"
        chance = false_positive_chance(self.state, self.plan)
        errors = f"without a difference these looks claim one in {100 * chance:.2f} % of studies{exactly}"
        facts = [("Result", said), ("Errors", f"{errors} (alpha {100 * self.plan.rule.alpha:g} %)")]
        passed = self.state.looks[-1].decision in ("stop-success", "end-success")
        if passed is not (found.p_value <= self.plan.rule.alpha):
            facts.append(("", _PASSED_ALL_THE_SAME if passed else _NOT_PASSED_ALL_THE_SAME))
        return facts

    def effect(self) -> str:
        """The effect of interest, as it was planned."""
        study = self.plan.study
        if self.plan.kind == "scores":
            return f"means differ by {study.true_effect:g} points as planned"
        return f"it is {self.state.effect + self._shift:g} as planned"

    @property
    def _shift(self) -> float:
        """Shares are shown as such, not as what they are above 1/2."""
        return 0.0 if self.plan.kind == "accuracy" else 0.5

    @property
    def _name(self) -> str:
        a, b = self.plan.systems
        if self.plan.kind == "scores":
            return f"P({b} scores higher than {a})"
        if self.plan.kind == "accuracy":
            return f"accuracy of {b} - {a}"
        kept = getattr(self.plan.study, "ties", "excluded") == "kept"
        return f"share that prefers {b}{', ties counted half' if kept else ' of those who prefer one'}"


def _seen(look: TakenLook) -> JudgementData:
    assert isinstance(look.data, JudgementData)
    return look.data
