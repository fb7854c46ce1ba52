"""From all answers to the commands, and what was taken where nobody knew.

The way of those whose workers give ratings, in points or yes and no.

The ways of those whose systems are compared without points: preferences, scores, right answers, corpora.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import Any

from humeval_power.errors import InputError
from humeval_power.saying.answer_words import PILOT_ITEMS, PILOT_WORKERS
from humeval_power.studies.start import talk as sizes
from humeval_power.studies.start.questions import ASKS, COMPARISONS, HAVES, JUDGEMENTS, RATERS, kept
from humeval_power.studies.start.talk import PROGRAM, RATED, UNKNOWN, Step, Talk, arguments, named
from humeval_power.study import FIELDS
from humeval_power.study_text import study_text

Options = dict[str, object]
RATINGS, ANSWERS = "ratings.csv", "answers.csv"
PLAN, PARAMETERS, ASSIGNMENT, KEY = "plan", "parameters.json", "assignment.csv", "key.csv"
REHEARSAL, ANALYSIS, OPEN, PAPER = "rehearsal.csv", "analysis", "answers.toml", "report"
_YES_AND_NO = ".5,.5"


def rated_way(talk: Talk) -> list[Step]:
    """The commands in order."""
    if talk.have == "results":
        return [_check(talk), *_decide(talk, talk.files[0], {}, planned=False)]
    known = _of_pilot(talk) if talk.have == "pilot" else _of_nothing()
    return [*known, _power(talk), _plan(talk), *_field(), *_after(talk)]


def _of_nothing() -> list[Step]:
    return [
        Step(
            ("parameters", "list"),
            "See how much workers and items differed in studies that others have published.",
            "The rows marked 'plan' can be planned from; take those whose judgements are like yours.",
        )
    ]


def _of_pilot(talk: Talk) -> list[Step]:
    ratings = arguments("ratings", talk.files)
    if talk.n_systems > 2:
        learn = Step(
            ("analyze",),
            "Learn from the pilot how much workers, items and single ratings differ.",
            "What the pilot says of the systems is a first look: it was made to plan, not to decide.",
            arguments=ratings,
            options=named({"scale": talk.scale, **_criterion(talk), **_compared(talk), "model": "joint"}),
            output=PARAMETERS,
        )
    else:
        learn = Step(
            ("fit",),
            "Learn from the pilot how much workers, items and single ratings differ.",
            "Large 'sd_worker_slope' asks for more workers, large 'sd_item_slope' for more items.",
            arguments=ratings,
            options=named({"scale": talk.scale, **_criterion(talk), **_family(talk)}),
            output=PARAMETERS,
        )
    return [_check(talk), learn]


def _check(talk: Talk) -> Step:
    return Step(
        ("check",),
        "See what is in the table, and everything that is wrong with it.",
        "How many workers, items and ratings there are, and notes on what to mind.",
        arguments=arguments("ratings", talk.files),
        options=named({"scale": talk.scale, **(_column(talk) or {})}),
    )


def _power(talk: Talk) -> Step:
    n_workers = talk.limited("workers") or talk.crew.most or 20
    size: Options = {
        "workers": n_workers,
        "items": talk.limited("items") or 100,
        "ratings_per_item": min(3, n_workers),
    }
    return Step(
        ("power",),
        "Try a size: how often would it find that difference, if it is there?",
        "A power of 0.8 is usual. Change the numbers, and see what more workers, items or ratings give.",
        needs=(PARAMETERS,) if talk.have == "pilot" else (),
        options=named(
            {**_source(talk, with_pilot=True), **size, **_effect(talk), **_planned_systems(talk)}
        ),
    )


def _plan(talk: Talk) -> Step:
    pilot = arguments("pilot", talk.files)
    search: Options = {
        "budget": talk.number("amount") if talk.limit == "budget" else None,
        "workers": sizes.workers(talk),
        "max_workers": "" if sizes.workers(talk) else sizes.MOST_SEARCHED,
        "items": sizes.items(talk),
        "ratings_per_item": sizes.ratings_per_item(talk),
    }
    crew: Options = {
        "pay_per_hour": talk.number("pay-per-hour"),
        "seconds_per_rating": talk.number("seconds-per-rating"),
        "cost_per_worker": _cost_of_instructions(talk),
        "fee": talk.fee,
    }
    return Step(
        ("plan",),
        "Let it find the cheapest study that finds that difference, and write it down.",
        "Read its first lines and 'Read this first'. If the first one says that it misses its target (it then ends "
        "with 3), nothing within the limits will do: it says what stands in the way. --cost-per-worker is what "
        "each worker costs before the first rating: were it nothing, many workers with little work each would be "
        "cheapest. plan/index.html is the same as a page.",
        arguments=pilot,
        options=named(
            {**_source(talk, with_pilot=False), **_effect(talk), **_planned_systems(talk), **search, **crew}
        ),
        output=PLAN,
    )


def _cost_of_instructions(talk: Talk) -> float | None:
    """What a worker costs before the first rating, in cents rounded up."""
    pay, minutes = talk.number("pay-per-hour"), talk.number("instruction-minutes")
    return None if not pay or not minutes else ceil(100 * pay * minutes / 60 - 1e-9) / 100


def _field() -> list[Step]:
    plan = {"plan": PLAN}
    return [
        Step(
            ("assign",),
            "Say who rates what in which order, without showing which system it is.",
            f"{ASSIGNMENT} is for those who rate; keep {KEY} to yourself. Once the texts are there, add --outputs "
            "TEXTS.csv, --upload html, qualtrics, prolific, ... and -o upload, with another name for the key: the "
            "folder then has what platforms take, and its own assignment.csv, to be named from here on.",
            options=named({**plan, "key": KEY}),
            output=ASSIGNMENT,
            beside=("key",),
            needs=(PLAN,),
        ),
        Step(
            ("simulate",),
            "Rehearse: let made-up workers carry it out once before real ones are paid.",
            "The file looks as yours will.",
            options=named({**plan, "assignment": ASSIGNMENT, "key": KEY}),
            output=REHEARSAL,
            needs=(PLAN, ASSIGNMENT),
        ),
        Step(
            ("analyze",),
            "Decide the rehearsal, to see what you will get to know. Its numbers mean nothing.",
            "If it does not answer your question, change the plan now.",
            arguments=(("ratings", REHEARSAL),),
            options=named(plan),
            needs=(PLAN, REHEARSAL),
        ),
    ]


def _after(talk: Talk) -> list[Step]:
    answers, ratings = _to_come(ANSWERS, talk), _to_come(RATINGS, talk)
    collected = Step(
        ("import",),
        "Bring what was answered together with who was asked what.",
        f"{answers} stands for the file that comes back, with the codes of the assignment.",
        arguments=(("exports", answers),),
        options=named({"assignment": ASSIGNMENT, "key": KEY}),
        output=ratings,
        phase="later",
        needs=(answers,),
    )
    return [collected, *_decide(talk, ratings, {"plan": PLAN}, planned=True)]


def _to_come(name: str, talk: Talk) -> str:
    """The name of a file that is not there yet: another one where the pilot is called so."""
    return f"study-{name}" if name in map(os.path.normpath, talk.files) else name


def _decide(talk: Talk, ratings: str, plan: Options, *, planned: bool) -> list[Step]:
    phase, needs = ("later", (ratings,)) if planned else ("now", ())
    if planned:
        own: Options = {**plan, "scale": talk.scale}
    else:
        own = {
            "scale": talk.scale,
            **({"criteria": "all"} if talk.found is not None and talk.found.criteria else {}),
            **_family(talk),
            **_compared(talk),
            **_of_interest(talk),
        }
    decide = Step(
        ("analyze",),
        "Decide it as planned, and list what differs from the plan."
        if planned
        else "Decide it: the difference with its interval, and what it means.",
        f"{ANALYSIS}/index.html has the pictures.",
        arguments=(("ratings", ratings),),
        options=named(own),
        output=ANALYSIS,
        phase=phase,  # type: ignore[arg-type]
        needs=needs,
    )
    ask = Step(
        ("report",),
        "Ask what only you know, once for all forms and checklists.",
        f"Fill in {OPEN} with a text editor.",
        arguments=arguments("files", [ANALYSIS, ratings]),
        options=named({**plan, "template": OPEN}),
        beside=("template",),
        phase=phase,  # type: ignore[arg-type]
        needs=(*needs, ANALYSIS),
    )
    show = Step(
        ("report",),
        "Write the report: the study on one page, a paragraph for the paper, checklists and datasheet.",
        f"Begin with {PAPER}/index.html.",
        arguments=arguments("files", [ANALYSIS, ratings, OPEN]),
        options=named(plan),
        output=f"{PAPER}/",
        phase=phase,  # type: ignore[arg-type]
        needs=(*needs, ANALYSIS, OPEN),
    )
    return [decide, ask, show]


def _source(talk: Talk, *, with_pilot: bool) -> Options:
    """Where variances come from: the parameters of a pilot, or other studies."""
    if talk.have == "pilot":
        if with_pilot:
            return {"parameters": PARAMETERS, **_family(talk)}
        return {"scale": talk.scale, **_criterion(talk), **_family(talk)}
    shares = {"shares": _YES_AND_NO} if _family(talk) else {}
    preset = {"preset": talk.typical} if with_pilot else {}
    return {**preset, "scale": talk.scale, **_family(talk), **shares}


def _family(talk: Talk) -> Options:
    """Yes and no of two systems; of more they are compared as the numbers 1 and 0."""
    return {"family": "binary"} if talk.judgement == "yes-no" and talk.n_systems == 2 else {}


def _effect(talk: Talk) -> Options:
    value = talk.number("difference")
    if talk.judgement == "yes-no":
        return {"effect": kept((10 if value is None else value) / 100)}
    return {"effect_raw": kept(talk.width / 10 if value is None else value)}


def _of_interest(talk: Talk) -> Options:
    if not talk.get("difference"):
        return {}
    return {
        f"effect_of_interest{name.removeprefix('effect')}": value for name, value in _effect(talk).items()
    }


def _planned_systems(talk: Talk) -> Options:
    """How many systems there are, for a study that is planned."""
    if talk.have == "pilot":
        return _compared(talk) if talk.n_systems > 2 else {}
    names = {"systems": ",".join(talk.names)} if talk.names else {"n_systems": talk.n_systems}
    return {**(names if talk.names or talk.n_systems > 2 else {}), **_compared(talk)}


def _compared(talk: Talk) -> Options:
    if talk.n_systems <= 2:
        return {}
    if talk.get("comparisons") == "baseline":
        return {"baseline": talk.baseline or "A"}
    return {"all_pairs": True}


def _column(talk: Talk) -> Options:
    """Of criteria that are columns, the first."""
    contents = talk.found
    return (
        {"rating": contents.criteria[0]}
        if contents and contents.criteria and contents.criteria_in_columns
        else {}
    )


def _criterion(talk: Talk) -> Options:
    """Of several criteria the first, where one must be taken."""
    contents = talk.found
    if contents is None or not contents.criteria:
        return {}
    return _column(talk) or {"criterion": contents.criteria[0]}


SMALL = 0.2  # of the standard deviation of differences: small in the usual words of Cohen (1988)
PANEL_SD = 0.3  # of workers' and items' own preferences, beside a noise of 1
ACCURACY = 80.0
TRY_N = {"preference": 200, "score": 200, "correct": 1000, "corpus": 2000}
_TELLS = {
    "size": "The smallest number that finds it with power 0.8, and what that rests on.",
    "power": "A power of 0.8 is usual. Change the number, and see.",
    "mde": "If that is larger than what matters, a large p-value says little.",
}
_TO_PLAN = "It was made to plan, not to decide."


def preference_way(talk: Talk) -> list[Step]:
    """Which of two is better."""
    decide = Step(
        ("preference", "test"),
        "Decide it.",
        "Who is preferred, how surely, and what ties do to it.",
        arguments("table", talk.files),
        output="preference",
    )
    if talk.have == "results":
        return [decide, _could_find("preference", {"n": _n(talk)})]
    effect = {"effect": kept((talk.number("difference") or 60) / 100 - 0.5)}
    panel = {
        "n": judgements(talk),
        **effect,
        "workers": talk.limited("workers") or talk.crew.most or 20,
        "judgements_per_item": 3,
        "sd_worker": PANEL_SD,
        "sd_item": PANEL_SD,
    }
    look = "See what the pilot says, and how many ties there are."
    alone = "How many judgements does it take, if each is of another person and item?"
    several = "Try a size with people who judge several items each: their tastes count."
    return [
        *_looked(talk, replace(decide, why=look, tells=_TO_PLAN)),
        _asked("preference", "size", alone, effect),
        _asked("preference", "power", several, panel),
        _later(decide, "Decide the finished study.", (_to_come("preferences.csv", talk),)),
    ]


def score_way(talk: Talk) -> list[Step]:
    """Scores of a program."""
    matters = {"effect": talk.number("difference")}
    metric = talk.found.criteria[0] if talk.found and talk.found.criteria else ""
    own = {"score": metric, "question": "mean", **matters, "baseline": talk.baseline}
    decide = Step(
        ("compare", "scores"),
        "Compare the means: test, size of the effect, and power.",
        "comparison/index.html has the pictures.",
        arguments("files", talk.files),
        named(own),
        output="comparison",
    )
    if talk.have == "results":
        ranks = Step(
            ("rank", "scores"),
            "Put them into an order: which ranks do the scores leave to each?",
            "Systems that share a letter are not told apart.",
            arguments("files", talk.files),
            named({"score": metric}),
            output="leaderboard",
        )
        return [decide, *([ranks] if talk.n_systems > 2 and not talk.baseline else [])]
    effect = talk.number("difference")
    sd = talk.number("sd-difference") or (talk.found.sd if talk.found else None)
    sd = sd or (1.0 if effect is None else effect / SMALL)
    known = {"effect": SMALL * sd if effect is None else effect, "sd-difference": sd}
    look = "See what the pilot says, and how the power grows with more items."
    finished = replace(decide, options=named({"question": "mean", **matters}))
    return [
        *_looked(talk, replace(decide, why=look, tells=_TO_PLAN)),
        _asked("compare", "size", "How many items does it take?", known),
        _asked("compare", "power", "Try a number of items.", {"n": _n_tried(talk), **known}),
        _later(finished, "Decide the finished study.", (_to_come("scores.csv", talk),)),
    ]


def correct_way(talk: Talk) -> list[Step]:
    """Right or wrong."""
    decide = Step(
        ("accuracy", "test"),
        "Decide it: McNemar's test and others beside it.",
        "The recommended test comes first.",
        arguments("files", talk.files[:2]),
        named({"gold": talk.files[2]}) if len(talk.files) > 2 else (),
        output="accuracy",
    )
    agreement = talk.found.agreement if talk.found else None
    if talk.have == "results":
        return [decide, _could_find("accuracy", {"n": _n(talk), "agreement": agreement})]
    known: dict[str, object] = {"effect": kept((talk.number("difference") or 2) / 100)}
    if agreement is None:
        known["baseline-accuracy"] = kept((talk.number("accuracy") or ACCURACY) / 100)
    else:
        known["agreement"] = agreement
    look = replace(
        decide,
        command=("accuracy", "estimate"),
        why="See how often both systems are right or wrong together.",
        tells="The more they agree, the fewer items it takes.",
    )
    *later, gold = (_to_come(name, talk) for name in ("a.csv", "b.csv", "gold.csv"))
    finished = replace(decide, options=named({"gold": gold}), needs=(gold,))
    return [
        *_looked(talk, look),
        _asked("accuracy", "size", "How many items does the test set need?", known),
        _asked("accuracy", "power", "Try a test set.", {"n": _n_tried(talk), **known}),
        _later(finished, "Decide the finished comparison: answers of A, of B, and the right ones.", later),
    ]


def corpus_way(talk: Talk) -> list[Step]:
    """BLEU and the like."""
    decide = Step(
        ("corpus", "test"),
        "Decide it: is the difference more than chance gives?",
        "The p-value counts random swaps of outputs.",
        options=_texts(talk.files),
        output="corpus",
    )
    if talk.have == "results":
        return [decide, _could_find("corpus", {"n": _n(talk)})]
    effect = {"effect": kept(talk.number("difference") or 1.0)}
    look = replace(
        decide,
        command=("corpus", "estimate"),
        why="See how much swapping outputs moves the metric.",
        tells="Give its P0 and b0 to the next commands, in the place of the published ones.",
    )
    later = tuple(_to_come(name, talk) for name in ("a.txt", "b.txt", "reference.txt"))
    finished = replace(decide, options=_texts(later), needs=later)
    return [
        *_looked(talk, look),
        _asked("corpus", "size", "How many sentences does the test set need?", effect),
        _asked("corpus", "power", "Try a test set.", {"n": _n_tried(talk), **effect}),
        _later(finished, "Decide the finished comparison: outputs of A, of B, and the references."),
    ]


def _looked(talk: Talk, look: Step) -> list[Step]:
    """A first look at a pilot, where there is one, that writes nothing."""
    return [replace(look, output="")] if talk.have == "pilot" else []


def _asked(subject: str, question: str, why: str, known: Mapping[str, object]) -> Step:
    """What a study would find or need."""
    return Step((subject, question), why, _TELLS[question], options=named(known))


def _could_find(subject: str, known: Mapping[str, object]) -> Step:
    why = "See which difference a study of this size could have found."
    return _asked(subject, "mde", why, known)


def _later(decide: Step, why: str, files: Sequence[str] = ()) -> Step:
    """The decision, once these files are there."""
    name = "table" if decide.command[0] == "preference" else "files"
    needs = (*files, *decide.needs)
    return replace(decide, why=why, arguments=arguments(name, files), phase="later", needs=needs)


def judgements(talk: Talk) -> int:
    """So many judgements as there is money for, or as many as three for each item, or a number to begin with."""
    if talk.limit == "budget":
        price = (talk.number("pay-per-hour") or 0) * (talk.number("seconds-per-rating") or 0) / 3600
        return max(round((talk.number("amount") or 0) / price), 2) if price else TRY_N["preference"]
    most = talk.limited("items")
    return TRY_N["preference"] if most is None else 3 * most


def _texts(files: tuple[str, ...]) -> tuple[tuple[str, str | None], ...]:
    return tuple(zip(("system-a", "system-b", "reference"), files, strict=False))


def _n(talk: Talk) -> int:
    return talk.found.n_items if talk.found else TRY_N[talk.judgement]


def _n_tried(talk: Talk) -> int:
    return talk.limited("items") or TRY_N[talk.judgement]


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


def commands_later(talk: Talk) -> tuple[tuple[str, str], ...]:
    """Commands for when the judgements are in, and what each is for."""
    answers = _to_come(ANSWERS, talk)
    return (
        (f"import {answers}", f"Brings what was answered ({answers}) together with who was asked what."),
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
    return {**fields, **_FILES, "ratings": _to_come(RATINGS, talk)}


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
