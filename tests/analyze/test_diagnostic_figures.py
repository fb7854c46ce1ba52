"""The pictures of an analysis show the numbers they are given, and their sentences are true."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from places import ROOT

from humeval_power.errors import InputError
from humeval_power.estimation.fitting import fit
from humeval_power.files.tables import read_table
from humeval_power.ratings import ratings_from_table
from humeval_power.saying.figure_style import figure_bytes
from humeval_power.saying.numbers import p_words
from humeval_power.scales import RatingScale
from humeval_power.studies.analyze.diagnostics import (
    leave_item_groups_out,
    leave_one_worker_out,
    predicted_effects,
    screen_workers,
)
from humeval_power.studies.analyze.figures import (
    ceiling_chart,
    ceiling_words,
    end_shares,
    residual_chart,
)
from humeval_power.studies.analyze.result_diagnostics import (
    difference_rows,
    influence_rows,
    residual_sentence,
)

PILOT = ROOT / "data" / "pilot.csv"


@cache
def pilot():
    ratings = ratings_from_table(read_table(PILOT).frame)
    return ratings, predicted_effects(fit(ratings), ratings)


def renamed(names):
    frame = read_table(PILOT).frame
    for column, name in names.items():
        frame[column] = frame[column].map(lambda value, name=name: name + str(value))
    return ratings_from_table(frame)


def values_of(chart):
    points = [each for each in chart.series if each.kind == "points"]
    placed = sorted((y, x) for each in points for y, x in zip(each.y, each.x, strict=True))
    return [x for _, x in placed]


def drawn(told):
    """The figure of rows, and their sentence."""
    chart, sentence = charted(told)
    return chart.figure, sentence


def charted(told):
    """The chart of rows, and their sentence."""
    rows, sentence = told
    return rows.chart("rows", title="A title " * 9, words=sentence), sentence


def residuals(predictions, ratings):
    """The figure of residuals, and its sentence."""
    return residual_chart(predictions, ratings).drawn(), residual_sentence(predictions)


def ceiling(ratings):
    """The figure of ratings at the ends, and its sentence."""
    return ceiling_chart(ratings).drawn(), ceiling_words(ratings)


def told():
    ratings, predictions = pilot()
    return {
        "workers": lambda: drawn(difference_rows(predictions, ratings, "worker", screen_workers(ratings))),
        "items": lambda: drawn(difference_rows(predictions, ratings, "item")),
        "residuals": lambda: residuals(predictions, ratings),
        "ceiling": lambda: ceiling(ratings),
        "influence": lambda: drawn(influence_rows(leave_one_worker_out(ratings))),
        "item groups": lambda: drawn(influence_rows(leave_item_groups_out(ratings))),
    }


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("name", ["workers", "items", "residuals", "ceiling", "influence", "item groups"])
def test_every_picture_comes_with_one_sentence_and_the_same_bytes_twice(name):
    _, sentence = told()[name]()
    assert sentence.endswith(".")
    assert "nan" not in sentence
    assert "\n" not in sentence
    for kind in ("png", "svg", "pdf"):
        assert figure_bytes(told()[name]()[0], kind) == figure_bytes(told()[name]()[0], kind)


def test_a_caterpillar_shows_every_worker_with_the_largest_on_top():
    ratings, predictions = pilot()
    chart, sentence = charted(difference_rows(predictions, ratings, "worker", screen_workers(ratings)))
    assert values_of(chart) == sorted(predictions.workers.difference, reverse=True)
    names = [label.get_text() for label in chart.figure.axes[0].get_yticklabels()]
    assert names[0] == ratings.worker_names[int(np.argmax(predictions.workers.difference))]
    positive = int((predictions.workers.difference > 0).sum())
    assert f"{positive} of 10 workers rate new higher than baseline" in sentence


def test_a_worker_unlike_the_others_is_marked_and_predictions_have_no_interval():
    ratings, predictions = pilot()
    checks = screen_workers(ratings)
    one = replace(checks[3], leaning_p=0.01)
    rows, _ = difference_rows(predictions, ratings, "worker", (*checks[:3], one))
    assert [row.name for row in rows.rows if row.marked] == [one.worker]
    assert all(math.isnan(row.low) and math.isnan(row.high) for row in rows.rows)
    assert len(rows.table().header) == 2


def study(n_items, *, system_b=lambda rng, n: rng.normal(0.6, 0.2, n)):
    rng = np.random.default_rng(1)
    worker, item, system = np.indices((6, n_items, 2)).reshape(3, -1)
    rating = np.where(system == 0, rng.normal(0.4, 0.2, len(worker)), system_b(rng, len(worker)))
    frame = pd.DataFrame(
        {"worker": worker, "item": item, "system": system, "rating": np.clip(rating, 0, 1)}
    )
    return ratings_from_table(frame, systems=("0", "1"), scale=RatingScale(0, 1))


def test_of_many_items_the_thirty_at_each_end_are_shown():
    ratings = study(100)
    predictions = predicted_effects(fit(ratings), ratings)
    chart, _ = charted(difference_rows(predictions, ratings, "item"))
    ordered = sorted(predictions.items.difference, reverse=True)
    assert values_of(chart) == ordered[:30] + ordered[-30:]
    assert chart.caption == "40 more items between"


def test_ceiling_shares_are_counted():
    ratings, _ = pilot()
    best, worst = end_shares(ratings)
    for code in (0, 1):
        raw = np.round(ratings.raw_rating[ratings.system == code])
        assert best[code] == np.mean(raw == ratings.scale.high)
        assert worst[code] == np.mean(raw == ratings.scale.low)
    crowded = study(30, system_b=lambda _, n: np.ones(n))
    chart, sentence = ceiling_chart(crowded), ceiling_words(crowded)
    at_best, at_worst = (dict(zip(chart.y.names, each.x, strict=True)) for each in chart.series)
    assert at_best == {
        name: 100 * share for name, share in zip(("0", "1"), end_shares(crowded)[0], strict=True)
    }
    assert at_worst == {
        name: 100 * share for name, share in zip(("0", "1"), end_shares(crowded)[1], strict=True)
    }
    assert dict(chart.columns)["best"][0] == "100 %"
    assert sentence.startswith(
        "At most 100 % of a system's ratings lie at an end of the scale (the best end, 1)"
    )
    assert "look smaller" in sentence


def test_residuals_that_crowd_at_an_end_are_called_uneven():
    ratings = study(60, system_b=lambda rng, n: np.where(rng.random(n) < 0.97, 1.0, 0.9))
    predictions = predicted_effects(fit(ratings), ratings)
    assert "uneven" in residual_sentence(predictions)
    chart = residual_chart(predictions, ratings)
    clouds = [each for each in chart.series if each.kind == "points"]
    assert [each.name for each in clouds] == list(ratings.system_names)
    for code, each in enumerate(clouds):
        assert each.x == tuple(predictions.fitted[ratings.system == code])
        assert each.y == tuple(predictions.residual[ratings.system == code])
    assert "about even" in residual_sentence(pilot()[1])


def test_the_sentence_names_the_worker_on_whom_the_decision_rests():
    influence = leave_one_worker_out(pilot()[0])
    _, sentence = influence_rows(influence)
    assert influence.changed
    for one in influence.changed:
        assert f"{one.name} ({p_words(one.p_value)})" in sentence
    _, sentence = influence_rows(leave_one_worker_out(study(60)))
    assert "stays significant" in sentence


def test_workers_without_variation_are_said_to_be_alike():
    ratings = study(40)
    fitted = fit(ratings)
    assert "sd_worker_slope" in fitted.boundary
    _, sentence = difference_rows(predicted_effects(fitted, ratings), ratings, "worker")
    assert "no variation between workers" in sentence


@pytest.mark.slow
def test_names_that_matplotlib_could_read_as_mathematics_are_drawn_as_they_are():
    ratings = renamed({"worker": "$w_{", "item": "a <b>\n" * 9, "system": "% & _x^2$ "})
    predictions = predicted_effects(fit(ratings), ratings)
    for figure, sentence in (
        drawn(difference_rows(predictions, ratings, "worker", screen_workers(ratings))),
        drawn(difference_rows(predictions, ratings, "item")),
        residuals(predictions, ratings),
        ceiling(ratings),
        drawn(influence_rows(leave_one_worker_out(ratings))),
    ):
        assert figure_bytes(figure, "svg").startswith(b"<?xml")
        assert "\n" not in sentence


def test_where_nothing_can_be_left_out_there_is_no_picture():
    rng = np.random.default_rng(1)
    worker, item, system = np.indices((2, 12, 2)).reshape(3, -1)
    frame = pd.DataFrame({"worker": worker, "item": item, "system": system})
    ratings = ratings_from_table(frame.assign(rating=rng.integers(1, 6, len(worker))), systems=("0", "1"))
    with pytest.raises(InputError, match="nothing to draw"):
        influence_rows(leave_one_worker_out(ratings))
