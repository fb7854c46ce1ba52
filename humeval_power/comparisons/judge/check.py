"""What a table of labels and judges' scores supports: levels of evidence, quality of each judge, bias, worth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Literal

import numpy as np
from scipy import special

from humeval_power.choices import DEFAULT_CONFIDENCE, LabelOrigin
from humeval_power.clusters import Clusters
from humeval_power.comparisons.judge.assisted import (
    Assisted,
    assisted_mean,
    is_binary,
    label_mean,
    labels_for_width,
    labels_wanted,
    lower_r_squared,
)
from humeval_power.comparisons.judge.ceiling import judge_ceiling, own_family_bias
from humeval_power.comparisons.judge.quality import (
    FEW,
    NO_TARGET,
    ONE_CLASS,
    ONE_CLUSTER,
    Classes,
    Codes,
    Distortion,
    Favour,
    Floats,
    Level,
    Measured,
    ac1,
    alpha,
    alpha_of_numbers,
    classes,
    correlation,
    distortion,
    favours,
    kappa,
    measured_table,
)
from humeval_power.comparisons.judge.table import JudgedTable, can_estimate
from humeval_power.errors import HumevalPowerError, InputError
from humeval_power.inference.corrections import correct

Kind = Literal["binary", "ordinal", "numeric"]
MOST_CLASSES = 11
LEAST_TWICE = 50  # outputs of each system with two ratings, from which favour can be told
_NOT_RANDOM = 1e-3  # p-value below which labels are no random part
MOST_PAIRS = 45  # of systems, that are looked at


@dataclass(frozen=True, slots=True)
class Evidence:
    """Something that a table supports or not, `because` of what."""

    what: str
    supported: bool
    because: str


@dataclass(frozen=True, slots=True)
class Worth:
    """What one judge or all together add to an estimate: of what, in words, with the labels that would do.

    `times` is the variance of the labels alone over that with the judges; `half_width` is what is asked,
    `needed` the labels that reach it with the judges, at the lower limit of their squared correlation,
    `needed_alone` without; None where not even all items would do, or none `is_sought`, as labels do not vary.
    """

    judges: tuple[str, ...]
    of: str
    found: Assisted
    alone: Assisted
    n: int
    extra: int
    half_width: float
    needed: int | None
    needed_alone: int | None
    is_sought: bool

    @property
    def times(self) -> float:
        """1 where the judges were not used."""
        if self.found.reason or not self.found.standard_error > 0:
            return 1.0
        return (self.alone.standard_error / self.found.standard_error) ** 2


@dataclass(frozen=True, slots=True)
class JudgeQuality:
    """How one judge's answers go with people's on `n` outputs; None where a measure does not fit their kinds.

    `kappa`, `ac1` and `alpha` (of this `level`) are of the judge and a single rating; `run_reliability` is the
    correlation of two runs over outputs, NaN without runs.
    """

    name: str
    kind: Kind
    n: int
    n_scored: int
    correlation: Measured
    classes: Classes | None
    level: Level | None
    kappa: Measured | None
    ac1: Measured | None
    alpha: Measured | None
    run_reliability: float
    distortions: tuple[Distortion, ...]
    favours: tuple[Favour, ...]
    same_scale: bool


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """All that is said of a table. `between` is the mean correlation of two judges with each other: of differences
    of systems, else of outputs, freed of the noise of runs where they have several."""

    n_items: int
    n_outputs: int
    n_labelled: int
    n_extra: int
    systems: tuple[str, ...]
    judge_names: tuple[str, ...]
    worker_names: tuple[str, ...]
    human_kind: Kind | None
    labels: LabelOrigin
    evidence: tuple[Evidence, ...]
    judges: tuple[JudgeQuality, ...]
    worth: tuple[Worth, ...]
    ties: int
    n_twice: int
    confidence: float
    between: float = math.nan
    offers: tuple[tuple[str, ...], ...] = ()


def check_table(
    table: JudgedTable,
    *,
    labels: LabelOrigin = "unknown",
    half_width: float | None = None,
    confidence: float = DEFAULT_CONFIDENCE,
) -> CheckedFile:
    """Everything that the table supports.

    labels : how the labelled outputs were chosen: 'random' (a random part), 'apart' (another population or a
    balanced
        set), or 'unknown', which is then looked at.
    half_width : of the interval for which labels are counted. [half of the present one]
    """
    human, scores = table.human_means, table.scores
    labelled, scored = np.isfinite(human), np.isfinite(scores)
    everywhere = scored.all(axis=2) if scores.shape[2] else np.zeros(human.shape, dtype=bool)
    values = table.human[np.isfinite(table.human)]
    human_kind = kind_of(values) if len(values) else None
    twice = ratings_of_two(table)
    at = labelled & everywhere
    both = at.T.astype(np.int64) @ at  # items with labels under each two systems
    np.fill_diagonal(both, 0)
    worth = _worths(table, half_width=half_width, confidence=confidence) if labels != "apart" else ()
    judges = tuple(
        _quality(table, place, human_kind, twice, labels=labels, confidence=confidence)
        for place in range(len(table.judge_names))
    )
    file = CheckedFile(
        n_items=len(table.item_names),
        n_outputs=int((labelled | scored.any(axis=2)).sum()),
        n_labelled=int(labelled.sum()),
        n_extra=int((everywhere & ~labelled).sum()),
        systems=tuple(name for name in table.system_names if name),
        judge_names=table.judge_names,
        worker_names=table.worker_names,
        human_kind=human_kind,
        labels=labels,
        evidence=(),
        judges=judges,
        worth=tuple(worth),
        ties=int((labelled & (human == 0.5)).sum()) if human_kind == "binary" else 0,
        n_twice=len(twice[0]),
        confidence=confidence,
        between=_between(table, [one.run_reliability for one in judges]),
    )
    selection = _selection(scores, labelled) if labels == "unknown" else None
    unfit = _why_no_part(table, file, at, everywhere & ~labelled, selection)
    evidence = tuple(_evidence(table, file, int(at.sum()), int(both.max()), unfit))
    return replace(file, evidence=evidence, offers=tuple(_offers(table, evidence, confidence)))


def _between(table: JudgedTable, reliabilities: Sequence[float]) -> float:
    n_judges, n_systems = len(table.judge_names), len(table.system_names)
    if n_judges < 2:
        return math.nan
    score = table.judge.reshape(len(table.item), -1)
    key = table.item * n_systems + table.system
    noise_free = []
    for place, one in enumerate(reliabilities):
        known = np.isfinite(score[:, place])
        runs = known.sum() / max(1, len(np.unique(key[known])))
        spearman_brown = runs * one / (1 + (runs - 1) * one)
        noise_free.append(spearman_brown if one > 0 and n_systems == 1 else 1.0)
    found = []
    systems = list(combinations(range(n_systems), 2))[:MOST_PAIRS]
    parts = [np.asarray(table.scores[:, b] - table.scores[:, a]) for a, b in systems] or [
        table.scores[:, 0]
    ]
    for part in parts:
        for first, second in combinations(range(n_judges), 2):
            both = part[np.isfinite(part[:, [first, second]]).all(axis=1)][:, [first, second]]
            if len(both) >= FEW and (np.ptp(both, axis=0) > 0).all():
                together = float(np.asarray(np.corrcoef(both.T))[0, 1])
                found.append(together / math.sqrt(noise_free[first] * noise_free[second]))
    return max(-1.0, min(1.0, float(np.mean(found)))) if found else math.nan


def _offers(
    table: JudgedTable, evidence: Sequence[Evidence], confidence: float
) -> Iterator[tuple[str, ...]]:
    """Commands that are supported and have an answer, each with the words that only it needs."""
    held = [one.what for one in evidence if one.supported]
    if any("with the judge's help" in what for what in held) and can_estimate(table):
        yield ("estimate",)
    judges = [(name, table.of_judge(place)) for place, name in enumerate(table.judge_names)]
    agree: Callable[..., object] = judge_ceiling if table.is_rated_by_workers else judge_qualities
    if "how well judge and people agree" in held and all(
        _has_answer(partial(agree, one, confidence=confidence)) for _, one in judges
    ):
        yield ("agreement",)
    if "whether the judge favours a system" in held:
        own = table.system_names[:1]
        for name, one in judges:
            if _has_answer(partial(own_family_bias, one, own, confidence=confidence)):
                yield "bias", "--own", *own, *(("--judge", name) if len(judges) > 1 else ())


def _has_answer(compute: Callable[[], object]) -> bool:
    try:
        compute()
    except HumevalPowerError:
        return False
    return True


def judge_qualities(table: JudgedTable, *, confidence: float) -> tuple[JudgeQuality, ...]:
    """Each judge beside the labels. InputError: fewer than 5 outputs with a label and a score of some judge."""
    values = table.human[np.isfinite(table.human)]
    human_kind = kind_of(values) if len(values) else None
    nothing = np.empty(0, dtype=np.int64), np.empty(0), np.empty(0)
    qualities = tuple(
        _quality(table, place, human_kind, nothing, labels="unknown", confidence=confidence)
        for place in range(len(table.judge_names))
    )
    if min(one.n for one in qualities) < FEW:
        fewest = min(qualities, key=lambda one: one.n)
        raise InputError(
            f"{fewest.n:,} outputs have a label and a score of {fewest.name!r}: agreement needs {FEW}."
        )
    return qualities


def kind_of(values: Floats) -> Kind:
    """Binary (0 and 1), ordinal (at most 11 whole numbers) or numeric."""
    if is_binary(values):
        return "binary"
    different = np.unique(values)
    whole = bool((different == np.round(different)).all())
    return "ordinal" if whole and len(different) <= MOST_CLASSES else "numeric"


def _selection(scores: Floats, labelled: np.ndarray) -> float | None:
    """The smallest p-value, times the judges, that labelled and other outputs have the same scores; None
    without any."""
    p_values = []
    for place in range(scores.shape[2]):
        score = scores[:, :, place]
        known = np.isfinite(score)
        inside, outside = score[known & labelled], score[known & ~labelled]
        if len(inside) >= FEW and len(outside) >= FEW:
            p_values.append(_same_scores(inside, outside))
    return min(1.0, min(p_values) * len(p_values)) if p_values else None


def _same_scores(first: Floats, second: Floats) -> float:
    """Chi-square of a few values, Kolmogorov and Smirnov's test of many."""
    values = np.unique(np.concatenate([first, second]))
    if len(values) == 1:
        return 1.0
    if len(values) <= MOST_CLASSES:
        places = [np.searchsorted(values, part) for part in (first, second)]
        table = np.stack([np.bincount(place, minlength=len(values)) for place in places])
        expected = table.sum(axis=0) * table.sum(axis=1)[:, None] / table.sum()
        return float(special.chdtrc(len(values) - 1, float(((table - expected) ** 2 / expected).sum())))
    ordered = np.searchsorted(np.sort(first), values, side="right") / len(first)
    distance = float(
        np.abs(ordered - np.searchsorted(np.sort(second), values, side="right") / len(second)).max()
    )
    size = math.sqrt(len(first) * len(second) / (len(first) + len(second)))
    return float(special.kolmogorov(size * distance))


def _worths(table: JudgedTable, *, half_width: float | None, confidence: float) -> Iterator[Worth]:
    """Of each judge and of all together, for the mean, or for the differences of systems."""
    n_judges = len(table.judge_names)
    if not n_judges:
        return
    every: Sequence[tuple[str, str] | None] = list(combinations(table.system_names, 2)) or [None]
    groups = [[place] for place in range(n_judges)] + ([list(range(n_judges))] if n_judges > 1 else [])
    for pair in every[:MOST_PAIRS]:
        values = table.values(pair)
        n, extra = len(values.human), len(values.extra)
        if n < 2:
            continue
        alone = label_mean(
            values.human,
            confidence=confidence,
            binary=pair is None and is_binary(values.human),
            of_classes=table.is_of_classes,
        )
        width = (alone.interval[1] - alone.interval[0]) / 4 if half_width is None else half_width
        variance = float(values.human.var(ddof=1))
        is_sought = width > 0 and variance > 0  # neither of NaN
        needed_alone = None
        if is_sought:
            needed_alone = labels_for_width(width, variance, 0.0, n + extra, 0, confidence=confidence)
        for group in groups:
            one = assisted_mean(
                values.human,
                values.judge[:, group],
                values.extra[:, group],
                confidence=confidence,
                is_difference=pair is not None,
                of_classes=table.is_of_classes,
            )
            needed = None
            if is_sought and not one.reason:
                needed = labels_for_width(
                    width,
                    variance,
                    lower_r_squared(one.r_squared, n),
                    n + extra,
                    len(one.used),
                    confidence=confidence,
                )
            names = tuple(table.judge_names[place] for place in group)
            yield Worth(names, values.what, one, alone, n, extra, width, needed, needed_alone, is_sought)


def _quality(
    table: JudgedTable,
    place: int,
    human_kind: Kind | None,
    twice: tuple[Codes, Floats, Floats],
    *,
    labels: LabelOrigin,
    confidence: float,
) -> JudgeQuality:
    score, human = table.scores[:, :, place], table.human_means
    both = np.isfinite(score) & np.isfinite(human)
    given = score[np.isfinite(score)]
    kind = kind_of(given) if len(given) else "numeric"
    n = int(both.sum())
    none = Measured(math.nan, math.nan, math.nan, f"fewer than {FEW} outputs have both")
    items = np.nonzero(both)[0]
    by_item = output_clusters(table, items)
    with_humans = none
    found_classes: Classes | None = None
    level: Level | None = None
    measures: tuple[Measured | None, ...] = (None, None, None)
    is_same = human_kind is not None and on_one_scale(kind, human_kind, given, table.human)
    if n >= FEW:
        with_humans = correlation(human[both], score[both], by_item, confidence=confidence)
        if kind == "binary" and human_kind == "binary":
            clear = both & (human != 0.5)
            target = score[np.isfinite(score) & ~np.isfinite(human)] if labels == "apart" else given
            found_classes = classes(human[clear] > 0.5, score[clear] > 0.5, target, confidence=confidence)
        if is_same:
            level, measures = _agreement(table, score, kind, human_kind, confidence=confidence)
        if _n_clusters(table, items) < 2:
            with_humans = _of_one_cluster(with_humans)
            measures = tuple(one and _of_one_cluster(one) for one in measures)
    distortions: tuple[Distortion, ...] = ()
    if is_same and len(table.system_names) > 1:
        distortions = _distortions(table, score, confidence=confidence)
    return JudgeQuality(
        name=table.judge_names[place],
        kind=kind,
        n=n,
        n_scored=len(given),
        correlation=with_humans,
        classes=found_classes,
        level=level,
        kappa=measures[0],
        ac1=measures[1],
        alpha=measures[2],
        run_reliability=_run_reliability(table, place) if table.has_runs else math.nan,
        distortions=distortions,
        favours=_favours(table, score, twice, confidence=confidence),
        same_scale=is_same,
    )


def on_one_scale(kind: Kind, human_kind: Kind | None, given: Floats, human: Floats) -> bool:
    """Whether a point of the judge can be a point of a person: the same classes, or numbers of about the same
    range."""
    people = human[np.isfinite(human)]
    if not len(given) or not len(people):
        return False
    if kind == "binary" or human_kind == "binary":
        return kind == human_kind
    width = float(np.ptp(people))
    inside = given.min() >= people.min() - width / 2 and given.max() <= people.max() + width / 2
    return bool(inside and np.ptp(given) >= width / 4)


def _agreement(
    table: JudgedTable, score: Floats, kind: Kind, human_kind: Kind | None, *, confidence: float
) -> tuple[Level, tuple[Measured | None, Measured | None, Measured | None]]:
    """Level, kappa, AC1 and alpha of the judge and single ratings."""
    of_rating = score[table.item, table.system]
    kept = np.isfinite(table.human) & np.isfinite(of_rating)
    human, judge = table.human[kept], of_rating[kept]
    clusters = output_clusters(table, table.item[kept])
    values = np.unique(np.concatenate([human, judge]))
    if "numeric" in (kind, human_kind) or len(values) > MOST_CLASSES:
        return "interval", (None, None, alpha_of_numbers(human, judge, clusters, confidence=confidence))
    level: Level = "nominal" if kind == "binary" else "ordinal"
    codes = np.searchsorted(values, human), np.searchsorted(values, judge)
    if len(values) == 1:
        one = Measured(1.0, math.nan, math.nan, ONE_CLASS)
        return level, (one, one, one)
    first, second, third = (
        measured_table(of, *codes, values, level, clusters, confidence=confidence)
        for of in (kappa, ac1, alpha)
    )
    return level, (first, second, third)


def _n_clusters(table: JudgedTable, item: Codes) -> int:
    return len(np.unique(item if table.clusters is None else table.clusters.codes[item]))


def _of_one_cluster(one: Measured) -> Measured:
    return replace(one, low=math.nan, high=math.nan, reason=one.reason or ONE_CLUSTER)


def output_clusters(table: JudgedTable, item: Codes) -> Clusters | None:
    """Clusters of values by their items, or by the items' clusters; None where each item has one value, or all
    are of one cluster."""
    of = item if table.clusters is None else table.clusters.codes[item]
    present, codes = np.unique(of, return_inverse=True)
    if len(present) == len(of) or len(present) < 2:
        return None
    return Clusters(codes, tuple(map(str, present)))


def _run_reliability(table: JudgedTable, place: int) -> float:
    """The intraclass correlation of single runs of a judge, one-way over outputs."""
    score = table.judge.reshape(len(table.item), -1)[:, place]
    known = np.isfinite(score)
    key = (table.item * len(table.system_names) + table.system)[known]
    unit = np.unique(key, return_inverse=True)[1]
    size = np.bincount(unit)
    value = score[known]
    if len(size) < 2 or size.max() < 2:
        return math.nan
    mean = np.bincount(unit, value) / size
    within = float(np.sum((value - mean[unit]) ** 2)) / (len(value) - len(size))
    between = float(size @ (mean - value.mean()) ** 2) / (len(size) - 1)
    typical = (len(value) - float(size @ size) / len(value)) / (len(size) - 1)
    spread = between + (typical - 1) * within
    return max(0.0, (between - within) / spread) if spread > 0 else math.nan


def _distortions(table: JudgedTable, score: Floats, *, confidence: float) -> tuple[Distortion, ...]:
    pairs = list(combinations(range(len(table.system_names)), 2))[:MOST_PAIRS]
    distortions = [
        distortion(
            score[:, pair],
            table.human_means[:, pair],
            (table.system_names[pair[0]], table.system_names[pair[1]]),
            table.clusters,
            confidence=confidence,
        )
        for pair in map(list, pairs)
    ]
    return tuple(one for one in distortions if one is not None)


def ratings_of_two(table: JudgedTable) -> tuple[Codes, Floats, Floats]:
    """Outputs with ratings of two people or more, as item * systems + system, and the first ratings of the first
    two; none where nobody says who rated."""
    key = table.item * len(table.system_names) + table.system
    given = np.flatnonzero(np.isfinite(table.human))
    if table.worker is None:
        given = given[:0]
    else:
        own = key[given] * len(table.worker_names) + table.worker[given]
        given = given[np.sort(np.unique(own, return_index=True)[1])]
    order = given[np.argsort(key[given], kind="stable")]
    of = key[order]
    first = (
        np.flatnonzero(np.concatenate([[True], of[1:] != of[:-1]]))
        if len(of)
        else np.empty(0, dtype=np.int64)
    )
    size = np.diff(np.append(first, len(of)))
    start = first[size > 1]
    return of[start], table.human[order[start]], table.human[order[start + 1]]


def _favours(
    table: JudgedTable, score: Floats, twice: tuple[Codes, Floats, Floats], *, confidence: float
) -> tuple[Favour, ...]:
    """Each system against the others, among outputs that people value alike."""
    n_systems = len(table.system_names)
    key, first, second = twice
    judged = score.ravel()[key] if len(key) else np.empty(0)
    known = np.isfinite(judged)
    key, first, second, judged = key[known], first[known], second[known], judged[known]
    system = key % n_systems
    if n_systems < 2 or np.bincount(system, minlength=n_systems).min() < LEAST_TWICE:
        return ()
    design = np.eye(n_systems)[system]
    rows = (n_systems * np.eye(n_systems) - 1) / (n_systems - 1)
    names = table.system_names
    if n_systems == 2:
        rows, names = rows[1:], names[1:]
    item = key // n_systems
    cluster = item if table.clusters is None else table.clusters.codes[item]
    return favours(judged, first, second, design, rows, tuple(names), cluster, confidence=confidence)


def holm(tests: Sequence[Distortion | Favour]) -> list[float]:
    """p-values corrected for all that were asked."""
    return [float(p) for p in correct(np.array([one.p_value for one in tests]), "holm")] if tests else []


def _evidence(
    table: JudgedTable, checked: CheckedFile, n_both: int, n_pairs: int, unfit: str
) -> Iterator[Evidence]:
    """Every level in turn; `n_pairs` items have labels of two systems, `unfit` says why labels are no part."""
    n_judges, n = len(checked.judge_names), checked.n_labelled
    wanted = labels_wanted(max(1, n_judges))
    labels = "no output has a label (--human names their columns): a judge alone says nothing of people"
    yield Evidence(
        "what people say of these outputs", n > 0, f"{n:,} outputs have a label" if n else labels
    )
    if not n_judges:
        yield Evidence("what a judge adds", False, "there is no column of a judge's scores")
    if not (n_judges and n):
        return
    both = f"{n_both:,} outputs have a label and a score"
    both += "" if n_both >= FEW else f"; {FEW} are needed"
    yield Evidence("how well judge and people agree", n_both >= FEW, both)

    def why_not(count: int, few: str) -> str:
        return unfit if checked.labels == "apart" or count >= wanted else f"{few}; {wanted} are needed"

    lacking = why_not(n_both, f"{n_both:,} labels")
    stated = "stated" if checked.labels == "random" else "not contradicted by the scores"
    holds = f"{n_both:,} labels and {checked.n_extra:,} more scores; that the labels are a random part is {stated}"
    yield Evidence("a mean with the judge's help, for all items judged", not lacking, lacking or holds)
    is_class = any(one.classes is not None for one in checked.judges)
    reasons = [one.classes.rate.reason for one in checked.judges if one.classes is not None]
    why = "labels and judge are yes or no, and people say both"
    if not is_class:
        why = "it needs labels and a judge of yes or no"
    elif all(reasons):
        why = reasons[0]
    yield Evidence("a rate corrected by sensitivity and specificity", is_class and not all(reasons), why)
    many = len(checked.worker_names) > 1
    if len(checked.systems) > 1:
        up_to = f"up to {n_pairs:,} items have labels of both systems"
        lacking = why_not(n_pairs, up_to)
        yield Evidence("differences of systems with the judge's help", not lacking, lacking or up_to)
        distorted = any(one.distortions for one in checked.judges)
        yield Evidence(
            "whether the raw judge distorts a difference", distorted, _why_distorted(table, checked)
        )
        enough = any(one.favours for one in checked.judges)
        twice = f"{checked.n_twice:,} outputs have ratings of two people"
        if not many:
            twice = "the table does not name two people"
        elif not enough:
            twice += f"; {LEAST_TWICE} of each system are needed, since one label is noisy"
        yield Evidence("whether the judge favours a system", enough, twice)
    raters = "the table does not name several raters"
    if many:
        raters = f"{len(checked.worker_names)} raters are named"
    yield Evidence("how raters differ, and what other raters would say", many, raters)
    runs = "outputs have several runs of the judge" if table.has_runs else "each output has one run"
    yield Evidence("the judge's own noise", table.has_runs, runs)


def _why_distorted(table: JudgedTable, checked: CheckedFile) -> str:
    if not any(one.same_scale for one in checked.judges):
        return "judge and people use different scales"
    if any(one.distortions for one in checked.judges):
        return "judge and people use the same scale"
    if _n_clusters(table, np.nonzero(np.isfinite(table.human_means))[0]) < 2:
        return ONE_CLUSTER
    return f"no two systems have {FEW} outputs with both whose difference varies"


def _why_no_part(
    table: JudgedTable, checked: CheckedFile, both: np.ndarray, others: np.ndarray, selection: float | None
) -> str:
    """Why labels, of outputs `both`, are no part of all from which something follows for the `others`; '' else."""
    if checked.labels == "apart":
        return "labels of another population, or a balanced set, are no part of these items"
    if others.sum() < 2:
        return NO_TARGET
    if _n_clusters(table, np.nonzero(both)[0]) < 2:
        return ONE_CLUSTER
    if selection is not None and selection < _NOT_RANDOM:
        return (
            f"labelled outputs have other scores than the rest (p = {selection:.1g}): no random part of "
            "all. If they are: --label-origin random"
        )
    return ""
