"""Diagnostics of an analysis as estimates, pictures and sentences: workers, items, influence, residuals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from humeval_power.checking.columns import listing, shortened
from humeval_power.comparisons.agreement.raters import ALPHA
from humeval_power.errors import InputError
from humeval_power.ratings import Ratings
from humeval_power.safe_text import picture_text
from humeval_power.saying.chart import EstimateRow, EstimateRows
from humeval_power.saying.document import Block, Paragraph
from humeval_power.saying.numbers import p_words, percent
from humeval_power.studies.analyze.diagnostics import (
    Diagnostics,
    Influence,
    JointPredictions,
    Predictions,
    WorkerCheck,
    screening_blocks,
)
from humeval_power.studies.analyze.family import ShownPair, Unit

# Workers, items and what a decision owes to each, as rows of estimates, with the one sentence that they
# say.

_UNEVEN = 1.5  # ratio of residual SDs from which their spread is called uneven
_LABEL = 42  # characters from which a label under a single column takes two lines
_NOT_ROUNDING = 1e-6


def pair_rows(pairs: Sequence[ShownPair], unit: Unit) -> EstimateRows:
    """The differences of several systems with their intervals; marked are those that are significant."""
    return EstimateRows(
        tuple(
            EstimateRow(f"{one.left} - {one.right}", one.estimate, *one.interval, marked=one.significant)
            for one in pairs
            if not one.reason
        ),
        nouns="differences",
        usual_label="not significant",
        marked_label="significant",
        x_label=f"Difference {unit.words}",
    )


DIFFERENCES_OF = {  # what the pictures show; normal intervals of predictions hold .46 to .90 of true values
    "worker": "Each worker's predicted difference, in their order; marked: unlike the differences of the others.",
    "item": "Each item's predicted difference, in their order.",
}


def difference_rows(
    predictions: Predictions, ratings: Ratings, noun: str, checks: Sequence[WorkerCheck] = ()
) -> tuple[EstimateRows, str]:
    """Each worker's, or item's, predicted difference B - A, workers unlike the others by the checks marked, and the
    sentence that it says."""
    levels, names = predictions.items, ratings.item_names
    if noun == "worker":
        levels, names = predictions.workers, ratings.worker_names
    marked = {one.worker for one in checks if one.leaning_p <= ALPHA}
    a, b = (shortened(picture_text(name), width=14) for name in ratings.system_names)
    label = f"Predicted difference {b} - {a},"
    label += f"{' ' if len(label) < _LABEL else chr(10)}on [0, 1]"
    rows = EstimateRows(
        tuple(
            EstimateRow(name, float(value), marked=name in marked)
            for name, value in zip(names, levels.difference, strict=True)
        ),
        nouns=f"{noun}s",
        whole=predictions.effect,
        whole_label=f"all {noun}s: {predictions.effect:.3f}",
        usual_label="like the others" if marked else "",
        marked_label="unlike the others",
        x_label=label,
    )
    difference, n = levels.difference, len(names)
    a, b = ratings.system_names
    if np.ptp(difference) < _NOT_ROUNDING:
        return rows, (
            f"The model finds no variation between {noun}s in the difference {b} - {a} (SD estimated as 0): it "
            f"predicts {predictions.effect:.3f} for each of the {n:,}."
        )
    low, high = int(np.argmin(difference)), int(np.argmax(difference))
    positive = int((difference > 0).sum())
    count = f"all {n:,}" if positive == n else f"{positive:,} of {n:,}"
    verb = "rate" if noun == "worker" else "have"
    return rows, (
        f"The model predicts that {count} {noun}s {verb} {b} higher than {a}; the predicted differences "
        f"run from {difference[low]:.3f} ({shortened(names[low])}) to {difference[high]:.3f} "
        f"({shortened(names[high])}) on [0, 1]."
    )


def residual_sentence(predictions: Predictions | JointPredictions) -> str:
    """Whether residuals spread evenly over the fitted ratings."""
    fitted, residual = predictions.fitted, predictions.residual
    low, _, high = (residual[part].std() for part in np.array_split(np.argsort(fitted, kind="stable"), 3))
    spread = f"{low:.3f} in the lowest third of fitted ratings and {high:.3f} in the highest"
    outside = float(((fitted < 0) | (fitted > 1)).mean())
    if max(low, high) >= _UNEVEN * min(low, high):
        words = (
            f"The spread of residuals is uneven, {spread}, as happens where ratings crowd at an end of the "
            "scale; the model assumes it constant"
        )
    else:
        words = f"The spread of residuals is about even ({spread})"
    if outside > 0:
        words += f"; {percent(outside)} of fitted ratings lie outside the scale"
    return f"{words}."


def influence_rows(influence: Influence) -> tuple[EstimateRows, str]:
    """The effect without each level, with its interval, beside that of the whole study, and the sentence.
    Raises InputError: nothing could be analysed without any one of them."""
    usable = [one for one in influence.left_out if one.test is not None]
    if not usable:
        raise InputError(
            f"Without any one {influence.noun} nothing can be analysed: there is nothing to draw."
        )
    changed = {one.name for one in influence.changed}
    whole = influence.whole
    rows = EstimateRows(
        tuple(
            EstimateRow(f"without {one.name}", one.estimate, *one.test.interval, marked=one.name in changed)
            for one in usable
            if one.test is not None
        ),
        nouns=f"{influence.noun}s",
        whole=whole.estimate,
        whole_label=f"whole study: {whole.estimate:.3f}",
        usual_label="same decision",
        marked_label="another decision",
        x_label="Difference on [0, 1]",
        whole_interval=whole.interval,
    )
    return rows, _influence_sentence(influence, len(usable))


def _influence_sentence(influence: Influence, n_usable: int) -> str:
    noun, whole, changed = influence.noun, influence.whole, influence.changed
    low, high = influence.range
    word = "significant" if whole.rule.margin is None else f"{whole.rule.alternative} within the margin"
    decision = word if whole.significant else f"not {word}"
    text = f"the estimate lies between {low:.3f} and {high:.3f} ({whole.estimate:.3f} with all)"
    lost = len(influence.left_out) - n_usable
    aside = f"; {lost:,} of {len(influence.left_out):,} could not be left out" if lost else ""
    if influence.n_not_tried:
        aside += f"; only the {len(influence.left_out):,} with most ratings were left out"
    n_approximate = influence.n_approximate
    if n_approximate:
        refitted = len(influence.left_out) - lost - n_approximate
        but = f", but for the {refitted:,} largest shifts, which are refits" if refitted else ""
        aside += f"; approximate, each at the variances of the whole study{but}"
    if not changed:
        return f"Whichever {noun} is left out, {text} and the result stays {decision}{aside}."
    names = listing(
        [f"{shortened(one.name, width=24)} ({p_words(one.p_value)})" for one in changed], limit=3
    )
    return (
        f"The decision ({decision}, {p_words(whole.p_value)}) changes if one {noun} is left out: {names}; "
        f"{text}{aside}."
    )


def diagnostic_blocks(diagnostics: Diagnostics, ratings: Ratings) -> Iterator[Block]:
    """Who is worth a second look, then pictures, each after the sentence that it says; none of workers left out
    where nothing is left."""
    from humeval_power.studies.analyze.figures import ceiling_chart, ceiling_words, later_residuals

    predicted = diagnostics.predictions
    yield from screening_blocks(diagnostics.workers)
    for noun, checks in (("worker", diagnostics.workers), ("item", ())):
        rows, sentence = difference_rows(predicted, ratings, noun, checks)
        yield Paragraph(sentence)
        title = f"How do {noun}s differ?"
        yield rows.chart(f"{noun}s", title=title, words=DIFFERENCES_OF[noun])
    yield Paragraph(residual_sentence(predicted))
    yield later_residuals(predicted, ratings)
    yield Paragraph(ceiling_words(ratings))
    yield ceiling_chart(ratings)
    if any(one.test is not None for one in diagnostics.influence.left_out):
        rows, sentence = influence_rows(diagnostics.influence)
        words = "The effect without each worker, with its interval, beside that of the whole study."
        yield Paragraph(sentence)
        yield rows.chart("influence", title="Does it rest on one worker?", words=words)
