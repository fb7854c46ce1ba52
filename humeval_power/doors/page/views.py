"""Pages out of what is asked and what is answered: values in, HTML out, nothing computed and nothing read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit

import click
from jinja2 import Environment
from markupsafe import Markup

from humeval_power.asking.declared import control_of
from humeval_power.asking.form import JOURNEYS, Control, Form, FormGroup, Next
from humeval_power.asking.options import DeclaredArgument, DeclaredOption
from humeval_power.doors.page.answers import Answer, JobProgress, Wrong
from humeval_power.doors.page.requests import (
    FORMS,
    WRITES,
    CommandRequest,
    by_labels,
    by_titles,
    file_names,
    html_by_labels,
    link_name,
    may_read_files,
    offered,
)
from humeval_power.doors.page.score_reading import ASKS, ScoreColumns, roles_of, scores_shown
from humeval_power.saying.numbers import time_taken
from humeval_power.saying.render.html import safe_environment

# The fields of a form: what stands in each, in which words, and what is wrong with it.

Kind = Literal["text", "area", "number", "choice", "switch", "file"]
MORE = "All options"


@cache
def labels_of(path: tuple[str, ...]) -> dict[str, str]:
    """The labels of the fields of a form, by their options."""
    groups = field_groups(FORMS[path], CommandRequest(path), ())
    return {field.name: field.label.removeprefix("Or ") for group in groups for field in group.fields}


@dataclass(frozen=True, slots=True)
class PageField:
    """One field as it is shown: `values` as they were typed, `choices` with their words, `wrong` beside it.
    Of `many` each has a field of its own; those that are `joined` stand in one, with commas between. What
    nobody has set `is_suggested`; under `folded` stands one that few need."""

    name: str
    label: str
    kind: Kind
    values: tuple[str, ...]
    choices: tuple[tuple[str, str], ...] = ()
    unit: str = ""
    help: str = ""
    slider: tuple[float, float] | None = None
    step: float = 1
    default: str = ""
    nothing: str = ""
    many: bool = False
    joined: bool = False
    is_suggested: bool = False
    folded: str = ""
    wrong: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """What its label, its help and its errors are tied to."""
        return f"field-{self.name}"


@dataclass(frozen=True, slots=True)
class FieldGroup:
    """Fields under a title; `is_open` tells a folded one whether to show itself."""

    title: str
    fields: tuple[PageField, ...]
    note: str = ""
    folded: bool = False
    one_of: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether something in it is set or wrong."""
        return not self.folded or any(any(field.values) or field.wrong for field in self.fields)


def field_groups(form: Form, request: CommandRequest, problems: Sequence[Wrong]) -> tuple[FieldGroup, ...]:
    """The groups of a form with what is asked, and behind them all options that no group names."""
    options = offered(form.command, form.hides)
    named = {control.option for group in form.groups for control in group.controls}
    rest = tuple(_control(name, option) for name, option in options.items() if name not in named)
    groups = [*form.groups, FormGroup(MORE, rest, folded=True)] if rest else form.groups
    by_option: dict[str | None, tuple[str, ...]] = {}
    for problem in problems:
        name = _about(problem, options)
        by_option[name] = (*by_option.get(name, ()), problem.text)
    return tuple(
        FieldGroup(
            group.title,
            tuple(
                _field(control, options[control.option], request, by_option.get(control.option, ()))
                for control in group.controls
            ),
            group.note,
            group.folded,
            group.one_of,
        )
        for group in groups
    )


def _control(name: str, option: click.Parameter) -> Control:
    """How an option is asked that no group names."""
    if isinstance(option, DeclaredOption | DeclaredArgument):
        return replace(control_of(name, option.about), option=name)
    return Control(name)


def can_begin(form: Form) -> bool:
    """Whether a form that nobody has touched asks what can be answered; which files it writes asks nothing."""
    begun = {name for name, _ in form.start if (form.command, name) not in WRITES}
    options = offered(form.command, form.hides)
    return bool(begun) and all(name in begun for name, option in options.items() if option.required)


def problems_elsewhere(form: Form, problems: Sequence[Wrong]) -> tuple[str, ...]:
    """What is wrong and stands beside no field."""
    options = offered(form.command, form.hides)
    return tuple(problem.text for problem in problems if _about(problem, options) is None)


def wrong_fields(form: Form, problems: Sequence[Wrong]) -> tuple[tuple[str, str], ...]:
    """The fields that something stands beside: their ids and labels."""
    options = offered(form.command, form.hides)
    labels = {control.option: control.label for group in form.groups for control in group.controls}
    names = dict.fromkeys(name for problem in problems if (name := _about(problem, options)) is not None)
    return tuple((f"field-{name}", labels.get(name) or _words(name)) for name in names)


def _about(problem: Wrong, options: Mapping[str, click.Parameter]) -> str | None:
    """The option that a problem is about, if the page has it."""
    if problem.option in options:
        return problem.option
    sides = {side.lstrip("-"): name for name, option in options.items() for side in option.secondary_opts}
    return sides.get(problem.option)


def _field(
    control: Control, option: click.Parameter, request: CommandRequest, wrong: tuple[str, ...]
) -> PageField:
    kind = _kind(request.command, control, option)
    label = control.label or _words(control.option)
    help = by_titles(control.help or getattr(option, "help", "") or "")
    if help.rstrip(".").casefold() == label.casefold():
        help = ""
    values = request.values(control.option)
    return PageField(
        name=control.option,
        label=label,
        kind=kind,
        values=(*values, *("",) * (max(1, control.rows) - len(values))),
        choices=_choices(control, option),
        unit=control.unit,
        help=help,
        slider=control.slider,
        step=control.step,
        default=control.labels.get(_default(option), _default(option)) if _default(option) else "",
        nothing=control.labels.get("")
        or (_where_nothing_is_chosen(control, option) if kind == "choice" else ""),
        many=bool(getattr(option, "multiple", False)) or option.nargs != 1,
        wrong=wrong,
    )


def _kind(command: tuple[str, ...], control: Control, option: click.Parameter) -> Kind:
    if (command, control.option) in WRITES:
        return "switch"
    if may_read_files(command, option):
        return "file"
    if isinstance(option, click.Option) and option.is_flag:
        return "choice" if option.secondary_opts else "switch"
    if isinstance(option.type, click.Choice) or control.labels:
        return "choice"
    is_number = isinstance(option.type, click.types.IntParamType | click.types.FloatParamType)
    return "number" if is_number or type(option.type).__name__ in _NUMBERS else "text"


_NEARLY = 0.995  # of what is done
_NUMBERS = ("WholeNumber", "RealNumber", "Money")


def _choices(control: Control, option: click.Parameter) -> tuple[tuple[str, str], ...]:
    if isinstance(option.type, click.Choice):
        values = [str(value) for value in option.type.choices]
    elif option.secondary_opts:
        return (
            ("1", control.labels.get("1", _words(link_name(option)))),
            ("0", control.labels.get("0", _words(max(option.secondary_opts, key=len).lstrip("-")))),
        )
    else:
        values = [value for value in control.labels if value]
    return tuple((value, control.labels.get(value, value)) for value in values)


def _default(option: click.Parameter) -> str:
    """What holds where nothing is typed, where the command says it."""
    default = option.default
    is_said = isinstance(option, click.Option) and bool(option.show_default)
    return str(default) if is_said and isinstance(default, str | int | float) else ""


def _where_nothing_is_chosen(control: Control, option: click.Parameter) -> str:
    """What holds where nothing of a choice is chosen: the default, or what the help says in brackets."""
    words = dict(_choices(control, option)) if isinstance(option, click.Option) else {}
    if isinstance(option, click.Option) and option.secondary_opts and isinstance(option.default, bool):
        return f"as usual: {words['1' if option.default else '0']}"
    if _default(option):
        return f"as usual: {words.get(_default(option), _default(option))}"
    if option.required:
        return "choose one"
    said = re.findall(r"\[([^\]]+)\]", getattr(option, "help", "") or "")
    if not said:
        return "not chosen"
    return f"as usual: {words[said[-1]]}" if said[-1] in words else str(said[-1])


def _words(name: str) -> str:
    text = name.replace("-", " ")
    return text[:1].upper() + text[1:]


State = Literal["idle", "starting", "live", "waiting", "running", "done", "stopped", "failed"]
RUN = "/run"  # in front of the path of a form whose answer is to be computed as it is asked


@dataclass(frozen=True, slots=True)
class AnswerState:
    """What a page knows of an answer: of which job, how far, what came out, and what the link itself has wrong.

    place : in the queue, 0 when it is being computed.
    brought : the files of the answer that other forms can take, by their names: as values of links.
    beside : the names of files that the command wrote beside its answer, for whoever asked alone.
    missing : fields without which there is no answer and that nobody has set yet: ids and labels.
    """

    state: State
    key: str = ""
    progress: JobProgress | None = None
    place: int = 0
    answer: Answer | None = None
    wrong: tuple[Wrong, ...] = ()
    brought: Mapping[str, str] = field(default_factory=dict)
    beside: tuple[str, ...] = ()
    missing: tuple[tuple[str, str], ...] = ()

    @property
    def problems(self) -> tuple[Wrong, ...]:
        """All that is wrong."""
        return (*self.wrong, *(self.answer.problems if self.answer else ()))


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What every page needs of the server: the token of its forms, the files that can be named, the folder."""

    form_token: str
    files: tuple[str, ...] = ()
    has_folder: bool = False


def error_page(title: str, text: str) -> str:
    """A page that says what is wrong with a request."""
    return rendered("error.html", title=title, text=text)


def form_page(
    form: Form,
    request: CommandRequest,
    shown: AnswerState,
    around: Surroundings,
    columns: ScoreColumns | None = None,
) -> str:
    """A form with its answer; with the columns of its file these are chosen beside it, and not typed."""
    shown = _spoken(shown, form)
    groups = field_groups(form, request, shown.problems)
    if columns is not None:
        kinds = roles_of(form.command)
        left = (
            replace(group, fields=tuple(one for one in group.fields if one.name not in kinds))
            for group in groups
        )
        groups = tuple(group for group in left if group.fields)
    return rendered(
        "form.html",
        title=form.title,
        form=form,
        field_groups=groups,
        file_fields=[each for group in groups for each in group.fields if each.kind == "file"],
        files_here=around.files,
        refresh=2 if shown.state in ("starting", "waiting", "running") else None,
        reads=form.command in ASKS,
        scores=None if columns is None else scores_shown(request, columns),
        **_answer(form, request, shown, around),
    )


def answer_json(
    form: Form, request: CommandRequest, shown: AnswerState, around: Surroundings
) -> dict[str, Any]:
    """The same for the script of the page: with the problems by their fields, and the state."""
    shown = _spoken(shown, form)
    elsewhere = problems_elsewhere(form, shown.problems)
    return {
        "state": shown.state,
        "key": shown.key,
        "link": request.link,
        "html": rendered("answer.html", **_answer(form, request, shown, around)),
        "problems": [
            {"option": problem.option, "text": problem.text}
            for problem in shown.problems
            if problem.text not in elsewhere
        ],
    }


def answered(answer: Answer, form: Form) -> Answer:
    """An answer in the words of the page."""
    labels = labels_of(form.command)
    return replace(
        answer,
        html=html_by_labels(answer.html, labels),
        notes=tuple(by_labels(text, labels) for text in answer.notes),
        problems=_worded(answer.problems, form),
    )


def _worded(problems: tuple[Wrong, ...], form: Form) -> tuple[Wrong, ...]:
    labels = labels_of(form.command)
    return tuple(_beside(replace(one, text=by_labels(one.text, labels)), form) for one in problems)


def _spoken(shown: AnswerState, form: Form) -> AnswerState:
    """The same in the words of the page."""
    progress = shown.progress and replace(
        shown.progress, answer=shown.progress.answer and answered(shown.progress.answer, form)
    )
    answer = shown.answer and answered(shown.answer, form)
    missing = shown.missing
    problems = answer.problems if answer else ()
    if shown.state == "live" and answer and problems and all(one.is_missing for one in problems):
        # nobody has asked for an answer yet: an invitation, and no error
        missing, answer = wrong_fields(form, problems), replace(answer, problems=())
    return replace(
        shown, answer=answer, progress=progress, wrong=_worded(shown.wrong, form), missing=missing
    )


def _beside(problem: Wrong, form: Form) -> Wrong:
    """Of a problem with a column of scores, which is chosen beside the answer: it stands there."""
    chosen = form.command in ASKS and problem.option in roles_of(form.command)
    return replace(problem, option="") if chosen else problem


def _answer(
    form: Form, request: CommandRequest, shown: AnswerState, around: Surroundings
) -> dict[str, Any]:
    answer = shown.answer or (shown.progress.answer if shown.progress else None)
    is_live = shown.state == "live"
    return {
        "state": shown.state,
        "key": shown.key,
        "question": request,
        "back": request.link if shown.state in ("live", "idle", "starting") else RUN + request.link,
        "run_path": RUN + form.path,
        "run_words": "Compute it in full" if is_live and form.by_formula else "Write the files",
        "hint": "Fill in what you know: the answer stands here."
        if form.moves
        else "Fill in what you know, then press Answer: nothing is computed before.",
        "progress": how_far(shown.state, shown.progress, shown.place),
        "elsewhere": problems_elsewhere(form, shown.problems),
        "wrong_fields": wrong_fields(form, shown.problems),
        "missing": shown.missing,
        "html": Markup(answer.html) if answer else "",
        "badge": ("", "")
        if not form.by_formula
        else ("live", "By formula, at once")
        if is_live
        else ("full", "Computed in full"),
        "notes": answer.notes if answer else (),
        "command": answer.command if answer else "",
        "python": answer.python if answer else "",
        "files": answer.files if answer and shown.state == "done" else (),
        "beside": shown.beside,
        "has_folder": around.has_folder,
        "save_as": "-".join(form.command),
        "form_token": around.form_token,
        "study_link": f"/whole{request.link}"
        if form.command == ("plan",) and shown.state == "done"
        else "",
        "steps": _steps(answer, request, form.hides),
        "study": answer.study if answer and around.has_folder else "",
        "next": [
            (link, step.label)
            for step in form.next
            if (link := _next_link(step, request, shown)) is not None
        ],
    }


def how_far(state: State, progress: JobProgress | None, place: int) -> dict[str, Any]:
    """How far a command is, in words and as a share; `place` is its place in the queue."""
    if state == "starting" and progress is None:
        words = "Getting ready"
    elif state == "waiting":
        words = f"Waiting for its turn{f', {place} before it' if place else ''}"
    else:
        words = progress_words(progress)
    return {"words": words, "share": progress.share if progress else None}


def progress_words(progress: JobProgress | None) -> str:
    """What a command does, and how much of it is done."""
    if progress is None:
        return "Beginning"
    if progress.share is not None and progress.share >= _NEARLY:  # which what follows it may outlast
        return f"{progress.what}: nearly done"
    share = "" if progress.share is None else f": {progress.share:.0%}"
    left = "" if progress.left is None else f", about {time_taken(progress.left)} left"
    return f"{progress.what}{share}{left}"


def _steps(answer: Answer | None, request: CommandRequest, hides: tuple[str, ...]) -> list[tuple[str, str]]:
    """The steps of the six questions: the link of the page of each, in which a file that was uploaded has its
    digest, and what it is for; no link where a step needs what an earlier one writes, or has no page."""
    uploads = {name: value for value, name in file_names(request, hides).items()}
    result = []
    for step in answer.steps if answer else ():
        place = urlsplit("" if step["needs"] else step["link"])
        form = FORMS.get(tuple(place.path.strip("/").split("/")))
        query = [(name, uploads.get(value, value)) for name, value in parse_qsl(place.query)]
        link = "" if form is None else CommandRequest(form.command, tuple(query)).link
        result.append((link, step["why"]))
    return result


def _next_link(step: Next, request: CommandRequest, shown: AnswerState) -> str | None:
    """The link of a step, with what it carries; None where the form, or what it needs of this answer, is not
    there."""
    form = FORMS.get(step.command)
    if form is None or not all(name in shown.brought for name in step.brings.values()):
        return None
    known = offered(form.command, form.hides)
    numbers = dict(shown.answer.numbers) if shown.answer else {}
    if not numbers.keys() >= set(step.needs):
        return None
    filled = {option: numbers[place] for option, place in step.fills.items() if place in numbers}
    carried = step.carries or tuple(known)
    files = {**step.may_bring, **step.brings}
    options = tuple(
        (name, value)
        for name, value in request.options
        if name in carried and name in known and name not in files and name not in filled
    )
    options = (*options, *filled.items())
    brought = tuple(
        (option, shown.brought[name]) for option, name in files.items() if name in shown.brought
    )
    given = {name for name, _ in (*options, *brought)}
    for group in form.groups:  # one of these is enough
        given |= set(group.one_of) if given & set(group.one_of) else set()
    set_too = tuple((name, value) for name, value in step.sets.items() if name not in given)
    there = given | {name for name, _ in set_too}
    if step.fills and not all(name in there for name, option in known.items() if option.required):
        return None
    return CommandRequest(step.command, (*options, *set_too, *brought)).link


def rendered(name: str, **values: Any) -> str:
    """A template with these values and what every page shows."""
    values.setdefault("refresh", None)
    journeys = [
        (key, title, [form for form in FORMS.values() if form.journey == key])
        for key, title in JOURNEYS.items()
    ]
    return _environment().get_template(name).render(journeys=journeys, **values)


@cache
def _environment() -> Environment:
    environment = safe_environment("humeval_power.doors.page")
    environment.globals["static"] = _static_link
    return environment


_HERE = Path(__file__).parent
STATIC: Mapping[str, tuple[Path, str]] = {  # by name the file and its kind
    "page.css": (_HERE / "static" / "page.css", "text/css"),
    "page.js": (_HERE / "static" / "page.js", "text/javascript"),
    "icon.svg": (_HERE / "static" / "icon.svg", "image/svg+xml"),
    "document.css": (_HERE.parents[1] / "saying" / "render" / "templates" / "page.css", "text/css"),
}


@cache
def _static_link(name: str) -> str:
    """The link of such a file, another for other content: browsers keep what they have of a link for an hour."""
    return f"/static/{name}?v={sha256(STATIC[name][0].read_bytes()).hexdigest()[:12]}"
