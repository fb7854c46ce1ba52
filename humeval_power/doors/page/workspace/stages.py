"""The stages of a study: what each asks, which command answers it, and what can be done there."""

from __future__ import annotations

import json
import math
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any, Literal

from humeval_power.asking.study_file import parsed_study
from humeval_power.asking.study_values import StudyValues
from humeval_power.choices import CURRENCY
from humeval_power.doors.page.workspace.studies import (
    CHOSEN,
    MAPPING,
    REPORTS_FOLDER,
    SECRET_ENDING,
    WRITTEN,
    OpenedStudy,
    as_typed,
    paths_of,
)
from humeval_power.errors import InputError
from humeval_power.files.file_bytes import read_object
from humeval_power.files.private_files import ledger_path
from humeval_power.saying.result import PLAN_FILE
from humeval_power.scales import RatingScale
from humeval_power.studies.report.sources import is_of_ratings, record_in
from humeval_power.study import FIELDS, FILE_NAME, SECTIONS

Words = tuple[str, ...]
_FORMULA = ("--method", "analytic")
OPEN: Mapping[str, str] = {
    "power": "How sure it is",
    "workers": "Workers",
    "items": "Items",
    "ratings-per-item": "Ratings of each output",
    "effect": "The difference",
    "budget": "The least it costs",
}
_BUDGET_FIELDS = ("cost_per_rating", "max_workers")  # which pay for the sizes that a budget leaves open
ANSWERS = "answers"  # the list of what only the authors know
WHOLE = "study"  # the page of all, beside which all forms are written
REPORTS: Mapping[str, str] = {
    ANSWERS: "What only you know",
    "paper": "Paragraphs for the paper",
    "heds": "Human Evaluation Datasheet",
    "arr": "Checklist of ARR",
    "card2020": "What Card et al. (2020) ask",
    "osf": "Preregistration (OSF)",
    WHOLE: "The whole study on one page",
}
FORMS_FOLDER = "forms"
SPARES = "spares"  # the start of the names of what is written for them
WITHDRAWN = "withdrawn"  # the field of who did, and the start of the names of the files that keep it
KEPT = "kept"  # what is sent along with a button's field whose lines are kept: the file that keeps them
FOLDED: Mapping[str, str] = {  # of the fields of a stage those that few need, each under its title
    "pilot": "I have a pilot: plan from its ratings",
    "max_workers": "Most workers, where there is a limit",
    "seconds_per_rating": "How long a rating takes, if that is known",
    "answers": "I have these answers in a file",
}
_ON_UNIT = ("effect", "effect_range", "margin")  # which a scale has in its points
_LARGE = 0.25  # of the range of the scale
_HEADER = 10_000  # bytes that hold the names of columns


@dataclass(frozen=True)
class StageCommand:
    """A command whose answer a stage shows.

    without : fields of the study that it is not told.
    files : in the folder of the study, that its words name beside those that the study names.
    is_quick : whether it answers while one drags.
    """

    words: Words
    without: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    is_quick: bool = False


@dataclass(frozen=True)
class Act:
    """What can be done at a stage by a button.

    words : of the command; given the study and what the button sends.
    writes : the fields that name what it writes into the folder of the study; without any it writes nothing.
    keeps : the button's field whose lines are kept in a file, which `words` finds under `KEPT`; a refusal keeps
        none.
    without : fields that it is not told, where it writes nothing.
    leads_on : whether the answer of the stage follows at its end, in the place of its own.
    is_seeded : whether a seed that nobody knows makes its order; it is drawn once and kept.
    reads : fields whose files it reads where they are there; the study forgets those that nobody has written.
    adds : of what it writes an assignment beside those that are there: of the next stage, of spares.
    """

    stage: str
    words: Callable[[OpenedStudy, Mapping[str, str]], Words]
    writes: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    keeps: str = ""
    leads_on: bool = False
    is_seeded: bool = False
    reads: tuple[str, ...] = ()
    adds: Literal["", "stage", "spares"] = ""

    def names(self, study: OpenedStudy) -> dict[str, str]:
        """What it writes that the study does not name yet, or elsewhere: forms lie in a folder with the table."""
        places = {**WRITTEN, **CHOSEN}
        result = {name: as_typed(places[name]) for name in self.writes if not study.has(name)}
        result |= {name: "" for name in self.reads if study.has(name) and not study.is_there(name)}
        if self.adds:
            added = table_of_stage(study) if self.adds == "stage" else table_of_spares(study)
            result["assignment"] = ", ".join((*tables_of(study), added))
        elif "assignment" in self.writes and study.has("upload"):
            result["assignment"] = table_of_stage(study, 1)
        return result


def tables_of(study: OpenedStudy) -> tuple[str, ...]:
    """The tables of its assignment that are there: of each stage of the collection, and of spares."""
    return tuple(
        path
        for path in paths_of(study.file.values.get("assignment", ()))
        if (study.folder / path).is_file()
    )


def tables_of_stages(study: OpenedStudy) -> tuple[str, ...]:
    """Those of the stages alone."""
    return tuple(path for path in tables_of(study) if not path.startswith(SPARES))


def table_of_stage(study: OpenedStudy, number: int = 0) -> str:
    """Where the table of a stage is written, of the next one without a number; with forms in a folder of theirs."""
    number = number or len(tables_of_stages(study)) + 1
    more = f"-{number}" if number > 1 else ""
    if study.has("upload"):
        return f"{FORMS_FOLDER}{more}/assignment.csv"
    stem, dot, ending = as_typed(WRITTEN["assignment"]).rpartition(".")
    return f"{stem}{more}{dot}{ending}"


def table_of_spares(study: OpenedStudy) -> str:
    """Where the table of the next spares is written; with forms in a folder of theirs."""
    names = (f"{SPARES}-{number}" if number > 1 else SPARES for number in count(1))
    name = next(
        one
        for one in names
        if not any((study.folder / one).with_suffix(end).exists() for end in ("", ".csv"))
    )
    return f"{name}/assignment.csv" if study.has("upload") else f"{name}.csv"


@dataclass(frozen=True)
class Stage:
    """One stage.

    next : what is to be done there, as Home says it.
    fields : what it asks. sections : whose other fields it asks on demand.
    """

    key: str
    title: str
    lead: str
    next: str
    fields: tuple[str, ...]
    sections: tuple[str, ...] = ()

    def fields_for(self, wanted: str, study: OpenedStudy) -> tuple[str, ...]:
        """The fields that it asks: not what is wanted, as that is worked out from them; of several systems what is
        to be found too."""
        if self.key != "size":
            return self.fields
        after = self.fields.index("effect_raw") + 1
        goal = ("goal",) if n_systems_of(study) > 2 else ()
        fields = (*self.fields[:after], *goal, *self.fields[after:])
        if wanted == "budget":
            return (*(name for name in fields if name not in ("workers", "items")), *_BUDGET_FIELDS)
        return tuple(name for name in fields if name != wanted.replace("-", "_"))

    def asks(self, study: OpenedStudy, wanted: str = "") -> frozenset[str]:
        """All fields that it asks, on demand or not."""
        on_demand = (name for _, names in self.more(study) for name in names)
        return frozenset((*self.fields_for(wanted, study), *on_demand))

    def more(self, study: OpenedStudy) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The further fields, by the titles of their sections; differences on [0, 1] only without a scale."""
        names = {name for stage in STAGES for name in stage.fields}
        if study.has("scale"):
            names |= {name for name in _ON_UNIT if not study.has(name)}
        groups = (
            (
                SECTIONS[section].title,
                tuple(
                    name
                    for name, one in FIELDS.items()
                    if one.section == section and name not in names and one.label
                ),
            )
            for section in self.sections
        )
        return tuple(group for group in groups if group[1])


SUGGESTED: Mapping[str, Any] = {  # what a new study says until somebody says otherwise
    **{
        name: FIELDS[name].kind.read(FIELDS[name].start)
        for name in ("workers", "items", "ratings_per_item")
    },
    "scale": FIELDS["scale"].start,
    "preset": ["typical"],
}
STAGES: tuple[Stage, ...] = (
    Stage(
        "question",
        "Question",
        "What is to be found out, of which systems, on which scale?",
        "say what is to be found out",
        ("question", "systems", "scale"),
        ("question", "ratings", "systems"),
    ),
    Stage(
        "size",
        "Size",
        "How many people and items does it take? Choose what to work out, and say the rest.",
        "find how large it must be",
        ("preset", "pilot", "effect_raw", "workers", "items", "ratings_per_item"),
        ("variation", "effect", "design", "losses", "test"),
    ),
    Stage(
        "plan",
        "Plan",
        "What may it cost? Then choose a design, and seal it before anybody rates.",
        "choose a design and seal it",
        ("cost_per_rating", "cost_per_worker", "budget", "seconds_per_rating", "max_workers"),
        ("search", "cost", "looks"),
    ),
    Stage(
        "collect",
        "Collect",
        "Hand out the texts, and take the answers in.",
        "hand out the work, and take the ratings in",
        ("outputs", "upload", "exports"),
        ("form",),
    ),
    Stage(
        "look",
        "Stop early?",
        "May the study stop before all ratings are in?",
        "see whether one may stop",
        (),
    ),
    Stage(
        "decide",
        "Decide",
        "Which system is better?",
        "analyse the ratings",
        ("ratings",),
        ("columns",),
    ),
    Stage(
        "report",
        "Report",
        "What a paper and its checklists ask of this study.",
        "write it up",
        ("answers",),
    ),
)
BY_KEY = {stage.key: stage for stage in STAGES}


def open_of(study: OpenedStudy, wanted: str) -> str:
    """What the size solves for: what is wanted, else what the study leaves open."""
    if wanted in OPEN:
        return wanted
    if not study.has("effect", "effect_raw", "effect_latent", "system_means", "margin", "margin_raw"):
        return "effect"
    return next((name for name in ("workers", "items") if not study.has(name)), "power")


def question_of(stage: Stage, study: OpenedStudy, wanted: Mapping[str, str]) -> StageCommand | None:
    """The command that answers a stage while one looks at it; None where none does."""
    if stage.key == "size":
        open = open_of(study, wanted.get("open", ""))
        is_quick = open != "budget" or not _of_several(study)
        return StageCommand((*_size_words(open), *_FORMULA), is_quick=is_quick)
    if stage.key == "collect" and is_rehearsed(study, wanted):
        drawn, plan = (as_typed(study.file.values[name]) for name in ("rehearsal", "plan"))
        return StageCommand(("analyze", drawn, "--plan", plan))
    if stage.key == "collect" and study.is_there("assignment"):
        if study.is_there("exports"):
            mapping = mapping_of_forms(study)
            gone = withdrawn_of(study)
            words = ("collect", "status", FILE_NAME, *_mapped(study), *_options("--withdrawn", gone))
            words = (*words, *_tables_there(study))
            return StageCommand(words, files=(*mapping, *gone))
        return StageCommand(
            ("assign", FILE_NAME, *_seed(study)), ("assignment", "key", "outputs", "upload", "exports")
        )
    if stage.key == "look" and study.is_there("plan") and study.has("looks"):
        return StageCommand(("monitor", "--status", "--plan", as_typed(study.file.values["plan"])))
    if stage.key == "decide" and study.is_there("ratings"):
        if study.is_there("findings"):
            return StageCommand(("analyze", FILE_NAME), ("findings",))
        return StageCommand(("check", FILE_NAME), ("pilot",))
    if stage.key == "report" and (study.is_there("findings") or study.is_there("plan")):
        if report_of(wanted) == ANSWERS:
            return StageCommand(("report", FILE_NAME, "--template", "left.toml"))
        return StageCommand(("report", FILE_NAME, "--form", report_of(wanted)))
    return None


def is_settled(stage: Stage, study: OpenedStudy, wanted: Mapping[str, str]) -> bool:
    """Whether a stage says what was sealed: until another version is worked out."""
    return stage.key in ("question", "size", "plan") and study.is_there("plan") and not wanted.get("open")


def sealed_words(study: OpenedStudy) -> tuple[str, ...]:
    """What the sealed plan says, a sentence each; or why it cannot be read."""
    from humeval_power.studies.plan.files import read_plan_file
    from humeval_power.studies.plan.result import plan_lead
    from humeval_power.studies.plan.result_words import compared_words, correction_words

    path = study.folder / as_typed(study.file.values["plan"])
    try:
        file = read_plan_file(path / PLAN_FILE if path.is_dir() else path)
    except (InputError, OSError) as error:
        why = error.problems[0].rule if isinstance(error, InputError) and error.problems else str(error)
        return (f"The plan in the folder is not one that was sealed: {why}",)
    *said, when = plan_lead(file.plan, created=file.created, history=file.history)
    rule, many = file.plan.rule, file.plan.many
    test = f"One test decides: {rule}."
    if many is not None:
        test = f"Tested are {compared_words(many)} ({rule}); {correction_words(many)}."
    return (*said, test, when)


def is_rated(study: OpenedStudy) -> bool:
    """Whether ratings have come in, after which no other plan can be sealed."""
    return study.is_there("ratings") or study.is_there("exports")


def pilot_read(stage: Stage, study: OpenedStudy, wanted: Mapping[str, str]) -> tuple[StageCommand, ...]:
    """The commands that say what a pilot holds: what there is of it, and of two systems the difference that it
    showed."""
    if stage.key != "size" or not study.is_there("pilot") or is_settled(stage, study, wanted):
        return ()
    others = ("ratings", "exports", "findings", "plan")
    both = StageCommand(("check", FILE_NAME), others), StageCommand(("fit", FILE_NAME), others)
    return both if n_systems_of(study) == 2 else both[:1]


def ways_out(study: OpenedStudy, wanted: str) -> Iterator[tuple[str, StageCommand]]:
    """What else could be worked out where no size of what is wanted will do: each with its question, about all else
    as the study says it."""
    if wanted == "power":
        return
    for text in ("items", "workers", "ratings-per-item", "effect"):
        others = {"items": "workers", "workers": "items"}
        needed = (others[text],) if text in others else ("workers", "items")
        if text != wanted and all(study.has(name) for name in needed):
            yield text, StageCommand((*_size_words(text), *_FORMULA), is_quick=True)


def with_fewer(study: OpenedStudy, wanted: str, numbers: Mapping[str, str]) -> StageCommand | None:
    """Of the cheapest study, where one more worker costs nothing, so that each was to give a session's work: the
    items that half as many workers need, each of whom rates more. None elsewhere, and where an item needs more
    workers."""
    if wanted != "budget" or not int(numbers.get("least_each", "0")) or "workers" not in numbers:
        return None
    half = -(-int(numbers["workers"]) // 2)
    if half < max(2, int(study.file.values.get("ratings_per_item", 1))):
        return None
    return StageCommand(
        ("size", FILE_NAME, "--find", "items", "--workers", str(half), *_FORMULA), is_quick=True
    )


def change_of(study: OpenedStudy, text: str, numbers: Mapping[str, str]) -> dict[str, str]:
    """The field of the study that an answer of these numbers changes, with its value; nothing where it has none."""
    if text != "effect":
        name = text.replace("-", "_")
        return {name: numbers[name]} if name in numbers else {}
    scale = as_typed(study.file.values.get("scale"))
    smallest = float(numbers.get("analytic", "inf"))
    if smallest > 1:
        return {}
    size = smallest * RatingScale.parse(scale).width if scale else smallest
    step = 10.0 ** (math.floor(math.log10(size)) - 2)
    said = f"{math.ceil(size / step - 1e-9) * step:.6g}"  # upwards: what is smaller is not found
    return {"effect_raw" if scale else "effect": said}


def is_rehearsed(study: OpenedStudy, wanted: Mapping[str, str]) -> bool:
    """Whether the analysis of drawn ratings is to be shown, and can be."""
    return bool(wanted.get("rehearsed")) and study.is_there("rehearsal") and study.is_there("plan")


def mapping_of_forms(study: OpenedStudy) -> tuple[str, ...]:
    """The mapping that was written with the forms of the platform, where its exports need one: not where they say
    worker, code and rating themselves."""
    platforms = paths_of(study.file.values.get("upload", ()))
    written = (f"{FORMS_FOLDER}/{name}/{MAPPING}" for name in platforms)
    mapping = next((path for path in written if (study.folder / path).is_file()), None)
    if mapping is None or not study.is_there("exports"):
        return ()
    with (study.folder / paths_of(study.file.values["exports"])[0]).open("rb") as file:
        header = file.readline(_HEADER).decode(errors="replace")
    names = {name.strip(' "').casefold() for name in header.strip().split(",")}
    return () if {"worker", "code", "rating"} <= names else (mapping,)


def _mapped(study: OpenedStudy) -> Words:
    return _options("--map", mapping_of_forms(study))


def _tables_there(study: OpenedStudy) -> Words:
    """The tables of the assignment, where the study names one that was not written in the end."""
    there = tables_of(study)
    return () if len(there) == len(study.file.values["assignment"]) else _options("--assignment", there)


def _options(option: str, values: Iterable[str]) -> Words:
    return tuple(word for value in values for word in (option, value))


def withdrawn_of(study: OpenedStudy) -> tuple[str, ...]:
    """The lists of those who withdrew, one for each time that somebody did."""
    return tuple(sorted(path.name for path in study.folder.glob(f"{WITHDRAWN}*.txt") if path.is_file()))


def pseudonyms_secret(study: OpenedStudy) -> str:
    """Where the secret of the workers' made-up names lies: beside the first table of ratings, whatever tables come
    after it."""
    stem = as_typed(study.file.values.get("ratings")).rpartition(".")[0]
    return f"{re.sub(r'-[0-9]+$', '', stem)}{SECRET_ENDING}"


def _as_before(study: OpenedStudy) -> Words:
    """What keeps those out who withdrew, and gives workers the names that they had."""
    secret = pseudonyms_secret(study)
    known = ("--secret", secret) if (study.folder / secret).is_file() else ()
    return (*_options("--withdrawn", withdrawn_of(study)), *known)


def field_read(study: OpenedStudy, stage: Stage) -> str:
    """The field of the files whose reading a stage shows: exports, and a table that one brought as it is."""
    if stage.key == "decide" and study.is_there("ratings") and not study.has("exports"):
        return "ratings"
    by_codes = study.is_there("assignment")
    return (
        "exports"
        if stage.key in ("collect", "decide") and study.is_there("exports") and not by_codes
        else ""
    )


def _of_several(study: OpenedStudy) -> bool:
    """Whether each design of the study is one of several tests, whose power takes a second."""
    return n_systems_of(study) > 2 or len(study.file.values.get("criteria", ())) > 1


def n_systems_of(study: OpenedStudy) -> int:
    """How many systems it compares."""
    values = study.file.values
    return max(int(values.get("n_systems", 2)), len(values.get("systems", ())))


def report_of(wanted: Mapping[str, str]) -> str:
    """The form that is asked for."""
    return form if (form := wanted.get("form", "")) in REPORTS else "paper"


def _size_words(text: str) -> Words:
    if text == "effect":
        return ("mde", FILE_NAME)
    return ("power", FILE_NAME) if text == "power" else ("size", FILE_NAME, "--find", text)


def _prove(study: OpenedStudy, sent: Mapping[str, str]) -> Words:
    return _size_words(open_of(study, sent.get("open", "")))


def _search(study: OpenedStudy, _sent: Mapping[str, str]) -> Words:
    """The search for designs, beside which that of the study stands, where it says one."""
    said = study.file.values
    if not study.has("workers") or not study.has("items"):
        return ("plan", FILE_NAME)
    sizes = [said["workers"], said["items"], said.get("ratings_per_item", said["workers"])]
    if study.has("documents", "items_per_document"):
        from humeval_power.study_counts import Documents

        documents = Documents(said.get("documents"), said.get("items_per_document"))
        sizes.append(documents.of(said["items"]))
    return ("plan", FILE_NAME, "--beside", ",".join(map(str, sizes)))


def _seal(study: OpenedStudy, sent: Mapping[str, str]) -> Words:
    """The plan of the design that was chosen: a search among it alone; never after ratings have come in."""
    from humeval_power.studies.plan.files import refuse_after_ratings

    refuse_after_ratings(study.file.values, study.folder)
    sizes = [(name, sent.get(name, "")) for name in ("workers", "items", "ratings-per-item", "documents")]
    words = [word for name, size in sizes if size.isdecimal() and int(size) for word in (f"--{name}", size)]
    return ("plan", FILE_NAME, *words, *_again(study, "plan"))


def _entries(study: OpenedStudy) -> tuple[Mapping[str, Any], ...]:
    """What the lines of its ledger say, as far as it can be read."""
    plan, ledger = (as_typed(study.file.values.get(name)) for name in ("plan", "ledger"))
    plan = f"{plan}/{PLAN_FILE}" if (study.folder / plan).is_dir() else plan
    try:
        lines = (study.folder / ledger_path(plan, ledger)).read_text("utf-8").splitlines()
        contents = tuple(json.loads(line)["content"] for line in lines)
    except (OSError, ValueError, KeyError, TypeError):
        return ()
    return contents if all(isinstance(one, dict) for one in contents) else ()


def looks_taken(study: OpenedStudy) -> tuple[Mapping[str, Any], ...]:
    """The looks in its ledger, as far as it can be read."""
    return tuple(one["look"] for one in _entries(study) if isinstance(one.get("look"), dict))


def n_seen(study: OpenedStudy) -> int:
    """How many ratings looks have seen, without those that were withdrawn since."""
    seen: set[str] = set()
    for content in _entries(study):
        if "reason" in content:  # a new secret, by which all ratings are seen anew
            seen.clear()
        seen.update(content.get("new_rows", ()))
        seen.difference_update(content.get("rows", ()))
    return len(seen)


def have_looks_ended(study: OpenedStudy) -> bool:
    """Whether no look is to come: none was planned, or the last one that was taken ended the study."""
    if not study.has("looks"):
        return True
    looks = looks_taken(study)
    return bool(looks) and looks[-1].get("decision") != "continue"


def is_ended_by_look(study: OpenedStudy) -> bool:
    """Whether a look ended the study, after which no answers are taken."""
    return study.has("looks") and have_looks_ended(study)


def is_skipped(stage: Stage, study: OpenedStudy) -> bool:
    """Whether a study has nothing to do at a stage: looks that its plan, or ratings without one, do not have."""
    settled = study.is_there("plan") or study.is_there("ratings")
    return stage.key == "look" and settled and not study.has("looks")


def is_look_due(study: OpenedStudy) -> bool:
    """Whether ratings are in that no look has seen: more of them than its ledger names. Of a table that only a
    command can read they may be, which that says."""
    if have_looks_ended(study) or not study.is_there("ratings"):
        return False
    (path,) = paths_of(study.file.values["ratings"])
    place = study.folder / path
    state = place.stat()
    n_ratings = _n_ratings(str(place), study.file.text, (state.st_mtime_ns, state.st_size))
    return n_ratings is None or n_ratings > n_seen(study)


@lru_cache(maxsize=64)
def _n_ratings(place: str, text: str, _state: tuple[int, int]) -> int | None:
    """How many ratings the study with this text reads in a table; None where it is none that can be read so."""
    # which bring pandas, without which the server can do
    from humeval_power.files.tables import read_rating_table
    from humeval_power.studies.loading import check_ratings

    values = StudyValues(parsed_study(FILE_NAME, text).values)
    try:
        return check_ratings(read_rating_table(place), values, require_pair=False, tell=False).n_ratings
    except InputError:
        return None


def has_newer_answers(study: OpenedStudy) -> bool:
    """Whether answers came back after the table of ratings was made of those before, and are still taken."""
    files = ("assignment", "exports", "ratings")
    if is_ended_by_look(study) or not all(study.is_there(name) for name in files):
        return False
    (table,), exports = (paths_of(study.file.values[name]) for name in ("ratings", "exports"))
    try:
        times = [(study.folder / path).stat().st_mtime_ns for path in exports]
        return max(times, default=0) > (study.folder / table).stat().st_mtime_ns
    except OSError:  # nobody knows of files that are not there
        return False


def is_stage_due(study: OpenedStudy) -> bool:
    """Whether the last look dropped systems, or none, and goes on with new workers, who have no forms yet."""
    looks, tables = looks_taken(study), tables_of_stages(study)
    goes_on = bool(looks) and looks[-1].get("decision") == "continue"
    return bool(study.file.values.get("drop_systems")) and goes_on and 0 < len(tables) <= len(looks)


def _assign_stage(study: OpenedStudy, _sent: Mapping[str, str]) -> Words:
    if not is_stage_due(study):
        raise InputError("The next stage begins with a look that goes on. Take it when its ratings are in.")
    return ("assign", FILE_NAME, *_written_to(study, table_of_stage(study)), *_seed(study))


def _written_to(study: OpenedStudy, table: str) -> Words:
    """What has the forms written beside a table, where there is a platform; else it alone."""
    return ("-o", f"{posixpath.dirname(table)}/" if study.has("upload") else table)


def _call_spares(study: OpenedStudy, sent: Mapping[str, str]) -> Words:
    """What spares do for the slots of workers who are lost, by the codes that these saw."""
    takeovers = [one for one in sent.get("replace", "").split(", ") if one]
    numbers = [int(match[1]) for one in takeovers if (match := re.match(r"r([0-9]{1,6})=", one))]
    if not takeovers or len(numbers) < len(takeovers):
        raise InputError("Tick whose work a spare is to finish.")
    if not study.seed:
        raise InputError(
            "The seed that made this assignment is not in the folder: spares cannot be written here. Run the "
            "command that made it once more, with what stands at Collect."
        )
    reserve = max(*numbers, int(study.file.values.get("replacements", 0)))
    return (
        *("assign", FILE_NAME, *_options("--replace", takeovers), "--replacements", str(reserve)),
        *(*_written_to(study, table_of_spares(study)), *_seed(study)),
    )


def _rehearse(study: OpenedStudy, _sent: Mapping[str, str]) -> Words:
    """Ratings of this assignment, drawn as the sealed plan assumes them."""
    if not all(study.is_there(name) for name in ("plan", "assignment", "key")):
        raise InputError(
            "A sealed plan and its assignment are rehearsed. Seal the plan and write the forms first."
        )
    plan, key, drawn = (as_typed(study.file.values[name]) for name in ("plan", "key", "rehearsal"))
    tables = (word for path in paths_of(study.file.values["assignment"]) for word in ("--assignment", path))
    return ("simulate", "--plan", plan, *tables, "--key", key, "-o", drawn, "--force")


def _import(study: OpenedStudy, _sent: Mapping[str, str]) -> Words:
    """The answers of all exports as the ratings; not after the look that ended the study, which saw others."""
    if is_ended_by_look(study):
        raise InputError(
            "The last look ended the study: what it saw is analysed, and no answer that came in after it is taken."
        )
    read = ("import", FILE_NAME, *_mapped(study), *_as_before(study), *_tables_there(study))
    return (*read, *_again(study, "ratings"))


def _assign(study: OpenedStudy, _sent: Mapping[str, str]) -> Words:
    forms = ("-o", f"{FORMS_FOLDER}/") if study.has("upload") else ()
    return ("assign", FILE_NAME, *forms, *_seed(study), *_again(study, "assignment"))


def _choose(study: OpenedStudy, sent: Mapping[str, str]) -> Words:
    """Of a file of more items than are planned as many as these, with what a metric in it says of all."""
    if not study.is_there("outputs") or not sent.get("n", "").isdecimal():
        raise InputError("There are no texts to choose from. Bring them first.")
    score = sent.get("score", "").strip()
    (texts,), (chosen,) = (paths_of(study.file.values[name]) for name in ("outputs", "pool"))
    metric = ("--score", score) if score else ()
    return ("items", texts, "--n", sent["n"], *metric, "-o", chosen, "--force")


def _seed(study: OpenedStudy) -> Words:
    """The seed that is kept for the order of its assignment."""
    return ("--seed", study.seed) if study.seed else ()


def _withdraw(study: OpenedStudy, sent: Mapping[str, str]) -> Words:
    """A new table of ratings without those who withdrew, which the study then names."""
    # which brings numpy, without which the server can do
    from humeval_power.studies.field.form import is_pseudonym

    if study.is_there("exports") and any(map(is_pseudonym, sent[WITHDRAWN].splitlines())):
        rule = "By a made-up name nobody is kept out when more answers come in."
        raise InputError(f"{rule} Name who withdrew as the platform does.")
    free = (f"ratings-{number}.csv" for number in count(2))
    table = next(name for name in free if not (study.folder / name).exists())
    return ("collect", "withdraw", FILE_NAME, "--withdrawn", sent[KEPT], "-o", table)


def _again(study: OpenedStudy, field: str) -> Words:
    """What writes over the files of before, which the page has said that it does."""
    return ("--force",) if study.has(field) and study.is_there(field) else ()


def _read(study: OpenedStudy, _sent: Mapping[str, str]) -> Words:
    """The ratings of the exports by their mapping, into the table that the study names."""
    if not study.has("exports") or not study.has("ratings"):
        raise InputError("There is no file of ratings here. Bring it first.")
    exports, ratings = (paths_of(study.file.values[name]) for name in ("exports", "ratings"))
    return ("import", *exports, "--map", MAPPING, *_as_before(study), "-o", *ratings, "--force")


ACTS: Mapping[str, Act] = {
    "read": Act("decide", _read, writes=("ratings",), leads_on=True),
    "prove": Act("size", _prove),
    "search": Act("plan", _search, without=("plan",)),
    "seal": Act("plan", _seal, writes=("plan",)),
    "rehearse": Act(
        "collect",
        _rehearse,
        writes=("rehearsal",),
        leads_on=True,
    ),
    "next": Act("collect", _assign_stage, writes=("assignment", "key"), reads=("pool",), adds="stage"),
    "spares": Act("collect", _call_spares, writes=("assignment", "key"), adds="spares"),
    "choose": Act("collect", _choose, writes=("pool",)),
    "assign": Act("collect", _assign, writes=("assignment", "key"), is_seeded=True, reads=("pool",)),
    "import": Act("collect", _import, writes=("ratings",)),
    "withdraw": Act("collect", _withdraw, writes=("ratings",), keeps=WITHDRAWN),
    "look": Act("look", lambda _study, _sent: ("monitor", FILE_NAME), writes=("plan",)),
    "analyze": Act(
        "decide",
        lambda study, _sent: ("analyze", FILE_NAME, *_again(study, "findings")),
        writes=("findings",),
        reads=("plan", "pool"),
    ),
    "write": Act(
        "report",
        lambda _study, sent: (
            *("report", FILE_NAME, "--form", report_of(sent)),
            *("-o", f"{REPORTS_FOLDER}/{'' if report_of(sent) == WHOLE else f'{report_of(sent)}.html'}"),
            "--force",
        ),
        writes=("findings",),
    ),
}


def stage_now(study: OpenedStudy) -> str:
    """How far a study is: the first stage that has something left to do."""
    if study.is_there("findings") and not has_newer_ratings(study):
        return "report"
    if study.is_there("ratings") and is_look_due(study):
        return "look"
    if study.is_there("ratings") and have_looks_ended(study) and not has_newer_answers(study):
        return "decide"
    if study.is_there("plan"):
        return "collect"
    if not study.has("question"):
        return "question"
    return "plan" if open_of(study, "") == "power" else "size"


def has_newer_ratings(study: OpenedStudy) -> bool:
    """Whether the table of ratings is another than the one that its analysis was made of."""
    if not (study.is_there("findings") and study.is_there("ratings")):
        return False
    record = Path(record_in(str(study.folder / as_typed(study.file.values["findings"]))))
    (table,) = paths_of(study.file.values["ratings"])
    try:
        return not is_of_ratings(read_object(record), (study.folder / table).read_bytes())
    except (InputError, OSError):  # no analysis at all: nobody knows
        return False


def stages_done(study: OpenedStudy) -> frozenset[str]:
    """The stages whose own work is there, whatever comes after them: ratings that were brought need no plan."""
    sealed, rated = study.is_there("plan"), study.is_there("ratings")
    done = {
        "question": study.has("question"),
        "size": sealed or open_of(study, "") == "power",
        "plan": sealed,
        "collect": rated and have_looks_ended(study) and not has_newer_answers(study),
        "look": sealed and rated and study.has("looks") and have_looks_ended(study),
        "decide": study.is_there("findings") and not has_newer_ratings(study),
        "report": (study.folder / REPORTS_FOLDER).is_dir(),
    }
    return frozenset(key for key, is_done in done.items() if is_done)


def large_words(study: OpenedStudy) -> str:
    """'1.2 of 4 points is a large difference': where what is to be found is a good part of the scale."""
    raw, share = (as_typed(study.file.values.get(name)) for name in ("effect_raw", "effect"))
    scale = as_typed(study.file.values.get("scale"))
    try:
        size = abs(float(raw or share or 0))
        width = RatingScale.parse(scale).width if raw and scale else 1.0
    except (ValueError, InputError):  # which the answer says
        return ""
    if size <= _LARGE * width:
        return ""
    of = f"{width:g} points" if raw else "the whole scale"
    return f"{raw or share} of {of} is a large difference: smaller ones that matter would be missed more often."


def currency_of(study: OpenedStudy) -> str:
    """The currency of its prices."""
    return as_typed(study.file.values.get("currency")) or CURRENCY


def summary(study: OpenedStudy) -> tuple[tuple[str, str], ...]:
    """What a study says so far, in a few words each."""

    def said(name: str, words: str = "{}") -> str:
        value = as_typed(study.file.values.get(name))
        return words.format(value) if value else ""

    size = [
        said("workers", "{} workers"),
        said("items", "{} items"),
        said("ratings_per_item", "{} ratings of each output"),
    ]
    n_items, each = (int(study.file.values.get(name, 0)) for name in ("items", "ratings_per_item"))
    n_systems, product = n_systems_of(study), ""
    if n_items and each:
        total = n_items * n_systems * each
        product = f" ({n_items:,} items \u00d7 {n_systems} systems \u00d7 {each} = {total:,} ratings)"
    difference: list[Any] = [
        said("effect_raw", "{} points of the scale"),
        said("effect", "{} of the scale"),
    ]
    done = [
        words
        for field, words in (
            ("plan", "sealed plan"),
            ("assignment", "assignment"),
            ("ratings", "ratings"),
            ("findings", "analysis"),
        )
        if study.is_there(field)
    ]
    names = ("workers", "items", "ratings_per_item")
    values = study.file.values if not study.has("pilot") else {}
    # what is sealed is the study's own
    open_still = "" if study.is_there("plan") else " (our suggestion)"
    ours = open_still if all(values.get(name) == SUGGESTED[name] for name in names) else ""
    scale = open_still if values.get("scale") == SUGGESTED["scale"] else ""
    rows = (
        ("Systems", said("systems") or said("n_systems", "{} systems") or "two, A and B"),
        ("Pilot", said("pilot")),
        ("Scale", said("scale", f"{{}}{scale}").replace(":", " to ")),
        ("Criteria", said("criteria")),
        ("To find", ", ".join(filter(None, difference))),
        ("Size", ", ".join(filter(None, size)) + product + ours),
        ("Budget", said("budget", f"{{}} {currency_of(study)}")),
        ("In the folder", ", ".join(done)),
    )
    return tuple((name, words) for name, words in rows if words)
