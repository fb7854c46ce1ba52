"""Human ratings and a judge's scores of the outputs of one system or several, as they stand in a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from humeval_power.checking.columns import listing
from humeval_power.checking.suspects import ClusterSuspect
from humeval_power.choices import DEFAULT_CONFIDENCE, DEFAULT_SEED, HUMAN_MEAN
from humeval_power.clusters import Clusters
from humeval_power.comparisons.judge.assisted import (
    Codes,
    Floats,
    RatedEstimate,
    RatedItems,
    RatedMeans,
    check_rated,
    is_binary,
    rated_means,
)
from humeval_power.comparisons.judge.means import (
    ClusteredParts,
    JudgedMean,
    JudgedMeans,
    check_values,
    judged_means,
)
from humeval_power.comparisons.judge.sampling import DrawnSample, sampled_means
from humeval_power.errors import HumevalPowerError, InputError, Problem, refusal
from humeval_power.inference.clustered import student_interval
from humeval_power.inference.corrections import correct
from humeval_power.saying.numbers import counted


class JudgedValues(NamedTuple):
    """Human values (n,) and the judges' scores (n, J) of the items that have both, the judges' of the others
    (N, J), what is estimated, in words, what was left out, the clusters of all these items, rated ones first, and
    which items were rated (n,)."""

    human: Floats
    judge: Floats
    extra: Floats
    what: str
    notices: tuple[str, ...] = ()
    clusters: Clusters | None = None
    items: Codes = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class JudgedTable:
    """One entry for each row: codes of `item` and `system` (and of `worker`, where it is known who rated), the
    `human` value, NaN where no person rated, and the `judge` scores, (n,) or (n, J), NaN where they are blank.

    `clusters` are those of the items; `suspects` the columns that look like clusters and were not named; `has_runs`
    says that a judge scored some outputs several times, which are averaged. `panel` are the raters that claims are
    about, where they are about no others; `worker` is then None. `sample` says how the rated items were drawn, None
    where they are a random part; values of items outside it do not count. `length` is how long each output is.
    """

    item: Codes
    system: Codes
    human: Floats
    judge: Floats
    item_names: tuple[str, ...]
    system_names: tuple[str, ...]
    worker: Codes | None = None
    worker_names: tuple[str, ...] = ()
    clusters: Clusters | None = None
    suspects: tuple[ClusterSuspect, ...] = ()
    notices: tuple[str, ...] = ()
    judge_names: tuple[str, ...] = ("judge",)
    panel: tuple[str, ...] = ()
    has_runs: bool = False
    sample: DrawnSample | None = None
    length: Floats | None = None

    @cached_property
    def scores(self) -> Floats:
        """The judges' mean scores of each output, (n_items, n_systems, J); NaN where one gave none."""
        columns = self.judge.reshape(len(self.item), -1).T
        if not len(columns):
            return np.empty((len(self.item_names), len(self.system_names), 0))
        return np.stack([self._means(each) for each in columns], axis=-1)

    @cached_property
    def is_of_classes(self) -> bool:
        """Whether people say yes or no."""
        return is_binary(self.human[np.isfinite(self.human)])

    @property
    def judge_means(self) -> Floats:
        """The first judge's mean score of each output, (n_items, n_systems); NaN where it gave none."""
        return np.asarray(self.scores[:, :, 0])

    def of_judge(self, place: int) -> JudgedTable:
        """The same table with one of its judges."""
        one = self.judge.reshape(len(self.item), -1)[:, [place]]
        return replace(self, judge=one, judge_names=self.judge_names[place : place + 1])

    @property
    def lengths(self) -> Floats:
        """How long each output is, (n_items, n_systems), NaN where nothing says it. InputError: a table that
        was read without lengths."""
        if self.length is None:
            raise InputError("The table was read without lengths: name their column (--length COLUMN).")
        return self._means(self.length)

    @cached_property
    def human_means(self) -> Floats:
        """The mean human value of each output, (n_items, n_systems); NaN where no person rated it."""
        return self._means(self.human)

    @property
    def is_rated_by_workers(self) -> bool:
        """Whether at least two workers are known, so that the rating model can be fitted."""
        return len(self.worker_names) > 1

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was noticed in reading, columns that look like clusters as well."""
        return (*self.notices, *(each.sentence() for each in self.suspects))

    @property
    def cluster_name(self) -> str | None:
        """The column of the clusters; None without them."""
        return None if self.clusters is None else self.clusters.name

    def as_planned(self, names: Sequence[str], runs: Sequence[int]) -> JudgedTable:
        """The table with the judges that were planned alone; what is otherwise is among the notices.
        InputError: a planned judge that is not there."""
        absent = [name for name in names if name not in self.judge_names]
        if absent:
            rule = f"the plan has the judge {absent[0]!r}; the table has {listing(self.judge_names)}."
            raise refusal(rule, "Call columns or judges as the plan does; see --judge.")
        places = [self.judge_names.index(name) for name in names]
        score = self.judge.reshape(len(self.item), -1)[:, places]
        notices = list(self.notices)
        if others := [name for name in self.judge_names if name not in names]:
            notices.append(f"Not in the plan, and not used: {listing(others)}.")
        for place, (name, planned) in enumerate(zip(names, runs, strict=True)):
            made = self._typical_runs(score[:, place])
            if made != planned:
                notices.append(
                    f"Of {name!r} the plan has {counted(planned, 'run')} of an output; there are {made}."
                )
        return replace(self, judge=score, judge_names=tuple(names), notices=tuple(notices))

    def _typical_runs(self, score: Floats) -> int:
        """How often a judge scored an output, of those that nobody rated where there are some: rows of ratings
        repeat its score."""
        if not self.has_runs:
            return 1
        key = self.item * len(self.system_names) + self.system
        scored, rated = np.isfinite(score), np.isin(key, key[np.isfinite(self.human)])
        given = np.bincount(key[scored & ~rated] if (scored & ~rated).any() else key[scored])
        return int(np.median(given[given > 0])) if given.any() else 0

    def chosen(self, systems: Sequence[str] | None) -> tuple[str, ...]:
        """The systems that are asked for, in that order, or all of them; one or none where there is no choice.
        InputError: names that are not there or come twice, or one where there are several."""
        if systems is None:
            return self.system_names
        names = tuple(systems)
        absent = [name for name in names if name not in self.system_names]
        if absent or len(set(names)) != len(names) or (len(names) < 2 < len(self.system_names)):
            rule = f"the systems are {listing(self.system_names)}; two of them are needed, or more."
            raise InputError(
                [Problem(rule, "Name them: --systems A,B", value=",".join(names), has_value=True)]
            )
        return names

    def chosen_pair(self, systems: Sequence[str] | None) -> tuple[str, str] | None:
        """The two systems that are asked for; None where there is one. InputError: what `chosen` raises, or
        other than two of several."""
        names = self.chosen(systems)
        if len(names) > 2:
            rule = f"a difference is of two systems; there are {len(names)}: {listing(names)}."
            raise refusal(rule, "Name them: --systems A,B")
        return (names[0], names[1]) if len(names) == 2 else None

    def sampling_score(self, pair: tuple[str, str] | None, like: JudgedTable | None = None) -> Floats:
        """What items are drawn by: the judge's score, of two systems their difference; of several judges the mean
        of their scores in SDs of those in the table `like`, else of these. (n_items,), NaN where one is missing."""
        judged = self._judged(pair)
        if judged.shape[1] == 1:
            return judged[:, 0]
        of = judged if like is None else like._judged(pair)
        spread = np.nanstd(of, axis=0)
        return np.asarray(
            ((judged - np.nanmean(of, axis=0)) / np.where(spread > 0, spread, 1.0)).mean(axis=1)
        )

    def pilot_values(self, drawn: JudgedTable, pair: tuple[str, str] | None) -> tuple[Floats, Floats]:
        """Scores and human values of this pilot, as the table `drawn` has scores. InputError: other judges, or
        no human values."""
        if set(drawn.judge_names) != set(self.judge_names):
            rule = f"the pilot has {listing(self.judge_names)}, the table {listing(drawn.judge_names)}."
            raise refusal(rule, "Name the judges of both: --judge")
        codes = self.codes_of(pair)
        means = self.human_means
        human = means[:, codes[0]] if pair is None else means[:, codes[1]] - means[:, codes[0]]
        known = np.isfinite(human)
        if not known.any():
            raise InputError("The pilot has no human values of what is asked.")
        same = [self.judge_names.index(name) for name in drawn.judge_names]
        table = replace(
            self, judge=self.judge.reshape(len(self.item), -1)[:, same], judge_names=drawn.judge_names
        )
        return table.sampling_score(pair, drawn)[known], human[known]

    def _judged(self, pair: tuple[str, str] | None) -> Floats:
        """The judges' scores of each item, or of its difference, (n_items, J)."""
        codes = self.codes_of(pair)
        first = self.scores[:, codes[0]]
        return first if pair is None else self.scores[:, codes[1]] - first

    def _means(self, values: Floats) -> Floats:
        shape = len(self.item_names), len(self.system_names)
        key, kept = self.item * shape[1] + self.system, np.isfinite(values)
        count = np.bincount(key[kept], minlength=shape[0] * shape[1])
        total = np.bincount(key[kept], values[kept], shape[0] * shape[1])
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan).reshape(shape))

    def contrast(self, pair: tuple[str, str] | None) -> str:
        """What is estimated, in words."""
        return HUMAN_MEAN if pair is None else f"Mean difference {pair[1]} - {pair[0]}"

    def codes_of(self, pair: tuple[str, str] | None) -> list[int]:
        """The codes of a pair of systems, or of the only one. InputError: names that are not there, or no pair
        where there are several systems."""
        names = self.system_names
        if pair is None:
            if len(names) > 1:
                raise InputError(f"There are {len(names)} systems: name the two to compare.")
            return [0]
        absent = [name for name in pair if name not in names]
        if absent or len(set(pair)) != 2:
            wrong = absent[0] if absent else pair[0]
            raise InputError(f"Two of the systems {', '.join(names)} are needed; got {wrong!r}.")
        return [names.index(name) for name in pair]

    def values(self, pair: tuple[str, str] | None = None) -> JudgedValues:
        """Means of each item, or of its difference between two systems, as independent of who rated."""
        codes = self.codes_of(pair)
        means, judge = self.human_means, self._judged(pair)
        human = means[:, codes[0]] if pair is None else means[:, codes[1]] - means[:, codes[0]]
        usable = np.isfinite(judge).all(axis=1)
        if self.sample is not None:
            human = np.where(self.sample.code >= 0, human, np.nan)
            if (
                not self.sample.active
            ):  # strata weigh labels by how many outputs they hold, not by their scores
                usable |= np.isfinite(human)
        both = usable & np.isfinite(human)
        order = np.concatenate([np.flatnonzero(both), np.flatnonzero(usable & ~both)])
        return JudgedValues(
            human[both],
            judge[both],
            judge[usable & ~both],
            self.contrast(pair),
            self._left_out(int((~usable).sum())),
            _clusters_of(self.clusters, order),
            np.flatnonzero(both),
        )

    def rated(self, pair: tuple[str, str] | None = None) -> RatedItems:
        """The ratings of each worker and the judge's scores, as the rating model takes them. InputError: a
        table without workers, or what `codes_of` raises."""
        if self.worker is None:
            raise InputError("The table does not say who rated: name the column of the workers.")
        codes = self.codes_of(pair)
        scores = self.scores[:, codes]
        usable = np.flatnonzero(np.isfinite(scores).all(axis=(1, 2)))
        place = np.full(len(scores), -1)
        place[usable] = np.arange(len(usable))
        kept = np.isfinite(self.human) & np.isin(self.system, codes) & (place[self.item] >= 0)
        if self.sample is not None:
            if not self.sample.is_equal:
                raise InputError(
                    "Outputs were drawn with unequal probabilities, which the model of workers cannot weigh: have "
                    "claims about these raters (--raters-fixed), or average them (--average-workers)."
                )
            kept &= self.sample.code[self.item] >= 0
        return RatedItems(
            worker=self.worker[kept],
            item=place[self.item[kept]],
            system=(self.system[kept] == codes[-1]).astype(np.int64) * (len(codes) - 1),
            rating=self.human[kept],
            scores=scores[usable],
            clusters=_clusters_of(self.clusters, usable),
        )

    def _left_out(self, count: int) -> tuple[str, ...]:
        if not count:
            return ()
        who = "the judge's score" if len(self.judge_names) == 1 else "the score of a judge"
        of = " of one system" if len(self.system_names) > 1 else ""
        return (f"Left out for lack of {who}{of}: {counted(count, 'item')}.",)


def _clusters_of(clusters: Clusters | None, items: Codes) -> Clusters | None:
    return None if clusters is None or not len(items) else clusters.only(items)


# All pairs of several systems, or each against a baseline, with a judge's help; p-values by Holm (1979).

Basis = Literal["workers", "values"]


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """The difference second - first with the judge and without; `holm_p` is corrected for all pairs, and so is
    `simultaneous`, the interval at 1 - (1 - confidence) / pairs (Bonferroni)."""

    first: str
    second: str
    found: JudgedMeans | RatedMeans
    holm_p: float
    simultaneous: tuple[float, float]

    @property
    def human(self) -> JudgedMean | RatedEstimate:
        """From humans alone."""
        return self.found.human

    @property
    def judged(self) -> JudgedMean | RatedEstimate:
        """With the judge, at the estimated weight."""
        return _with_judge(self.found)


@dataclass(frozen=True, slots=True)
class JudgedSystems:
    """The pairs in the order of the systems; `basis` says whether workers are in the model."""

    systems: tuple[str, ...]
    pairs: tuple[JudgedPair, ...]
    basis: Basis
    confidence: float
    seed: int
    baseline: str | None = None


def judged_pair(
    table: JudgedTable, pair: tuple[str, str] | None, *, confidence: float, seed: int
) -> JudgedMeans | RatedMeans:
    """One difference, or one mean: by the rating model where workers are known, else from the means of outputs."""
    if table.is_rated_by_workers:
        return rated_means(table.rated(pair), confidence=confidence)
    values = table.values(pair)
    if table.sample is not None:
        return sampled_means(
            values.human,
            values.judge,
            values.extra,
            values.items,
            table.sample,
            confidence=confidence,
            seed=seed,
            is_difference=pair is not None,
            of_classes=table.is_of_classes,
        )
    return judged_means(
        values.human,
        values.judge,
        values.extra,
        clusters=values.clusters,
        confidence=confidence,
        seed=seed,
        is_difference=pair is not None,
        of_classes=table.is_of_classes,
    )


_ESTIMATED_PAIRS = 45  # of systems, before an estimate of all is offered


def can_estimate(table: JudgedTable) -> bool:
    """Whether the mean, or the difference of each two systems, has an estimate: the first pairs are estimated, the
    data of others are looked at."""
    pairs: Sequence[tuple[str, str] | None] = list(combinations(table.system_names, 2)) or [None]
    try:
        for place, pair in enumerate(pairs):
            if place < _ESTIMATED_PAIRS:
                judged_pair(table, pair, confidence=DEFAULT_CONFIDENCE, seed=DEFAULT_SEED)
            elif table.is_rated_by_workers:
                check_rated(table.rated(pair))
            else:
                values = table.values(pair)
                check_values(values.human, values.judge, values.extra)
                if values.clusters is not None:
                    ClusteredParts.of(values.clusters, len(values.human), len(values.extra))
    except HumevalPowerError:
        return False
    return True


def judged_systems(
    table: JudgedTable,
    systems: tuple[str, ...],
    *,
    baseline: str | None = None,
    confidence: float = DEFAULT_CONFIDENCE,
    seed: int = DEFAULT_SEED,
) -> JudgedSystems:
    """Every pair of the systems, or every system against the baseline. InputError: a baseline that is none of
    the systems, or a pair that cannot be compared, which is named."""
    if baseline is not None and baseline not in systems:
        raise InputError(f"The baseline {baseline!r} is none of the systems {', '.join(systems)}.")
    pairs = list(combinations(systems, 2))
    if baseline is not None:
        pairs = [(baseline, other) for other in systems if other != baseline]
    result = []
    for pair in pairs:
        try:
            result.append(judged_pair(table, pair, confidence=confidence, seed=seed))
        except HumevalPowerError as error:
            raise type(error)(f"{pair[1]} - {pair[0]}: {error}") from None
    corrected = correct([_with_judge(one).p_value for one in result], "holm")
    together = 1 - (1 - confidence) / len(pairs)

    def simultaneous(pair: tuple[str, str], one: JudgedMeans | RatedMeans) -> tuple[float, float]:
        estimate = _with_judge(one)
        if estimate.standard_error == 0:  # an exact bound, or none
            return _with_judge(judged_pair(table, pair, confidence=together, seed=seed)).interval
        return student_interval(estimate.estimate, estimate.standard_error, estimate.df, together)

    return JudgedSystems(
        systems,
        tuple(
            JudgedPair(*pair, means, float(p), simultaneous(pair, means))
            for pair, means, p in zip(pairs, result, corrected, strict=True)
        ),
        "workers" if table.is_rated_by_workers else "values",
        confidence,
        seed,
        baseline,
    )


def _with_judge(means: JudgedMeans | RatedMeans) -> JudgedMean | RatedEstimate:
    return means.judged if isinstance(means, RatedMeans) else means.tuned
