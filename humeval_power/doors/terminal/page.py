"""`humeval-power page`: open a local web page for all of this."""

from __future__ import annotations

from dataclasses import replace

import click

from humeval_power.asking.options import RealNumber, WholeNumber, option_of
from humeval_power.asking.output import say
from humeval_power.asking.vocabulary import FOLDER
from humeval_power.extras import require_extra

_LARGEST_PORT, _LARGEST_UPLOAD, _LONGEST_IDLE = 65_535, 10_000, 10_000


@click.command("page")
@option_of(
    "folder",
    replace(
        FOLDER, note="The page opens its tables, and saves into it: no hidden file, and nothing outside."
    ),
)
@click.option("--port", type=WholeNumber(min=0, max=_LARGEST_PORT), help="Listen here. [any that is free]")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="127.0.0.1, localhost or ::1: the page is for this machine only.",
)
@click.option("--no-browser", is_flag=True, help="Print the link, and open no browser.")
@click.option(
    "--idle",
    type=RealNumber(min=0, min_open=True, max=_LONGEST_IDLE),
    default=30,
    show_default=True,
    metavar="MINUTES",
    help="End when nobody has used the page for so long and nothing is computed.",
)
@click.option(
    "--max-upload",
    type=WholeNumber(min=1, max=_LARGEST_UPLOAD),
    metavar="MB",
    help="The largest file to upload. [what commands read: 200]",
)
def command(
    folder: str, port: int | None, host: str, no_browser: bool, idle: float, max_upload: int | None
) -> None:
    """Open a local web page for all of this.

    Sliders, forms and pictures in your browser for what the commands do. The
    page is on this machine only: it opens by the link that is printed here,
    sends nothing anywhere, and keeps no upload after it ends. End it with
    Ctrl-C.
    """
    require_extra("page", wanted_for="The page")
    from humeval_power.doors.page.app import make_page
    from humeval_power.doors.page.serving.server import default_caps, serve

    serve(
        make_page,
        host=host,
        port=port or 0,
        idle=idle,
        folder=folder,
        open_browser=not no_browser,
        tell=say,
        caps=default_caps(max_upload),
    )
