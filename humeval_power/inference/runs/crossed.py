"""Two systems under the same prompts or seeds for all items: prompts are a sample as items are.

The crossed mixed model of the rating study with a prompt in the place of a worker, by REML with Kenward and Roger's
(1997) degrees of freedom; right-or-wrong answers by a logit model, restricted Laplace.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from humeval_power.errors import FitError, InputError
from humeval_power.estimation.latent.fit import LatentFit
from humeval_power.inference.clustered import clustered_mean
from humeval_power.inference.runs.comparison import (
    ErrorPart,
    RunsComparison,
    RunsRule,
    cell_means,
    scale_of,
    told,
)
from humeval_power.inference.runs.run_table import RunTable
from humeval_power.inference.study.testing import fit_and_test
from humeval_power.inference.study.wald import EffectTest, without_test
from humeval_power.latent import Latent
from humeval_power.parameters import Parameters
from humeval_power.ratings import Ratings
from humeval_power.runs_parameters import RunsParameters
from humeval_power.scales import RatingScale


def compare_crossed(table: RunTable, rule: RunsRule) -> RunsComparison:
    """Compare two systems over prompts and items that are both samples.

    table : of two systems, at least two prompts.

    Raises
    ------
    InputError
        A single prompt.
    """
    if len(np.unique(table.run)) < 2:
        raise InputError(
            f"There is a single run ({table.run_column}): from one prompt or seed nothing can be said about "
            "others. Compare the systems under it by 'compare scores'."
        )
    scale, means, counts = scale_of(table), cell_means(table), table.counts
    asked = rule.on(scale)
    fitted = None
    try:
        fitted, tested = fit_and_test(as_ratings(table, scale), asked)
    except FitError as error:
        difference = float((means[:, 1] - means[:, 0]).mean()) / scale.width
        tested = without_test(difference, math.nan, math.nan, asked, reason=str(error).rstrip("."))
    found = None if fitted is None else fitted.parameters
    fields: dict[str, Any] = told(tested, scale)
    latent = None if not isinstance(fitted, LatentFit) else fitted.latent
    return RunsComparison(
        systems=(table.system_names[0], table.system_names[1]),
        rule=rule,
        means=(float(means[:, 0].mean()), float(means[:, 1].mean())),
        **fields,
        n_items=table.n_items,
        n_scores=len(table.score),
        runs=(float(counts[:, 0].mean()), float(counts[:, 1].mean())),
        n_labels=len(np.unique(table.run)),
        items=clustered_mean(means[:, 1] - means[:, 0], table.clusters),
        clustered=table.clusters is not None,
        parts=() if found is None else _parts(table, found, tested, scale.width),
        parameters=None if found is None else _parameters(found, rule, means, scale, tested),
        at_zero=() if fitted is None else tuple(_NAMES.get(name, name) for name in fitted.boundary),
        odds_ratio=None if latent is None else _odds_ratio(tested),
        remarks=() if fitted is None else _notes(fitted.not_identified),
    )


def as_ratings(table: RunTable, scale: RatingScale) -> Ratings:
    """The scores as ratings on [0, 1], each run a worker, clusters of items documents."""
    labels, run = np.unique(table.run, return_inverse=True)
    clusters = table.clusters
    return Ratings(
        worker=run.astype(np.int64),
        item=table.item,
        system=table.system,
        rating=scale.to_unit(table.score),
        worker_names=tuple(table.run_names[code] for code in labels),
        item_names=table.item_names,
        system_names=table.system_names,
        scale=scale,
        source=table.source or "table",
        document=None if clusters is None else clusters.codes[table.item],
        document_names=() if clusters is None else clusters.labels,
    )


_NAMES = {
    "sd_worker_slope": "sd_prompt_slope",
    "sd_worker_intercept": "sd_prompt_level",
    "sd_item_slope": "sd_item",
    "sd_item_intercept": "sd_item_level",
    "sd_document_slope": "sd_cluster_slope",
    "sd_document_intercept": "sd_cluster_level",
}


def _notes(not_identified: tuple[str, ...]) -> tuple[str, ...]:
    if not not_identified:
        return ()
    names = ", ".join(_NAMES.get(name, name) for name in not_identified)
    return (f"This table cannot tell apart: {names}.",)


def _parts(table: RunTable, found: Parameters, test: EffectTest, width: float) -> tuple[ErrorPart, ...]:
    """The variance of the difference in a complete table of this size; of answers that are right or wrong what
    items and prompts leave of the test's own, on the scale of log odds."""
    latent: Parameters | Latent = found if found.latent is None else found.latent
    unit = width if found.latent is None else 1.0
    n, m, clusters = table.n_items, len(np.unique(table.run)), table.clusters
    parts = [
        ErrorPart(f"system x {table.run_column}", latent.sd_worker_slope**2 / m, True),
        ErrorPart("items", latent.sd_item_slope**2 / n, False),
    ]
    if clusters is not None:
        share = float(np.sum((clusters.sizes / n) ** 2))
        parts.append(ErrorPart(f"clusters ({clusters.name})", latent.sd_document_slope**2 * share, False))
    known = sum(part.variance for part in parts)
    if test.latent is not None:
        rest = max(test.latent.standard_error**2 - known, 0.0)
    else:
        rest = 4 * found.sd_residual**2 / len(table.score)
    parts.append(ErrorPart("single scores", rest, True))
    return tuple(ErrorPart(part.source, part.variance * unit**2, part.falls) for part in parts)


def _parameters(
    found: Parameters, rule: RunsRule, means: np.ndarray, scale: RatingScale, test: EffectTest
) -> RunsParameters | None:
    baseline = float(means.mean())
    latent: Parameters | Latent = found if found.latent is None else found.latent
    if rule.family == "binary" and not 0 < baseline < 1:
        return None
    unit = scale.width if found.latent is None else 1.0
    items = latent.sd_item_slope**2 + latent.sd_document_slope**2
    level = math.hypot(latent.sd_item_intercept, latent.sd_document_intercept)
    return RunsParameters(
        kind="crossed",
        family=rule.family,
        sd_item=unit * math.sqrt(items),
        icc=latent.sd_document_slope**2 / items if items > 0 else 0.0,
        sd_prompt_slope=unit * latent.sd_worker_slope,
        sd_residual=0.0 if found.latent is not None else unit * found.sd_residual,
        sd_item_level=unit * level,
        sd_prompt_level=unit * latent.sd_worker_intercept,
        baseline=baseline,
        effect=scale.width * test.estimate,
    )


def _odds_ratio(test: EffectTest) -> tuple[float, float, float] | None:
    """How many times the odds of a right answer B has, with its interval, for one item and prompt."""
    if test.latent is None:
        return None
    return (
        math.exp(test.latent.estimate),
        math.exp(test.latent.interval[0]),
        math.exp(test.latent.interval[1]),
    )
