"""What every estimate with a judge's help says: what must hold, what was not independent, and its signature."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from humeval_power.checking.columns import listing, shortened
from humeval_power.checking.suspects import ClusterSuspect
from humeval_power.choices import HUMAN_MEAN
from humeval_power.comparisons.judge.assisted import RatedEstimate, RatedMeans
from humeval_power.comparisons.judge.means import FEW, JudgedMean, JudgedMeans
from humeval_power.comparisons.judge.result import PLAIN_HURTS
from humeval_power.comparisons.judge.table import JudgedPair, JudgedSystems, JudgedTable
from humeval_power.saying.chart import EstimateRow, EstimateRows, interval_chart
from humeval_power.saying.clustered_words import Independence, assumed_items, clustered_items
from humeval_power.saying.document import Document, Fact, Paragraph, Section
from humeval_power.saying.numbers import (
    counted,
    decimals,
    level_of,
    p_cell,
    p_words,
    percent,
    significant,
    significant_interval,
)
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record
from humeval_power.saying.stated import PaperResult, above, flat, pairs_lead, signature, table

ASSUMED = (
    "This is valid however poor the judge is, if the items that humans rated are a random part of all and "
    "the judge was not tuned on their ratings."
)
_DRAWN = (
    "This is valid however poor the judge is, if people rated the outputs that were drawn, no others in their "
    "place, and the judge was not tuned on their ratings."
)
_SAMPLED = {  # by what the labels are weighed, and where the judge is in it
    "stratified": "strata of the judge's score",
    "inverse-weighted": "the judge's probabilities, corrected by weights",
}
_JUDGE = Independence(
    "judges",
    "assumed",
    "The judge is one judge with one prompt: claims hold for what humans say, which the judge's scores only "
    "help to estimate. Another judge would change the weights, not what is estimated.",
)
_JUDGES = Independence(
    "judges",
    "assumed",
    "The judges are those that were chosen before people rated: claims hold for what humans say, which "
    "their scores only help to estimate. A judge that is picked for how well it goes with these ratings is "
    "tuned on them.",
)


@dataclass(frozen=True, kw_only=True)
class JudgedResult(PaperResult):
    """A result from a table with judges: `answers` say what was not independent, `cluster` names the column of the
    clusters of items."""

    found: Any = None
    answers: tuple[Independence, ...] = ()
    cluster: str | None = None
    remarks: tuple[str, ...] = ()

    def independence(self) -> tuple[Independence, ...]:
        return self.answers

    def entries(self) -> Record:
        """Those of the signature before clusters, confidence and seed."""
        return {}

    @property
    def signature(self) -> str:
        found = self.found
        seed = getattr(found, "seed", None)
        cluster = (self.cluster, found.n_clusters)
        return signature(**self.entries(), cluster=cluster, confidence=found.confidence, seed=seed)

    @property
    def errors_by(self) -> str:
        """What the jackknife leaves out in turn."""
        return f"clusters of items ({self.cluster})" if self.cluster else "items"


def judged_answers(table: JudgedTable, means: JudgedMeans | RatedMeans) -> tuple[Independence, ...]:
    """What was not independent in an estimate from a table."""
    judge = _JUDGE if len(table.judge_names) == 1 else _JUDGES
    if isinstance(means, JudgedMeans):
        return (*value_answers(means, table.cluster_name, table.suspects, panel=table.panel), judge)
    workers = Independence(
        "workers",
        "accounted",
        f"The same {means.n_workers:,} workers rated many items. What each of them prefers is a random effect of "
        f"the model, so that the interval holds for other workers too (Kenward and Roger, "
        f"{decimals(means.judged.df, 1)} df).",
    )
    items = assumed_items(means.n_items, table.suspects)
    if table.cluster_name is not None:
        of_judge = "" if means.reason else ", and the judge's mean has a standard error by clusters (CR2)"
        text = (
            f"Items come in {means.n_clusters:,} clusters ({table.cluster_name}): they are a random effect of the "
            f"model, above the items{of_judge}."
        )
        items = Independence("items", "accounted", text)
    return (workers, items) if means.reason else (workers, items, judge)


def value_answers(
    means: JudgedMeans,
    cluster: str | None,
    suspects: Sequence[ClusterSuspect] = (),
    *,
    panel: Sequence[str] = (),
) -> tuple[Independence, ...]:
    """Of means of outputs: items, and workers that nobody named, or that the claim is about."""
    text = (
        "Who rated is not in the model: where the same few workers rate all items, their own differences are not "
        "in this interval. A column of workers puts them in."
    )
    if panel:
        text = (
            f"The claim is about these {len(panel):,} raters alone ({listing(panel, limit=6)}) on other items: how "
            "other raters would differ from them is not in this interval."
        )
    items = assumed_items(means.n, suspects)
    if means.clustered is not None:
        items = clustered_items(means.clustered, cluster or "cluster")
    return items, Independence("workers", "assumed", text)


def item_answer(table: JudgedTable, n_items: int, n_clusters: int | None) -> Independence:
    """Of errors by the jackknife: over items, or over their clusters."""
    if n_clusters is None:
        return assumed_items(n_items, table.suspects)
    text = (
        f"The {n_items:,} items come in {n_clusters:,} clusters ({table.cluster_name}): errors are by the "
        "jackknife over whole clusters."
    )
    return Independence("items", "accounted", text)


def without_judges(judges: Sequence[str], means: JudgedMeans | RatedMeans) -> tuple[str, ...]:
    """Why judges are not in an estimate beside others that are."""
    rest = [name for place, name in enumerate(judges) if place not in means.used]
    if means.reason or not rest:
        return ()
    return (
        f"{listing(rest)}: left out, as a copy of a judge before it or with the same score for all labelled items.",
    )


def _reach(one: JudgedMean | RatedEstimate, confidence: float) -> str:
    """The interval in words."""
    if math.isnan(one.interval[0]):
        return "no interval: the labels do not vary"
    return f"{level_of(confidence)} interval {significant_interval(*one.interval)}"


def _lead(estimated: str, means: JudgedMeans | RatedMeans, who: str) -> str:
    """The estimate with the judge, without, and what the judge adds."""
    best = means.tuned if isinstance(means, JudgedMeans) else means.judged
    said, reach = f"{estimated} is {best.estimate:.4g}", _reach(best, means.confidence)
    if isinstance(means, JudgedMeans) and means.method in _SAMPLED:
        said = f"{said} by {_SAMPLED[means.method]} ({reach})"
        worth = f"as precise as {means.efficiency:.3g} times as many labels of outputs drawn alike"
        return f"{said}. {means.reason}" if means.reason else f"{said}: {worth}."
    if means.reason:
        return f"{said} from the {who} alone ({reach}). {means.reason}"
    p = f", {p_words(best.p_value)}" if isinstance(means, RatedMeans) else ""
    worth = f"with its help these ratings do what {means.efficiency:.3g} times as many would do without it"
    if means.efficiency < 1:
        worth = "the judge makes it less precise"
    return (
        f"{said} with the judge's help ({level_of(means.confidence)} interval "
        f"{significant_interval(*best.interval)}{p}), and {means.human.estimate:.4g} from the {who} alone "
        f"({significant_interval(*means.human.interval)}): {worth}."
    )


@dataclass(frozen=True, kw_only=True)
class _OneEstimate(JudgedResult):
    """One mean or difference; `estimated` says which, in words."""

    found: JudgedMeans | RatedMeans
    estimated: str
    judges: tuple[str, ...] = ("judge",)
    warnings: tuple[str, ...] = ()

    @property
    @abstractmethod
    def named(self) -> tuple[tuple[str, JudgedMean | RatedEstimate], ...]:
        """The estimates that are shown, by the words for them."""

    def estimates(self, title: str, words: str, caption: str, *, with_p: bool = True) -> Section:
        """The estimates as a table and as a picture; with df and weights where there are some."""
        columns: dict[str, Callable[[tuple[str, JudgedMean | RatedEstimate]], str]] = {
            "": lambda row: row[0],
            "estimate": lambda row: f"{row[1].estimate:.4g}",
            "SE": lambda row: f"{row[1].standard_error:.4g}",
        }
        if isinstance(self.found, RatedMeans):
            columns["df"] = lambda row: decimals(row[1].df, 1)
        columns[f"{level_of(self.found.confidence)} interval"] = lambda row: significant_interval(
            *row[1].interval
        )
        if isinstance(self.found, RatedMeans) or any(one.weights for _, one in self.named):
            name = "weight" if len(self.judges) == 1 else "weights"
            columns[name] = lambda row: ", ".join(f"{one:.3g}" for one in row[1].weights)
        if with_p:
            columns["p"] = lambda row: p_cell(row[1].p_value)
        has_zero = any(each.interval[0] <= 0 <= each.interval[1] for _, each in self.named)
        picture = interval_chart(
            "estimates",
            [(name, each.estimate, each.interval) for name, each in self.named],
            axis=self.estimated,
            title="What does the judge add?",
            words=f"The estimate with its interval: {words}.",
            null=0.0 if has_zero else None,
        )
        return Section(title, (table(self.named, columns, caption), picture))


# A mean or a difference from the human values of some items and a judge's scores of all.


@dataclass(frozen=True, kw_only=True)
class JudgeEstimate(_OneEstimate):
    """A mean or a difference from human values and a judge's scores; `panel` names the raters that the claim is
    about, where it is about no others."""

    schema: ClassVar[str] = "humeval_power/judge_estimate/2"

    found: JudgedMeans
    panel: tuple[str, ...] = ()

    @property
    def named(self) -> tuple[tuple[str, JudgedMean], ...]:
        means = self.found
        judge = "judge" if len(self.judges) == 1 else "judges"
        if means.method in _SAMPLED:
            return ("as if drawn alike", means.human), (f"by {_SAMPLED[means.method]}", means.tuned)
        named = (
            ("humans alone", means.human),
            ("judge, weight 1", means.plain),
            (f"{judge}, cross-fitted", means.cross_fitted),
            (f"with the {judge}", None if means.reason else means.tuned),
        )
        return tuple((name, one) for name, one in named if one is not None)

    def answer(self) -> Document:
        means, best = self.found, self.found.tuned
        facts = [("Items", f"{means.n:,} with human values, {means.extra:,} more with the judge's scores")]
        if not means.reason:
            several = f"humans with {len(self.judges)} judges together"
            of = "judge and humans" if len(self.judges) == 1 else several
            how = _HOW[means.method].format(df=best.df)
            facts += [
                ("Correlation", f"{means.correlation:.3f} of {of}"),
                ("Worth", f"{means.efficiency:.2f} times the human values ({how})"),
            ]
            if math.isfinite(means.pool_error):
                facts.append(
                    ("These items", f"standard error {means.pool_error:.4g} about the mean of just these")
                )
        panel = f" The claim is about these raters: {listing(self.panel, limit=6)}." if self.panel else ""
        caption = "p: of a true value of 0." if self._has_p else ""
        if len(self.judges) > 1 and any(one.weights for _, one in self.named):
            names = ", ".join(map(shortened, self.judges))
            caption = f"Weights: by how much a point of each judge's score moves the estimate ({names}). {caption}"
        words = "from humans alone, and with the judge's help"
        return Document(
            self.estimated,
            lead=_lead(self.estimated, means, "humans") + panel,
            headline=tuple(facts),
            caveats=(*self.warnings, *self._caveats()),
            sections=(
                self.estimates("With the judge and without", words, caption, with_p=self._has_p),
                Section("What must hold", (Paragraph(self._assumed()),)),
            ),
        )

    def _assumed(self) -> str:
        return _DRAWN if self.found.method in _SAMPLED else ASSUMED

    def independence(self) -> tuple[Independence, ...]:
        return self.answers or (*value_answers(self.found, self.cluster), _JUDGE)

    def entries(self) -> Record:
        means, raters = self.found, "fixed" if self.panel else None
        sizes = {"n": means.n, "extra": means.extra, "judges": len(self.judges)}
        return {"model": means.method, **sizes, "raters": raters}

    def paper(self) -> tuple[str, ...]:
        means, best = self.found, self.found.tuned
        said = f"{self.estimated} was estimated from {means.n:,} items with human values"
        number = f"{best.estimate:.4g}, {_reach(best, means.confidence)}"
        if means.method in _SAMPLED:
            return (
                f"{said}, drawn with known probabilities by a judge's scores of {means.n + means.extra:,}, by "
                f"{_PAPER[means.method]}: {number}.",
            )
        if means.reason:
            return (f"{said}: {number}. An automatic judge was not used.",)
        clusters = ""
        if means.n_clusters is not None:
            clusters = f", with CR2 standard errors over {means.n_clusters:,} clusters"
        p = f", {p_words(best.p_value)}" if self._has_p else ""
        judges = "an automatic judge" if len(self.judges) == 1 else f"{len(self.judges)} automatic judges"
        return (
            f"{said} and {means.extra:,} with the scores of {judges} alone, by {_PAPER[means.method]}{clusters}: "
            f"{number}{p}; from humans alone {means.human.estimate:.4g}, "
            f"{significant_interval(*means.human.interval)}.",
        )

    def _caveats(self) -> Iterator[str]:
        means = self.found
        yield from without_judges(self.judges, means)
        if means.n < FEW and not means.reason and means.method not in _SAMPLED:
            yield (
                f"With {means.n} human values (fewer than {FEW}) the judge's weight is itself uncertain; the gain "
                "may be less than the standard errors say."
            )
        if means.efficiency < 1 and means.method not in _SAMPLED:
            yield "The judge made the estimate less precise here: use the humans alone."
        if means.plain_hurts:
            yield PLAIN_HURTS

    @property
    def _has_p(self) -> bool:
        """Whether a p-value is printed: that a mean on the humans' scale is 0 is no question of anybody's."""
        return self.estimated != HUMAN_MEAN and not math.isnan(self.found.tuned.p_value)

    def numbers(self) -> Record:
        record = asdict(self.found)
        del record["seed"]  # stands in the envelope
        rest = values(self, "estimated", "judges", "panel", "cluster", "warnings")
        return {**record, **rest, "efficiency": self.found.efficiency, "assumptions": self._assumed()}

    def table_rows(self) -> list[Record]:
        return [flat(each) for _, each in self.named]


_HOW = {
    "regression": "regression on the judge, Student's t on {df:.4g} df",
    "post-stratified": "labels post-stratified by the judge's answer, Wilson's interval with t on {df:.4g} df",
    "wilson-regression": "regression on the judge, Wilson's interval with t on {df:.4g} df",
    "cross-fitted": "weights from other clusters, {df:.3g} df",
    "stratified": "strata by the judge's score, {df:.4g} df",
    "inverse-weighted": "inverse probabilities, Student's t on {df:.4g} df",
}
_PAPER = {
    "regression": "regression on the scores, centred at their mean over all items (Student's t)",
    "post-stratified": "post-stratification by its answer, with Wilson's interval at the effective number of "
    "labels",
    "wilson-regression": "regression on the scores, centred at their mean over all items, with Wilson's interval "
    "at the effective number of labels (HC3)",
    "stratified": "the means of strata by their sizes (Wilson's interval at the effective number of labels for yes "
    "and no, else Student's t)",
    "inverse-weighted": "the mean score corrected by inverse-probability weights (Student's t)",
    "cross-fitted": "prediction-powered inference (PPI++; Angelopoulos, Duchi and Zrnic 2023), weights "
    "cross-fitted over clusters",
}


# Differences of all pairs of systems, or of each to a baseline, with a judge's help.

_MODEL = {
    "workers": "the rating model with the judge as a covariate of items, Kenward and Roger's df of each pair",
    "values": "regression of the outputs' means on the judge's scores, Student's t in each pair",
}


@dataclass(frozen=True, kw_only=True)
class JudgeSystems(JudgedResult):
    """Each pair with its difference, and p-values corrected by Holm (1979)."""

    schema: ClassVar[str] = "humeval_power/judge_systems/2"

    found: JudgedSystems
    judges: tuple[str, ...] = ("judge",)
    warnings: tuple[str, ...] = ()

    @property
    def _alpha(self) -> float:
        return 1 - self.found.confidence

    def answer(self) -> Document:
        systems, how = self.found, f"alpha {self._alpha:.4g}, corrected by Holm 1979"
        pairs = table(
            systems.pairs,
            {
                "": _name,
                "humans": lambda pair: f"{pair.human.estimate:.4g}",
                "with judge": lambda pair: f"{pair.judged.estimate:.4g}",
                "interval": lambda pair: significant_interval(*pair.simultaneous),
                "df": lambda pair: decimals(pair.judged.df, 1),
                "worth": lambda pair: decimals(pair.found.efficiency, 2),
                "p": lambda pair: p_cell(pair.judged.p_value),
                "Holm p": lambda pair: p_cell(pair.holm_p),
            },
            f"Intervals hold for all {counted(len(systems.pairs), 'pair')} together with "
            f"{level_of(systems.confidence)} (Bonferroni); worth: variance without the judge over that with it.",
        )
        drawn = EstimateRows(
            tuple(
                EstimateRow(
                    _name(pair), pair.judged.estimate, *pair.simultaneous, pair.holm_p <= self._alpha
                )
                for pair in systems.pairs
            ),
            "pairs",
            "Difference with the judge's help",
            marked_label="significant by Holm",
            usual_label="not significant",
            is_ordered=False,
        )
        picture = drawn.chart(
            "differences",
            title="Differences of the systems",
            words="The difference of each pair with its simultaneous interval.",
        )
        return Document(
            f"{len(systems.systems)} systems, with a judge's help",
            lead=f"{pairs_lead(self._shown, len(systems.pairs), how)} By {_MODEL[systems.basis]}.",
            caveats=(*self.warnings, *self._caveats()),
            sections=(
                Section("Each pair", (pairs, picture)),
                Section("What must hold", (Paragraph(ASSUMED),)),
            ),
        )

    @property
    def signature(self) -> str:
        systems, first = self.found, self.found.pairs[0].found
        more = {"k": len(systems.systems), "corr": "holm", "cluster": (self.cluster, first.n_clusters)}
        if isinstance(first, RatedMeans):
            sizes = {"workers": first.n_workers, "items": first.n_items}
            return signature(model="lmm+judge", df="kr", **sizes, **more, confidence=systems.confidence)
        sizes = {"n": first.n, "extra": first.extra}
        return signature(
            model=first.method, **sizes, **more, confidence=systems.confidence, seed=systems.seed
        )

    def _caveats(self) -> tuple[str, ...]:
        """Why judges are not in some pairs, each reason once."""
        said: dict[str, list[str]] = {}
        for pair in self.found.pairs:
            reasons = (pair.found.reason,) if pair.found.reason else without_judges(self.judges, pair.found)
            for reason in reasons:
                said.setdefault(reason, []).append(_name(pair))
        n = len(self.found.pairs)
        return tuple(
            reason if len(pairs) == n else f"{listing(pairs, limit=3)}: {reason}"
            for reason, pairs in said.items()
        )

    @property
    def _shown(self) -> list[str]:
        """The pairs that differ."""
        return [
            above(pair.first, pair.second, pair.judged.estimate)
            for pair in self.found.pairs
            if pair.holm_p <= self._alpha
        ]

    def paper(self) -> tuple[str, ...]:
        systems = self.found
        clusters = f", with clusters of items ({self.cluster})" if self.cluster else ""
        return (
            f"Of {len(systems.systems)} systems {len(self._shown)} of {counted(len(systems.pairs), 'pair')} "
            f"differed at a family-wise {self._alpha:.4g} (Holm 1979), by {_MODEL[systems.basis]}{clusters}.",
        )

    def numbers(self) -> Record:
        return {
            **values(self.found, "systems", "basis", "baseline", "confidence"),
            "correction": "holm",
            "pairs": [
                {
                    **values(pair, "first", "second", "human", "judged", "holm_p", "simultaneous"),
                    "efficiency": pair.found.efficiency,
                    "significant": pair.holm_p <= self._alpha,
                }
                for pair in self.found.pairs
            ],
            **values(self, "cluster", "warnings"),
            "assumptions": ASSUMED,
        }

    def table_rows(self) -> list[Record]:
        return [
            {
                **values(pair, "first", "second"),
                "human": pair.human.estimate,
                **values(pair.judged, "estimate", "standard_error", "df", "p_value"),
                "holm_p": pair.holm_p,
                "low": pair.simultaneous[0],
                "high": pair.simultaneous[1],
            }
            for pair in self.found.pairs
        ]


def _name(pair: JudgedPair) -> str:
    return f"{pair.second} - {pair.first}"


# A mean or a difference from crossed ratings of workers, with a judge as a covariate of items.

WORKERS_FOR_A_MEAN = 5


@dataclass(frozen=True, kw_only=True)
class JudgeWorkers(_OneEstimate):
    """The rating model's estimate from workers alone and with the judge."""

    schema: ClassVar[str] = "humeval_power/judge_workers/2"

    found: RatedMeans

    @property
    def named(self) -> tuple[tuple[str, RatedEstimate], ...]:
        judged = () if self.found.reason else (("with the judge", self.found.judged),)
        return ("workers alone", self.found.human), *judged

    def answer(self) -> Document:
        means, title, words = self.found, "The estimate", "from workers alone"
        if not means.reason:
            title, words = "With the judge and without", "from workers alone, and with the judge"
        columns: dict[str, Callable[[tuple[str, RatedEstimate]], str]] = {
            "SD of": lambda row: row[0],
            "workers": lambda row: significant(row[1].sd_worker),
            "items": lambda row: significant(row[1].sd_item),
            "clusters": lambda row: significant(row[1].sd_cluster),
            "a rating": lambda row: significant(row[1].sd_residual),
        }
        if math.isnan(means.judged.sd_cluster):
            del columns["clusters"]
        caption = "SDs of what workers and items differ in. A judge takes only from the items'."
        return Document(
            self.estimated,
            lead=_lead(self.estimated, means, "workers"),
            headline=tuple(self._facts()),
            caveats=(*self.warnings, *self._caveats()),
            sections=(
                self.estimates(title, words, ""),
                Section("What varies", (table(self.named, columns, caption),)),
                Section("What must hold", (Paragraph(ASSUMED),)),
            ),
        )

    def _facts(self) -> Iterator[Fact]:
        means, best = self.found, self.found.judged
        yield (
            "Ratings",
            f"{means.n_ratings:,} of {counted(means.n_items, 'item')} by {counted(means.n_workers, 'worker')}; "
            f"the judge scored {means.n_judged - means.n_items:,} items more",
        )
        test, with_judge = f"{decimals(best.df, 1)} df (Kenward and Roger)", ""
        if means.reason:
            yield "Test", test
        else:
            with_judge = " with the judge"
            yield "Worth", f"{means.efficiency:.2f} times the data; {test}"
            yield (
                "The judge" if len(self.judges) == 1 else "The judges",
                f"correlation {decimals(means.correlation, 2)} with what items truly differ in, as the model "
                "has it",
            )
        raters = percent(best.sd_worker**2 / means.n_workers / best.standard_error**2)
        yield "Raters", f"{raters} of the variance{with_judge}, about: no judge takes that away"

    def _caveats(self) -> Iterator[str]:
        means = self.found
        yield from without_judges(self.judges, means)
        if means.n_workers < WORKERS_FOR_A_MEAN:
            df = decimals(means.judged.df, 1)
            yield f"{means.n_workers} workers are few: the interval rests on {df} degrees of freedom."
        if means.efficiency < 1:
            yield "The judge made the estimate less precise here: use the workers alone."

    def entries(self) -> Record:
        means, model = self.found, "lmm" if self.found.reason else "lmm+judge"
        sizes = {
            "workers": means.n_workers,
            "items": means.n_items,
            "extra": means.n_judged - means.n_items,
        }
        return {"model": model, "df": "kr", **sizes}

    def paper(self) -> tuple[str, ...]:
        means, best = self.found, self.found.judged
        clusters = f", clusters of items ({self.cluster})" if self.cluster else ""
        covariate, alone = "", ". An automatic judge was not used."
        if not means.reason:
            mean, human = f"their mean over {means.n_judged:,} items", means.human
            covariate = f", with an automatic judge's scores, centred at {mean}, as covariate"
            alone = f"; without the judge {human.estimate:.4g}, {significant_interval(*human.interval)}."
        return (
            f"{self.estimated} was estimated from {means.n_ratings:,} ratings of {means.n_items:,} items by "
            f"{means.n_workers:,} workers in a mixed model with crossed random effects of workers and "
            f"items{clusters} (REML, Kenward-Roger){covariate}: {best.estimate:.4g}, "
            f"{_reach(best, means.confidence)}, {decimals(best.df, 1)} df, {p_words(best.p_value)}{alone}",
        )

    def numbers(self) -> Record:
        rest = values(self, "estimated", "judges", "cluster", "warnings")
        return {**asdict(self.found), **rest, "efficiency": self.found.efficiency, "assumptions": ASSUMED}

    def table_rows(self) -> list[Record]:
        both = (("human", self.found.human), ("judged", self.found.judged))
        return [{"by": name, **flat(each)} for name, each in both]
