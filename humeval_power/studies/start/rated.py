"""The way of those whose workers give ratings, in points or yes and no."""

from __future__ import annotations

from math import ceil

from humeval_power.studies.start import talk as sizes
from humeval_power.studies.start.questions import kept
from humeval_power.studies.start.talk import Step, Talk, arguments, named

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
        options=named({**_source(talk, with_pilot=True), **size, **_effect(talk), **_systems(talk)}),
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
            {**_source(talk, with_pilot=False), **_effect(talk), **_systems(talk), **search, **crew}
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
    collected = Step(
        ("import",),
        "Bring what was answered together with who was asked what.",
        f"{ANSWERS} stands for the file that comes back, with the codes of the assignment.",
        arguments=(("exports", ANSWERS),),
        options=named({"assignment": ASSIGNMENT, "key": KEY}),
        output=RATINGS,
        phase="later",
        needs=(ANSWERS,),
    )
    return [collected, *_decide(talk, RATINGS, {"plan": PLAN}, planned=True)]


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


def _systems(talk: Talk) -> Options:
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
