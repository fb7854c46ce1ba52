"""Run a command in this process for the page: its words in, its document as a fragment out."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humeval_power.asking.command_groups import in_terminal
from humeval_power.errors import HumevalPowerError, InputError, options_in_errors
from humeval_power.files.file_sets import write_files
from humeval_power.saying.answer_words import of_hundred
from humeval_power.saying.document import Document, Fact, Facts, Section
from humeval_power.saying.numbers import BY_FORMULA, POWER_LABEL, counted
from humeval_power.saying.quantities import NO_SIZE
from humeval_power.saying.result import Result

if TYPE_CHECKING:
    from humeval_power.doors.page.score_reading import ScoreColumns
    from humeval_power.doors.page.workspace.reading import Reading, TextsRead

ANSWER = "answer"  # the folder of an answer's files, in the folder of its work
BESIDE = (
    "beside"  # the folder of files that a command writes beside these, such as the key of an assignment
)
SECRET = ".secret"  # the ending of what names are kept behind
COMPILING = "Compiling the numerical kernels, once after each installation"
NO_MEMORY = (
    "The memory is not enough for this: the page gives each answer a part of it. Take a smaller study, a smaller "
    "file or fewer simulations; or run the command in a terminal, where all of the memory can be used."
)
_STOPPED = 130
_FAILED = 1
_OPTION = re.compile(r"--([a-z][a-z0-9-]*)")
_TOLD_EVERY = 0.1  # seconds
# Commands whose answers are read from the first line to the last; of all others numbers and method are folded.
_READ_WHOLE = ("start", "report", "parameters", "cite", "release")
_POWER_LABEL = re.compile(
    rf"(?:{POWER_LABEL}|Computed {POWER_LABEL.lower()})(?: \(target .+\)| at (?P<effect>.+))?|{BY_FORMULA}"
)
_POWER = re.compile(r"([01]\.\d+)(?: \(.+\))?")
_POINTS = re.compile(r".+ on \[0, 1\], (?P<value>\S+) on (?P<scale>.+)")


@dataclass(frozen=True, slots=True)
class Work:
    """A command to run.

    words : what one types after the name of the program.
    files : the name of each file as it stands in the words, and the absolute path of its bytes.
    output : a folder to write all of the result to, as `-o` does; "" writes nothing. Unfinished work is kept
        beside it.
    texts : files with these contents besides.
    at : the folder below that of the files in which the command runs.
    within : a folder of the user in which the command runs instead, and may write; no files are laid out then.
    keeps : files that a command reads in that folder, with their contents; they stay unless it is refused.
    reading : of a draft of a mapping, how its file is read by this one; "" by what is known of it.
    together : of such a draft, other exports that are read by the same mapping.
    columns_of : no command: files of scores, or logs, whose columns are wanted.
    texts_of : no command: a table of texts to rate, for `n_items` items of systems of the names `compares`, or of
        those of the plan in `plan`; or for some of many items that were chosen, where `has_pool`.
    said : of such a table, what each column is, as somebody chose it.
    """

    words: tuple[str, ...]
    files: tuple[tuple[str, str], ...] = ()
    output: str = ""
    texts: tuple[tuple[str, str], ...] = ()
    at: str = ""
    within: str = ""
    keeps: tuple[tuple[str, str], ...] = ()
    reading: str | None = None
    together: tuple[str, ...] = ()
    columns_of: tuple[str, ...] = ()
    texts_of: str = ""
    compares: tuple[str, ...] = ()
    n_items: int = 0
    has_pool: bool = False
    plan: str = ""
    said: tuple[tuple[str, str], ...] | None = None

    @property
    def key(self) -> str:
        """Names the work in links, wherever its result is written."""
        return hashlib.sha256(repr(replace(self, output="")).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Wrong:
    """Something that is wrong with what was asked; `option` is the one that it is about, by its name in links.
    `is_missing` says that nobody has said it yet."""

    text: str
    option: str = ""
    is_missing: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command says.

    exit_code : 0 fine, 1 or 2 refused, 3 the target is missed, 130 stopped.
    html : its document as a fragment; "" where there is none.
    text, record : its answer in words, and its record as JSON for doors that show no page.
    caveats : of a plan, what is to be read before one of its designs is sealed; not in `html` then.
    notes : what a terminal would say on standard error.
    command, python : what gives the same, as one would type it.
    files : the names of what lies in the output folder.
    numbers : what other forms can start from, by its place in the record.
    ways : of a plan, the designs that stand to choose: name, and the numbers of each.
    asks : of the answers that only authors know, each with its question.
    spares : of a study that is collected, whose work spares may do, and why.
    steps : of the six questions, what is to be done, each with its page; `study` is the study file they make.
    ended : of looks, whether the study has ended by its rule, so that there is none to take.
    reading : how a file of ratings is read. columns : what stands in a table of scores. texts : how texts are read.
    """

    exit_code: int
    title: str = ""
    html: str = ""
    text: str = ""
    record: str = ""
    caveats: tuple[str, ...] = ()
    problems: tuple[Wrong, ...] = ()
    notes: tuple[str, ...] = ()
    command: str = ""
    python: str = ""
    files: tuple[str, ...] = ()
    numbers: tuple[tuple[str, str], ...] = ()
    ways: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    asks: tuple[Mapping[str, Any], ...] = ()
    spares: tuple[Mapping[str, Any], ...] = ()
    steps: tuple[Mapping[str, Any], ...] = ()
    study: str = ""
    ended: bool = False
    reading: Reading | None = None
    columns: ScoreColumns | None = None
    texts: TextsRead | None = None


@dataclass(frozen=True, slots=True)
class JobProgress:
    """How far a command is: what it does, the share that is done, the seconds left; and its answer, where only the
    writing of its files is still to come."""

    what: str
    share: float | None = None
    left: float | None = None
    answer: Answer | None = None


Tell = Callable[[JobProgress], None]
Shows = Callable[[tuple[str, ...], Result], Answer]  # of the words that name the command, and its result


def on_page(path: tuple[str, ...], result: Result) -> Answer:
    """What the page of a command shows of a result."""
    return _shown(path, result, result.document())


def on_page_of_study(path: tuple[str, ...], result: Result) -> Answer:
    """What the page of a study shows, which has the command below and its files in the folder; of designs to choose
    from it has the caveats above the buttons."""
    from humeval_power.doors.page.requests import ways

    document = replace(result.document(), provenance=())
    if path == ("collect", "status"):
        from humeval_power.studies.field.result_status import SPARES_TITLE

        # what a button does
        sections = tuple(one for one in document.sections if one.title != SPARES_TITLE)
        shown = _shown(path, result, replace(document, sections=sections))
        spares = result.content()["spares"]
        return replace(shown, spares=tuple(spares) if isinstance(spares, list) else ())
    if not ways(path, result):
        return _shown(path, result, document)
    return replace(_shown(path, result, replace(document, caveats=())), caveats=document.caveats)


def _as_reading(mapping: str, together: tuple[str, ...], _path: tuple[str, ...], result: Result) -> Answer:
    """How the file of a draft is read, and others with it."""
    from humeval_power.doors.page.workspace.reading import reading_of
    from humeval_power.studies.field.result_import import DraftResult

    assert isinstance(result, DraftResult)
    return Answer(0, reading=reading_of(result.export, mapping, together))


def _in_words(document: Document) -> Document:
    """The same with powers as so many of 100 studies in its headline, of a plan in front, and effects in points of
    the scale alone. What they were stands among the numbers."""
    headline = tuple(_fact_in_words(label, text) for label, text in document.headline)
    said = tuple(fact for fact in document.headline if fact not in headline)
    if not said:
        return document
    powers = [fact for fact, (label, _) in zip(headline, document.headline, strict=True) if " at " in label]
    headline = (*powers, *(fact for fact in headline if fact not in powers))
    return replace(document, headline=headline, sections=(Section("", (Facts(said),)), *document.sections))


def _fact_in_words(label: str, text: str) -> Fact:
    how = ", by formula" if label == BY_FORMULA else ""
    named, power = _POWER_LABEL.fullmatch(label), _POWER.fullmatch(text)
    if named is not None and power is not None:
        effect = named["effect"] or "it"
        return f"such studies find {effect}{how}", f"{of_hundred(float(power[1]))} of 100"
    if (points := _POINTS.fullmatch(text)) is not None:
        what = f"points on {points['scale']}"
        return f"{what}{how}" if how else f"{label}: {what}", points["value"]
    if (label, text) == NO_SIZE:
        return "will do", "No size"
    return label, text


def _shown(path: tuple[str, ...], result: Result, document: Document) -> Answer:
    from humeval_power.asking.program import python_here
    from humeval_power.doors.page.requests import asks, numbers, steps, study_begun, ways
    from humeval_power.saying.render import as_html_beside, as_html_part

    is_whole = path[0] in _READ_WHOLE
    way = steps(path, result)
    if way:  # on pages, whose links stand in the place of commands
        lead = f"{counted(len(way), 'step')}, each on a page of its own; nothing is computed yet."
        document = replace(document, lead=lead, sections=())
    return Answer(
        0,
        document.title,
        as_html_part(document) if is_whole else as_html_beside(_in_words(document)),
        text=document.lead,
        python=python_here(),
        numbers=numbers(path, result),
        ways=ways(path, result),
        asks=asks(path, result),
        steps=way,
        study=study_begun(path, result),
        ended=path == ("monitor",) and result.content()["inference"] is not None,
    )


def answer(work: Work, tell: Tell, shows: Shows | None = None) -> Answer:
    """Run the command here and now, in a folder in which its files lie under their own names.

    Bad input is no exception: it is an answer with problems.
    """
    from humeval_power.asking.output import PROGRAM, capturing
    from humeval_power.kernels.compile_events import listening
    from humeval_power.safe_text import shell_command
    from humeval_power.saying.progress import watched_by

    if work.columns_of or work.texts_of:
        return _columns(work)
    if work.reading is not None:
        shows = partial(_as_reading, work.reading, work.together)
    shows = shows or (on_page_of_study if work.texts else on_page)
    typed = shell_command([PROGRAM, *in_terminal(work.words)])
    path = _path_of(work.words)
    answers: list[Answer] = []

    def show(result: Result) -> None:
        answers.append(replace(shows(path, result), command=typed))
        if work.output:
            tell(JobProgress("Writing the files", answer=answers[-1]))

    rarely = _rarely(tell)
    if work.output:  # a folder of its own: the writer of files locks the one above
        Path(work.output).parent.mkdir(parents=True, exist_ok=True)
    with (
        _folder_of(work),
        capturing(typed, show, keeps_study=bool(work.within)) as caught,
        watched_by(lambda what, share, left: rarely(JobProgress(what, share, left))),
        listening(lambda _kernel: rarely(JobProgress(COMPILING))),
    ):
        new = {Path(name): text for name, text in work.keeps if not os.path.lexists(name)}
        try:
            write_files(new, force=False)
            with options_in_errors():
                code, problems = _run(work)
            new = new if code else {}
        finally:
            for kept in new:
                kept.unlink(missing_ok=True)
        _keep_beside(work)
    here = answers[-1] if answers else Answer(code, command=typed)
    files = tuple(sorted(os.listdir(work.output))) if work.output and os.path.isdir(work.output) else ()
    return replace(here, exit_code=code, problems=problems, notes=tuple(caught.notes), files=files)


def _columns(work: Work) -> Answer:
    """What stands in a table of scores, or of texts."""
    from humeval_power.doors.page.score_reading import score_columns
    from humeval_power.doors.page.workspace.reading import planned, texts_read

    with _folder_of(work):
        try:
            if work.texts_of:
                names, n_items = planned(work.plan) if work.plan else ((), 0)
                said = None if work.said is None else dict(work.said)
                read = texts_read(work.texts_of, names or work.compares, said)
                n_items = 0 if work.has_pool else n_items or work.n_items
                return Answer(0, texts=replace(read, planned=n_items, is_sealed=bool(work.plan)))
            return Answer(0, columns=score_columns(work.columns_of))
        except HumevalPowerError as error:
            return Answer(error.exit_code, problems=(Wrong(str(error)),))


def _run(work: Work) -> tuple[int, tuple[Wrong, ...]]:
    """The command's exit code, and what is wrong with what was asked."""
    from humeval_power.asking.command_groups import as_typed
    from humeval_power.asking.output import PROGRAM
    from humeval_power.doors.page.requests import command_of, link_name
    from humeval_power.doors.terminal.main import main

    command, words = command_of(_path_of(work.words)), list(work.words)
    if work.output and {"output", "force"} <= {option.name for option in command.params}:
        words += ["--output", work.output + "/", "--force"]
    try:
        with main.make_context(PROGRAM, words.copy()) as context:
            main.invoke(context)
    except click.exceptions.Exit as ended:
        return ended.exit_code, ()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else _FAILED, ()
    except click.ClickException as error:
        return error.exit_code, _usage_problems(error)
    except HumevalPowerError as error:
        problems = error.problems if isinstance(error, InputError) else [error]
        known = {link_name(option) for option in command.params}
        return error.exit_code, tuple(
            _wrong(as_typed(str(each), command, words), known) for each in problems
        )
    except (KeyboardInterrupt, click.Abort) as stopped:
        return _STOPPED, (Wrong(str(stopped) or "Stopped; nothing is kept."),)
    except OSError as error:
        where = f"{os.path.basename(str(error.filename))!r}: " if error.filename else ""
        return _FAILED, (Wrong(f"{where}{error.strerror or error}."),)
    except MemoryError:
        return _FAILED, (Wrong(NO_MEMORY),)
    return 0, ()


def _path_of(words: Sequence[str]) -> tuple[str, ...]:
    """The words that name the command."""
    from humeval_power.doors.page.requests import command_of

    for end in range(1, len(words) + 1):
        try:
            command_of(tuple(words[:end]))
        except KeyError:
            continue
        return tuple(words[:end])
    raise KeyError(tuple(words))


def _usage_problems(error: click.ClickException) -> tuple[Wrong, ...]:
    from humeval_power.doors.page.requests import link_name

    about = getattr(error, "param", None)
    text = error.format_message()
    if isinstance(about, click.Parameter):
        if isinstance(error, click.MissingParameter):
            return (Wrong("This is missing.", link_name(about), is_missing=True),)
        return (Wrong(text, link_name(about)),)
    context = getattr(error, "ctx", None)
    return (_wrong(text, {link_name(option) for option in context.command.params} if context else set()),)


def _wrong(text: str, known: Collection[str]) -> Wrong:
    """A problem, and the first option of the command that it names, else the first of all."""
    named = _OPTION.findall(text)
    return Wrong(text, next((name for name in named if name in known), named[0] if named else ""))


@contextmanager
def _folder_of(work: Work) -> Iterator[None]:
    """Within it the process is in a folder of its own, in which the files of the work lie under their names; or in
    the folder of the user that the work names."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="humeval-power-") as folder:
        for name, path in work.files:
            place = Path(folder, name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(path)
        for name, text in work.texts:
            place = Path(folder, name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text.encode())
        os.chdir(work.within or Path(folder, work.at))
        try:
            yield
        finally:
            os.chdir(before)


def _keep_beside(work: Work) -> None:
    """Keep what is not for everybody beside the folder of the answer: what the command wrote in its folder, and the
    secrets among the files of the answer."""
    if not work.output:
        return
    answer = Path(work.output)
    own = [path for path in Path().rglob("*") if path.is_file() and not path.is_symlink()]
    secrets = [path.relative_to(answer) for path in answer.rglob(f"*{SECRET}") if path.is_file()]
    for source, names in ((Path(), own), (answer, secrets)):
        for name in names:
            place = answer.with_name(BESIDE) / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(source / name, place)


def _rarely(hear: Tell) -> Tell:
    """The same, but for what comes at once after something of the same kind."""
    last: dict[str, float] = {}

    def tell(now: JobProgress) -> None:
        time_now = time.monotonic()
        if time_now - last.get(now.what, -1.0) >= _TOLD_EVERY:
            last[now.what] = time_now
            hear(now)

    return tell
