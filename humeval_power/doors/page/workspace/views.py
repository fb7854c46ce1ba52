"""The pages of studies as HTML: values in, nothing read and nothing computed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast, get_args

from markupsafe import Markup

from humeval_power.asking.vocabulary import PRESET
from humeval_power.choices import TITLES, WITH_PROLIFIC, UploaderName
from humeval_power.doors.page.answers import Answer, JobProgress, Wrong
from humeval_power.doors.page.requests import LABELS, field_label, html_by_labels, on_page, study_labels
from humeval_power.doors.page.views import (
    FieldGroup,
    Kind,
    PageField,
    State,
    Surroundings,
    how_far,
    rendered,
)
from humeval_power.doors.page.workspace.examples import EXAMPLES
from humeval_power.doors.page.workspace.stages import (
    ACTS,
    BY_KEY,
    FOLDED,
    OPEN,
    REPORTS,
    STAGES,
    SUGGESTED,
    Stage,
    currency_of,
    field_read,
    has_newer_answers,
    has_newer_ratings,
    is_ended_by_look,
    is_look_due,
    is_rated,
    is_rehearsed,
    is_settled,
    is_skipped,
    is_stage_due,
    large_words,
    looks_taken,
    n_systems_of,
    open_of,
    report_of,
    stage_now,
    stages_done,
    summary,
    tables_of,
)
from humeval_power.doors.page.workspace.studies import (
    ASK,
    ChangedError,
    OpenedStudy,
    as_typed,
    criteria_of,
    paths_of,
    question_about,
    shown_value,
    usual_question,
)
from humeval_power.doors.page.workspace.written import preview_of, written_at
from humeval_power.saying.answer_words import between_words, narrowing_words, of_hundred
from humeval_power.saying.numbers import counted, in_words, time_taken
from humeval_power.study import DEFAULT_GOAL, FIELDS, FILE_NAME, SECTIONS
from humeval_power.systems import Goal, goal_words

if TYPE_CHECKING:
    from humeval_power.doors.page.workspace.bundle import StudyZip
    from humeval_power.doors.page.workspace.reading import TextsRead

_WAYS = {
    "cheapest": "The cheapest that reaches {target} of 100",
    "near": "The cheapest near {target} of 100",
    "fewer workers": "Fewer people, with more to rate each",
    "safer": "Surer",
    "all the budget": "The most that the budget buys",
    "best": "The most within your limits",
    "yours": "Your size",
}
_ALIKE = 0.02  # of powers and of prices that are said to be the same
_CLOSED = {  # ways that no design within the limits is
    "cheapest": "No design within the limits is enough.",
    "safer": "No design within the limits is much surer.",
}
_FIXED = (
    "the question, the systems and the scale",
    "the difference to find, the test and its level",
    "how many people and items there are, and who rates what",
    "when one may look before the end",
    "which ratings are left out",
    "the prices that the plan was made at",
)
_SIZES = {  # of several, and of one
    "workers": ("workers", "worker"),
    "items": ("items", "item"),
    "ratings_per_item": ("ratings of each output", "rating of each output"),
}
_SAID_ELSEWHERE = ("Study: ", f"{FILE_NAME} says now: ", "Seed ")  # in the fields, and beside the files
_NEWS = "Written: "  # what a button has just done
_LATER = {"plan": "Prices and limits", "collect": "Texts and platform"}  # fields whose work is done
_UNITS = {"ratings_per_item": "from different workers"}
_TITLES = {  # of what few need, by the titles of its sections
    "The question": "Ratings left out",
    "The ratings": "Criteria, and the scale",
    "The systems": "More than two systems",
    "How ratings vary": "Variation, by numbers of your own",
    "The difference to find": "The difference in another way",
    "The size of the study, and who rates what": "Who rates what, documents",
    "What goes wrong": "Careless workers, lost ratings",
    "What a plan searches": "How sure, and which sizes",
    "What it costs": "Fees, other costs, currency",
}
_LEADS = {  # of what is sealed
    "question": "This was sealed with the plan.",
    "size": "This size was sealed with the plan.",
    "plan": "The plan is sealed: this is how the study will be done.",
}
_HELPS = {  # where what a terminal needs to know is none of the page's business
    "question": "The plan and the paper begin with it. Workers never see it: what they are asked comes at Collect.",
    "systems": "Two or more, with commas between, as the paper will call them. Workers never see these names.",
    "scale": "The lowest and the highest rating, with a colon between: 1:5. On 0:100 workers move a slider.",
    "preset": "Ratings of other studies say how far workers, and items, differ. The more they do, the more ratings "
    "it takes. A pilot of your own says it better.",
    "pilot": "A table of ratings that you have of the same kind of texts: worker, item, system, rating.",
    "effect_raw": "Between the mean ratings of two systems. What is smaller may be missed; what is larger is found "
    "more often.",
    "workers": "People who rate. Each rates the outputs of all systems of an item.",
    "items": "Texts, or whatever the systems are given: each system has one output for each.",
    "ratings_per_item": "By so many different people is each output rated.",
    "cost_per_rating": "What a worker is paid for one rating of one output.",
    "cost_per_worker": "Finding, instructing and training one more worker. Left empty, many workers with little to "
    "rate each look cheapest.",
    "seconds_per_rating": "For the hours and days beside each design. Left empty, half a minute.",
    "budget": "All in all. Nothing that costs more is planned.",
    "max_workers": "No design has more.",
    "upload": "Where the workers see the texts. The forms that it takes are written for you. Prolific finds people "
    "only, so it comes with one that shows the texts.",
    "parameters": "What a fit of your pilot wrote, where the pilot itself is not at hand.",
    "exports": "All files that the platform or the workers gave back, at once or as they come: CSV, Excel, JSON. "
    "Drop them anywhere on the page.",
    "outputs": "A table with a row for each item and a column for each system. Other columns are asked about.",
}
_EXAMPLES = {"question": "Is the new one rated higher?", "systems": "baseline, new", "scale": "1:5"}
_PROLIFIC = "prolific"  # which finds people, and shows them no texts
_CHOICES: Mapping[str, Mapping[str, str]] = {
    "preset": PRESET.words,
    "upload": {
        **{name: TITLES[name] for name in get_args(UploaderName) if name != _PROLIFIC},
        **{f"{name}, {_PROLIFIC}": f"Prolific, with {TITLES[name]}" for name in WITH_PROLIFIC},
    },
}
# What is missing: a problem with one of these fields, where the study has none of them, in the words of the page.
_MISSING: tuple[tuple[tuple[str, ...], Wrong], ...] = (
    (
        ("effect", "effect_raw", "effect_latent"),
        Wrong("Say the smallest difference that matters.", "effect_raw"),
    ),
    (
        ("preset", "pilot", "parameters", "values"),
        Wrong("Choose one of the list, or bring a pilot of your own.", "preset"),
    ),
    (("cost_per_rating", "pay_per_hour"), Wrong("Say what one rating costs.", "cost_per_rating")),
)
_PLACE = re.compile(r"study\.toml(?:, line \d+)?, \[\w+\] (?P<field>\w+):? ?")


@dataclass(frozen=True, slots=True)
class StageShown:
    """The answer of a stage: how far, what came out, what is wrong; `act` is what a button began; `table` and
    `texts` are how a file of ratings and one of texts to rate are read; `instead` are changes of the study that
    would do, where what was to be worked out does not exist, or asks little of many workers; `pilot` is what a
    pilot holds, `sealed` what the sealed plan says; `bundle` is what can be given away; `for_look` how many answers
    of those that the next look needs are in."""

    state: State
    progress: JobProgress | None = None
    place: int = 0
    answer: Answer | None = None
    wrong: tuple[Wrong, ...] = ()
    act: str = ""
    table: Answer | None = None
    texts: TextsRead | None = None
    instead: tuple[Mapping[str, str], ...] = ()
    pilot: tuple[str, ...] = ()
    sealed: tuple[str, ...] = ()
    bundle: StudyZip | None = None
    for_look: tuple[int, int] | None = None

    def is_taken(self, study: OpenedStudy) -> bool:
        """Whether the ratings of a file that is shown are those of the study."""
        reading = None if self.table is None else self.table.reading
        return study.has("exports") and reading is not None and not reading.troubles

    def problems(self, study: OpenedStudy) -> tuple[Wrong, ...]:
        """All that is wrong, in the words of the page."""
        of_answer = self.answer.problems if self.answer else ()
        if self.table is not None and not self.is_taken(study):
            of_answer = self.table.problems  # they say more than why the table cannot be used as it is
        result = map(_spoken, (*self.wrong, *of_answer))
        return tuple(_missing(one.option, study) or one for one in result)


def is_read(stage: Stage, study: OpenedStudy, wanted: Mapping[str, str], shown: StageShown) -> bool:
    """Whether a stage shows how its file is read: where that is asked for, where nothing comes of it, and where its
    ratings are not taken yet."""
    if not field_read(study, stage) or shown.state in ("starting", "waiting", "running"):
        return False
    failed = shown.answer is not None and bool(shown.answer.problems)
    return bool(wanted.get("table")) or failed or not study.is_there("ratings")


def may_be_wide(stage: Stage, study: OpenedStudy, shown: StageShown) -> bool:
    """Whether a table that was brought as it is may have several ratings a row, of which names alone say what."""
    return (
        field_read(study, stage) == "ratings"
        and not study.is_there("findings")
        and shown.state not in ("starting", "waiting", "running")
    )


def home_page(studies: Sequence[OpenedStudy | tuple[str, str]], folder: str, around: Surroundings) -> str:
    """The studies of the folder, and how to begin one."""
    rows: list[dict[str, Any]] = []
    for one in studies:
        if isinstance(one, tuple):
            rows.append({"title": one[0] or folder, "problem": one[1]})
            continue
        stage = BY_KEY[stage_now(one)]
        row = {"study": one, "stage": stage, "place": STAGES.index(stage) + 1, "n_stages": len(STAGES)}
        rows.append({**row, "title": one.title, "problem": ""})
    return rendered(
        "home.html", title="", studies=rows, folder=folder, examples=EXAMPLES, form_token=around.form_token
    )


def stage_page(
    stage: Stage,
    study: OpenedStudy,
    typed: Mapping[str, str],
    wanted: Mapping[str, str],
    shown: StageShown,
    around: Surroundings,
) -> str:
    """A stage with its fields and its answer."""
    wrong: dict[str, tuple[str, ...]] = {}
    for problem in shown.problems(study):
        wrong[problem.option] = (*wrong.get(problem.option, ()), problem.text)
    asked = stage.fields_for(wanted.get("open", ""), study)
    fields = list(_fields(asked, study, typed, wrong))
    first = _first_fields(stage, study, wanted, asked)
    is_done = is_settled(stage, study, wanted) and stage.key != "plan"  # where prices find another design
    more = [
        FieldGroup(_TITLES.get(title, title), tuple(_fields(names, study, typed, wrong)), folded=True)
        for title, names in (() if is_done else stage.more(study))
    ]
    waits = shown.state in ("starting", "waiting", "running")
    if is_done:
        fields = []
    elif len(first) < len(asked):
        later = tuple(field for field in fields if field.name not in first)
        more.insert(0, FieldGroup(_LATER[stage.key], later))
        fields = [field for field in fields if field.name in first]
    return rendered(
        "stage.html",
        title=f"{stage.title} · {study.title}",
        fields=fields,
        more=more,
        is_more_open=any(group.is_open for group in more if group.folded),
        files_here=around.files,
        file_fields=[field for field in fields if field.kind == "file"],
        refresh=2 if waits else None,
        **_of_answer(stage, study, wanted, shown, around),
    )


def _first_fields(
    stage: Stage, study: OpenedStudy, wanted: Mapping[str, str], asked: Sequence[str]
) -> tuple[str, ...]:
    """The fields of a stage that are not folded: what is sealed does not change with its prices any more, and to
    whoever has handed out forms answers come back."""
    if is_settled(stage, study, wanted):
        return ()
    if stage.key == "collect" and study.is_there("assignment"):
        return ("exports",)
    return tuple(asked)


def stage_json(
    stage: Stage,
    study: OpenedStudy,
    wanted: Mapping[str, str],
    shown: StageShown,
    around: Surroundings,
) -> dict[str, Any]:
    """The answer alone, for the script of the page."""
    return {
        "state": shown.state,
        "key": "",
        "version": study.version if shown.table is not None and wanted.get("seen") else "",
        "written": study.version if shown.state == "done" and shown.act and ACTS[shown.act].writes else "",
        "fields": _first_fields(stage, study, wanted, stage.fields_for(wanted.get("open", ""), study)),
        "html": rendered("stage_answer.html", **_of_answer(stage, study, wanted, shown, around)),
        "problems": [
            {"option": each.option, "text": each.text} for each in shown.problems(study) if each.option
        ],
    }


def saved_json(stage: Stage, study: OpenedStudy, wanted: str) -> dict[str, Any]:
    """What is saved now: the version, and the values of the fields of the stage."""
    names = (*stage.fields_for(wanted, study), *(name for _, group in stage.more(study) for name in group))
    return {
        "version": study.version,
        "values": {name: shown_value(study, name) for name in names},
        "suggested": [name for name in names if _is_suggested(study, name)],
    }


def conflict_page(error: ChangedError, stage: Stage, form_token: str) -> str:
    """Both versions of what was to be saved; the reader says which one holds."""
    values = error.now.file.values
    rows = [
        (FIELDS[name].label or name, name, text, as_typed(values.get(name)))
        for name, text in error.mine.items()
    ]
    return rendered(
        "conflict.html",
        title="Changed meanwhile",
        text=str(error),
        rows=rows,
        link=error.now.link(stage.key),
        version=error.now.version,
        form_token=form_token,
    )


def _of_answer(
    stage: Stage, study: OpenedStudy, wanted: Mapping[str, str], shown: StageShown, around: Surroundings
) -> dict[str, Any]:
    answer = shown.answer or (shown.progress.answer if shown.progress else None)
    if shown.table is not None and shown.table.reading is not None and not shown.is_taken(study):
        answer = None  # of the table as it is, which the reading puts right
    place = [one.key for one in STAGES].index(stage.key)
    skipped = frozenset(one.key for one in STAGES if is_skipped(one, study))
    following = next((one for one in STAGES[place + 1 :] if one.key not in skipped), None)
    done = stages_done(study)
    platforms = set(paths_of(study.file.values.get("upload", ())))
    notes = answer.notes if answer else ()
    settled = is_settled(stage, study, wanted)
    take = _solved_fields(study, wanted, answer) if stage.key == "size" and not settled else {}
    return {
        "stage": stage,
        "study": study,
        "stages": STAGES,
        "done": done,
        "skipped": skipped,
        "waits_for_its_act": stage.key in ("plan", "collect", "look")
        and stage.key not in done
        and not (stage.key == "collect" and is_look_due(study)),
        "state": shown.state,
        "act": shown.act,
        "progress": how_far(shown.state, shown.progress, shown.place),
        "wrong": [
            (field_label(each.option), _place_of(each.option, stage, study, wanted), each.text)
            if each.option
            else ("", "", each.text)
            for each in shown.problems(study)
        ],
        "html": Markup(html_by_labels(answer.html, study_labels())) if answer else "",
        "news": ", ".join(note.removeprefix(_NEWS) for note in notes if note.startswith(_NEWS)),
        "notes": [on_page(note) for note in notes if not note.startswith((_NEWS, *_SAID_ELSEWHERE))],
        "command": answer.command if answer else "",
        **_choice(study, answer if shown.act == "search" else None),
        "spares": answer.spares if answer else (),
        "asks": _by_section(answer.asks) if answer else {},
        "summary": summary(study),
        "open": open_of(study, wanted.get("open", "")) if stage.key == "size" and not settled else "",
        "opens": OPEN,
        "wants": wanted.get("open", "") if wanted.get("open", "") in OPEN else "",
        "is_trade": answer is not None and answer.exit_code == 0,
        "instead": [(change, _changed_words(change)) for change in shown.instead],
        "size_words": _sizes_in_words(
            {name: as_typed(study.file.values[name]) for name in ("workers", "items") if study.has(name)}
        ),
        "take": take,
        "take_words": _sizes_in_words(take),
        "take_before": _sizes_in_words(
            {name: as_typed(study.file.values[name]) for name in take if study.has(name)}
        ),
        "form": report_of(wanted),
        "reports": REPORTS,
        "is_sealed": study.is_there("plan"),
        "is_settled": settled,
        "is_rated": is_rated(study),
        "sealed": shown.sealed,
        "lead": _LEADS[stage.key] if settled else stage.lead,
        "pilot": shown.pilot,
        "pilot_name": as_typed(study.file.values.get("pilot")),
        "caveats": [on_page(text) for text in answer.caveats] if answer else [],
        "is_stage_due": stage.key in ("collect", "look") and is_stage_due(study),
        "dropped": [name for look in looks_taken(study) for name in look.get("dropped", ())]
        if stage.key in ("collect", "look")
        else [],
        "shows_rehearsal": bool(wanted.get("rehearsed")),
        "is_rehearsed": stage.key == "collect" and is_rehearsed(study, wanted),
        "fixed": _FIXED,
        "has": {
            name: study.is_there(name)
            for name in ("assignment", "key", "exports", "ratings", "findings", "outputs")
        },
        "large": large_words(study)
        if stage.key == "size" and not settled and open_of(study, wanted.get("open", "")) != "effect"
        else "",
        "form_title": SECTIONS["form"].title,
        "more_words": "To look for another design"
        if stage.key == "plan" and study.is_there("plan")
        else "Texts, platform, and what workers see"
        if stage.key == "collect" and study.is_there("assignment")
        else "",
        "is_stale": stage.key in ("decide", "report") and has_newer_ratings(study),
        "has_platform": bool(platforms - {_PROLIFIC}),
        "is_of_prolific": _PROLIFIC in platforms,
        "ended": answer is not None and answer.ended,
        "has_looks": study.has("looks"),
        "may_assign": stage.key == "collect" and _may_assign(study, shown, bool(platforms - {_PROLIFIC})),
        "has_newer_answers": stage.key == "collect" and has_newer_answers(study),
        **(_looks(study, shown) if stage.key == "look" else {}),
        "ended_by_look": stage.key == "collect" and is_ended_by_look(study),
        "items_stay": study.has("items") and not study.has("items_range"),
        "planned_items": study.file.values.get("items"),
        "system_names": study.file.values.get("systems") or ("A", "B"),
        "reading": shown.table.reading if shown.table else None,
        "texts": shown.texts,
        "preview": preview_of(study, shown.texts)
        if shown.texts is not None and shown.texts.items
        else None,
        "bundle": shown.bundle,
        "written": written_at(stage.key, study),
        "table_open": bool(wanted.get("table")),
        "can_read": bool(field_read(study, stage)),
        "next": following,
        "form_token": around.form_token,
    }


def _may_assign(study: OpenedStudy, shown: StageShown, has_platform: bool) -> bool:
    """Whether all is there that forms are made of, and no rating was taken yet."""
    if (
        not study.is_there("plan")
        or study.is_there("ratings")
        or len(tables_of(study)) > 1
        or is_stage_due(study)
    ):
        return False
    if not study.is_there("outputs"):
        return study.is_there("assignment") and not has_platform
    texts = shown.texts
    return has_platform and (texts is None or (texts.is_as_it_is and not texts.misses))


def _looks(study: OpenedStudy, shown: StageShown) -> dict[str, Any]:
    """How many looks were taken, whether another is due, and what is in hand for it."""
    looks, in_hand = looks_taken(study), []
    seen = (looks[-1].get("data") or {}).get("n_ratings") if looks else None
    if isinstance(seen, int):
        in_hand.append(f"Look {len(looks)} has seen {counted(seen, 'rating')}.")
    done, needed = shown.for_look or (0, 0)
    if needed:
        in_hand.append(
            f"Look {len(looks) + 1} needs {counted(needed, 'answer')}, of which {done:,} are in."
        )
    return {
        "n_looks": len(looks),
        "is_look_due": is_look_due(study),
        "is_early": done < needed,
        "in_hand": " ".join(in_hand),
    }


def _by_section(asks: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """The answers that only authors know: what is open, by section of the forms; then what is answered."""
    sections: dict[str, list[Mapping[str, Any]]] = {}
    for one in sorted(asks, key=lambda one: one["value"] is not None):
        if one["value"] is not None or one["is_open"]:
            section = one["section"] if one["value"] is None else "Answered"
            sections.setdefault(section, []).append({**one, **_how(one["hint"] or "")})
    return sections


def _how(hint: str) -> dict[str, Any]:
    """What an answer should say: without the key of the file that takes the same in other words; the options of
    one that has to choose."""
    said = re.sub(r"(^|; )or heds\..*", "", hint)
    several, words = said.startswith("one or several of: "), said.partition("of: ")[2]
    options = words.split("; ") if several or said.startswith("one of: ") else []
    if len(options) < 2:
        return {"hint": said, "options": ()}
    return {"hint": "", "options": options, "several": several}


def _solved_fields(study: OpenedStudy, wanted: Mapping[str, str], answer: Answer | None) -> dict[str, str]:
    """The fields that were open with their values in the answer; none where the study says the same."""
    unknown = (wanted.get("open", "") or open_of(study, "")).replace("-", "_")
    names = ("workers", "items") if unknown == "budget" else (unknown,) if unknown in _SIZES else ()
    numbers = dict(answer.numbers) if answer and answer.exit_code == 0 else {}
    taken = {name: numbers[name] for name in names if name in numbers}
    if "workers" in taken and numbers.get("enough_workers", "0") != "0":
        taken["workers"] = numbers["enough_workers"]
    is_new = any(value != as_typed(study.file.values.get(name)) for name, value in taken.items())
    return taken if is_new else {}


def _sizes_in_words(sizes: Mapping[str, str]) -> str:
    """'4 workers and 60 items', '4 workers, 60 items and 3 ratings of each item'."""
    return in_words([f"{value} {_SIZES[name][value == '1']}" for name, value in sizes.items()])


def _changed_words(change: Mapping[str, str]) -> str:
    """'Take 240 items', 'Look for a difference of 0.35 points'."""
    if words := _sizes_in_words({name: value for name, value in change.items() if name in _SIZES}):
        return f"Take {words}"
    (name, value), *_ = change.items()
    return f"Look for a difference of {value}{' points' if name == 'effect_raw' else ''}"


def _choice(study: OpenedStudy, answer: Answer | None) -> dict[str, Any]:
    """The designs to choose among, one that is there for two reasons once; which ways none of them is, and what
    would narrow the range of what is possible."""
    cards: list[dict[str, Any]] = []
    for name, design in answer.ways if answer else ():
        card = _way(name, design, study)
        same = next((one for one in cards if {**one, "title": ""} == {**card, "title": ""}), None)
        if same is None:
            if name == "yours" and cards:
                card["title"] += f": {_beside(card, cards[0], _target(study))}"
            cards.append(card)
        elif name == "yours":
            same["title"] += ", as is your size"
    names = {name for name, _ in answer.ways} if answer else set()
    closed = [words for name, words in _CLOSED.items() if name not in names] if cards else []
    known_from = {card["known_from"] for card in cards if card["between"]}
    narrows = [narrowing_words(one) for one in known_from]
    return {"ways": cards, "closed": closed, "narrows": [f"{one[0].upper()}{one[1:]}" for one in narrows]}


def _target(study: OpenedStudy) -> float:
    """The power that a design is to reach."""
    return float(study.file.values.get("power") or FIELDS["power"].usual)


def _beside(card: Mapping[str, Any], cheapest: Mapping[str, Any], target: float) -> str:
    """'surer, 3 times the price': one's own size beside the cheapest."""
    gap = card["power"] - cheapest["power"]
    is_alike = abs(gap) < _ALIKE and (card["power"] < target) == (cheapest["power"] < target)
    sure = "about as sure" if is_alike else "surer" if gap > 0 else "less sure"
    if not cheapest["price"]:
        return sure
    times = float(card["price"] / cheapest["price"])
    return f"{sure}, {'the same price' if abs(times - 1) < _ALIKE else f'{times:.2g} times the price'}"


def _finds(study: OpenedStudy) -> str:
    """'would find a difference of 0.6 points': what such studies do as often as a card says."""
    raw, share = (as_typed(study.file.values.get(name)) for name in ("effect_raw", "effect"))
    size = f"{raw} point{'s' if raw != '1' else ''}" if raw else f"{share} on [0, 1]" if share else ""
    if not size or study.has("margin", "margin_raw"):
        return "would reach the goal of the study"
    if n_systems_of(study) <= 2:
        return f"would find a difference of {size}"
    goal = cast("Goal", as_typed(study.file.values.get("goal")) or DEFAULT_GOAL)
    return f"would {goal_words(goal, f'{size} apart', margin=False)}"


def _way(name: str, design: Mapping[str, Any], study: OpenedStudy) -> dict[str, Any]:
    hours, spread = design.get("hours"), design.get("power_spread")
    cost, budget = Decimal(design["cost"]), study.file.values.get("budget")
    target = _target(study)
    if name == "cheapest" and design["shown_power"] < target:  # which reaches it by formula
        name = "near"
    n_systems = n_systems_of(study)
    product = design["n_items"] * n_systems * design["ratings_per_item"]
    return {
        "title": _WAYS.get(name, name).format(target=of_hundred(target)),
        "finds": _finds(study),
        "is_first": design["is_recommended"],
        "power": design["shown_power"],
        "price": cost,
        "product": f"{design['n_items']:,} \u00d7 {n_systems} systems \u00d7 {design['ratings_per_item']}"
        if product == design["n_ratings"]
        else "",
        "found": of_hundred(design["shown_power"]).replace("more than ", "> ").replace("fewer than ", "< "),
        "between": between_words(spread["low"], spread["high"]) if spread else "",
        "known_from": spread["known_from"] if spread else "",
        "each": f"{design['n_ratings'] / design['n_workers']:.0f}",
        "is_beyond": budget is not None and cost > Decimal(str(budget)),
        "workers": design["n_workers"],
        "items": design["n_items"],
        "ratings_per_item": design["ratings_per_item"],
        "documents": design["n_documents"],
        "ratings": f"{design['n_ratings']:,}",
        "cost": f"{cost:,.2f} {currency_of(study)}",
        "hours": time_taken(hours * 3600) if hours else "",
        "days": design.get("days"),
    }


def _spoken(problem: Wrong) -> Wrong:
    """A problem by the field that it is about, without options and lines of the file."""
    place = _PLACE.search(problem.text)
    option = problem.option.replace("-", "_")
    field = place["field"] if place else option
    text = _PLACE.sub(
        lambda match: (
            f"\u201c{FIELDS[match['field']].label or match['field']}\u201d: "
            if match["field"] in FIELDS
            else ""
        ),
        problem.text,
    )
    if field not in FIELDS:
        return Wrong(on_page(text))
    itself = f"\u201c{re.escape(field_label(field))}\u201d"  # beside which it stands, with its value
    return Wrong(re.sub(f"\\A{itself}:? (?:value [^:]+: )?", "", on_page(text)), field)


def _missing(option: str, study: OpenedStudy) -> Wrong | None:
    """What the page says where a problem is that nothing is said yet; None where something is."""
    return next((said for names, said in _MISSING if option in names and not study.has(*names)), None)


def _place_of(field: str, stage: Stage, study: OpenedStudy, wanted: Mapping[str, str]) -> str:
    """Where a field is asked: at this stage, else at the first that asks it; "" where none does."""
    anchor = f"#field-{f'{ASK}0' if field == 'questions' else field}"
    if field in stage.asks(study, wanted.get("open", "")):
        return anchor
    there = next((one for one in STAGES if field in one.asks(study)), None)
    return "" if there is None else f"{study.link(there.key)}{anchor}"


def _fields(
    names: Sequence[str],
    study: OpenedStudy,
    typed: Mapping[str, str],
    wrong: Mapping[str, tuple[str, ...]],
) -> Iterator[PageField]:
    """The fields of these names: of questions one for each criterion."""
    for name in names:
        if name != "questions":
            yield _field(name, study, typed, wrong)
            continue
        criteria = criteria_of(study)
        for place, criterion in enumerate(criteria):
            yield PageField(
                name=f"{ASK}{place}",
                label="What workers are asked" + (f" about {criterion}" if len(criteria) > 1 else ""),
                kind="area",
                values=(question_about(study, criterion),),
                default=usual_question(criterion),
                help="Beside each text. Left empty, they are asked what stands there.",
                wrong=wrong.get(name, ()) if not place else (),
            )


def _is_suggested(study: OpenedStudy, name: str) -> bool:
    return not study.has("pilot") and study.file.values.get(name) == SUGGESTED.get(name, ...)


def _field(
    name: str, study: OpenedStudy, typed: Mapping[str, str], wrong: Mapping[str, tuple[str, ...]]
) -> PageField:
    one = FIELDS[name]
    words = _CHOICES.get(name, one.words)
    kind: Kind = "text"
    choices: tuple[tuple[str, str], ...] = ()
    if one.kind.is_file:
        kind = "file"
    elif one.kind.flag is not None:
        kind, choices = "choice", (("1", words.get("1", "Yes")), ("0", words.get("0", "No")))
    elif one.kind.choices or words:
        kind = "choice"
        choices = tuple(
            (each, words.get(each, each))
            for each in ((name not in _CHOICES and one.kind.choices) or [each for each in words if each])
        )
    elif one.kind.is_number:
        kind = "number"
    elif name == "question":
        kind = "area"
    usual = "" if one.usual in (None, "") else as_typed(one.usual)
    if name == "goal":
        usual = DEFAULT_GOAL
    nothing = words.get("") or (f"as usual: {dict(choices).get(usual, usual)}" if usual else "not chosen")
    if name == "preset" and study.has("pilot"):
        nothing = "As in your pilot"
    return PageField(
        name=name,
        label=LABELS.get(name, one.label),
        kind=kind,
        values=(typed.get(name, shown_value(study, name)),),
        choices=choices,
        unit=_UNITS.get(name, one.unit),
        help=_HELPS.get(name) or on_page(one.full_help),
        slider=one.slider,
        step=one.step,
        default=usual or (f"such as {_EXAMPLES[name]}" if name in _EXAMPLES else "")
        if kind != "choice"
        else "",
        nothing=nothing,
        joined=one.kind.many,
        is_suggested=_is_suggested(study, name),
        folded=FOLDED.get(name, ""),
        wrong=wrong.get(name, ()),
    )
