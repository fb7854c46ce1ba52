"""The six questions, each with what it asks, plain choices, a default, and what 'I don't know' is taken to mean.

They are data for whoever asks: a terminal one after the other, a page all at once.

Look at the files that somebody named, as the commands that follow will read them.
"""

from __future__ import annotations

import math
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import click

from humeval_power.asking.output import caught, say
from humeval_power.errors import HumevalPowerError, InputError, Problem
from humeval_power.safe_text import shell_word, wrapped
from humeval_power.studies.start.talk import BY_PEOPLE, CREWS, RATED, UNKNOWN, FileContents, Talk

if TYPE_CHECKING:
    from humeval_power.ratings import Ratings


_NAMES_COLUMN = re.compile(r"Name the right ones: --.*|(?<=declare it) with --missing VALUE")

# What can be an answer, and what is said where it cannot.

THREE_FILES = ("correct", "corpus")
_OF_THREE = ("of system A", "of system B", "what is right")
MOST_SYSTEMS = 50
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_OTHER_CURRENCY = re.compile(r"[€£¥]|(?<![a-z])(EUR|euros?|GBP|pounds?|CHF|JPY)(?![a-z])", re.IGNORECASE)
_MOST = {"budget": 1e9, "workers": 1000, "items": 100_000}


def number(text: str) -> float:
    """A finite number, with a decimal point or comma; '1,500' are thousands.

    Raises InputError: anything else.
    """
    if _OTHER_CURRENCY.search(text):
        raise InputError(
            f"Amounts are in US dollars here; got {text!r}. In another currency give this number and the pay "
            "without its name, and say it to 'plan': --currency EUR, or currency in the study file."
        )
    text = re.sub(r"^(\$|USD) *| *(\$|%|USD|dollars?)$", "", text, flags=re.IGNORECASE)
    digits = text.replace(",", "") if _THOUSANDS.fullmatch(text) else text.replace(",", ".", 1)
    try:
        value = float(digits)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{text!r} is no number." if text else "Give a number.")
    return value


def kept(value: float) -> str:
    """A number as it is kept and typed again."""
    return f"{value:.12g}"


def amount(low: float, high: float, *, above: bool = False) -> Callable[[str, Talk], str]:
    """A check of a number from `low`, or above it, to `high`."""

    def check(text: str, _: Talk) -> str:
        value = number(text)
        if not low <= value <= high or (above and value == low):
            least = f"above {low:g}" if above else f"at least {low:g}"
            raise InputError(f"It is {least} and at most {high:,.0f}; got {text}.")
        return kept(value)

    return check


def file_names(text: str, talk: Talk) -> str:
    """One file, or three with blanks between, in quotation marks where they hold blanks themselves."""
    count_files(talk.judgement, names_of(text, talk))
    return text


def count_files(judgement: str, files: Sequence[str]) -> None:
    """Refuse another number of files than this kind of judgements has.

    Raises InputError: one where three are needed, none, or several.
    """
    if judgement in THREE_FILES:
        if len(files) != len(_OF_THREE):
            raise InputError(f"Name three files, {', '.join(_OF_THREE)}; got {len(files)}.")
    elif len(files) != 1 or not files[0]:
        raise InputError("Name the one file that there is; it is looked at.")


def names_of(text: str, talk: Talk) -> tuple[str, ...]:
    """The files that an answer names."""
    if talk.judgement not in THREE_FILES:
        plain = text.strip("'\"") if text[:1] == text[-1:] and text[:1] in ("'", '"') else text
        return (plain,) if plain else ()
    try:
        return tuple(shlex.split(text))
    except ValueError:
        raise InputError(f"A quotation mark is open in {text!r}.") from None


def systems(text: str, _: Talk) -> str:
    """A number of systems from 2, or names with commas between."""
    if text.lstrip("-").isdigit():
        if not 2 <= int(text) <= MOST_SYSTEMS:
            raise InputError(f"Compare from 2 to {MOST_SYSTEMS} systems; got {text}.")
        return str(int(text))
    names = [name.strip() for name in text.split(",")]
    if len(names) < 2 or not all(names) or len(set(names)) < len(names) or len(names) > MOST_SYSTEMS:
        raise InputError(
            f"Give their number, such as 2, or at least two different names with commas between; got {text!r}."
        )
    return ",".join(names)


def scale(text: str, _: Talk) -> str:
    """A scale as lowest:highest; '1-5' and '1 to 5' are understood."""
    parts = text.replace(" to ", ":").replace(" ", "")
    if ":" not in parts and parts.count("-") == 1 and not parts.startswith("-"):
        parts = parts.replace("-", ":")
    try:
        from humeval_power.scales import RatingScale  # brings numpy, which the questions do without

        result = RatingScale.parse(parts)
    except HumevalPowerError as error:
        raise InputError(str(error)) from None
    return f"{result.low:.12g}:{result.high:.12g}"


def difference(text: str, talk: Talk) -> str:
    """A difference that can exist, in the unit of the judgement."""
    value = number(text)
    low, high, why = 0.0, math.inf, ""
    if talk.judgement == "points":
        high, why = talk.width, f" on the scale {talk.scale}"
    elif talk.judgement in ("yes-no", "correct", "corpus"):
        high, why = 100, " of a hundred"
    elif talk.judgement == "preference":
        low, high, why = 50, 100, " of a hundred, where 50 is no difference"
    if not low < value < high:
        least = f"above {low:g}"
        most = f" and below {high:g}" if math.isfinite(high) else ""
        raise InputError(f"It is {least}{most}{why}; got {text}.")
    return kept(value)


def accuracy(text: str, talk: Talk) -> str:
    """Points of a hundred that leave room for the difference."""
    value, more = number(text), talk.number("difference") or 2
    if not 0 < value < 100 - more:
        raise InputError(
            f"It is above 0 and below {100 - more:g}, to leave room for the difference; got {text}."
        )
    return kept(value)


def budget(text: str) -> str:
    """An amount of money, a number alone being US dollars."""
    value, most = number(text), _MOST["budget"]
    if not 1 <= value <= most:
        raise InputError(f"It is at least 1 and at most {most:,.0f}; got {text}.")
    return kept(value)


def limit(text: str, talk: Talk) -> str:
    """An amount of money, or a whole number of workers or items that a study can have."""
    if talk.limit == "budget":
        return budget(text)
    value, most = number(text), _MOST[talk.limit]
    if not 2 <= value <= most:
        raise InputError(f"It is at least 2 and at most {most:,.0f}; got {text}.")
    if value != round(value):
        raise InputError(f"It is a whole number; got {text}.")
    return kept(value)


Kind = Literal["choice", "number", "text"]
Choice = tuple[str, str]  # the value, and what it means in plain words
DONT_KNOW = "I don't know"


@dataclass(frozen=True, slots=True)
class Ask:
    """One thing to be answered.

    `when` says whether these answers leave it open, `usual` is the default, `among` the choices; `check` returns
    the answer as it is kept or raises InputError; with `unknown` one may say that one does not know.
    """

    option: str
    said: str | Callable[[Talk], str]
    kind: Kind
    usual: str | Callable[[Talk], str]
    when: Callable[[Talk], bool] = lambda _: True
    among: tuple[Choice, ...] | Callable[[Talk], tuple[Choice, ...]] = ()
    check: Callable[[str, Talk], str] = lambda text, _: text
    unknown: bool = False

    def text(self, talk: Talk) -> str:
        """What is asked."""
        return self.said if isinstance(self.said, str) else self.said(talk)

    def start(self, talk: Talk) -> str:
        """The default."""
        return self.usual if isinstance(self.usual, str) else self.usual(talk)

    def choices(self, talk: Talk) -> tuple[Choice, ...]:
        """What there is to choose from; nothing where one types what one likes."""
        return self.among if isinstance(self.among, tuple) else self.among(talk)

    def answer(self, typed: str, talk: Talk) -> str:
        """What was typed, as it is kept.

        Raises InputError: what cannot be the answer, with what can.
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
                return f"budget={budget(text)}"
        if self.option == "limit" and _OTHER_CURRENCY.search(text):
            budget(text)  # says why not
        if text.isdigit() and 1 <= int(text) <= len(choices):
            return values[int(text) - 1]
        if text.casefold() not in values and text not in values:
            raise InputError(f"{text!r} is none of these: {', '.join(values)}, or their numbers.")
        return text if text in values else text.casefold()


@dataclass(frozen=True, slots=True)
class StartQuestion:
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


QUESTIONS: tuple[StartQuestion, ...] = (
    StartQuestion(
        "What is one judgement?",
        "It decides which test is right, and which commands.",
        (Ask("judgement", "One judgement is", "choice", "points", among=JUDGEMENTS),),
    ),
    StartQuestion(
        "What do you have?",
        "What is there is looked at; without anything, other studies tell what to expect.",
        (
            Ask("have", "Of these I have", "choice", "nothing", among=HAVES),
            Ask(
                "file",
                lambda talk: _FILE[talk.judgement],
                "text",
                "",
                when=lambda talk: talk.have != "nothing",
                check=file_names,
            ),
        ),
    ),
    StartQuestion(
        "How many systems?",
        "Of more than two, every comparison costs some of the power.",
        (
            Ask(
                "systems",
                "Their number, or their names with commas between",
                "text",
                "2",
                when=lambda talk: talk.judgement in RATED and talk.have == "nothing",
                check=systems,
            ),
            Ask(
                "comparisons",
                lambda talk: f"Of the {talk.n_systems} systems, compare",
                "choice",
                "all-pairs",
                when=lambda talk: talk.n_systems > 2,
                among=COMPARISONS,
            ),
            Ask(
                "baseline",
                "The baseline",
                "choice",
                lambda talk: (talk.names or ("A",))[0],
                when=lambda talk: (
                    talk.n_systems > 2 and talk.get("comparisons") == "baseline" and bool(talk.names)
                ),
                among=lambda talk: tuple((name, name) for name in talk.names),
            ),
        ),
    ),
    StartQuestion(
        "Who will judge?",
        "How many there can be, and what each judgement costs.",
        (
            Ask("raters", "The judges are", "choice", UNKNOWN, when=_pays, among=RATERS),
            Ask(
                "academic",
                "Is the account on the platform academic or non-profit?",
                "choice",
                "no",
                when=lambda talk: _pays(talk) and talk.is_rated and bool(talk.crew.academic_fee),
                among=YES_NO,
            ),
            Ask(
                "pay-per-hour",
                "Their pay for an hour, in US dollars",
                "number",
                lambda talk: f"{talk.crew.pay:g}",
                when=_pays,
                check=amount(0, 10_000),
            ),
            Ask(
                "seconds-per-rating",
                "Seconds that one judgement takes",
                "number",
                lambda talk: f"{talk.crew.seconds:g}",
                when=_pays,
                check=amount(0.1, 86_400),
            ),
            Ask(
                "instruction-minutes",
                "Minutes that each spends on the instructions, before the first judgement",
                "number",
                lambda talk: f"{talk.crew.minutes:g}",
                when=lambda talk: _pays(talk) and talk.is_rated,
                check=amount(0, 1_440),
            ),
        ),
    ),
    StartQuestion(
        "Which difference matters?",
        "The smallest one that you would not want to miss. Small ones need large studies.",
        (
            Ask(
                "scale",
                "The scale, lowest:highest",
                "text",
                lambda talk: (talk.found.scale if talk.found else "") or "1:5",
                when=lambda talk: talk.judgement == "points",
                check=scale,
            ),
            Ask(
                "difference", _difference_text, "number", _difference_start, check=difference, unknown=True
            ),
            Ask(
                "sd-difference",
                "How much the items' own differences vary: their standard deviation",
                "number",
                UNKNOWN,
                when=lambda talk: (
                    talk.judgement == "score" and talk.have == "nothing" and bool(talk.get("difference"))
                ),
                check=amount(0, 1e9, above=True),
                unknown=True,
            ),
            Ask(
                "accuracy",
                "How many of a hundred the baseline gets right",
                "number",
                "80",
                when=lambda talk: talk.judgement == "correct" and talk.have == "nothing",
                check=accuracy,
                unknown=True,
            ),
        ),
    ),
    StartQuestion(
        "What is short?",
        "The plan stays within it.",
        (
            Ask(
                "limit",
                "What limits the study",
                "choice",
                "nothing",
                when=lambda talk: talk.is_planning,
                among=_limits,
            ),
            Ask(
                "amount",
                lambda talk: _AMOUNTS[talk.limit],
                "number",
                lambda talk: _START_AMOUNTS[talk.limit],
                when=lambda talk: talk.is_planning and talk.limit != "nothing",
                check=limit,
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


# All answers at once: what was given, and the default where nothing was.

_SHOWN = {"amount": "limit"}
_PUBLISHED = (
    " Of a published study there may be numbers alone: 'humeval-power more calibrate' says whether its p-value "
    "is credible, 'more survey' and 'power' what it could have found."
)
_WITH_FILE = "pilot (to plan from it) or --have results (to decide it)"


def given_answers(answers: Mapping[str, str]) -> dict[str, str]:
    """The answers by what asks for them: 'limit' may hold an amount, a baseline means comparisons with it.

    Raises InputError: names of no question.
    """
    result = {name: text for name, text in answers.items() if text}
    unknown = [name for name in result if name not in ASKS]
    if unknown:
        raise InputError(f"There is no question {unknown[0]!r}; there are {', '.join(ASKS)}.")
    with suppress(InputError):
        result["limit"] = f"budget={budget(result.get('limit', ''))}"
    kind, equals, amount = result.get("limit", "").partition("=")
    if equals:
        result |= {"limit": kind.strip(), "amount": amount.strip()}
    if "baseline" in result:
        result.setdefault("comparisons", "baseline")
    return result


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
            more = (
                _PUBLISHED
                if ask.option == "file" and talk.have == "results" and talk.judgement in RATED
                else ""
            )
            raise InputError(
                [*problems, Problem(f"--{ask.option} is missing.", f"{ask.text(talk)}.{more}")]
            )
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
        if name != "baseline" or talk.names or talk.n_systems == 2
        else Problem(
            f"--baseline {given[name]}: the systems have no names.", "Name them all with --systems A,B,C."
        )
        for name in unasked
    ]
    if problems:
        raise InputError(problems)
    return talk


def look(judgement: str, files: Sequence[str], *, scale: str = "") -> FileContents:
    """What the files hold, read as judgements of this kind; `scale` is 'low:high', '' where it is not known.

    Raises InputError: all problems of the files at once; and where they are another kind of judgements, which.
    """
    try:
        return _READERS[judgement](files, scale)
    except InputError as error:
        other = _other_kind(judgement, files)
        if (
            other is None
            and judgement in RATED
            and any(_NAMES_COLUMN.search(one.remedy) for one in error.problems)
        ):
            raise InputError(_of_own_columns(error.problems, files[0])) from None
        if other is None:
            raise
        hint = Problem(
            f"read as '{other}' the file has no problem.", f"Is one judgement '{other}'?", files[0]
        )
        raise InputError([*error.problems, hint]) from None


def _of_own_columns(problems: Sequence[Problem], file: str) -> list[Problem]:
    """Problems of a table that other commands have options for, with the way around them."""
    anew = f"humeval-power import {shell_word(file)}"
    remedy = (
        f"Let 'import' write the table anew: {anew} --from table --draft -o mapping.toml; fill that in; {anew} "
        "--map mapping.toml -o imported.csv; and start from that file."
    )
    plain = [replace(one, remedy=_NAMES_COLUMN.sub("", one.remedy).strip()) for one in problems]
    return [*plain, Problem("'start' has no options that say how to read a file.", remedy, file)]


def named(files: Sequence[str]) -> tuple[str, ...]:
    """The names of files, with '~' as the home folder."""
    return tuple(os.path.expanduser(name) for name in files)


def _rated(files: Sequence[str], scale: str) -> FileContents:
    ratings, criteria, in_columns = _ratings(files[0], scale)
    if ratings.n_systems < 2:
        raise InputError(
            [
                Problem(
                    f"it has one system only ({ratings.system_names[0]!r}), and two are compared.",
                    "Add the ratings of another; or plan without a file: have 'nothing'.",
                    ratings.source,
                )
            ]
        )
    return FileContents(
        systems=ratings.system_names,
        n_workers=ratings.n_workers,
        n_items=ratings.n_items,
        scale=f"{ratings.scale.low:.12g}:{ratings.scale.high:.12g}",
        criteria=criteria,
        criteria_in_columns=in_columns,
    )


def _yes_no(files: Sequence[str], _: str) -> FileContents:
    ratings = _ratings(files[0], "")[0]
    other = sorted({float(value) for value in ratings.raw_rating} - {0.0, 1.0})
    if other:
        rule = f"ratings of yes and no are 1 and 0, and there is {other[-1]:g}."
        raise InputError([Problem(rule, "Is one judgement 'points'?", ratings.source)])
    return _rated(files, "0:1")


def _ratings(path: str, scale: str) -> tuple[Ratings, tuple[str, ...], bool]:
    """The ratings, of several criteria those of the first; the criteria, and whether each is a column."""
    from humeval_power.files.tables import criteria_names, criteria_of_table, ratings_of, read_rating_table

    table = read_rating_table(path)
    how: dict[str, Any] = {"scale": scale or None, "require_pair": False}
    try:
        criteria = criteria_names(table, {})
        if len(criteria) < 2:
            return ratings_of(table, **how), (), False
        return ratings_of(table, criterion=criteria[0], **how), criteria, False
    except InputError:
        try:
            by_name = criteria_of_table(table, "all", **how)
        except InputError:
            by_name = {}
        if len(by_name) < 2:
            raise
        return next(iter(by_name.values())), tuple(by_name), True


def _preferences(files: Sequence[str], _: str) -> FileContents:
    from humeval_power.comparisons.preference.files import judgements_of
    from humeval_power.studies.loading import read_decided

    judgements = judgements_of(read_decided(files[0], None))
    first = judgements[0]
    workers = 0 if first.worker is None else len(set(first.worker.tolist()))
    notes = (
        () if len(judgements) == 1 else (f"{files[0]} has {len(judgements)} comparisons; each is told of.",)
    )
    return FileContents(n_items=first.n, n_workers=workers, notes=notes)


def _scores(files: Sequence[str], _: str) -> FileContents:
    import numpy as np

    from humeval_power.comparisons.scores.files import open_scores, score_table

    source = open_scores(files)
    metrics = source.scores if source.system is not None and len(source.scores) > 1 else ()
    table = score_table(source, score=metrics[0] if metrics else None)
    sd = float(np.std(table.scores[:, 1] - table.scores[:, 0], ddof=1)) if len(table.scores) > 1 else 0.0
    return FileContents(systems=table.systems, n_items=len(table.scores), criteria=metrics, sd=sd or None)


def _correct(files: Sequence[str], _: str) -> FileContents:
    from humeval_power.comparisons.accuracy.files import read_answers

    answers = read_answers(files[0], files[1], gold=files[2])
    agreement = answers.pair(0, 1).agreement
    return FileContents(n_items=answers.n_items, agreement=round(agreement, 6), notes=answers.notices)


def _corpus(files: Sequence[str], _: str) -> FileContents:
    from humeval_power.comparisons.corpus.files import read_corpus

    corpus = read_corpus(files[0], files[1], files[2:])
    return FileContents(n_items=len(corpus.system_a), notes=corpus.notices)


_READERS: Mapping[str, Callable[[Sequence[str], str], FileContents]] = {
    "points": _rated,
    "yes-no": _yes_no,
    "preference": _preferences,
    "score": _scores,
    "correct": _correct,
    "corpus": _corpus,
}
_OF_ONE_FILE = ("points", "preference", "score")


def _other_kind(judgement: str, files: Sequence[str]) -> str | None:
    """Another kind of judgements that one file can be read as."""
    if len(files) != 1 or not os.path.exists(files[0]):
        return None
    for kind in _OF_ONE_FILE:
        if kind != judgement:
            try:
                _READERS[kind](files, "")
            except InputError:
                continue
            return kind
    return None


# Ask the questions in a terminal, one after the other.

BACK = "b"
STOPPED = "Stopped; nothing was written."
_INTRO = (
    "Six questions, some of which your answers settle. Enter takes what stands in brackets, b goes back, Ctrl-C "
    "stops; nothing is computed or written."
)


def has_terminal() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin.isatty() and caught() is None


def ask_all(talk: Talk, given: Mapping[str, str]) -> Talk:
    """Ask what is open until nothing is; what was given as options is not asked.

    Raises KeyboardInterrupt: the user stops.
    """
    say(wrapped(_INTRO), err=True)
    talks: list[Talk] = []  # the talk before each answer, to go back to
    before: Ask | None = None
    while (ask := next_ask(talk)) is not None:
        if ask.option in given:
            talk = _given(ask, talk, given)
            continue
        _show(ask, talk, before)
        before = ask
        try:
            typed = _typed(ask, talk)
            if typed.casefold() == BACK:
                talk = talks.pop() if talks else talk
                continue
            after = _answered(ask, typed, talk, scale=given.get("scale", ""))
        except InputError as error:
            for problem in error.problems:
                say(wrapped(str(problem), bullet="  ! "), err=True)
            continue
        talks.append(talk)
        talk = after
    say("", err=True)
    return talk


def _given(ask: Ask, talk: Talk, given: Mapping[str, str]) -> Talk:
    try:
        return _answered(ask, given[ask.option], talk, scale=given.get("scale", ""))
    except InputError as error:
        raise InputError([Problem(f"--{ask.option}: {one}", "") for one in error.problems]) from None


def _show(ask: Ask, talk: Talk, before: Ask | None) -> None:
    """The question and its choices, but for what stands there already."""
    number = question_of(ask)
    if before is None or question_of(before) != number:
        question = QUESTIONS[number - 1]
        say(f"\n{number} of {len(QUESTIONS)}  {question.title}", err=True)
        say(wrapped(question.why, bullet="  ") + "\n", err=True)
    for place, (value, words) in enumerate(ask.choices(talk) if ask is not before else (), 1):
        more = "" if value in (words, UNKNOWN) else f"  ({value})"
        say(wrapped(f"{words}{more}", bullet=f"  {place:>2}  "), err=True)


def _typed(ask: Ask, talk: Talk) -> str:
    start = ask.start(talk)
    values = [value for value, _ in ask.choices(talk)]
    shown = str(values.index(start) + 1) if start in values else "?" if start == UNKNOWN else start
    text = ask.text(talk) + ("; ? if you do not know" if ask.unknown else "")
    lines = wrapped(text + (f" [{shown}]:" if shown else ":"), bullet="  ")
    try:
        answer = click.prompt(lines, default="", show_default=False, prompt_suffix=" ", err=True)
    except click.Abort:
        raise KeyboardInterrupt(STOPPED) from None
    return str(answer).strip() or start


def _answered(ask: Ask, typed: str, talk: Talk, *, scale: str) -> Talk:
    kept = ask.answer(typed, talk)
    if ask.option == "file":
        files = named(names_of(kept, talk))
        return _after_reading(talk.looked(files, look(talk.judgement, files, scale=scale)))
    if ask.option == "scale" and talk.found is not None and kept != talk.found.scale:
        again = look(talk.judgement, talk.files, scale=kept)
        talk = talk.looked(talk.files, again)
    return talk.answered(ask.option, kept)


def _after_reading(talk: Talk) -> Talk:
    contents = talk.found or FileContents()
    counts = [f"{contents.n_items:,} items"]
    counts += [f"{contents.n_workers:,} workers"] if contents.n_workers else []
    counts += (
        [f"{len(contents.systems)} systems: {', '.join(contents.systems)}"] if contents.systems else []
    )
    counts += [f"scale {contents.scale}"] if contents.scale else []
    say(wrapped(f"Read: {'; '.join(counts)}.", bullet="  "), err=True)
    return talk
