"""A real client talks to the server of tools over standard input and output."""

import asyncio
import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(find_spec("mcp") is None, reason="mcp is not installed")
ROOT = Path(__file__).resolve().parents[2]


async def talk(
    folder: Path, seconds: str, calls: list[tuple[str, dict[str, Any]]]
) -> tuple[list[str], list[Any]]:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    program = "from humeval_power.doors.terminal.main import main; main()"
    words = ["-c", program, "mcp", "--folder", str(folder), "--timeout", seconds]
    started = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))
    async with stdio_client(started) as (incoming, outgoing), ClientSession(incoming, outgoing) as session:
        await session.initialize()
        names = [one.name for one in (await session.list_tools()).tools]
        return names, [await session.call_tool(name, arguments) for name, arguments in calls]


@pytest.mark.slow
def test_a_client_lists_the_tools_and_gets_first_lines_records_and_refusals(tmp_path: Path) -> None:
    shutil.copy(ROOT / "data" / "pilot.csv", tmp_path / "pilot.csv")
    size = {"preset": "high", "items": 40, "effect": 0.1, "method": "analytic"}
    names, found = asyncio.run(
        talk(
            tmp_path,
            "60",
            [
                ("power", {**size, "workers": 10}),
                ("check", {"ratings": "pilot.csv", "scale": "1:5"}),
                ("check", {"ratings": "../pilot.csv"}),
                ("power", {**size, "worker": 10}),
                ("explain", {"word": "power"}),
                ("release", {}),
            ],
        )
    )
    assert {"start", "power", "plan", "check", "compare", "rank", "analyze", "explain"} <= set(names)
    power, check, outside, unknown, word, absent = found
    assert "Of 100 such studies" in power.content[0].text
    assert power.structured_content["workers"] == 10
    assert not power.is_error
    assert "This table can be analysed" in check.content[0].text
    assert outside.is_error
    assert "the folder of this server" in outside.content[0].text
    assert unknown.is_error
    assert "Did you mean workers?" in unknown.content[0].text
    assert not word.is_error
    assert absent.is_error
    assert [path.name for path in tmp_path.iterdir()] == ["pilot.csv"]


@pytest.mark.long
@pytest.mark.slow
def test_an_answer_that_takes_too_long_is_ended_and_the_next_is_answered(tmp_path: Path) -> None:
    long = {"preset": "high", "workers": 300, "items": 400, "ratings_per_item": 3, "effect": 0.1}
    long |= {"simulations": 200_000}  # three minutes
    short = {"preset": "high", "workers": 10, "items": 40, "effect": 0.1, "method": "analytic"}
    _, (ended, next_one) = asyncio.run(talk(tmp_path, "3", [("power", long), ("power", short)]))
    assert ended.is_error
    assert not next_one.is_error
