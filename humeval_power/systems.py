"""Several systems at once: their true means, the variances of a study of them, and what counts as success."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import Literal, NamedTuple, get_args

from humeval_power.errors import ParametersError, field_problem
from humeval_power.latent import is_number
from humeval_power.parameters import CORRELATIONS, Parameters
from humeval_power.rules import DecisionRule, claim

MeansPattern = Literal["one", "steps", "extremes"]
Goal = Literal["pair", "any", "all", "best", "first"]
GOALS: tuple[Goal, ...] = get_args(Goal)
_SHARED = ("sd_worker", "sd_item", "sd_residual", "sd_document")
_OWN = ("sd_worker_system", "sd_item_system", "sd_document_system")
_OF_DOCUMENTS = ("sd_document", "sd_document_system")  # files have them where they are above 0
_LETTERS = 26


class GoalWords(NamedTuple):
    """A goal by its name, as what studies do, and as what has come about in one; both also of claims with a
    margin."""

    name: str
    find: str
    show: str
    found: str
    shown: str


GOAL_WORDS: Mapping[Goal, GoalWords] = {
    "pair": GoalWords(
        "a pair that differs so",
        "find a given pair that is {apart}",
        "show the claim about a pair {apart}",
        "a pair of systems that differs by this much is found to differ",
        "{claim} of a pair of systems is shown",
    ),
    "any": GoalWords(
        "at least one true difference",
        "find at least one true difference",
        "show at least one true claim",
        "at least one of the true differences is found",
        "{claim} of at least one pair of systems is shown",
    ),
    "all": GoalWords(
        "all true differences",
        "find all true differences",
        "show all true claims",
        "all true differences are found",
        "{claim} of all pairs of which it is true is shown",
    ),
    "best": GoalWords(
        "the best above every other",
        *2 * ("find the best above every other",),
        *2 * ("the best system is found above every other",),
    ),
    "first": GoalWords(
        "the best has the highest mean",
        *2 * ("give the best the highest mean",),
        *2 * ("the best system has the highest mean",),
    ),
}


def goal_words(goal: Goal, apart: str, *, margin: bool) -> str:
    """What studies that reach a goal do; `apart` says how far the pairs that it is about are."""
    words = GOAL_WORDS[goal]
    return (words.show if margin else words.find).format(apart=apart)


def goal_clause(goal: Goal, rule: DecisionRule) -> str:
    """What has come about in a study that reaches a goal under its rule."""
    words = GOAL_WORDS[goal]
    return words.found if rule.margin is None else words.shown.format(claim=claim(rule))


@dataclass(frozen=True, slots=True)
class SystemsParameters:
    """Parameters of rating = mean[system] + worker + worker:system + item + item:system + residual, on [0, 1].

    `means`, `sd_worker_system` and `sd_item_system` have an entry for each system, in the order of `names`. A
    worker's own difference between two systems has the sum of their two squared worker:system SDs as variance.
    `sd_document` and `sd_document_system`, 0 unless they are given, are the same of the documents that items are
    taken from. `effect` is the difference by which a pattern of means is stated, None for means that follow none.
    `notes` say what was assumed on the way here.

    Raises
    ------
    ParametersError
        Names that are not different, fewer than two systems, or values that are no means or SDs; all at once.
    """

    names: tuple[str, ...]
    means: tuple[float, ...]
    sd_worker: float
    sd_worker_system: tuple[float, ...]
    sd_item: float
    sd_item_system: tuple[float, ...]
    sd_residual: float
    effect: float | None = None
    notes: tuple[str, ...] = field(default=(), compare=False)
    sd_document: float = 0.0
    sd_document_system: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        problems = []
        if not self.sd_document_system:
            object.__setattr__(self, "sd_document_system", (0.0,) * len(self.names))
        if len(self.names) < 2:
            problems.append(field_problem("names", self.names, "must name two systems or more."))
        if len(set(self.names)) < len(self.names) or not all(self.names):
            problems.append(field_problem("names", list(self.names), "must be different, and not empty."))
        for name in ("means", *_OWN):
            values = getattr(self, name)
            if len(values) != len(self.names):
                rule = f"must have an entry for each of the {len(self.names)} systems."
                problems.append(field_problem(name, list(values), rule))
            elif not all(map(is_number, values)):
                problems.append(field_problem(name, list(values), "must be finite numbers."))
        deviations = [(name, getattr(self, name)) for name in _SHARED]
        deviations += [(name, value) for name in _OWN for value in getattr(self, name)]
        for name, value in deviations:
            if not is_number(value) or value < 0:
                problems.append(field_problem(name, value, "must be a standard deviation, at least 0."))
        if problems:
            raise ParametersError(problems)

    @property
    def n_systems(self) -> int:
        """How many systems there are."""
        return len(self.names)

    @property
    def is_alike(self) -> bool:
        """Whether workers and items differ alike between any two systems (compound symmetry)."""
        return all(len(set(getattr(self, name))) == 1 for name in _OWN)

    @property
    def has_documents(self) -> bool:
        """Whether documents vary beyond their items."""
        return self.sd_document > 0 or any(self.sd_document_system)

    def variances(self, factor: Literal["worker", "item", "document"]) -> tuple[float, ...]:
        """Variances of a factor: what all systems share first, then each system's own."""
        shared, own = getattr(self, f"sd_{factor}"), getattr(self, f"sd_{factor}_system")
        return tuple(float(deviation) ** 2 for deviation in (shared, *own))

    @property
    def stated_effect(self) -> float:
        """The difference D of the pattern; of other means the smallest true difference between two of them, 0
        where all are equal."""
        if self.effect is not None:
            return self.effect
        ordered = sorted(self.means)
        gaps = [high - low for low, high in pairwise(ordered) if high > low]
        return min(gaps, default=0.0)

    @property
    def best(self) -> tuple[int, ...]:
        """The systems with the highest true mean: more than one where they tie."""
        highest = max(self.means)
        return tuple(place for place, mean in enumerate(self.means) if mean == highest)

    def with_means(self, means: Sequence[float]) -> SystemsParameters:
        """The same study of systems with these true means."""
        return replace(self, means=tuple(float(mean) for mean in means), effect=None)

    def with_pattern(self, pattern: MeansPattern, effect: float) -> SystemsParameters:
        """The same study with true means in a pattern around the same average; systems keep their order, from
        the lowest mean to the highest, and those that tie the order of their names."""
        offsets = pattern_of_means(pattern, self.n_systems, effect)
        centre = math.fsum(self.means) / self.n_systems
        means = [0.0] * self.n_systems
        order = sorted(range(self.n_systems), key=lambda place: self.means[place])
        for place, offset in zip(order, offsets, strict=True):
            means[place] = centre + offset
        return replace(self, means=tuple(means), effect=float(effect))

    def named(self, names: Sequence[str]) -> SystemsParameters:
        """The same under other names."""
        return replace(self, names=tuple(names))

    def pair(self, first: int, second: int) -> Parameters:
        """What a study of two of the systems alone is like; the difference is second - first. Documents' SDs are
        marginal ones: two systems have no correlation of theirs."""
        worker, item, document = (
            _as_slope(shared, own[first], own[second])
            for shared, own in (
                (self.sd_worker, self.sd_worker_system),
                (self.sd_item, self.sd_item_system),
                (self.sd_document, self.sd_document_system),
            )
        )
        return Parameters(
            baseline=(self.means[first] + self.means[second]) / 2,
            effect=self.means[second] - self.means[first],
            sd_worker_intercept=worker[0],
            sd_worker_slope=worker[1],
            sd_item_intercept=item[0],
            sd_item_slope=item[1],
            sd_residual=self.sd_residual,
            sd_document_intercept=document[0],
            sd_document_slope=document[1],
            correlation_worker=worker[2],
            correlation_item=item[2],
        )

    @classmethod
    def of_parameters(
        cls,
        parameters: Parameters,
        n_systems: int | None = None,
        means: Sequence[float] | None = None,
        *,
        names: Sequence[str] | None = None,
    ) -> SystemsParameters:
        """Many systems from what is known of two: any two of them are taken to differ like these (compound
        symmetry), so that each has half the variance of a worker's, and of an item's, own difference.

        means : the true means on [0, 1]; without them all are the baseline.
        names : of the systems, or else `n_systems` letters.

        Raises
        ------
        ParametersError
            Correlations, a worker x item deviation or categories, which the model of many systems does not have,
            or numbers of names and of means that disagree.
        """
        coded = parameters.recoded()
        _refuse_further(coded)
        called = tuple(names) if names is not None else system_names(_count(n_systems, means))
        if n_systems is not None and n_systems != len(called):
            rule = f"must be the number of names, {len(called)}."
            raise ParametersError([field_problem("n_systems", n_systems, rule)])
        shared, raised = [], []
        for factor in ("worker", "item", "document"):
            intercept = getattr(coded, f"sd_{factor}_intercept")
            least = getattr(coded, f"sd_{factor}_slope") / 2
            shared.append(math.sqrt(max(0.0, intercept**2 - least**2)))
            if intercept < least * (1 - 1e-12):
                raised.append(f"the SD of {factor}s' own levels as {least:.4g}, not {intercept:.4g}")
        notes = [
            f"Assumed: {', and '.join(raised)}, which is the least that goes with such differences between any two "
            "systems. Comparisons of systems that the same workers rate do not depend on it."
        ]
        each = (len(called),)
        return cls(
            names=called,
            means=tuple(means) if means is not None else (coded.baseline,) * len(called),
            sd_worker=shared[0],
            sd_worker_system=each[0] * (coded.sd_worker_slope / math.sqrt(2),),
            sd_item=shared[1],
            sd_item_system=each[0] * (coded.sd_item_slope / math.sqrt(2),),
            sd_residual=coded.sd_residual,
            notes=tuple(notes) if raised else (),
            sd_document=shared[2],
            sd_document_system=each[0] * (coded.sd_document_slope / math.sqrt(2),),
        )

    def as_dict(self) -> dict[str, object]:
        """Under the names that files use; `effect` only where a pattern states it, what is of documents only where
        they vary."""
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "notes"}
        absent = [] if self.effect is not None else ["effect"]
        for name in (*absent, *(() if self.has_documents else _OF_DOCUMENTS)):
            del values[name]
        return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> SystemsParameters:
        """Read the names that `as_dict` writes; every problem is reported at once."""
        known = [each.name for each in fields(cls) if each.name != "notes"]
        problems = [
            field_problem(
                name, values[name], f"is no parameter of several systems; they are {', '.join(known)}."
            )
            for name in values
            if name not in known
        ]
        problems += [
            field_problem(name, None, "is missing.")
            for name in known
            if name not in ("effect", *_OF_DOCUMENTS) and name not in values
        ]
        listed = ("names", "means", *_OWN)
        problems += [
            field_problem(name, values[name], "must be a list.")
            for name in listed
            if name in values and not isinstance(values[name], list | tuple)
        ]
        if problems:
            raise ParametersError(problems)
        given = {name: tuple(v) if name in listed else v for name, v in values.items()}  # type: ignore[arg-type]
        return cls(**given)  # type: ignore[arg-type]  # checked in __post_init__


def pattern_of_means(pattern: MeansPattern, n_systems: int, effect: float) -> tuple[float, ...]:
    """Means from the lowest to the highest, around an average of 0: 'one' system `effect` above all others,
    'steps' of `effect` between neighbours, or 'extremes' `effect` apart with all others in the middle."""
    last = n_systems - 1
    if pattern == "one":
        raw = [0.0] * last + [effect]
    elif pattern == "steps":
        raw = [place * effect for place in range(n_systems)]
    elif pattern == "extremes":
        raw = [0.0, *[effect / 2] * (n_systems - 2), effect]
    else:
        raise ParametersError(
            [field_problem("pattern", pattern, f"must be one of {', '.join(get_args(MeansPattern))}.")]
        )
    centre = math.fsum(raw) / n_systems
    return tuple(value - centre for value in raw)


def system_names(n_systems: int) -> tuple[str, ...]:
    """A, B, C and so on; s01, s02 where letters do not do."""
    if n_systems <= _LETTERS:
        return tuple(chr(ord("A") + place) for place in range(n_systems))
    width = len(str(n_systems))
    return tuple(f"s{place:0{width}d}" for place in range(1, n_systems + 1))


def _count(n_systems: int | None, means: Sequence[float] | None) -> int:
    count = n_systems if n_systems is not None else len(means or ())
    if count < 2:
        rule = "must be at least 2; or give names, or means."
        raise ParametersError([field_problem("n_systems", n_systems, rule)])
    return count


def _as_slope(shared: float, first: float, second: float) -> tuple[float, float, float]:
    """Intercept, slope and their correlation of a factor that has these SDs for two systems."""
    intercept, slope = math.sqrt(shared**2 + (first**2 + second**2) / 4), math.hypot(first, second)
    if first == second or intercept * slope == 0:
        return intercept, slope, 0.0
    return intercept, slope, (second**2 - first**2) / 2 / (intercept * slope)


def _refuse_further(parameters: Parameters) -> None:
    further = ("sd_worker_item", *CORRELATIONS)
    rule = "is not in the model of several systems: leave it out, or plan for two systems."
    problems = [
        field_problem(name, getattr(parameters, name), rule)
        for name in further
        if getattr(parameters, name)
    ]
    if parameters.latent is not None:
        rule = (
            "are ratings in categories, which the model of several systems does not have: give a response."
        )
        problems.append(field_problem("latent", "thresholds", rule))
    if problems:
        raise ParametersError(problems)
