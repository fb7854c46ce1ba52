"""The pictures of an analysis, one sentence each, and the sentence about workers to look at."""

from __future__ import annotations

from dataclasses import replace

from humeval_power.estimation.fit import Fit
from humeval_power.inference.analyze.blups import predicted_effects
from humeval_power.inference.analyze.influence import leave_one_worker_out
from humeval_power.inference.analyze.screening import screen_workers, screening_sentence
from humeval_power.inference.study.many_systems import SystemsAnalysis
from humeval_power.ratings import Ratings
from humeval_power.reporting.analyze.ceiling_figure import ceiling_figure
from humeval_power.reporting.analyze.diagnostic_figures import (
    influence_figure,
    item_difference_figure,
    residual_figure,
    worker_difference_figure,
)
from humeval_power.reporting.analyze.heat_map import heat_map_figure
from humeval_power.reporting.figure_style import figure_bytes
from humeval_power.rules import DecisionRule

_MOST_LEFT_OUT = 50  # workers left out one by one, the busiest first


def diagnostics(
    ratings: Ratings, fitted: Fit, rule: DecisionRule
) -> tuple[dict[str, str | bytes], list[str]]:
    """Files by name (PNG and SVG of each picture), and a sentence for each picture and for screening."""
    predictions = predicted_effects(fitted, ratings)
    influence = leave_one_worker_out(
        ratings, rule=replace(rule, analysis="ratings"), largest=_MOST_LEFT_OUT
    )
    told = {
        "workers": worker_difference_figure(predictions, ratings),
        "items": item_difference_figure(predictions, ratings),
        "residuals": residual_figure(predictions, ratings),
        "ceiling": ceiling_figure(ratings),
        "influence": influence_figure(influence),
    }
    files: dict[str, str | bytes] = {}
    for name, (figure, _) in told.items():
        files[f"{name}.png"] = figure_bytes(figure, "png")
        files[f"{name}.svg"] = figure_bytes(figure, "svg")
    sentences = [sentence for _, sentence in told.values()]
    return files, [*sentences, screening_sentence(screen_workers(ratings))]


def system_pictures(analysis: SystemsAnalysis, criterion: str | None) -> tuple[dict[str, str | bytes], str]:
    """The heat map of several systems as PNG and SVG, and its sentence."""
    figure, sentence = heat_map_figure(analysis, criterion=criterion)
    return {
        "heat_map.png": figure_bytes(figure, "png"),
        "heat_map.svg": figure_bytes(figure, "svg"),
    }, sentence
