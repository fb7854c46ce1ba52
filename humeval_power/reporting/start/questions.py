"""The six questions, each with what it asks, plain choices, a default, and what 'I don't know' is taken to mean.

They are data for whoever asks: a terminal one after the other, a page all at once.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from humeval_power.errors import InputError
from humeval_power.reporting.start import checks
from humeval_power.reporting.start.talk import BY_PEOPLE, CREWS, RATED, UNKNOWN, Talk

Kind = Literal["choice", "number", "text"]
Choice = tuple[str, str]  # the value, and what it means in plain words
DONT_KNOW = "I don't know"


@dataclass(frozen=True, slots=True)
class Ask:
    """One thing to be answered.

    `when` says whether these answers leave it open, `start` is the default, `check` returns the answer as it is
    kept or raises InputError; with `unknown` one may say that one does not know.
    """

    option: str
    text: Callable[[Talk], str]
    kind: Kind
    start: Callable[[Talk], str]
    when: Callable[[Talk], bool] = lambda _: True
    choices: Callable[[Talk], tuple[Choice, ...]] = lambda _: ()
    check: Callable[[str, Talk], str] = lambda text, _: text
    unknown: bool = False

    def answer(self, typed: str, talk: Talk) -> str:
        """What was typed, as it is kept.

        Raises
        ------
        InputError
            What cannot be the answer, with what can.
        """
        text = typed.strip()
        if self.unknown and text.casefold() in (UNKNOWN, "?", DONT_KNOW.casefold()):
            return UNKNOWN
        if self.kind != "choice":
            return self.check(text, talk)
        choices = self.choices(talk)
        values = [value for value, _ in choices]
        if self.option == "limit" and "budget" in values and text not in map(str, range(len(values) + 1)):
            with suppress(InputError):
                return f"budget={checks.budget(text)}"
        if text.isdigit() and 1 <= int(text) <= len(choices):
            return values[int(text) - 1]
        if text.casefold() not in values and text not in values:
            raise InputError(f"{text!r} is none of these: {', '.join(values)}, or their numbers.")
        return text if text in values else text.casefold()


@dataclass(frozen=True, slots=True)
class Question:
    """One of the six: a title, what it is for, and what is asked."""

    title: str
    why: str
    asks: tuple[Ask, ...]


JUDGEMENTS: tuple[Choice, ...] = (
    ("points", "A person gives points on a scale, such as 1 to 5"),
    ("yes-no", "A person says yes or no"),
    ("preference", "A person says which of two outputs is better"),
    ("score", "A program gives each item a number, such as COMET or ROUGE"),
    ("correct", "An answer is right or wrong: accuracy on a test set"),
    ("corpus", "One number for a whole corpus: BLEU or chrF"),
)
HAVES: tuple[Choice, ...] = (
    ("nothing", "Nothing yet: I am planning"),
    ("pilot", "A pilot: a few of them, and I am planning the study"),
    ("results", "All of them: the study is finished"),
)
COMPARISONS: tuple[Choice, ...] = (
    ("all-pairs", "Every system with every other"),
    ("baseline", "Each of them with one baseline only"),
)
RATERS: tuple[Choice, ...] = (
    ("prolific", "A crowd on Prolific"),
    ("mturk", "A crowd on Mechanical Turk"),
    ("students", "Students or colleagues"),
    ("experts", "A few experts"),
    (UNKNOWN, DONT_KNOW),
)
_LIMITS: dict[str, str] = {
    "budget": "Money: or type the sum in US dollars, such as 500",
    "workers": "The people who rate",
    "items": "The items to be judged",
    "nothing": "Nothing in particular",
}
YES_NO: tuple[Choice, ...] = (("no", "No"), ("yes", "Yes, and fees are lower"))
_AMOUNTS = {
    "budget": "How many US dollars are there?",
    "workers": "How many people are there at most?",
    "items": "How many items are there at most?",
}
_START_AMOUNTS = {"budget": "500", "workers": "20", "items": "100"}
_FILE = {
    "points": "The file, with a column each for worker, item, system and rating",
    "yes-no": "The file, with a column each for worker, item, system and rating (1 for yes, 0 for no)",
    "preference": "The file, with a column 'preference' (B, A or tie), and for worker and item",
    "score": "The file, with a row for each item and a column of scores for each system",
    "correct": "Three files, with blanks between: answers of system A, of system B, the right ones",
    "corpus": "Three files, with blanks between: outputs of system A, of system B, the references",
}


def _limits(talk: Talk) -> tuple[Choice, ...]:
    kinds = list(_LIMITS) if talk.judgement in BY_PEOPLE else ["items", "nothing"]
    return tuple((kind, _LIMITS[kind]) for kind in kinds)


def _pays(talk: Talk) -> bool:
    return talk.is_planning and talk.judgement in BY_PEOPLE


def _difference_text(talk: Talk) -> str:
    if talk.judgement == "points":
        return f"The smallest difference of means that would matter, in points of {talk.scale}"
    return {
        "yes-no": "The smallest difference that would matter, in points of a hundred that say yes",
        "preference": "How many of a hundred would have to prefer the better one, for it to matter",
        "score": "The smallest difference of means that would matter, in units of the score",
        "correct": "The smallest difference that would matter, in points of a hundred that are right",
        "corpus": "The smallest difference that would matter, in points of the metric",
    }[talk.judgement]


def _difference_start(talk: Talk) -> str:
    if not talk.is_planning:
        return UNKNOWN
    if talk.judgement == "points":
        return f"{talk.width / 10:.4g}"
    return {"yes-no": "10", "preference": "60", "score": UNKNOWN, "correct": "2", "corpus": "1"}[
        talk.judgement
    ]


def _baselines(talk: Talk) -> tuple[Choice, ...]:
    return tuple((name, name) for name in talk.names)


QUESTIONS: tuple[Question, ...] = (
    Question(
        "What is one judgement?",
        "It decides which test is right, and which commands.",
        (
            Ask(
                "judgement",
                lambda _: "One judgement is",
                "choice",
                lambda _: "points",
                choices=lambda _: JUDGEMENTS,
            ),
        ),
    ),
    Question(
        "What do you have?",
        "What is there is looked at; without anything, other studies tell what to expect.",
        (
            Ask(
                "have", lambda _: "Of these I have", "choice", lambda _: "nothing", choices=lambda _: HAVES
            ),
            Ask(
                "file",
                lambda talk: _FILE[talk.judgement],
                "text",
                lambda _: "",
                when=lambda talk: talk.have != "nothing",
                check=checks.file_names,
            ),
        ),
    ),
    Question(
        "How many systems?",
        "Of more than two, every comparison costs some of the power.",
        (
            Ask(
                "systems",
                lambda _: "Their number, or their names with commas between",
                "text",
                lambda _: "2",
                when=lambda talk: talk.judgement in RATED and talk.have == "nothing",
                check=checks.systems,
            ),
            Ask(
                "comparisons",
                lambda talk: f"Of the {talk.n_systems} systems, compare",
                "choice",
                lambda _: "all-pairs",
                when=lambda talk: talk.n_systems > 2,
                choices=lambda _: COMPARISONS,
            ),
            Ask(
                "baseline",
                lambda _: "The baseline",
                "choice",
                lambda talk: (talk.names or ("A",))[0],
                when=lambda talk: (
                    talk.n_systems > 2 and talk.get("comparisons") == "baseline" and bool(talk.names)
                ),
                choices=_baselines,
            ),
        ),
    ),
    Question(
        "Who will judge?",
        "How many there can be, and what each judgement costs.",
        (
            Ask(
                "raters",
                lambda _: "The judges are",
                "choice",
                lambda _: UNKNOWN,
                when=_pays,
                choices=lambda _: RATERS,
            ),
            Ask(
                "academic",
                lambda _: "Is the account on the platform academic or non-profit?",
                "choice",
                lambda _: "no",
                when=lambda talk: _pays(talk) and talk.is_rated and bool(talk.crew.academic_fee),
                choices=lambda _: YES_NO,
            ),
            Ask(
                "pay-per-hour",
                lambda _: "Their pay for an hour, in US dollars",
                "number",
                lambda talk: f"{talk.crew.pay:g}",
                when=_pays,
                check=checks.amount(0, 10_000),
            ),
            Ask(
                "seconds-per-rating",
                lambda _: "Seconds that one judgement takes",
                "number",
                lambda talk: f"{talk.crew.seconds:g}",
                when=_pays,
                check=checks.amount(0.1, 86_400),
            ),
        ),
    ),
    Question(
        "Which difference matters?",
        "The smallest one that you would not want to miss. Small ones need large studies.",
        (
            Ask(
                "scale",
                lambda _: "The scale, lowest:highest",
                "text",
                lambda talk: (talk.found.scale if talk.found else "") or "1:5",
                when=lambda talk: talk.judgement == "points",
                check=checks.scale,
            ),
            Ask(
                "difference",
                _difference_text,
                "number",
                _difference_start,
                check=checks.difference,
                unknown=True,
            ),
            Ask(
                "sd",
                lambda _: "How much the items' own differences vary: their standard deviation",
                "number",
                lambda _: UNKNOWN,
                when=lambda talk: (
                    talk.judgement == "score" and talk.have == "nothing" and bool(talk.get("difference"))
                ),
                check=checks.amount(0, 1e9, above=True),
                unknown=True,
            ),
            Ask(
                "accuracy",
                lambda _: "How many of a hundred the baseline gets right",
                "number",
                lambda _: "80",
                when=lambda talk: talk.judgement == "correct" and talk.have == "nothing",
                check=checks.accuracy,
                unknown=True,
            ),
        ),
    ),
    Question(
        "What is short?",
        "The plan stays within it.",
        (
            Ask(
                "limit",
                lambda _: "What limits the study",
                "choice",
                lambda _: "nothing",
                when=lambda talk: talk.is_planning,
                choices=_limits,
            ),
            Ask(
                "amount",
                lambda talk: _AMOUNTS[talk.limit],
                "number",
                lambda talk: _START_AMOUNTS[talk.limit],
                when=lambda talk: talk.is_planning and talk.limit != "nothing",
                check=checks.limit,
            ),
        ),
    ),
)
ASKS: dict[str, Ask] = {ask.option: ask for question in QUESTIONS for ask in question.asks}
assert set(CREWS) == {value for value, _ in RATERS}


def next_ask(talk: Talk) -> Ask | None:
    """What is to be answered next; None where nothing is open."""
    return next((ask for ask in ASKS.values() if ask.option not in talk.said and ask.when(talk)), None)


def question_of(ask: Ask) -> int:
    """The place of its question, from 1."""
    return next(place for place, one in enumerate(QUESTIONS, 1) if ask in one.asks)
