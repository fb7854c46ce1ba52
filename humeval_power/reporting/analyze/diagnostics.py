"""The pictures of an analysis of two systems, each with its sentence, as part of a document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from humeval_power.inference.analyze.diagnostics import Diagnostics
from humeval_power.inference.analyze.screening import screening_sentence
from humeval_power.ratings import Ratings
from humeval_power.reporting.analyze.estimate_tellings import (
    influence_rows,
    item_difference_rows,
    residual_sentence,
    worker_difference_rows,
)
from humeval_power.reporting.document import Block, Paragraph, Picture

if TYPE_CHECKING:  # Matplotlib is slow to import
    from matplotlib.figure import Figure

_WIDTH = 5.2  # inches, as the effect is drawn


def told_pictures(found: Diagnostics, ratings: Ratings) -> Iterator[tuple[Picture, str]]:
    """Pictures, each with the sentence that it says; none of workers left out where nothing is left."""
    from humeval_power.reporting.analyze.ceiling_figure import ceiling_figure, ceiling_words
    from humeval_power.reporting.analyze.diagnostic_figures import residual_figure

    rows, sentence = worker_difference_rows(found.predictions, ratings)
    words = "Each worker's predicted difference with its 95 % interval, in the order of the differences."
    yield rows.drawing("workers", title="How do workers differ?", words=words, width=_WIDTH), sentence
    rows, sentence = item_difference_rows(found.predictions, ratings)
    words = "Each item's predicted difference with its 95 % interval, in the order of the differences."
    yield rows.drawing("items", title="How do items differ?", words=words, width=_WIDTH), sentence

    def residuals() -> Figure:
        return residual_figure(found.predictions, ratings, width=_WIDTH)[0]

    words = "Residuals against fitted ratings, with the SD of each tenth."
    yield Picture("residuals", residuals, words=words), residual_sentence(found.predictions)

    def ceiling() -> Figure:
        return ceiling_figure(ratings, width=_WIDTH)[0]

    words = "The share of each system's ratings at the best and at the worst end of the scale."
    yield Picture("ceiling", ceiling, words=words), ceiling_words(ratings)
    if any(one.test is not None for one in found.influence.left_out):
        rows, sentence = influence_rows(found.influence)
        words = "The effect without each worker, with its interval, beside that of the whole study."
        yield (
            rows.drawing("influence", title="Does it rest on one worker?", words=words, width=_WIDTH),
            sentence,
        )


def diagnostic_blocks(found: Diagnostics, ratings: Ratings) -> Iterator[Block]:
    """The sentences, each followed by its picture, and who is worth a second look."""
    yield Paragraph(screening_sentence(found.workers))
    for picture, sentence in told_pictures(found, ratings):
        yield Paragraph(sentence)
        yield picture
