"""What a link asks: a command and its options, one to one with the words that one would type.

A link is `/compare/scores?files=a.csv~0123456789abcdef&test=t`. A flag is `paired=1`, the other side of a pair
of flags `paired=0`; what is repeatable repeats. A file is the name and the digest of an upload, or a path in the
folder that the page was opened in.

All pages that ask a command, by its words: from the commands themselves.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from html import escape, unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import click

from humeval_power.asking.calls import ELSEWHERE
from humeval_power.asking.command_groups import new_name
from humeval_power.asking.form import Form
from humeval_power.asking.options import names_file, takes_column_or_file, takes_files
from humeval_power.doors.page.answers import ANSWER, BESIDE, Work
from humeval_power.doors.terminal.main import main
from humeval_power.errors import InputError, Problem
from humeval_power.saying.result import Result
from humeval_power.study import FIELDS, option_of

if TYPE_CHECKING:
    from humeval_power.doors.page.serving.chosen_folder import Folder
    from humeval_power.doors.page.serving.uploads import Uploads
    from humeval_power.doors.page.working.jobs import Workers


Options = tuple[tuple[str, str], ...]
TEMPLATE = "humeval_power/report_template/1"
MOST_LETTERS = 2_000  # of one value
# Where something is written or computed, what is changed of a file that is there, and in which form a result is
# printed: the page's own business.
NEVER = frozenset(
    (*ELSEWHERE, "json", "amend", "template", "dry-run", "write-config", "help", "version"),
)
# Options that name a file to write, by their commands: the page asks whether it is wanted, and names it.
WRITES: dict[tuple[tuple[str, ...], str], str] = {(("assign",), "key"): "key.csv"}
_UPLOAD = re.compile(r"(?P<name>.+)~(?P<digest>[0-9a-f]{16})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class CommandRequest:
    """A command and what is set of its options, by their names in links."""

    command: tuple[str, ...]
    options: Options = ()

    @property
    def link(self) -> str:
        """The link of this state."""
        query = urlencode(self.options)
        return "/" + "/".join(self.command) + (f"?{query}" if query else "")

    def values(self, name: str) -> tuple[str, ...]:
        """All values of an option."""
        return tuple(value for option, value in self.options if option == name)

    def with_options(self, **others: str) -> CommandRequest:
        """The same with other values of some options, whose dashes are underscores here."""
        set_now = {name.replace("_", "-"): value for name, value in others.items()}
        kept = tuple((name, value) for name, value in self.options if name not in set_now)
        return replace(self, options=(*kept, *((name, value) for name, value in set_now.items() if value)))


def link_name(option: click.Parameter) -> str:
    """The name of an option or an argument in links."""
    if isinstance(option, click.Argument):
        return str(option.name).replace("_", "-")
    return max(option.opts, key=len).lstrip("-")


def may_read_files(command: tuple[str, ...], option: click.Parameter) -> bool:
    """Whether a page asks for a file as the value of this option, or may."""
    return (takes_files(option) and (command, link_name(option)) not in WRITES) or takes_column_or_file(
        option
    )


def reads_file(command: tuple[str, ...], option: click.Parameter, value: str) -> bool:
    """Whether this value of an option names a file."""
    return names_file(option, value) and (command, link_name(option)) not in WRITES


@cache
def command_of(path: tuple[str, ...]) -> click.Command:
    """The command of these words. Raises KeyError: there is none."""
    from humeval_power.doors.terminal.main import main

    command: click.Command | None = main
    for word in path:
        command = (
            command.get_command(click.Context(command), word) if isinstance(command, click.Group) else None
        )
    if command is None or (isinstance(command, click.Group) and not command.invoke_without_command):
        raise KeyError(path)
    return command


@cache
def offered(path: tuple[str, ...], hides: tuple[str, ...] = ()) -> dict[str, click.Parameter]:
    """The options of a command that a page may set, by their names in links."""
    return {
        link_name(option): option
        for option in command_of(path).params
        if link_name(option) not in NEVER
        and link_name(option) not in hides
        and not getattr(option, "hidden", False)
    }


def request_of(
    path: tuple[str, ...], query: Sequence[tuple[str, str]], hides: tuple[str, ...] = ()
) -> CommandRequest:
    """What the query of a link asks; empty values are left out.
    Raises InputError: options that the command does not have or that no page may set, and values of impossible
    length: all of them at once."""
    known = offered(path, hides)
    sides = {side.lstrip("-"): name for name, option in known.items() for side in option.secondary_opts}
    options, wrong = [], []
    for name, value in query:
        if len(value) > MOST_LETTERS:
            wrong.append(Problem(f"--{name}: more than {MOST_LETTERS:,} letters.", "Shorten it."))
        elif name in sides:
            options.append((sides[name], "0"))
        elif name not in known:
            rule = f"The page of '{' '.join(path)}' has no option {name[:60]!r}."
            new = new_name(" ".join(path), name)
            remedy = "Take it out of the link." if new is None else f"It is now called {new!r}."
            wrong.append(Problem(rule, remedy))
        elif value.strip():
            options.append((name, value.strip()))
    if wrong:
        raise InputError(wrong)
    return CommandRequest(path, tuple(options))


Named = Callable[[str], str]  # the name under which a command finds a file, of its value in a link


def words_of(request: CommandRequest, hides: tuple[str, ...] = (), named: Named = str) -> tuple[str, ...]:
    """The words that one would type after the name of the program.

    A value cannot become an option, whatever it is: one that begins with a dash is joined to its option, and
    arguments of that kind stand behind a double dash.
    """
    known = offered(request.command, hides)
    words: list[str] = []
    arguments: list[str] = []
    for name, value in request.options:
        option = known[name]
        text = named(value) if reads_file(request.command, option, value) else value
        if (request.command, name) in WRITES:
            words += [f"--{name}", WRITES[request.command, name]] if value != "0" else []
        elif isinstance(option, click.Argument):
            arguments.append(text)
        else:
            words += _typed(option, text)
    guard = ["--"] if any(word.startswith("-") for word in arguments) else []
    return (
        *request.command,
        *(arguments if not guard else ()),
        *words,
        *guard,
        *(arguments if guard else ()),
    )


def _typed(option: click.Parameter, text: str) -> Iterator[str]:
    long = max(option.opts, key=len)
    if isinstance(option, click.Option) and option.is_flag:
        if text == "0" and option.secondary_opts:
            yield max(option.secondary_opts, key=len)
        elif text != "0":
            yield long
    elif text.startswith("-"):
        yield f"{long}={text}"
    else:
        yield long
        yield text


def upload_of(value: str) -> tuple[str, str] | None:
    """The name and the digest of the upload that a value names; None where it names none."""
    match = _UPLOAD.fullmatch(value)
    return None if match is None else (match["name"], match["digest"])


def file_names(request: CommandRequest, hides: tuple[str, ...] = ()) -> dict[str, str]:
    """The values that name files, each once, with the name under which the command finds the file of each."""
    known = offered(request.command, hides)
    names: dict[str, str] = {}
    for option, value in request.options:
        if reads_file(request.command, known[option], value) and value not in names:
            upload = upload_of(value)
            name = value if upload is None else upload[0]
            while name in names.values():
                name = f"again-{name}"
            names[value] = name
    return names


# What an answer gives to the pages that it leads to: numbers of its record, and links in it.

_SIZES = {"workers", "items", "ratings_per_item"}
_MOST_LOOKS = 20  # of which it is said how much of what they need is in


def numbers(command: tuple[str, ...], result: Result) -> tuple[tuple[str, str], ...]:
    """What the next forms can start from, as one would type it."""

    form = FORMS.get(command)
    wanted = (
        {place for step in form.next for place in (*step.fills.values(), *step.needs)} if form else set()
    )
    if command == ("size",):
        wanted |= _SIZES
    if command == ("mde",):
        wanted |= {"analytic"}
    if command == ("collect", "status"):
        wanted |= {f"looks.{place}.{what}" for place in range(_MOST_LOOKS) for what in ("done", "expected")}
    if not wanted:
        return ()
    content = result.content()
    answer = {place: _at(content, place) for place in sorted(wanted)}
    if command == ("size",):
        answer |= {name: float(getattr(result, name, 0)) for name in ("least_each", "enough_workers")}
    return tuple(
        (place, f"{value:.0f}" if value.is_integer() else f"{value:.6g}")
        for place, value in answer.items()
        if value is not None
    )


def steps(command: tuple[str, ...], result: Result) -> tuple[Mapping[str, Any], ...]:
    """The steps that the six questions lead to, each with its page."""
    rows = result.content().get("rows") if command == ("start",) else None
    return tuple(rows) if isinstance(rows, list) else ()


def study_begun(command: tuple[str, ...], result: Result) -> str:
    """The study that the six questions lead to, as its file; "" where it is no human evaluation."""
    try:
        text = result.artefact(".toml") if command == ("start",) else ""
    except InputError:
        return ""
    return text if isinstance(text, str) else text.decode()


def ways(command: tuple[str, ...], result: Result) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """The designs that a plan lets one choose among; where none reaches the target, the best there is."""
    if command != ("plan",):
        return ()
    content = result.content()
    rows = content.get("ways")

    def shown(name: str, design: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        """With its power as simulated; if it was not, by formula: as planned, of a robust plan the lowest."""
        by_formula = list(design["analytic_power"].values())
        formula = min(by_formula) if content.get("robust") else by_formula[0]
        power = formula if design["power"] is None else design["power"]
        further = {"shown_power": power, "target": content["target_power"]}
        return name, {**design, **further, "is_recommended": name == content["recommended"]}

    answer = [
        shown(row["name"], row["design"])
        for row in (rows if isinstance(rows, list) else ())
        if row["design"]
    ]
    best = content.get("chosen")
    if isinstance(best, Mapping) and all(name == "yours" for name, _ in answer):
        answer.insert(0, shown("best", best))
    return tuple(answer)


def asks(command: tuple[str, ...], result: Result) -> tuple[Mapping[str, Any], ...]:
    """The answers that only authors know, as `report --template` lists them."""
    rows = result.content().get("rows") if command == ("report",) and result.schema == TEMPLATE else ()
    return tuple(row for row in rows if row["key"]) if isinstance(rows, list) else ()


def _at(content: object, place: str) -> float | None:
    """The number at a place of a record, such as "comparisons.0.n_items"; None where there is none."""
    for part in place.split("."):
        if isinstance(content, Sequence) and part.isdecimal() and int(part) < len(content):
            content = content[int(part)]
        elif isinstance(content, Mapping):
            content = content.get(part)
        else:
            return None
    if isinstance(content, bool) or not isinstance(content, int | float) or not math.isfinite(content):
        return None
    return float(content)


# What the application is made of, and where the files of its answers lie.


@dataclass(frozen=True, slots=True)
class PageParts:
    """Workers, uploads, the folder if any, a private folder for answers, and the token that every form sends."""

    workers: Workers
    uploads: Uploads
    private: Path
    form_token: str
    folder: Folder | None = None

    def folder_of(self, key: str) -> Path:
        """Where the files of an answer are written."""
        return self.private / "answers" / key / ANSWER

    def beside(self, key: str) -> Path:
        """Where those files of it lie that are for whoever asked alone."""
        return self.folder_of(key).with_name(BESIDE)


# From what a link asks to a piece of work: its words, and where the bytes of its files are.


def work_of(parts: PageParts, request: CommandRequest, hides: tuple[str, ...] = ()) -> Work:
    """The words of what is asked and the files that they name; of a folder of logs, all files in it.
    Raises InputError: files that are not here."""
    names, files = file_places(parts, request, hides)
    work = Work(words_of(request, hides, lambda value: names[value]), files)
    return replace(work, files=(*files, *_own_key(parts, request, hides)))


def file_places(
    parts: PageParts, request: CommandRequest, hides: tuple[str, ...] = ()
) -> tuple[Mapping[str, str], tuple[tuple[str, str], ...]]:
    """The names under which a command finds the files that a request names, and where the bytes of each are.
    Raises InputError: files that are not here."""
    names = file_names(request, hides)
    return names, tuple(file for value, name in names.items() for file in _places(parts, value, name))


_GOES_ON = {  # options of an assignment that is under way, which it had not when it was made
    *("replace", "next", "assignment", "exports", "map", "from"),
    *("dropouts", "excluded", "new-workers", "withdrawn", "budget"),
}


def _own_key(
    parts: PageParts, request: CommandRequest, hides: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    """The key that the page wrote with an assignment, where a spare takes over in it or more ratings are added: its
    codes are used again."""
    name = WRITES.get((request.command, "key"))
    if name is None or not (request.values("replace") or request.values("next")):
        return ()
    before = replace(request, options=tuple(one for one in request.options if one[0] not in _GOES_ON))
    place = parts.beside(work_of(parts, before, hides).key) / name
    return ((name, str(place)),) if place.is_file() else ()


def _places(parts: PageParts, value: str, name: str) -> tuple[tuple[str, str], ...]:
    """The files that a value of a link names, as the command finds them, and where their bytes are."""
    upload = upload_of(value)
    if upload is not None:
        place = parts.uploads.path_of(*upload)
        inner = sorted(one for one in place.rglob("*") if one.is_file()) if place.is_dir() else ()
        within = tuple((f"{name}/{one.relative_to(place).as_posix()}", str(one)) for one in inner)
        return within or ((name, str(place)),)
    if parts.folder is None:
        raise InputError(f"{value!r}: the page was opened without a folder. Bring the file itself.")
    there = parts.folder.places(value)
    return tuple((f"{name}{path.removeprefix(value)}", str(place)) for path, place in there)


# What a command says, in the words of the page: options by the labels of their fields, commands as they
# are.

# A command as one would type it, which stays, or an option, with the word that stands for its value.
_SAID = re.compile(
    r"(?P<command>'humeval-power [^']*'|humeval-power .*)"
    r"|(?P<quote>'?)--(?P<option>[a-z](?:[a-z0-9-]*[a-z0-9])?)(?P=quote)"
    r"(?: (?:COLUMN|FILE|FOLDER|LIST|LOW:HIGH|NAME|NUMBER|PATH|TABLE)\b)?",
    re.DOTALL,
)
# A command by its name alone, or with what a terminal needs: its page has a title.
_NAMED = re.compile(r"'(?:humeval-power )?(?:more |compare )?(?P<path>[a-z][a-z-]*(?: [a-z-]+)?)(?: -o)?'")
# A folder to write to, which the page has for each answer; and what is done in a terminal alone.
_FOLDER = re.compile(r" \(-o FOLDER/?\)| and -o [a-z]+/?| In a terminal: iconv .*")
_TAG = re.compile(r"(<[^>]*>)")
_HEARD = re.compile(r'( aria-label=")([^"]*--[^"]*)"')
_MAY_NAME = re.compile(r"--| -o|'|&#")
_AS_IT_IS = re.compile(r"<(/?)(?:pre|code|style|script)\b")


def by_titles(text: str) -> str:
    """A text with commands that have a page by its title."""

    def called(match: re.Match[str]) -> str:
        path = tuple(match["path"].split())
        form = FORMS.get(path) or FORMS.get(("compare", *path))
        return match[0] if form is None else f"\u201c{form.title}\u201d"

    return _NAMED.sub(called, text)


def by_labels(text: str, labels: Mapping[str, str]) -> str:
    """A text with options of the terminal by their labels, those without one by their names, and commands by the
    titles of their pages."""

    def called(match: re.Match[str]) -> str:
        name = match["option"]
        return match["command"] or f"\u201c{labels.get(name) or name.replace('-', ' ')}\u201d"

    return _SAID.sub(called, by_titles(_FOLDER.sub("", text)))


def on_page(help: str) -> str:
    """What is said of an option in the words of the page: fields of the study by their labels."""
    return re.sub(r"; see \u201c[^\u201d]*\u201d\.", ".", by_labels(help, study_labels()))


@cache
def study_labels() -> Mapping[str, str]:
    """The labels of the fields of a study, by their options."""
    names = sorted(FIELDS, key=lambda name: name in LABELS or not name.endswith("_range"))
    return {option_of(name)[2:]: field_label(name) for name in names if FIELDS[name].label}


# What the stages of a study call fields that their section explains elsewhere.
LABELS: Mapping[str, str] = {
    "question": "What the study is to find out",
    "systems": "Names of the systems",
    "preset": "How much ratings vary",
    "effect_raw": "Smallest difference that matters",
    "goal": "What is to be found",
    "ratings_per_item": "Ratings of each output",
    "cost_per_rating": "Price of a rating (one output)",
}


def field_label(name: str) -> str:
    """What the stages call a field of the study, in a sentence."""
    label = LABELS.get(name) or FIELDS[name].label.removeprefix("Or ") or name
    return label[:1].upper() + label[1:]


def html_by_labels(html: str, labels: Mapping[str, str]) -> str:
    """The same of what stands between the tags, but for code, and of what is read aloud of them."""

    def said(text: str, *, quote: bool) -> str:
        return escape(by_labels(unescape(text), labels), quote=quote)

    depth = 0
    parts = _TAG.split(html)
    for place, part in enumerate(parts):
        if place % 2:
            match = _AS_IT_IS.match(part)
            depth += 0 if match is None else -1 if match[1] else 1
            parts[place] = _HEARD.sub(lambda heard: f'{heard[1]}{said(heard[2], quote=True)}"', part)
        elif not depth and _MAY_NAME.search(part):
            parts[place] = said(part, quote=False)
    return "".join(parts)


def _forms(group: click.Group) -> Iterator[Form]:
    """The forms of the commands of a group."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        form: Form | None = getattr(command, "form", None)
        if form is not None:
            yield form
        if isinstance(command, click.Group):
            yield from _forms(command)


FORMS: dict[tuple[str, ...], Form] = {form.command: form for form in _forms(main)}
