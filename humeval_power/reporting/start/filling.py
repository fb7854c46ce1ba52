"""All answers at once: what was given, and the default where nothing was."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from humeval_power.errors import InputError, Problem
from humeval_power.reporting.start import checks
from humeval_power.reporting.start.questions import ASKS, next_ask
from humeval_power.reporting.start.talk import Talk

_SHOWN = {"amount": "limit"}
_WITH_FILE = "pilot (to plan from it) or --have results (to decide it)"


def given_answers(answers: Mapping[str, str]) -> dict[str, str]:
    """The answers by what asks for them: 'limit' may hold an amount, a baseline means comparisons with it.

    Raises
    ------
    InputError
        Names of no question.
    """
    found = {name: text for name, text in answers.items() if text}
    unknown = [name for name in found if name not in ASKS]
    if unknown:
        raise InputError(f"There is no question {unknown[0]!r}; there are {', '.join(ASKS)}.")
    with suppress(InputError):
        found["limit"] = f"budget={checks.budget(found.get('limit', ''))}"
    kind, equals, amount = found.get("limit", "").partition("=")
    if equals:
        found |= {"limit": kind.strip(), "amount": amount.strip()}
    if "baseline" in found:
        found.setdefault("comparisons", "baseline")
    return found


def filled(talk: Talk, given: Mapping[str, str]) -> Talk:
    """The talk at its end: each open question is answered by what was given, or by its default.

    Raises
    ------
    InputError
        Every answer that cannot be one, and every one that nothing asks for.
    """
    problems: list[Problem] = []
    if talk.files and given.get("have", "nothing") == "nothing":
        problems.append(
            Problem("there is a file, and nobody said what it is.", f"Say --have {_WITH_FILE}.")
        )
        given = {**given, "have": "pilot"}
    while (ask := next_ask(talk)) is not None:
        text = given.get(ask.option)
        start = ask.start(talk)
        if text is None and not start:
            raise InputError([*problems, Problem(f"--{ask.option} is missing.", f"{ask.text(talk)}.")])
        try:
            kept = ask.answer(start if text is None else text, talk)
        except InputError as error:
            problems += [
                Problem(f"--{_SHOWN.get(ask.option, ask.option)}: {one}", "") for one in error.problems
            ]
            kept = ask.answer(start, talk) if start else ""
        talk = talk.answered(ask.option, kept, assumed=text is None)
    unasked = [name for name in given if name not in talk.said and name != "amount"]
    problems += [
        Problem(f"--{name}: with the other answers nothing asks for it.", "Leave it out.")
        for name in unasked
    ]
    if problems:
        raise InputError(problems)
    return talk
