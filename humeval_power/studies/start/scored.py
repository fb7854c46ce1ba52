"""The ways of those whose systems are compared without points: preferences, scores, right answers, corpora."""

from __future__ import annotations

from humeval_power.studies.start.questions import kept
from humeval_power.studies.start.talk import Step, Talk, arguments, named

SMALL = 0.2  # of the standard deviation of differences: small in the usual words of Cohen (1988)
PANEL_SD = 0.3  # of workers' and items' own preferences, beside a noise of 1
ACCURACY = 80.0
TRY_N = {"preference": 200, "score": 200, "correct": 1000, "corpus": 2000}
_SIZE_TELLS = "The smallest number that finds it with power 0.8, and what that rests on."
_POWER_TELLS = "A power of 0.8 is usual. Change the number, and see."
_MDE_TELLS = "If that is larger than what matters, a large p-value says little."


def preference_way(talk: Talk) -> list[Step]:
    """Which of two is better."""
    test = ("preference", "test")
    if talk.have == "results":
        return [
            Step(
                test,
                "Decide it.",
                "Who is preferred, how surely, and what ties do to it.",
                arguments("table", talk.files),
                output="preference",
            ),
            _could_find("preference", {"n": _n(talk)}),
        ]
    effect = {"effect": kept((talk.number("difference") or 60) / 100 - 0.5)}
    panel = {
        "n": judgements(talk),
        **effect,
        "workers": talk.limited("workers") or talk.crew.most or 20,
        "judgements_per_item": 3,
        "sd_worker": PANEL_SD,
        "sd_item": PANEL_SD,
    }
    look = [
        Step(
            test,
            "See what the pilot says, and how many ties there are.",
            "It was made to plan, not to decide.",
            arguments("table", talk.files),
        )
    ]
    return [
        *(look if talk.have == "pilot" else []),
        Step(
            ("preference", "size"),
            "How many judgements does it take, if each is of another person and item?",
            _SIZE_TELLS,
            options=named(effect),
        ),
        Step(
            ("preference", "power"),
            "Try a size with people who judge several items each: their tastes count.",
            _POWER_TELLS,
            options=named(panel),
        ),
        Step(
            test,
            "Decide the finished study.",
            "Who is preferred, how surely, and what ties do to it.",
            (("table", "preferences.csv"),),
            output="preference",
            phase="later",
            needs=("preferences.csv",),
        ),
    ]


def score_way(talk: Talk) -> list[Step]:
    """Scores of a program."""
    matters = {"effect": talk.number("difference")}
    metric = talk.found.criteria[0] if talk.found and talk.found.criteria else ""
    own = {"score": metric, "question": "mean", **matters, "baseline": talk.baseline}
    scores = ("compare", "scores")
    if talk.have == "results":
        return [
            Step(
                scores,
                "Compare the means: test, size of the effect, and power.",
                "comparison/index.html has the pictures.",
                arguments("files", talk.files),
                named(own),
                output="comparison",
            ),
            *(_leaderboard(talk, metric) if talk.n_systems > 2 and not talk.baseline else ()),
        ]
    look = [
        Step(
            scores,
            "See what the pilot says, and how the power grows with more items.",
            "It was made to plan, not to decide.",
            arguments("files", talk.files),
            named(own),
        )
    ]
    effect = talk.number("difference")
    sd = talk.number("sd-difference") or (talk.found.sd if talk.found else None)
    sd = sd or (1.0 if effect is None else effect / SMALL)
    effect = SMALL * sd if effect is None else effect
    known = {"effect": effect, "sd-difference": sd}
    return [
        *(look if talk.have == "pilot" else []),
        Step(("compare", "size"), "How many items does it take?", _SIZE_TELLS, options=named(known)),
        Step(
            ("compare", "power"),
            "Try a number of items.",
            _POWER_TELLS,
            options=named({"n": _n_tried(talk), **known}),
        ),
        Step(
            scores,
            "Decide the finished study.",
            "comparison/index.html has the pictures.",
            (("files", "scores.csv"),),
            named({"question": "mean", "effect": talk.number("difference")}),
            output="comparison",
            phase="later",
            needs=("scores.csv",),
        ),
    ]


def _leaderboard(talk: Talk, metric: str) -> tuple[Step, ...]:
    return (
        Step(
            ("rank", "scores"),
            "Put them into an order: which ranks do the scores leave to each?",
            "Systems that share a letter are not told apart.",
            arguments("files", talk.files),
            named({"score": metric}),
            output="leaderboard",
        ),
    )


def correct_way(talk: Talk) -> list[Step]:
    """Right or wrong."""
    files = arguments("files", talk.files[:2])
    labels = named({"gold": talk.files[2]}) if len(talk.files) > 2 else ()
    test = ("accuracy", "test")
    agreement = talk.found.agreement if talk.found else None
    if talk.have == "results":
        return [
            Step(
                test,
                "Decide it: McNemar's test and others beside it.",
                "The recommended test comes first.",
                files,
                labels,
                output="accuracy",
            ),
            _could_find("accuracy", {"n": _n(talk), "agreement": agreement}),
        ]
    effect = {"effect": kept((talk.number("difference") or 2) / 100)}
    known: dict[str, object]
    if agreement is None:
        known = {**effect, "baseline-accuracy": kept((talk.number("accuracy") or ACCURACY) / 100)}
    else:
        known = {**effect, "agreement": agreement}
    look = [
        Step(
            ("accuracy", "estimate"),
            "See how often both systems are right or wrong together.",
            "The more they agree, the fewer items it takes.",
            files,
            labels,
        )
    ]
    later = ("a.csv", "b.csv", "gold.csv")
    return [
        *(look if talk.have == "pilot" else []),
        Step(
            ("accuracy", "size"),
            "How many items does the test set need?",
            _SIZE_TELLS,
            options=named(known),
        ),
        Step(
            ("accuracy", "power"),
            "Try a test set.",
            _POWER_TELLS,
            options=named({"n": _n_tried(talk), **known}),
        ),
        Step(
            test,
            "Decide the finished comparison: answers of A, of B, and the right ones.",
            "The recommended test comes first.",
            arguments("files", later[:2]),
            named({"gold": later[2]}),
            output="accuracy",
            phase="later",
            needs=later,
        ),
    ]


def corpus_way(talk: Talk) -> list[Step]:
    """BLEU and the like."""
    test = ("corpus", "test")
    if talk.have == "results":
        return [
            Step(
                test,
                "Decide it: is the difference more than chance gives?",
                "The p-value counts random swaps of outputs.",
                options=_texts(talk.files),
                output="corpus",
            ),
            _could_find("corpus", {"n": _n(talk)}),
        ]
    effect = {"effect": kept(talk.number("difference") or 1.0)}
    look = [
        Step(
            ("corpus", "estimate"),
            "See how much swapping outputs moves the metric.",
            "Give its P0 and b0 to the next commands, in the place of the published ones.",
            options=_texts(talk.files),
        )
    ]
    later = ("a.txt", "b.txt", "reference.txt")
    return [
        *(look if talk.have == "pilot" else []),
        Step(
            ("corpus", "size"),
            "How many sentences does the test set need?",
            _SIZE_TELLS,
            options=named(effect),
        ),
        Step(
            ("corpus", "power"),
            "Try a test set.",
            _POWER_TELLS,
            options=named({"n": _n_tried(talk), **effect}),
        ),
        Step(
            test,
            "Decide the finished comparison: outputs of A, of B, and the references.",
            "The p-value counts random swaps of outputs.",
            options=_texts(later),
            output="corpus",
            phase="later",
            needs=later,
        ),
    ]


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


def _could_find(subject: str, known: dict[str, object]) -> Step:
    return Step(
        (subject, "mde"),
        "See which difference a study of this size could have found.",
        _MDE_TELLS,
        options=named(known),
    )
