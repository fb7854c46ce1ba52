"""The server that assistants talk to over standard input and output."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

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

from humeval_power.doors.mcp.tools import EXPLAIN, TOOLS, explained, in_words_of_tools, tools, work_of
from humeval_power.doors.page import answers
from humeval_power.doors.page.answers import Answer, Tell, Work
from humeval_power.doors.page.serving.chosen_folder import Folder
from humeval_power.doors.page.working.crew import TooManyError
from humeval_power.doors.page.working.workers import GIGABYTE, Workers, WorkLimits
from humeval_power.errors import InputError
from humeval_power.saying.document import READ_FIRST
from humeval_power.saying.result import Result, json_ready

# What a tool says: the answer of its command first, what must be read with it, and its record.

MOST_LETTERS = 20_000  # of a record: an assistant reads all that it is given


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
    while sum(map(len, parts.values())) > MOST_LETTERS:
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
