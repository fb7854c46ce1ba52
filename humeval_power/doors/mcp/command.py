"""`humeval-power mcp`: tools for assistants that speak the Model Context Protocol."""

from __future__ import annotations

from dataclasses import replace

import click

from humeval_power.asking.options import RealNumber, option_of
from humeval_power.asking.vocabulary import FOLDER
from humeval_power.extras import require_extra

_LONGEST = 3600


@click.command("mcp")
@option_of("folder", replace(FOLDER, note="The tools read them: no hidden file, and nothing outside."))
@click.option(
    "--timeout",
    "seconds",
    type=RealNumber(min=0, min_open=True, max=_LONGEST),
    default=120,
    show_default=True,
    help="The longest that one answer may take.",
)
def command(folder: str, seconds: float) -> None:
    """Offer this to an assistant, as tools of the Model Context Protocol.

    An assistant starts it and talks to it over standard input and output. Its
    tools are commands: start, check, fit, power, plan, analyze, compare, rank,
    and 'explain' for the words. They answer with their first sentences and
    their record. They write no file, take no look at a study that runs, and
    reach no network.
    """
    require_extra("mcp", wanted_for="The server of tools")
    from humeval_power.doors.mcp.server import serve

    serve(folder, seconds=seconds)
