"""The ways of those whose systems are compared without points: preferences, scores, right answers, corpora."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from humeval_power.studies.start.questions import kept
from humeval_power.studies.start.talk import Step, Talk, arguments, named

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
        _later(decide, "Decide the finished study.", ("preferences.csv",)),
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
        _later(finished, "Decide the finished study.", ("scores.csv",)),
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
    *later, gold = ("a.csv", "b.csv", "gold.csv")
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
    later = ("a.txt", "b.txt", "reference.txt")
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
