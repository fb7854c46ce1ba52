"""`Study`: everything that can be said of a human evaluation, each field once.

The name of a field is its key in study.toml, its option (`--ratings-per-item`), its argument (`hp.Study(...)`), its
control on the page and its entry in docs/study.schema.json. A field that is None was not said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from dataclasses import field as dataclass_field
from decimal import Decimal
from typing import Any, Self, get_args

from humeval_power.choices import (
    CORRECTIONS,
    CURRENCY,
    DEFAULT_CRITERION,
    DEFAULT_POWER,
    DEFAULT_QUESTION_TEXT,
    DEFAULT_TITLE,
    DESIGN_KINDS,
    EFFICACY_WORDS,
    FUTILITY_WORDS,
    LARGEST_COUNT,
    MOST_JUDGE_RUNS,
    MOST_JUDGED,
    MOST_WORKERS,
    UNITS_PER_ASSIGNMENT,
    Estimand,
    Exclusion,
    LookKind,
    PresentationOrder,
    Response,
    UploaderName,
)
from humeval_power.errors import HumevalPowerError, InputError, Problem, refuse
from humeval_power.exclusions import RULES, ExclusionRules
from humeval_power.fees import PlatformFee
from humeval_power.fields import (
    BETWEEN,
    MONEY,
    SHARE,
    Field,
    Kind,
    SectionHeading,
    amount,
    flag,
    listed,
    names,
    number_list,
    parts_of,
    plain_text,
    real,
    shortened,
    split_names,
    text,
    whole,
    word,
)
from humeval_power.latent import Family, Link, even_scores, share_problems
from humeval_power.parameters import (
    CORRELATIONS,
    FURTHER_DEVIATIONS,
    PARAMETER_NAMES,
    PRESETS,
    STANDARD_DEVIATIONS,
    Parameters,
)
from humeval_power.rules import (
    DEFAULT_FAMILY,
    JOINT_DOCUMENTS,
    Alternative,
    Analysis,
    Comparisons,
    Correction,
    CorrectOver,
    DecisionRule,
    DegreesOfFreedom,
    Estimator,
    SystemModel,
    SystemVariances,
)
from humeval_power.scales import RatingScale
from humeval_power.systems import Goal, MeansPattern, SystemsParameters, system_names

SCHEMA = "humeval_power/study/1"
FILE_NAME = "study.toml"
MOST_SYSTEMS = 200
_LONGEST_NAME = 60  # that can be a field's, misspelt
DEFAULT_GOAL: Goal = "pair"
DEFAULT_PATTERN: MeansPattern = "one"

SECTIONS: Mapping[str, SectionHeading] = {
    "question": SectionHeading("The question"),
    "files": SectionHeading("Files of the study"),
    "ratings": SectionHeading("The ratings"),
    "columns": SectionHeading("Columns of a table of ratings"),
    "systems": SectionHeading("The systems"),
    "variation": SectionHeading(
        "How ratings vary", "Give one of them: it decides how many ratings are needed."
    ),
    "effect": SectionHeading(
        "The difference to find", "In points of the scale, or as a share of it: one of them."
    ),
    "design": SectionHeading("The size of the study, and who rates what"),
    "search": SectionHeading("What a plan searches"),
    "test": SectionHeading("The test"),
    "losses": SectionHeading("What goes wrong"),
    "cost": SectionHeading("What it costs"),
    "judges": SectionHeading(
        "Automatic judges beside people",
        "Which judges score all outputs, fixed before people rate, and what is known of them.",
    ),
    "looks": SectionHeading("Looks before the end"),
    "form": SectionHeading("What workers see"),
}
# Of each of these only one is said. What is said in a stronger place puts the others of a weaker one aside.
ONE_OF: Mapping[tuple[str, ...], str] = {
    (
        "effect",
        "effect_raw",
        "effect_latent",
    ): "Give --effect on [0, 1] or --effect-raw in points of the scale, or "
    "--effect-latent on the latent scale; one of them.",
    ("margin", "margin_raw"): "Give --margin on [0, 1] or --margin-raw in points of the scale, not both.",
    (
        "effect_range",
        "effect_raw_range",
        "effect_latent_range",
    ): "Give one list of differences: --effect on "
    "[0, 1], --effect-raw in points of the scale, or --effect-latent on the latent scale.",
    ("documents", "items_per_document"): "Give --documents or --items-per-document, not both.",
    ("careless", "at_random"): "Give --careless, or --at-random and --straight-lining.",
    ("careless", "straight_lining"): "Give --careless, or --at-random and --straight-lining.",
    ("pattern", "system_means"): "Give --pattern or --system-means, not both.",
}
# These can be said together in one place; to say one in a stronger place puts the others of a weaker one aside too.
ALTERNATIVES: tuple[tuple[str, ...], ...] = (
    ("preset", "parameters", "values", "pilot"),
    ("cost_per_rating", "pay_per_hour"),
    ("comparisons", "baseline"),
    ("system_means", "effect", "effect_raw", "effect_latent"),
    ("n_systems", "systems"),
)
DOCUMENT_FIELDS = ("documents", "items_per_document", "documents_range", "max_documents")
# What the study calls otherwise than the model of costs does.
PRICE_FIELDS = {
    "price_per_rating": "cost_per_rating",
    "rejected_share": "rejected",
    "checks_per_rating": "checks",
    "repeats_per_rating": "repeats",
}
_SAY_EFFECT = {"effect", "effect_raw", "effect_latent", "system_means", "margin", "margin_raw"}
_RULE = {one.name: one.default for one in fields(DecisionRule)}


# -- what lists and words hold


def _scale(typed: str) -> str:
    try:
        RatingScale.parse(typed)
    except HumevalPowerError as error:
        raise ValueError(str(error)) from None
    return typed


def _judge_names(typed: str) -> tuple[str, ...]:
    names = tuple(name for name in parts_of(typed) if name)
    if not names or len(set(names)) < len(names):
        raise ValueError(f"name different judges with commas between them: A,B; got {shortened(typed)!r}.")
    return names


def _amounts(typed: str) -> tuple[Decimal, ...]:
    return tuple(amount(part.strip()) for part in typed.split(","))


def _presets(typed: str) -> tuple[str, ...]:
    names = tuple(name for name in parts_of(typed) if name)
    if not names:
        raise ValueError("name a setting, such as high.")
    return names


def deviations(typed: str) -> Parameters:
    """Parameters from a text such as sd_worker_slope=0.05,sd_residual=0.2; what it leaves out is 0. Raises
    ValueError: a name that is none of a parameter, no number, or parameters that cannot be."""
    values: dict[str, object] = dict(_NO_DEVIATION)
    for part in typed.split(","):
        name, _, number = (piece.strip() for piece in part.partition("="))
        if name not in (*PARAMETER_NAMES, *FURTHER_DEVIATIONS, *CORRELATIONS):
            raise ValueError(f"{name!r} is no parameter; they are {', '.join(PARAMETER_NAMES)}.")
        try:
            values[name] = float(number)
        except ValueError:
            raise ValueError(f"write {name}=NUMBER; got {part.strip()!r}.") from None
    try:
        return Parameters.from_dict(values)
    except HumevalPowerError as error:
        raise ValueError(str(error)) from None


def _parameters(value: Any) -> Parameters | SystemsParameters:
    """Parameters from a text, or from a table as they are kept: of two systems, or with `means` of several."""
    known = {*PARAMETER_NAMES, *FURTHER_DEVIATIONS, *CORRELATIONS}
    if isinstance(value, Parameters | SystemsParameters):
        return value
    table = _table(value)
    if table is None or not ({"coding", "latent", "means"} & table.keys() or table.keys() <= known):
        return _DEVIATIONS.read(value)  # type: ignore[no-any-return]
    try:
        if "means" in table:
            names = system_names(len(table["means"]))
            return SystemsParameters.from_dict({"names": names, **table})
        return Parameters.from_dict({**_NO_DEVIATION, **table})
    except (HumevalPowerError, TypeError, OverflowError) as error:
        raise ValueError(str(error)) from None


def _fee(value: Any) -> str | PlatformFee:
    """The name of a platform, or its rule as a table."""
    table = _table(value)
    if table is None:
        return plain_text(value)
    try:
        return PlatformFee.from_dict(table)
    except InputError as error:
        raise ValueError(str(error)) from None


def _table(value: Any) -> dict[str, Any] | None:
    """A table, or one that is written as JSON; None for anything else."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(plain_text(value))
        except (ValueError, RecursionError):
            raise ValueError(f"is no table of JSON: {shortened(value)}.") from None
    return _number(value) if isinstance(value, Mapping) else None


def _shares(typed: str) -> tuple[float, ...]:
    try:
        shares = tuple(float(part) for part in typed.split(","))
    except ValueError:
        raise ValueError(
            f"write one share for each category, such as .05,.1,.2,.4,.25; got {shortened(typed)!r}."
        ) from None
    problems = share_problems(shares, even_scores(len(shares)))
    if problems:
        raise ValueError(str(InputError(problems)))
    return shares


def _means(typed: str) -> tuple[float, ...]:
    """Means in a list, equal ones as often as they are there."""
    try:
        means = tuple(float(part) for part in typed.split(","))
    except ValueError:
        raise ValueError(f"write numbers such as .5,.5,.6; got {shortened(typed)!r}.") from None
    outside = [mean for mean in means if not 0 <= mean <= 1]
    if outside or len(means) < 2:
        rule = "means lie on [0, 1]" if outside else "give those of two systems or more"
        raise ValueError(f"{rule}; got {shortened(typed)!r}.")
    return means


def _criteria(typed: str) -> tuple[str, ...]:
    names = parts_of(typed)
    if not names or not all(names) or len(set(names)) < len(names):
        raise ValueError(f"name different criteria: fluency,adequacy; got {shortened(typed)!r}.")
    return names


def _factors(typed: str) -> tuple[str, ...]:
    names = [name.strip() for name in typed.split(",")]
    if not set(names) <= {"worker", "item"} or len(set(names)) < len(names):
        raise ValueError(f"name worker, item or both: worker,item; got {shortened(typed)!r}.")
    return tuple(names)


def _rules(typed: str) -> ExclusionRules:
    try:
        return ExclusionRules.parse(typed)
    except HumevalPowerError as error:
        raise ValueError(str(error)) from None


def _labels(typed: str) -> dict[int, str]:
    """The words for points of the scale."""
    labels: dict[int, str] = {}
    for part in parts_of(typed):
        point, sign, label = (piece.strip() for piece in part.partition("="))
        if not (sign and label and point.removeprefix("-").isdecimal()):
            raise ValueError(f"write POINT=WORDS,..., such as 1=bad,5=good; got {part.strip()!r}.")
        if int(point) in labels:
            raise ValueError(f"the point {point} has two labels.")
        labels[int(point)] = label
    return labels


def _platforms(value: Any) -> tuple[str, ...]:
    return tuple(map(word(UploaderName).read, text(many=True).read(value)))


_VALUES = {"type": "object", "additionalProperties": {"type": "number"}}
_NO_DEVIATION = {"baseline": 0.5, "effect": 0.0, **dict.fromkeys(STANDARD_DEVIATIONS, 0.0)}
_DEVIATIONS = listed(deviations, "LIST", _VALUES)
_OR_TABLE = {"anyOf": [{"type": "object"}, {"type": "string"}]}
EXAMPLE_RULES = ",".join(
    f"{name}={limit}" for name, limit in zip(RULES, ("0.34", "0.3", "2", "0.95", "0"), strict=True)
)
SYSTEM_NAMES = names(split_names, "NAMES")
COLUMN = text("COLUMN")
EFFECT_HELP = "True difference B - A."
WORKERS_HELP, ITEMS_HELP = "Number of workers.", "Number of items."
RATINGS_PER_ITEM_HELP = "Ratings of each item under each system."
DOCUMENTS_HELP = "Number of documents that the items come out of."
_FILE = text("FILE", is_file=True)
_PATH = text("PATH", is_file=True)


def _said(section: str, kind: Kind, help: str, label: str = "", unit: str = "", **more: Any) -> Any:
    return dataclass_field(default=None, metadata={"said": Field(section, kind, help, label, unit, **more)})


def _lost(help: str, label: str) -> Any:
    """A share of ratings or workers that is lost."""
    return _said("losses", SHARE, help, label, "as a share", slider=(0, 0.5), step=0.01, usual=0.0)


def _price(help: str, label: str, unit: str = "USD", **more: Any) -> Any:
    """An amount of money, kept exactly as it was said."""
    return _said("cost", MONEY, help, label, unit, **more)


@dataclass(frozen=True, kw_only=True)
class Study:
    """A human evaluation: its question, systems, variation, size, test, prices.

    All fields are optional; what a question needs it asks for. A study is a value: it never changes, and a variant
    is another (`with_`). `FIELDS` tells what each holds.

    Raises
    ------
    InputError
        Every value that breaks its rule, and values that exclude each other, all at once.

    Examples
    --------
    >>> study = Study(preset="high", workers=20, items=100, effect_raw=0.5, scale="1:5")
    >>> study.with_(workers=40).workers
    40
    """

    question: str | None = _said(
        "question",
        text(),
        "The question that the study is to answer, for the plan.",
        "Question",
        option="research-question",
        usual="",
    )
    exclusions: tuple[str, ...] | None = _said(
        "question",
        text("TEXT", many=True),
        "A rule for leaving out ratings, in words; repeatable.",
        "Rules for leaving out ratings, in words",
        option="exclude",
    )
    exclude_if: str | None = _said(
        "question",
        listed(_rules, "RULES", _VALUES),
        "Leave out workers by these rules.",
        "Leave out workers by these rules",
        note=f"in the analysis, sealed with the plan: {EXAMPLE_RULES}, or some of it.",
    )

    estimand: str | None = _said(
        "question",
        word(Estimand),
        "What the result is about where items were drawn from a pool: the pool, or items like these. [pool]",
        "The result is about",
        words={"pool": "The pool", "population": "Items like these"},
    )

    pilot: str | None = _said(
        "files",
        _FILE,
        "The pilot that is planned from.",
        "Pilot",
        note=": a table of ratings, as 'check' reads it.",
    )
    plan: str | None = _said(
        "files",
        _PATH,
        "The sealed plan.",
        "Sealed plan",
        main=True,
        note=": the file that 'plan' wrote, or its folder.",
    )
    outputs: str | None = _said(
        "files",
        _PATH,
        "The texts to rate: a table with a column for each system, or with item, system and text; or a folder "
        "SYSTEM/ITEM.txt, or SYSTEM.txt with a line for each item.",
        "Texts to rate",
        main=True,
    )
    assignment: tuple[str, ...] | None = _said(
        "files",
        text("FILE", is_file=True, many=True),
        "The table that 'assign' wrote; repeatable.",
        "Assignment",
        main=True,
        note="Again for each that a spare was given.",
    )
    key: str | None = _said(
        "files",
        _FILE,
        "What the codes of the assignment stand for.",
        "Key",
        main=True,
        note=": the key that 'assign' wrote.",
    )
    exports: tuple[str, ...] | None = _said(
        "files",
        text("FILE", is_file=True, many=True),
        "What the platform has given back so far, as it is.",
        "Answers that came back",
    )
    pool: str | None = _said(
        "files",
        _FILE,
        "The pool of items with those that were chosen, as 'more items' wrote it.",
        "Pool of items",
    )
    ratings: str | None = _said("files", _FILE, "The table of all ratings.", "Ratings")
    rehearsal: str | None = _said(
        "files", _FILE, "Where 'simulate' writes the ratings of a rehearsal.", "Rehearsal"
    )
    findings: str | None = _said("files", _PATH, "The analysis that 'analyze' wrote.", "Findings")
    answers: str | None = _said(
        "files",
        _FILE,
        "Your own answers for reports: a table [report] of TOML; 'report' has a template.",
        "Answers",
    )
    ledger: str | None = _said(
        "files", _FILE, "The ledger of looks. [beside the plan: plan.looks.jsonl]", "Ledger of looks"
    )

    scale: str | None = _said(
        "ratings",
        listed(_scale, "LOW:HIGH", {"type": "string", "pattern": "^[^:]+:[^:]+(:[0-9]+)?$"}),
        "Scale of the ratings, such as 1:5.",
        "Scale that is rated on",
        start="1:5",
        main=True,
        note=", for effects in its points. [that of your own parameters]",
    )
    lower_is_better: bool | None = _said(
        "ratings",
        flag("lower-is-better", "higher-is-better"),
        "Whether lower values are better.",
        "Which end is good",
        words={"1": "Low ratings are good", "0": "High ratings are good"},
        usual=False,
        note="[higher values are better]",
    )
    criteria: tuple[str, ...] | None = _said(
        "ratings",
        names(_criteria, "NAMES"),
        "Criteria that everything is rated and tested on.",
        "Criteria",
        note=", with commas between: A,B.",
    )
    criterion: str | None = _said(
        "ratings", text("NAME"), "Criterion to keep, where there are several.", "Criterion"
    )
    response: str | None = _said(
        "ratings",
        word(Response),
        "Ratings as the model has them, cut to [0, 1], or rounded to the points of the scale.",
        "In simulations ratings are",
        words={
            "gaussian": "as the model has them",
            "clipped": "cut to the ends of the scale",
            "likert": "rounded to points",
        },
        usual="gaussian",
    )
    points: int | None = _said(
        "ratings", whole(2), "Points of a Likert scale.", "Points of the scale", "points"
    )
    shares: tuple[float, ...] | None = _said(
        "ratings",
        listed(_shares, "LIST", {"type": "array", "items": {"type": "number"}}),
        "Shares of the categories.",
        "Share of each category",
        note="of ratings over both systems, worst first, such as .05,.1,.2,.4,.25. They fix the residual of the "
        "standard deviations.",
    )

    worker: str | None = _said(
        "columns", COLUMN, "Column of the worker. [found by name]", "Column of the worker"
    )
    item: str | None = _said("columns", COLUMN, "Column of the item. [found by name]", "Column of the item")
    system: str | None = _said(
        "columns", COLUMN, "Column of the system. [found by name]", "Column of the system"
    )
    rating: str | None = _said(
        "columns", COLUMN, "Column of the rating. [found by name]", "Column of the rating"
    )
    criterion_column: str | None = _said(
        "columns", COLUMN, "Column of the criterion. [found by name]", "Column of the criterion"
    )
    document: str | None = _said(
        "columns",
        COLUMN,
        "Column of the document that an item is part of: documents vary too, and are in the model.",
        "Column of the document",
    )
    covariates: tuple[str, ...] | None = _said(
        "columns",
        text("COLUMN", many=True),
        "What to adjust for.",
        "Adjust for",
        option="covariate",
        note=": a column of a number or category, such as position, length or group of workers; repeatable.",
    )
    order_column: str | None = _said(
        "columns",
        COLUMN,
        "Column of the order of showing: the place of the rated output, 1 or 2, or the system that was "
        "shown first (A, B or its name). Adjusts for place and carry-over. Of more systems the place may be 1, "
        "2, 3, ..., a number with a linear effect.",
        "Order of showing",
    )
    missing: tuple[str, ...] | None = _said(
        "columns",
        text("VALUE", many=True),
        "A cell that means 'no rating', besides blank, N/A, null and the like; repeatable.",
        "Cells that mean no rating",
    )
    rejected_rows: str | None = _said(
        "columns",
        word(("drop", "keep")),
        "What to do with rows of rejected, returned or unfinished work, as told by a column such as "
        "AssignmentStatus or Status: leave them out, or analyse them. [refused where there are any]",
        "Rows of rejected work",
        words={"drop": "leave out", "keep": "keep"},
    )

    systems: tuple[str, ...] | None = _said(
        "systems",
        SYSTEM_NAMES,
        "Names of the systems.",
        "Their names",
        main=True,
        note=", with commas between: A,B,C.",
    )
    n_systems: int | None = _said(
        "systems",
        whole(2, largest=MOST_SYSTEMS),
        "Number of systems.",
        "Systems",
        "systems",
        slider=(2, 12),
        main=True,
        note="[2, or as many as are named or have means, or those of the file planned from]",
    )
    pattern: str | None = _said(
        "systems",
        word(MeansPattern),
        "True means of several systems: one that much above all others, steps of that much, or the best and "
        f"the worst that much apart and the others between. [{DEFAULT_PATTERN}]",
        "How they differ",
        words={
            "one": "One above all others by the difference",
            "steps": "In steps of the difference",
            "extremes": "The best and the worst by the difference, the others between",
        },
    )
    system_means: tuple[float, ...] | None = _said(
        "systems",
        listed(_means, "LIST", {"type": "array", "items": {"type": "number"}}),
        "The true means on [0, 1] instead, one for each system.",
        "Or their true means",
    )
    goal: str | None = _said(
        "systems",
        word(Goal),
        "What counts as power: a pair that differs by the effect is found; any, or all, true differences are; "
        f"the best is found above every other; the best has the highest mean (first). [{DEFAULT_GOAL}]",
        "What counts as power",
        words={
            "pair": "A pair that differs is found",
            "any": "At least one true difference is found",
            "all": "All true differences are found",
            "best": "The best is found above every other",
            "first": "The best has the highest mean",
        },
    )
    comparisons: str | None = _said(
        "systems",
        word(Comparisons),
        "Which tests of several systems are made.",
        "What is compared",
        words={"all-pairs": "Every pair", "baseline": "Every other system with one"},
        note=": every pair, or every other system against the baseline.",
    )
    baseline: str | None = _said(
        "systems",
        text("SYSTEM"),
        "Compare every other system with this one, and only these.",
        "Compared with",
    )
    model: str | None = _said(
        "systems",
        word(SystemModel),
        f"Fit each pair by itself, or all systems together. [{DEFAULT_FAMILY.model}]",
        "Model",
        words={"pairwise": "Each pair by itself", "joint": "All systems together"},
    )
    system_variances: str | None = _said(
        "systems",
        word(SystemVariances),
        "In a joint model: how much workers and items differ about a system, in common to all systems "
        f"or each system's own. [{DEFAULT_FAMILY.variances}]",
        "Variances about a system",
    )
    correction: str | None = _said(
        "systems",
        word(Correction),
        "Correction of the p-values of all tests.",
        "Correction of all tests",
        words={name: CORRECTIONS[name].title for name in get_args(Correction)},
        note="Max-t (Dunnett, Tukey) needs the joint model, bh is the false discovery rate. "
        f"[{DEFAULT_FAMILY.correction}]",
    )
    correct_over: str | None = _said(
        "systems",
        word(CorrectOver),
        "With several criteria: correct over all their tests, or over those of each criterion by "
        f"themselves. [{DEFAULT_FAMILY.over}]",
        "Correct over",
        words={"all": "All tests", "criterion": "The tests of each criterion"},
    )

    preset: tuple[str, ...] | None = _said(
        "variation",
        names(_presets, "NAMES"),
        f"typical (of public ratings on such a scale), {', '.join(PRESETS)} (Card et al. 2020, Table 16), or "
        "any that 'more parameters list' names.",
        "Ratings like those of",
        start="high",
        main=True,
    )
    parameters: tuple[str, ...] | None = _said(
        "variation",
        text("FILE", is_file=True, many=True),
        "Parameters that 'fit' wrote.",
        "Or your pilot, fitted",
        main=True,
        note="Repeatable.",
    )
    values: Mapping[str, Any] | Parameters | None = _said(
        "variation",
        replace(_DEVIATIONS, read=_parameters, json=_OR_TABLE),
        "Standard deviations on [0, 1], such as sd_worker_slope=0.05,sd_residual=0.2; those left out are 0.",
        "Or standard deviations",
        main=True,
    )
    allow_not_identified: bool | None = _said(
        "variation",
        flag(),
        "Use parameters that their table could not tell apart.",
        "Take parameters that are not identified",
        usual=False,
    )

    effect: float | None = _said(
        "effect",
        real(),
        EFFECT_HELP,
        "Or on [0, 1]",
        "of the scale",
        slider=(0, 0.5),
        step=0.005,
        main=True,
        note="on [0, 1] that the study should find; with a margin the one assumed. [0 with a margin]",
    )
    effect_raw: float | None = _said(
        "effect",
        real(),
        "The same in points of the scale.",
        "Difference in points of the scale",
        "points",
        slider=(0, 2),
        step=0.05,
        start="0.6",
        main=True,
    )
    effect_latent: float | None = _said(
        "effect",
        real(),
        "The same on the latent scale of ratings in categories.",
        "Or on the latent scale",
        "SD of the noise",
    )

    workers: int | None = _said(
        "design",
        whole(),
        WORKERS_HELP,
        "Workers",
        "workers",
        slider=(2, 60),
        start="25",
        main=True,
    )
    items: int | None = _said(
        "design",
        whole(),
        ITEMS_HELP,
        "Items",
        "items",
        slider=(5, 500),
        step=5,
        start="150",
        main=True,
    )
    ratings_per_item: int | None = _said(
        "design",
        whole(1),
        RATINGS_PER_ITEM_HELP,
        "Ratings of each item",
        "for each system",
        slider=(1, 20),
        start="3",
        main=True,
        note="[every worker rates every item]",
    )
    paired: bool | None = _said(
        "design",
        flag("paired", "unpaired"),
        "Whether the same worker sees an item under each system.",
        "Who sees both systems",
        words={"1": "The same workers", "0": "Other workers for each system"},
        usual=True,
        note="[paired]",
    )
    design: str | None = _said(
        "design",
        word(DESIGN_KINDS, without=("k-per-item", "split")),
        "A nested or counterbalanced design, whose halves of workers or items are one for each of two systems. "
        "[crossed, or k per item]",
        "Design",
    )
    max_ratings_per_worker: int | None = _said(
        "design",
        whole(1),
        "Most ratings of a worker.",
        "Most ratings of a worker",
        "ratings",
        note="Designs in which one gives more are refused.",
    )
    documents: int | None = _said(
        "design",
        whole(2),
        DOCUMENTS_HELP,
        "Documents",
        "documents",
        slider=(2, 100),
        note=", in equal shares; sentences of ten documents are ten things, not a hundred. [items stand alone]",
    )
    items_per_document: int | None = _said(
        "design",
        whole(1),
        "The same by the number of items of each document.",
        "Items of each document",
        "items",
    )

    power: float | None = _said(
        "search",
        BETWEEN,
        "Target power.",
        "Power to reach",
        slider=(0.5, 0.99),
        step=0.01,
        usual=DEFAULT_POWER,
        main=True,
    )
    workers_range: str | None = _said(
        "search",
        listed(number_list(int, least=2), "LIST"),
        WORKERS_HELP,
        "Workers",
        option="workers",
        main=True,
        note=", such as 3:40. [2 to the most workers]",
    )
    max_workers: int | None = _said(
        "search",
        whole(2),
        "Most workers.",
        "Most workers",
        "workers",
        usual=MOST_WORKERS,
        main=True,
        note="to try.",
    )
    items_range: str | None = _said(
        "search",
        listed(number_list(int, least=2, most=1_000_000), "LIST"),
        ITEMS_HELP,
        "Items",
        option="items",
        main=True,
        note=", such as 50:500 or 50:500:10.",
    )
    ratings_per_item_range: str | None = _said(
        "search",
        listed(number_list(int, least=1), "LIST"),
        RATINGS_PER_ITEM_HELP,
        "Ratings of each item",
        option="ratings-per-item",
        note=", such as 1:10. [1 to the most workers]",
    )
    effect_range: str | None = _said(
        "search",
        listed(number_list(float), "LIST"),
        EFFECT_HELP,
        "Or on [0, 1]",
        option="effect",
        main=True,
        note="on [0, 1], such as 0.05:0.2:0.05. [0 and half of the margin with one]",
    )
    effect_raw_range: str | None = _said(
        "search",
        listed(number_list(float), "LIST"),
        "The same in points of the scale.",
        "Differences in points of the scale",
        option="effect-raw",
        main=True,
    )
    effect_latent_range: str | None = _said(
        "search",
        listed(number_list(float), "LIST"),
        "The same on the latent scale of ratings in categories.",
        "Or on the latent scale",
        option="effect-latent",
    )
    documents_range: str | None = _said(
        "search",
        listed(number_list(int, least=2, most=LARGEST_COUNT), "LIST"),
        DOCUMENTS_HELP,
        "Documents",
        option="documents",
        note=", in equal shares, such as 10:40:5. [items stand alone, or 2 to the most documents]",
    )
    max_documents: int | None = _said(
        "search", whole(2, largest=LARGEST_COUNT), "Most documents that there are.", "Most documents"
    )
    pairing: str | None = _said(
        "search",
        word(("paired", "unpaired", "both")),
        "Whether the same worker sees an item under both systems.",
        "Who sees both systems",
        words={
            "paired": "The same workers",
            "unpaired": "Other workers for each system",
            "both": "Try both",
        },
        usual="paired",
    )
    robust: bool | None = _said(
        "search",
        flag(),
        "Reach the target under every setting, not only the first.",
        "Reach the power under every setting",
        usual=False,
    )
    assurance: float | None = _said(
        "search",
        BETWEEN,
        "Reach the target with this probability.",
        "Reach the power with this probability",
        slider=(0.5, 0.95),
        step=0.05,
        note=", given how little the pilot knows.",
    )
    safe: float | None = _said(
        "search",
        BETWEEN,
        "Plan at this upper confidence limit of how workers differ.",
        "Plan at this upper limit of how workers differ",
        slider=(0.5, 0.95),
        step=0.05,
    )

    family: str | None = _said(
        "test",
        word(Family),
        "What the data are analysed as.",
        "Ratings are",
        words={
            "gaussian": "Numbers (1 to 5, 0 to 100)",
            "ordinal": "Ordered categories",
            "binary": "Yes or no",
        },
        usual=_RULE["family"],
        note=": numbers, ordered categories, or yes and no.",
    )
    link: str | None = _said(
        "test",
        word(Link),
        "Noise of the latent scale.",
        "Link",
        usual=_RULE["link"],
        note=", for ordered categories and yes or no: normal (probit) or logistic (logit).",
    )
    estimator: str | None = _said(
        "test",
        word(Estimator),
        "Restricted or plain maximum likelihood.",
        "Estimator",
        words={"reml": "Restricted maximum likelihood", "ml": "Maximum likelihood"},
        usual=_RULE["estimator"],
    )
    df: str | None = _said(
        "test",
        word(DegreesOfFreedom),
        "Degrees of freedom of the test.",
        "Degrees of freedom",
        usual=_RULE["df"],
    )
    alternative: str | None = _said(
        "test",
        word(Alternative),
        "What to show.",
        "What to show",
        words={
            "two-sided": "A difference, in either direction",
            "greater": "B is better than A",
            "non-inferior": "B is not worse by the margin",
            "equivalent": "No difference as large as the margin",
        },
        usual=_RULE["alternative"],
        main=True,
        note=": a difference in either direction, only B better than A, B not worse by the margin, or no "
        "difference as large as the margin.",
    )
    analysis: str | None = _said(
        "test",
        word(Analysis),
        "Fit the ratings, or each worker's and item's difference alone.",
        "Analysed",
        words={"ratings": "All ratings", "differences": "Each worker's and item's difference alone"},
        usual=_RULE["analysis"],
    )
    margin: float | None = _said(
        "test",
        real(),
        "Smallest difference that would matter; fixed before the data are seen.",
        "Or margin on [0, 1]",
        "of the scale",
        note="On [0, 1], for the alternatives non-inferior and equivalent.",
    )
    margin_raw: float | None = _said(
        "test",
        real(),
        "The same in points of the scale.",
        "Margin in points of the scale",
        "points",
    )
    alpha: float | None = _said(
        "test",
        BETWEEN,
        "Level of the test.",
        "Level of the test",
        slider=(0.001, 0.2),
        step=0.001,
        usual=_RULE["alpha"],
        main=True,
        note="; of each side for non-inferior and equivalent, where 0.05 means a 90 % interval.",
    )
    correlated: tuple[str, ...] | None = _said(
        "test",
        listed(_factors, "FACTORS", {"type": "array", "items": {"enum": ["worker", "item"]}}),
        "Let intercepts and slopes correlate, of 'worker', 'item' or 'worker,item', and test it; of two systems, "
        "for of several a worker has a level under each and no slope. [they do not]",
        "Intercepts and slopes correlate",
    )
    check_families: bool | None = _said(
        "test",
        flag(),
        "Whether ratings on few points, analysed as numbers, are also tested as ordered categories, as a check.",
        "Also test as ordered categories",
        usual=False,
    )

    lost: float | None = _lost("Share of ratings that are never given.", "Ratings that never come")
    quitting: float | None = _lost("Share of workers who quit midway.", "Workers who quit midway")
    at_random: float | None = _lost(
        "Share of workers who answer at random.", "Workers who answer at random"
    )
    straight_lining: float | None = _lost(
        "Share of workers with one answer for all.", "Workers with one answer for all"
    )
    careless: float | None = _lost(
        "Share of careless workers: half of them answer at random, half with one answer for all.",
        "Careless workers",
    )
    exclusion: str | None = _said(
        "losses",
        word(Exclusion),
        "Workers left out before the fit: the careless ones (as if known), or the suspicious.",
        "Left out before the analysis",
        words={"none": "Nobody", "careless": "The careless, as if known", "suspicious": "The suspicious"},
        usual="none",
    )

    budget: Decimal | None = _price(
        "What may be spent.",
        "What may be spent",
        main=True,
        note="at most, in the currency of the prices.",
    )
    spend_budget: bool | None = _said(
        "cost",
        flag(),
        "Plan the most powerful design that the budget buys.",
        "Spend all of it",
        usual=False,
    )
    cost_per_rating: Decimal | None = _price(
        "Price of a rating.", "Price of a rating", slider=(0, 2), step=0.01, main=True
    )
    pay_per_hour: Decimal | None = _price(
        "Pay per hour.",
        "Or pay per hour",
        main=True,
        note=", with the seconds that a rating takes.",
    )
    seconds_per_rating: Decimal | None = _price(
        "Time that a rating takes.", "Seconds that a rating takes", "seconds", main=True
    )
    seconds_column: str | None = _said(
        "cost",
        COLUMN,
        "Column of the pilot with seconds per rating; the median is taken.",
        "Column of the seconds",
    )
    cost_per_worker: Decimal | None = _price(
        "Once for each worker: finding, instructions, training.",
        "Cost of each worker, once",
        usual=Decimal(0),
    )
    cost_per_document: Decimal | None = _price(
        "Once for each document that items come out of.", "Once for each document", usual=Decimal(0)
    )
    cost_per_item: Decimal | None = _price(
        "Once for each item: to write, to grade, a reference.", "Once for each item", usual=Decimal(0)
    )
    cost_per_output: Decimal | None = _price(
        "Once for each item and system: generation.", "Once for each item and system", usual=Decimal(0)
    )
    rejected: Decimal | None = _price(
        "Share of the work that is paid, thrown away and repeated.",
        "Work that is thrown away",
        "as a share",
        slider=(0, 0.5),
        step=0.01,
        usual=Decimal(0),
    )
    checks: Decimal | None = _price(
        "Attention checks for each rating.",
        "Attention checks",
        "for each rating",
        usual=Decimal(0),
        note="They are paid.",
    )
    repeats: Decimal | None = _price(
        "Outputs shown to a worker once more, for each rating.",
        "Outputs shown once more",
        "for each rating",
        usual=Decimal(0),
        note="Paid as a rating.",
    )
    fee: str | Mapping[str, Any] | None = _said(
        "cost",
        replace(text(), read=_fee, json=_OR_TABLE),
        "Platform whose fees are added.",
        "Platform",
        usual="none",
        main=True,
    )
    fees: str | None = _said(
        "cost",
        _FILE,
        "Your own table of fees (TOML). [the one shipped]",
        "Your own table of fees",
    )
    fee_share: Decimal | None = _price(
        "The platform's share of the pay, where it is not that of the table.",
        "The platform's share of the pay",
        "as a share",
    )
    units_per_assignment: int | None = _said(
        "cost",
        whole(1),
        "Items that a worker finishes in one HIT.",
        "Items in one HIT",
        "items",
        usual=UNITS_PER_ASSIGNMENT,
    )
    split_hits: bool | None = _said(
        "cost",
        flag(),
        "Publish HITs in copies below the fee's cliff.",
        "Publish HITs in copies below the fee's cliff",
        usual=False,
    )
    currency: str | None = _said("cost", text(), "Three letters.", "Currency", usual=CURRENCY)

    judges: tuple[str, ...] | None = _said(
        "judges",
        names(_judge_names, "NAMES"),
        "Names of the automatic judges that score all outputs; no others are used in the end.",
        "Names of the judges",
    )
    judge_correlation: tuple[float, ...] | None = _said(
        "judges",
        listed(number_list(float, least=-1, most=1, repeats=True), "R,..."),
        "Correlation of the judge's differences with the items' true ones, but for the noise of its runs; of "
        "several judges one each.",
        "Correlation of the judge with people",
        page_help="Of several judges one each, with commas between.",
    )
    judged_extra: int | None = _said(
        "judges",
        whole(0, MOST_JUDGED),
        "Items that the judges score beside those that people rate.",
        "Items scored by the judge alone",
        "items",
    )
    judge_runs: tuple[int, ...] | None = _said(
        "judges",
        listed(number_list(int, least=1, most=MOST_JUDGE_RUNS, repeats=True), "N,..."),
        "Runs of the judge on an output, or of each judge. [1]",
        "Runs of the judge on an output",
    )
    judge_reliability: tuple[float, ...] | None = _said(
        "judges",
        listed(number_list(float, least=0, most=1, repeats=True), "R,..."),
        "Correlation of two runs of the judge, or of each.",
        "Correlation of two of its runs",
        note="[1]",
        page_help="1: a second run says the same.",
    )
    judges_between: float | None = _said(
        "judges",
        real(-1, 1),
        "Correlation of several judges with each other, which they need.",
        "Correlation of the judges with each other",
        page_help="Several judges need it; 'judge check' gives it.",
    )
    cost_per_score: tuple[Decimal, ...] | None = _said(
        "judges",
        listed(_amounts, "AMOUNT,..."),
        "Price of one score of the judge, or of each judge. [0]",
        "Price of one of its scores",
        "USD",
    )

    looks: str | None = _said(
        "looks",
        listed(str, "K|LIST", {"type": ["integer", "array"]}),
        "Looks at the data before the end.",
        "Looks",
        main=True,
        note=": a number of equal looks, the last included, or shares such as 0.5,0.75,1.",
    )
    looks_by: str | None = _said(
        "looks",
        word(LookKind),
        "What a look adds.",
        "What a look adds",
        words={
            "items": "Items, for the same workers",
            "workers": "Workers, for the same items",
            "ratings": "More ratings of the same items",
            "blocks": "New workers with new items",
        },
        usual="items",
        note=": items for the same workers, workers for the same items, more ratings of the same items, or "
        "blocks of new workers with new items.",
    )
    efficacy: str | None = _said(
        "looks",
        text("RULE"),
        f"Boundaries of success: {', '.join(EFFICACY_WORDS)}.",
        "Boundaries of success",
        usual="lan-demets-obrien-fleming",
    )
    futility: str | None = _said(
        "looks",
        text("RULE"),
        f"When to give up: {', '.join(FUTILITY_WORDS)}.",
        "When to give up",
        usual="none",
    )
    stop_when: str | None = _said(
        "looks",
        text("REASONS"),
        "Let one interval that holds at every look stop the study: decision, equivalence=MARGIN, half_width=SIZE, "
        "with commas between; sizes in points of the scale if there is one, else on [0, 1]. Looks are by workers.",
        "Stop when its interval is clear",
        page_help="decision, equivalence=0.3, half_width=0.4: sizes in points of the scale.",
    )

    drop_systems: bool | None = _said(
        "looks",
        flag(),
        "Of three systems or more: at each look drop those that another one beats, until one is shown to be the "
        "best. Looks are by workers, and each worker rates all systems that are left.",
        "Drop systems that are beaten",
        page_help="Of three systems or more; looks are by workers.",
        usual=False,
    )

    upload: tuple[str, ...] | None = _said(
        "form",
        Kind(
            _platforms,
            {"type": "array", "items": {"enum": list(get_args(UploaderName))}},
            "PLATFORM",
            choices=get_args(UploaderName),
            many=True,
        ),
        f"Write what this platform takes: {', '.join(get_args(UploaderName))}; repeatable. "
        "Prolific finds people only: name what shows the texts too. Workers see codes, so a key is needed.",
        "Platform",
        main=True,
    )
    questions: tuple[str, ...] | None = _said(
        "form",
        text("CRITERION=TEXT", many=True),
        f"What is asked of each text; repeatable. [{DEFAULT_CRITERION}={DEFAULT_QUESTION_TEXT}]",
        "Questions",
        option="rating-question",
        main=True,
    )
    labels: str | None = _said(
        "form",
        listed(_labels, "POINT=WORDS,...", {"type": "object", "additionalProperties": {"type": "string"}}),
        "Words for points of the scale, such as 1=bad,5=good. [numbers alone]",
        "Words for points of the scale",
    )
    title: str | None = _said("form", text(), "What the study is called.", "Title", usual=DEFAULT_TITLE)
    instructions: str | None = _said(
        "form", _FILE, "What workers are told first. [a general sentence]", "Instructions"
    )
    check_texts: str | None = _said(
        "form",
        _FILE,
        "Attention checks: a table with the columns text, right (the point it asks for) and perhaps source. "
        "['please choose 2', for each point]",
        "Texts of attention checks",
    )
    batch_size: int | None = _said(
        "form", whole(1), "Most ratings in a batch. [one batch each]", "Ratings in a batch", "ratings"
    )
    order: str | None = _said(
        "form",
        word(PresentationOrder),
        "Show the outputs of an item far apart in a batch (two half a batch, three a third of it), or one after "
        "the other.",
        "Outputs of an item are shown",
        words={"random": "far apart", "blocked": "one after the other"},
        usual="random",
    )
    replacements: int | None = _said(
        "form",
        whole(0, largest=LARGEST_COUNT),
        "Spare slots r01, r02, ... for workers who drop out.",
        "Spare slots",
        usual=0,
    )

    def __post_init__(self) -> None:
        problems = []
        if isinstance(self.values, Parameters):
            stated = _stated(self.values)
            object.__setattr__(self, "values", stated)
            if stated["effect"] and not self.said().keys() & _SAY_EFFECT:
                object.__setattr__(self, "effect", stated["effect"])
        for name, value in self.said().items():
            try:
                held = _held(value, FIELDS[name].kind.read(value), FIELDS[name].kind)
                object.__setattr__(self, name, held)
            except ValueError as error:
                problems.append(Problem(str(error), "", place=name))
        problems += [Problem(in_file(why), "") for why in exclusive(self.said())]
        refuse(problems)

    def __hash__(self) -> int:
        return hash(_hashable(self.said()))

    def said(self) -> dict[str, Any]:
        """What was said, by the names of the fields."""
        known = ((one.name, getattr(self, one.name)) for one in fields(self))
        return {name: value for name, value in known if value is not None}

    def with_(self, /, **others: Any) -> Self:
        """The same study with other values; what excludes one of them is put aside, and None forgets a field.

        Raises
        ------
        InputError
            A value that breaks its rule, or a name that is no field.
        """
        unknown = [name for name in others if name not in FIELDS]
        if unknown:
            raise InputError(
                [Problem("is no field of a study.", near(name), place=name) for name in unknown]
            )
        said = {name for name, value in others.items() if value is not None}
        return type(self)(**put_aside(self.said(), said) | others)

    @classmethod
    def read(cls, path: str) -> Self:
        """The study of a file: study.toml, or a record that a command wrote from one.

        Files that it names lie beside it.

        Raises
        ------
        InputError
            Every problem at once, each with its line, section and key.
        """
        from humeval_power.asking.study_file import read_study

        return cls(**read_study(path).values)

    def to_toml(self) -> str:
        """The file that says the same, with what each field is for."""
        from humeval_power.study_text import study_text

        return study_text(self.said())


FIELDS: Mapping[str, Field] = {one.name: one.metadata["said"] for one in fields(Study)}


def _held(value: Any, result: Any, kind: Kind) -> Any:
    """The value as a study holds it, so that equal studies are equal: numbers as read, lists as tuples."""
    if isinstance(value, str) and isinstance(result, tuple) and not isinstance(result[0], str):
        return value  # a range of numbers
    if kind.is_number or isinstance(result, tuple):
        return result
    return _number(value)


def _number(value: Any) -> Any:
    """Exact decimals as numbers, lists as tuples, also within tables."""
    if isinstance(value, list | tuple):
        return tuple(map(_number, value))
    if isinstance(value, Mapping):
        return {str(name): _number(one) for name, one in value.items()}
    return float(value) if isinstance(value, Decimal) else value


def _hashable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return frozenset((name, _hashable(one)) for name, one in value.items())
    return tuple(map(_hashable, value)) if isinstance(value, tuple) else value


def _stated(parameters: Parameters) -> dict[str, Any]:
    """What parameters hold, as `values` of a study."""
    if parameters.latent is not None:
        return parameters.as_dict()
    known = (*PARAMETER_NAMES, *FURTHER_DEVIATIONS, *CORRELATIONS)
    values = {name: float(getattr(parameters.recoded(), name)) for name in known}
    return {name: value for name, value in values.items() if value or name in PARAMETER_NAMES}


def in_file(message: str) -> str:
    """A message about options, in the words of a file and of Python."""
    return re.sub(r"--([a-z][a-z-]*[a-z])", lambda result: result[1].replace("-", "_"), message)


def option_of(name: str) -> str:
    """The option of a field."""
    return f"--{(FIELDS[name].option or name).replace('_', '-')}"


def exclusive(said: Mapping[str, Any]) -> dict[str, str]:
    """What must not be said together and is: the rule, and the field that is one too many."""
    names: dict[str, str] = {}
    for group, why in ONE_OF.items():
        both = [name for name in said if name in group]
        if len(both) > 1:
            names.setdefault(why, both[-1])
    if said.get("model") == "joint" and said.keys() & set(DOCUMENT_FIELDS):
        names[JOINT_DOCUMENTS] = "model"
    return names


def put_aside(weaker: Mapping[str, Any], stronger: set[str]) -> dict[str, Any]:
    """What a weaker place says, without that for which a stronger one says an alternative."""
    groups = (*ONE_OF, *ALTERNATIVES)
    aside = {mate for group in groups if stronger & set(group) for mate in group} | stronger
    return {name: value for name, value in weaker.items() if name not in aside}


def near(name: str) -> str:
    """The nearest name of a field, as a remedy."""
    from difflib import get_close_matches

    by_option = {option_of(known)[2:].replace("-", "_"): known for known in FIELDS}
    if len(name) > _LONGEST_NAME:
        return ""
    close = get_close_matches(name.replace("-", "_"), {**by_option, **dict.fromkeys(FIELDS)}, 1)
    if not close:
        return ""
    result = close[0] if close[0] in FIELDS else by_option[close[0]]
    return f"Did you mean {result}, of [{FIELDS[result].section}]?"
