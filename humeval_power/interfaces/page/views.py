"""Pages out of what is asked and what is answered: values in, HTML out, nothing computed and nothing read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit

from jinja2 import Environment
from markupsafe import Markup

from humeval_power.interfaces.asking.form import JOURNEYS, Form, Next
from humeval_power.interfaces.page.answers import Answer, Told, Wrong
from humeval_power.interfaces.page.asked import Asked, file_names, offered
from humeval_power.interfaces.page.fields import field_groups, labels_of, problems_elsewhere, wrong_fields
from humeval_power.interfaces.page.forms import FORMS
from humeval_power.interfaces.page.words import by_labels, html_by_labels
from humeval_power.reporting.numbers import time_taken
from humeval_power.reporting.render.environment import safe_environment

State = Literal["idle", "starting", "live", "waiting", "running", "done", "stopped", "failed"]
RUN = "/run"  # in front of the path of a form whose answer is to be computed as it is asked


@dataclass(frozen=True, slots=True)
class Shown:
    """What a page knows of an answer: of which job, how far, what came out, and what the link itself has wrong.

    place : in the queue, 0 when it is being computed.
    brought : the files of the answer that other forms can take, by their names: as values of links.
    beside : the names of files that the command wrote beside its answer, for whoever asked alone.
    """

    state: State
    key: str = ""
    told: Told | None = None
    place: int = 0
    answer: Answer | None = None
    wrong: tuple[Wrong, ...] = ()
    brought: Mapping[str, str] = field(default_factory=dict)
    beside: tuple[str, ...] = ()

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


def all_page() -> str:
    """Every command that has a page."""
    return rendered("all.html", title="All questions")


def error_page(title: str, text: str) -> str:
    """A page that says what is wrong with a request."""
    return rendered("error.html", title=title, text=text)


def form_page(form: Form, asked: Asked, shown: Shown, around: Surroundings) -> str:
    """A form with its answer."""
    shown = _spoken(shown, form)
    groups = field_groups(form, asked, shown.problems)
    return rendered(
        "form.html",
        title=form.title,
        form=form,
        field_groups=groups,
        file_fields=[each for group in groups for each in group.fields if each.kind == "file"],
        files_here=around.files,
        refresh=2 if shown.state in ("starting", "waiting", "running") else None,
        **_answer(form, asked, shown, around),
    )


def answer_part(form: Form, asked: Asked, shown: Shown, around: Surroundings) -> str:
    """What stands beside the form: the answer, or how far it is."""
    shown = _spoken(shown, form)
    return rendered("answer.html", **_answer(form, asked, shown, around))


def answer_json(form: Form, asked: Asked, shown: Shown, around: Surroundings) -> dict[str, Any]:
    """The same for the script of the page: with the problems by their fields, and the state."""
    shown = _spoken(shown, form)
    elsewhere = problems_elsewhere(form, shown.problems)
    return {
        "state": shown.state,
        "key": shown.key,
        "link": asked.link,
        "html": answer_part(form, asked, shown, around),
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
    return tuple(replace(one, text=by_labels(one.text, labels)) for one in problems)


def _spoken(shown: Shown, form: Form) -> Shown:
    """The same in the words of the page."""
    told = shown.told and replace(
        shown.told, answer=shown.told.answer and answered(shown.told.answer, form)
    )
    answer = shown.answer and answered(shown.answer, form)
    return replace(shown, answer=answer, told=told, wrong=_worded(shown.wrong, form))


def _answer(form: Form, asked: Asked, shown: Shown, around: Surroundings) -> dict[str, Any]:
    answer = shown.answer or (shown.told.answer if shown.told else None)
    is_live = shown.state == "live"
    return {
        "state": shown.state,
        "key": shown.key,
        "asked": asked,
        "back": asked.link if shown.state in ("live", "idle", "starting") else RUN + asked.link,
        "run_path": RUN + form.path,
        "run_words": "Compute it in full" if is_live and form.by_formula else "Write the files",
        "hint": "Fill in what you know: the answer stands here.",
        "progress": {"words": _how_far(shown), "share": shown.told.share if shown.told else None},
        "elsewhere": problems_elsewhere(form, shown.problems),
        "wrong_fields": wrong_fields(form, shown.problems),
        "html": Markup(answer.html) if answer else "",
        "badge": _badge(form, is_live=is_live),
        "notes": answer.notes if answer else (),
        "command": answer.command if answer else "",
        "python": answer.python if answer else "",
        "files": answer.files if answer and shown.state == "done" else (),
        "beside": shown.beside,
        "has_folder": around.has_folder,
        "save_as": "-".join(form.command),
        "form_token": around.form_token,
        "study_link": f"/whole{asked.link}" if form.command == ("plan",) and shown.state == "done" else "",
        "next": [
            *_own_links(answer, asked, form.hides),
            *(
                (link, step.label)
                for step in form.next
                if (link := _next_link(step, asked, shown)) is not None
            ),
        ],
    }


def _badge(form: Form, *, is_live: bool) -> tuple[str, str]:
    """What kind of answer it is, where a formula and a simulation are to be told apart."""
    if not form.by_formula:
        return "", ""
    return ("live", "By formula, at once") if is_live else ("full", "Computed in full")


def _how_far(shown: Shown) -> str:
    if shown.state == "starting" and shown.told is None:
        return "Getting ready"
    if shown.state == "waiting":
        ahead = f", {shown.place} before it" if shown.place else ""
        return f"Waiting for its turn{ahead}"
    return progress_words(shown.told)


def progress_words(told: Told | None) -> str:
    """How far a command is, in words."""
    if told is None:
        return "Beginning"
    share = "" if told.share is None else f": {told.share:.0%}"
    left = "" if told.left is None else f", about {time_taken(told.left)} left"
    return f"{told.what}{share}{left}"


def _own_links(answer: Answer | None, asked: Asked, hides: tuple[str, ...]) -> list[tuple[str, str]]:
    """The links of the answer to pages that are there, in which a file that was uploaded has its digest."""
    uploads = {name: value for value, name in file_names(asked, hides).items()}
    found = []
    for link, words in answer.links if answer else ():
        place = urlsplit(link)
        form = FORMS.get(tuple(place.path.strip("/").split("/")))
        if form is not None:
            query = [(name, uploads.get(value, value)) for name, value in parse_qsl(place.query)]
            found.append((Asked(form.command, tuple(query)).link, words))
    return found


def _next_link(step: Next, asked: Asked, shown: Shown) -> str | None:
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
        for name, value in asked.options
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
    return Asked(step.command, (*options, *set_too, *brought)).link


def _journeys() -> list[tuple[str, str, list[Form]]]:
    return [
        (key, name, [form for form in FORMS.values() if form.journey == key])
        for key, name in JOURNEYS.items()
    ]


def rendered(name: str, **values: Any) -> str:
    """A template with these values and what every page shows."""
    values.setdefault("refresh", None)
    return _environment().get_template(name).render(journeys=_journeys(), **values)


@cache
def _environment() -> Environment:
    return safe_environment("humeval_power.interfaces.page")
