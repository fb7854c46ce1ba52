"""The guided start: from the answers to six questions to the commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from humeval_power.studies.start.result import StartResult
    from humeval_power.studies.start.talk import FileContents


def start(
    answers: Mapping[str, str], *, files: Sequence[str] = (), found: FileContents | None = None
) -> StartResult:
    """Say which commands lead from what somebody has to what they want to know.

    Parameters
    ----------
    answers : texts by the names of the questions: judgement, have, systems (a number, or names), comparisons,
        baseline, raters, academic (yes or no), pay-per-hour, seconds-per-rating, instruction-minutes, scale,
        difference, sd, accuracy, limit (budget=500). What is left out is assumed, and the result says so.
    files : the names of the files that there are.
    found : what they hold; None where nobody looked.

    Returns
    -------
    StartResult
        `steps` are the commands in order, each with its words, why it is run and what to read in its answer; a row
        each in `to_frame`. Nothing is computed.

    Raises
    ------
    InputError
        Every answer that cannot be one, and every one that nothing asks for.
    """
    from humeval_power.studies.start.questions import filled, given_answers
    from humeval_power.studies.start.result import StartResult
    from humeval_power.studies.start.talk import Talk

    given = given_answers(answers)
    talk = filled(Talk().looked(tuple(files), found) if files else Talk(), given)
    if talk.is_rated and talk.have == "nothing":
        from humeval_power.scales import RatingScale
        from humeval_power.studies.power.parameter_library import typical_name

        talk = replace(talk, typical=typical_name(RatingScale.parse(talk.scale)))
    return StartResult(talk=talk)
