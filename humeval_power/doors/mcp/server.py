"""The server that assistants talk to over standard input and output.

The tools that assistants may call: their schemas and their words, both from the declarations of the commands.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp.types import Tool as Listed

from humeval_power.asking.command import StudyCommand
from humeval_power.asking.options import FieldOption, is_further
from humeval_power.doors.page import answers
from humeval_power.doors.page.answers import Answer, Tell, Work
from humeval_power.doors.page.requests import (
    MOST_LETTERS,
    CommandRequest,
    command_of,
    file_names,
    offered,
    reads_file,
    words_of,
)
from humeval_power.doors.page.serving.chosen_folder import Folder
from humeval_power.doors.page.working.jobs import GIGABYTE, Workers, WorkLimits
from humeval_power.doors.page.working.worker_link import TooManyError
from humeval_power.errors import InputError, Problem
from humeval_power.fields import Field, shown, typed_list
from humeval_power.saying.document import READ_FIRST
from humeval_power.saying.result import Result, json_ready
from humeval_power.study import FIELDS

# The name of each tool, and the command that it is. None of them takes a look, or publishes anything.
TOOLS: dict[str, tuple[str, ...]] = {
    "start": ("start",),
    "check": ("check",),
    "fit": ("fit",),
    "power": ("power",),
    "plan": ("plan",),
    "analyze": ("analyze",),
    "compare": ("compare", "scores"),
    "rank": ("rank", "scores"),
    "rank_battles": ("rank", "battles"),
}
STUDY = "study"
# What assistants do not see beside what the page never offers: secrets, looks, and how much is printed.
HIDDEN = ("secret", "ledger", "strict", "compat", "engine", "rehearsal")
_MOST_VALUES = 1_000  # of one argument
_A_FILE = " A path in the folder of this server, with slashes."
_OPTION = re.compile(r"--(?P<name>[a-z][a-z0-9-]*)")


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as it is listed: its name, what it answers, and the JSON schema of its arguments."""

    name: str
    help: str
    schema: Mapping[str, Any]


def tools() -> tuple[Tool, ...]:
    """All tools; their commands are loaded."""
    return (*(Tool(name, _help(path), _schema(path)) for name, path in TOOLS.items()), EXPLAIN)


def work_of(tool: str, arguments: Mapping[str, Any], folder: Folder) -> Work:
    """The command that a call of a tool is.
    Raises InputError: arguments that it does not have and values of impossible kinds, all of them; or files that
    are not in the folder."""
    path = TOOLS[tool]
    known = {_argument(name): name for name in _offered(path)}
    options: list[tuple[str, str]] = []
    problems: list[Problem] = []
    for name, value in arguments.items():
        if value is None or name == STUDY:
            continue
        if name not in known:
            problems.append(Problem(f"{tool} has no argument {name[:60]!r}.", _near(name, list(known))))
            continue
        try:
            texts = _texts(_offered(path)[known[name]], value)
        except ValueError as error:
            problems.append(Problem(f"{name}: {error}", ""))
            continue
        options += [(known[name], text) for text in texts if text.strip()]
    if problems:
        raise InputError(problems)
    request = CommandRequest(path, tuple(options))
    files = [pair for value in file_names(request) for pair in folder.places(value)]
    words = words_of(request)
    study = arguments.get(STUDY)
    if study is not None and isinstance(command_of(path), StudyCommand):
        if not isinstance(study, str):
            raise InputError(f"study: give the path of a study file; got {shown(study)}.")
        words = (*words, f"--study={study}")
        files += _study_files(folder, study)
    return Work(words, tuple((name, str(place)) for name, place in dict(files).items()))


def in_words_of_tools(text: str) -> str:
    """A message with the names of arguments in the place of options."""
    text = text.replace("the folder of the page", "the folder of this server")
    return _OPTION.sub(lambda match: _argument(match["name"]), text)


def _argument(name: str) -> str:
    return name.replace("-", "_")


def _offered(path: tuple[str, ...]) -> dict[str, click.Parameter]:
    return offered(path, HIDDEN)


def _is_main(option: click.Parameter) -> bool:
    """Whether short help shows it; a study file, or 'explain', has the others."""
    if isinstance(option, FieldOption):
        return option.required or FIELDS[option.field].main
    return not is_further(option)


def _help(path: tuple[str, ...]) -> str:
    """What the command says of itself, and the arguments that its schema leaves out."""
    said = " ".join((command_of(path).help or "").split())
    further = [_argument(name) for name, option in _offered(path).items() if not _is_main(option)]
    if further:
        said += f" Further arguments, of which 'explain' says more: {', '.join(further)}."
    return in_words_of_tools(said)


def _schema(path: tuple[str, ...], *, main: bool = True) -> dict[str, Any]:
    """The JSON schema of the main arguments of a command, or of all."""
    known = {name: option for name, option in _offered(path).items() if not main or _is_main(option)}
    properties = {_argument(name): _property(path, name, option) for name, option in known.items()}
    if isinstance(command_of(path), StudyCommand):
        said = f"A study file (study.toml): what it says need not be given.{_A_FILE}"
        properties = {STUDY: {"type": "string", "description": said}, **properties}
    needed = [_argument(name) for name, option in known.items() if option.required]
    return {
        "type": "object",
        "properties": properties,
        "required": needed,
        "additionalProperties": len(known) < len(_offered(path)),
    }


def _property(path: tuple[str, ...], name: str, option: click.Parameter) -> dict[str, Any]:
    about: Field | None = getattr(option, "about", None)
    words = about.full_help if about else str(getattr(option, "help", None) or name)
    if reads_file(path, option, f"{name}.csv"):
        words += _A_FILE
    schema: dict[str, Any] = dict(about.kind.json) if about else _json_of(option)
    if about is not None and about.kind.or_file:
        schema = {"anyOf": [schema, {"type": "string"}]}
    if about is None and (option.multiple or option.nargs == -1):
        schema = {"type": "array", "items": schema}
    usual = about.usual if about else None
    if isinstance(usual, str | int | float) and usual != "":
        schema["default"] = usual
    return {**schema, "description": in_words_of_tools(" ".join(words.split()))}


def _json_of(option: click.Parameter) -> dict[str, Any]:
    """The schema of an option that is no declared field."""
    kind = option.type
    if isinstance(kind, click.Choice):
        return {"enum": [str(one) for one in kind.choices]}
    if isinstance(option, click.Option) and option.is_flag:
        return {"type": "boolean"}
    if isinstance(kind, click.types.IntParamType):
        return {"type": "integer"}
    return {"type": "number" if isinstance(kind, click.types.FloatParamType) else "string"}


def _texts(option: click.Parameter, value: Any) -> Iterator[str] | list[str]:
    """What one would type for a value, one text for each time that the option is typed.
    Raises ValueError: a value that nobody could type."""
    if isinstance(option, click.Option) and option.is_flag:
        if not isinstance(value, bool):
            raise ValueError(f"give true or false; got {shown(value)}.")
        return ["1" if value else "0"]
    many = option.multiple or option.nargs == -1
    values = value if many and isinstance(value, list) else [value]
    if len(values) > _MOST_VALUES:
        raise ValueError(f"give at most {_MOST_VALUES:,} values; got {len(values):,}.")
    texts = [typed_list(each) for each in values]
    if any(len(text) > MOST_LETTERS for text in texts):
        raise ValueError(f"give at most {MOST_LETTERS:,} letters.")
    return texts


def _near(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name[:60], known, 1)
    return f"Did you mean {close[0]}?" if close else "See its schema."


def _study_files(folder: Folder, named: str) -> list[tuple[str, Path]]:
    """A study file and those of its files that are there, which all lie in the folder."""
    from humeval_power.asking.study_file import read_study

    place = folder.resolve(named)
    places = [(named, place)]
    for name, value in read_study(place).values.items():
        if not FIELDS[name].kind.is_file:
            continue
        for each in value if isinstance(value, list) else [value]:
            beside = os.path.relpath(each, folder.path).replace(os.sep, "/")
            if os.path.exists(each):
                places += folder.places(beside)
    return places


_EXPLAINED = {
    "type": "object",
    "properties": {
        "word": {
            "type": "string",
            "description": "A word of an answer, such as 'type M', a tool, or an argument, such as effect.",
        }
    },
    "required": ["word"],
    "additionalProperties": False,
}
EXPLAIN = Tool("explain", "What a word of an answer, a tool or an argument means.", _EXPLAINED)


def explained(word: str) -> str:
    """What the glossary, the tools and their arguments say of a word. Raises InputError: nothing does."""
    from humeval_power.files.glossary import glossary

    wanted = " ".join(word.replace("_", " ").replace("-", " ").split()).casefold()
    said = [
        f"{words}: {meaning}"
        for words, meaning in glossary().items()
        if wanted in (" ".join(one.replace("-", " ").split()).casefold() for one in words.split(","))
    ]
    for tool, path in TOOLS.items():
        if wanted == tool.replace("_", " "):
            said.append(f"{tool} (a tool): {_help(path)}")
        schema = _schema(path, main=False)["properties"]
        said += [
            f"{name} (an argument of {tool}): {one['description']}"
            for name, one in schema.items()
            if wanted == name.replace("_", " ")
        ]
    if not said:
        every = [one.strip() for words in glossary() for one in words.split(",")]
        raise InputError(f"Nothing is known of {word[:60]!r}. {_near(word, [*every, *TOOLS])}")
    return "\n\n".join(dict.fromkeys(said))


# What a tool says: the answer of its command first, what must be read with it, and its record.

MOST_ANSWERED = 20_000  # of a record: an assistant reads all that it is given


def answer(work: Work, tell: Tell) -> Answer:
    """Run a command for an assistant: its first lines as the text, its record as JSON."""
    return answers.answer(work, tell, shows=_shown)


def _shown(_path: tuple[str, ...], result: Result) -> Answer:
    document = result.document()
    lines = [document.title, document.lead, *(f"{READ_FIRST}: {caveat}" for caveat in document.caveats)]
    lines += [f"{label}: {value}" for label, value in document.headline]
    return Answer(0, document.title, text="\n".join(filter(None, lines)), record=_record(result.record()))


def _record(record: Mapping[str, Any]) -> str:
    """A record as JSON; where it is long without its longest parts, which are named."""
    parts = {name: json.dumps(json_ready(value), ensure_ascii=False) for name, value in record.items()}
    left: list[str] = []
    while sum(map(len, parts.values())) > MOST_ANSWERED:
        left.append(max(parts, key=lambda name: len(parts[name])))
        del parts[left[-1]]
    if left:
        parts["left_out"] = json.dumps(left)
    return f"{{{', '.join(f'{json.dumps(name)}: {value}' for name, value in parts.items())}}}"


_INSTRUCTIONS = (
    "Power analysis, planning and analysis of human evaluations of language systems, and comparisons of scores. "
    "Say the first sentence of an answer to the user as it stands, with what is to be read first; do not round "
    "p-values or turn 'not shown' into 'no difference'. Call 'start' where it is not clear which tool answers a "
    "question, and 'check' before 'analyze'. Effects are in points of the scale where a scale is given, else on "
    "[0, 1]."
)
_MISSED = 3  # as a command ends where what was asked for cannot be had: an answer too


def serve(folder: str, *, seconds: float) -> None:
    """Answer until standard input ends.

    folder : whose files the tools may read. seconds : that one answer may take.
    Raises InputError: it is no folder.
    """
    asyncio.run(_serve(Folder(folder), seconds))


async def _serve(folder: Folder, seconds: float) -> None:
    with tempfile.TemporaryDirectory(prefix="humeval-power-mcp-") as scratch:
        limits = WorkLimits(live_seconds=seconds, live_memory=2 * GIGABYTE)
        workers = Workers(
            answer, n_live=2, n_jobs=0, limits=limits, later=(), kernels=False, scratch=scratch
        )
        await workers.start()
        try:
            server = made_server(folder, workers)
            async with stdio_server() as (incoming, outgoing):
                await server.run(incoming, outgoing, server.create_initialization_options())
        finally:
            await workers.close()


def made_server(folder: Folder, workers: Workers) -> Server[Any]:
    """The server of the tools: they read files of the folder, and the workers answer."""

    async def listed(
        _context: ServerRequestContext[Any], _asked: PaginatedRequestParams | None
    ) -> ListToolsResult:
        reads_only = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
        return ListToolsResult(
            tools=[
                Listed(
                    name=one.name,
                    description=one.help,
                    input_schema=dict(one.schema),
                    annotations=reads_only,
                )
                for one in tools()
            ]
        )

    async def called(_context: ServerRequestContext[Any], request: CallToolRequestParams) -> CallToolResult:
        arguments = request.arguments or {}
        try:
            if request.name == EXPLAIN.name:
                return _said(explained(str(arguments.get("word", ""))))
            if request.name not in TOOLS:
                return _said(f"There is no tool {request.name[:60]!r}.", is_error=True)
            result = await workers.live(work_of(request.name, arguments, folder), "")
        except (InputError, TooManyError) as error:
            return _said(in_words_of_tools(str(error)), is_error=True)
        return _result(result) if result is not None else _said("Stopped.", is_error=True)

    return Server(
        "humeval-power",
        version=version("humeval-power"),
        instructions=_INSTRUCTIONS,
        on_list_tools=listed,
        on_call_tool=called,
    )


def _result(answer: Answer) -> CallToolResult:
    """An answer as the protocol has it: first lines and notes as text, the record beside them."""
    if answer.exit_code not in (0, _MISSED) or not answer.text:
        wrong = [in_words_of_tools(one.text) for one in answer.problems]
        return _said("\n".join(wrong or answer.notes or ["It could not be answered."]), is_error=True)
    lines = [answer.text, *map(in_words_of_tools, answer.notes), f"In a terminal: {answer.command}"]
    said = _said("\n".join(lines))
    said.content.append(TextContent(type="text", text=answer.record))  # for clients that read text alone
    said.structured_content = json.loads(answer.record)
    return said


def _said(text: str, *, is_error: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=is_error)
