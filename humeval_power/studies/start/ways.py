"""From all answers to the commands, and what was taken where nobody knew."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from humeval_power.errors import InputError
from humeval_power.saying.answer_words import PILOT_ITEMS, PILOT_WORKERS
from humeval_power.studies.start.questions import ASKS, COMPARISONS, HAVES, JUDGEMENTS, RATERS
from humeval_power.studies.start.rated import (
    ANALYSIS,
    ANSWERS,
    ASSIGNMENT,
    KEY,
    OPEN,
    PLAN,
    RATINGS,
    REHEARSAL,
    rated_way,
)
from humeval_power.studies.start.scored import (
    PANEL_SD,
    SMALL,
    corpus_way,
    correct_way,
    preference_way,
    score_way,
)
from humeval_power.studies.start.talk import PROGRAM, RATED, UNKNOWN, Step, Talk
from humeval_power.study import FIELDS
from humeval_power.study_text import study_text

_WAYS: Mapping[str, Callable[[Talk], list[Step]]] = {
    "points": rated_way,
    "yes-no": rated_way,
    "preference": preference_way,
    "score": score_way,
    "correct": correct_way,
    "corpus": corpus_way,
}
_NOBODY = "Nobody said which difference matters"
_UNITS = {
    "yes-no": "points of a hundred",
    "correct": "points of a hundred",
    "corpus": "points of the metric",
    "score": "units of the score",
}


def way(talk: Talk) -> tuple[Step, ...]:
    """The commands that these answers lead to, in order."""
    return tuple(_WAYS[talk.judgement](talk))


def again(talk: Talk) -> Step:
    """The command that gives these answers without being asked."""
    typed: list[tuple[str, str | None]] = []
    for option in (name for name in ASKS if name in talk.said):
        text = talk.said[option]
        if option == "file":
            typed += [("file", name) for name in talk.files]
        elif option == "systems" and text.isdigit():
            typed.append(("n-systems", text))
        elif option == "limit" and "amount" in talk.said:
            typed.append(("limit", f"{text}={talk.said['amount']}"))
        elif option != "amount":
            typed.append((option, text))
    return Step(("start",), "The same without questions.", options=tuple(typed))


def understood(talk: Talk) -> tuple[tuple[str, str], ...]:
    """What was answered, in words: a label and what was said."""
    words = {
        "judgement": ("One judgement", dict(JUDGEMENTS)),
        "have": ("There is", dict(HAVES)),
        "comparisons": ("Compared is", dict(COMPARISONS)),
        "baseline": ("Baseline", {}),
        "raters": ("Judges", dict(RATERS)),
    }
    pairs = [
        (label, known.get(talk.said[option], talk.said[option]))
        for option, (label, known) in words.items()
        if option in talk.said
    ]
    pairs[2:2] = _systems(talk)
    return (*pairs, *_difference(talk), *_limit(talk))


def assumptions(talk: Talk) -> tuple[str, ...]:
    """What nobody said and was taken instead, a sentence each: to be replaced by what one knows."""
    return tuple(
        text for say in (_of_rating, _of_money, _of_differences, _of_scores, _of_many) for text in say(talk)
    )


def _systems(talk: Talk) -> list[tuple[str, str]]:
    if talk.found is not None and talk.found.n_items:
        contents = talk.found
        counts = [f"{contents.n_items:,} items"] + (
            [f"{contents.n_workers:,} workers"] if contents.n_workers else []
        )
        names = (
            f"{len(contents.systems)} systems ({', '.join(contents.systems)})" if contents.systems else ""
        )
        return [("The file", "; ".join(part for part in (", ".join(counts), names) if part))]
    if "systems" not in talk.said:
        return []
    return [("Systems", str(talk.n_systems) + (f": {', '.join(talk.names)}" if talk.names else ""))]


def _difference(talk: Talk) -> list[tuple[str, str]]:
    text = talk.get("difference")
    if not text:
        return []
    if talk.judgement == "preference":
        return [("What matters", f"{text} of a hundred prefer the better one")]
    unit = _UNITS.get(talk.judgement) or f"points of the scale {talk.scale}"
    return [("What matters", f"a difference of {text} {unit}")]


def _limit(talk: Talk) -> list[tuple[str, str]]:
    if not talk.is_planning or talk.limit == "nothing":
        return []
    amount = talk.number("amount") or 0
    return [("Limit", f"{amount:,.12g} USD" if talk.limit == "budget" else f"{amount:,.0f} {talk.limit}")]


def _of_rating(talk: Talk) -> list[str]:
    notices = []
    if talk.is_rated and talk.have == "nothing":
        notices.append(
            "How much workers and items differ is not known. What is typical of public ratings on such a scale is "
            "taken, and the plan says whose they are and its power at a cautious and a hopeful end. A pilot of "
            f"{PILOT_WORKERS} workers and {PILOT_ITEMS} items tells more than any assumption."
        )
        if talk.judgement == "yes-no" and talk.n_systems == 2:
            notices.append("Half of all answers are taken to be yes, which asks for the most ratings.")
    if talk.judgement == "yes-no" and talk.n_systems > 2:
        notices.append("Yes and no of more than two systems are compared as the numbers 1 and 0.")
    if talk.judgement == "preference" and talk.is_planning:
        notices.append(
            f"Workers' and items' own tastes are taken to vary by {PANEL_SD:g}, beside a noise of 1."
        )
    return notices


def _of_money(talk: Talk) -> list[str]:
    if "pay-per-hour" not in talk.said:
        return []
    taken = [
        words
        for option, words in (
            ("pay-per-hour", f"a pay of {talk.said['pay-per-hour']} USD an hour"),
            ("seconds-per-rating", f"{talk.said['seconds-per-rating']} seconds for a judgement"),
            (
                "instruction-minutes",
                f"{talk.said.get('instruction-minutes')} minutes of instructions for each worker",
            ),
        )
        if option in talk.assumed
    ]
    notices = [f"Nobody said what it costs, and this is taken: {', '.join(taken)}."] if taken else []
    if talk.said["raters"] == UNKNOWN:
        notices.append("Nobody said who judges: no platform's fee is taken.")
    if talk.limit != "workers" and talk.crew.most is not None:
        notices.append(f"'A few experts' are taken to be at most {talk.crew.most}.")
    if "academic" in talk.assumed:
        notices.append("Nobody said whose account it is: the fee of one that is not academic is taken.")
    if talk.judgement == "preference" and talk.limit == "budget":
        notices.append("The money is divided by the pay of a judgement; a platform's fee comes on top.")
    return notices


def _of_differences(talk: Talk) -> list[str]:
    is_guess = not talk.get("difference") or "difference" in talk.assumed
    if not is_guess:
        return []
    if not talk.is_planning or talk.judgement == "score":
        return (
            [] if talk.is_planning else [f"{_NOBODY}: no answer says whether the one you found is large."]
        )
    value, rest = talk.number("difference"), "Say which one matters to you: everything hangs on it."
    if talk.judgement == "preference":
        return [f"{_NOBODY}: {value or 60:g} of a hundred for the better one is taken. {rest}"]
    known = {"points": talk.width / 10, "yes-no": 10, "correct": 2, "corpus": 1}
    unit = _UNITS.get(talk.judgement) or f"points of {talk.scale}"
    return [f"{_NOBODY}: {value or known[talk.judgement]:.4g} {unit} is taken. {rest}"]


def _of_scores(talk: Talk) -> list[str]:
    if not talk.is_planning:
        return []
    if talk.judgement == "corpus":
        return ["How much single sentences move the metric is taken from Card et al. (2020), for BLEU."]
    if talk.judgement == "correct" and talk.found is None:
        baseline = "The baseline is taken to be right in 80 of a hundred."
        overlap = (
            "How often both are right or wrong together is taken to lie in the middle of what is possible."
        )
        is_given = bool(talk.get("accuracy")) and "accuracy" not in talk.assumed
        return [overlap] if is_given else [baseline, overlap]
    if talk.judgement != "score":
        return []
    if not talk.get("difference"):
        return [
            f"{_NOBODY}: {SMALL:g} standard deviations of the items' own differences, a small one, is taken."
        ]
    if not talk.get("sd-difference") and talk.found is None:
        return [
            f"The items' own differences are taken to vary {1 / SMALL:g} times as much as what matters. Thirty "
            "items of yours tell it better."
        ]
    return []


def _of_many(talk: Talk) -> list[str]:
    contents = talk.found
    notices = list(contents.notes) if contents else []
    if contents and contents.criteria and talk.judgement == "score":
        notices.append(
            f"Of the metrics {', '.join(contents.criteria)} the first is taken; do the same for each."
        )
    elif contents and contents.criteria and talk.is_planning:
        notices.append(f"Of the criteria {', '.join(contents.criteria)} the first is taken to plan from.")
    if talk.n_systems > 2 and talk.judgement in ("preference", "correct", "corpus"):
        notices.append("These commands compare two systems at a time.")
    return notices


# The study file that the answers of `start` lead to: the options of its commands, each said once.

_SEARCHED = ("workers", "items", "ratings-per-item", "documents")  # of `plan`: lists of them
_FILES = {
    "plan": PLAN,
    "assignment": [f"field/{ASSIGNMENT}"],
    "key": KEY,
    "rehearsal": REHEARSAL,
    "ratings": RATINGS,
    "findings": ANALYSIS,
    "answers": OPEN,
}
NOW = (
    ("power", "How often would a study of the size in [design] find that difference? Change it and see."),
    (
        "plan",
        "The cheapest study that finds it, proved and sealed in plan/. If it ends with 3, it says why.",
    ),
    ("assign", "Who rates what in which order; key.csv is yours alone."),
    ("simulate", "A rehearsal: made-up workers carry it out before real ones are paid."),
    ("analyze", "Decides the rehearsal, and the ratings once they are there."),
)
LATER = (
    (
        f"import {ANSWERS}",
        f"Brings what was answered ({ANSWERS}) together with who was asked what.",
    ),
    ("report", "The study on one page; report --template answers.toml asks what only you know."),
)


def study_of(talk: Talk, steps: Sequence[Step]) -> dict[str, Any]:
    """What the study file says, by the names of its fields.

    Raises InputError: judgements that are no ratings by people.
    """
    if talk.judgement not in RATED:
        raise InputError(
            "A study file is of ratings by people, in points or yes and no. Write the commands instead: "
            "-o start.sh."
        )
    fields: dict[str, Any] = {}
    for step in steps:
        if step.command == ("analyze",) and talk.have != "results":
            continue
        if step.command in (("power",), ("plan",), ("analyze",)):
            fields |= _fields(step)
    if talk.have == "results":
        return {**fields, "ratings": talk.files[0], "findings": ANALYSIS, "answers": OPEN}
    if talk.have == "pilot":
        fields = {name: value for name, value in fields.items() if name not in ("parameters", "preset")}
        fields["pilot"] = talk.files[0]
    elif "preset" in fields:
        fields["preset"] = ["typical"]  # of which 'plan' shows both ends
    return {**fields, **_FILES}


def _fields(step: Step) -> dict[str, Any]:
    """The options of a command as fields of the study."""
    fields: dict[str, Any] = {}
    for name, value in step.options:
        if name == "all-pairs":
            fields["comparisons"] = "all-pairs"
            continue
        field = name.replace("-", "_")
        if step.command == ("plan",) and name in _SEARCHED:
            field = f"{field}_range"
        field = {"effect_of_interest": "effect", "effect_of_interest_raw": "effect_raw"}.get(field, field)
        if field in FIELDS:
            fields[field] = _value(field, value)
    return fields


def _value(field: str, typed: str | None) -> Any:
    """A value as the file says it: numbers without quotes, names as a list."""
    kind = FIELDS[field].kind
    if typed is None:
        return True
    if kind.is_number or field in ("systems", "preset", "criteria"):
        value = kind.read(typed)
        return list(value) if isinstance(value, tuple) else value
    return [typed] if kind.many else typed


def study_file(talk: Talk, steps: Sequence[Step]) -> str:
    """The text of the file, with what was assumed and not said."""
    values = study_of(talk, steps)
    assumed = {name: "assumed, since nobody said it." for name in values if _said_as(name) & talk.assumed}
    head = (
        f"# The study that '{PROGRAM} start' made of your answers: edit it, and every command reads it.\n"
    )
    return head + study_text(values, why=assumed)


_ANSWER: Mapping[str, str] = {
    "effect_raw": "difference",
    "effect": "difference",
    "fee": "raters",
    "cost_per_worker": "instruction-minutes",
}


def _said_as(name: str) -> set[str]:
    """What the question was called that a field answers."""
    return {name.replace("_", "-"), _ANSWER.get(name, "")} - {""}
