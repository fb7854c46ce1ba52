"""The pictures of an analysis of two systems, each with its sentence, as part of a document."""

from __future__ import annotations

from collections.abc import Iterator

from humeval_power.inference.analyze.diagnostics import Diagnostics
from humeval_power.inference.analyze.screening import screening_sentence
from humeval_power.ratings import Ratings
from humeval_power.reporting.analyze.ceiling_figure import Told, ceiling_figure
from humeval_power.reporting.analyze.diagnostic_figures import (
    influence_figure,
    item_difference_figure,
    residual_figure,
    worker_difference_figure,
)
from humeval_power.reporting.document import Block, Paragraph, Picture

_WIDTH = 5.2  # inches, as the effect is drawn
_WORDS = {
    "workers": "Each worker's predicted difference with its 95 % interval, in the order of the differences.",
    "items": "Each item's predicted difference with its 95 % interval, in the order of the differences.",
    "residuals": "Residuals against fitted ratings, with the SD of each tenth.",
    "ceiling": "The share of each system's ratings at the best and at the worst end of the scale.",
    "influence": "The effect without each worker, with its interval, beside that of the whole study.",
}


def told_figures(found: Diagnostics, ratings: Ratings) -> dict[str, Told]:
    """Figures by name, each with the sentence that it says; none of workers left out where nothing is left."""
    told = {
        "workers": worker_difference_figure(found.predictions, ratings, width=_WIDTH),
        "items": item_difference_figure(found.predictions, ratings, width=_WIDTH),
        "residuals": residual_figure(found.predictions, ratings, width=_WIDTH),
        "ceiling": ceiling_figure(ratings, width=_WIDTH),
    }
    if any(one.test is not None for one in found.influence.left_out):
        told["influence"] = influence_figure(found.influence, width=_WIDTH)
    return told


def diagnostic_blocks(found: Diagnostics, told: dict[str, Told]) -> Iterator[Block]:
    """The sentences, each followed by its picture, and who is worth a second look."""
    yield Paragraph(screening_sentence(found.workers))
    for name, (figure, sentence) in told.items():
        yield Paragraph(sentence)
        yield Picture(name, lambda figure=figure: figure, words=_WORDS[name])  # type: ignore[misc]
