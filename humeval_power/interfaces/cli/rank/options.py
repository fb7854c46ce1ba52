"""Options that the commands of leaderboards share."""

from __future__ import annotations

import click

systems_option = click.option(
    "--systems",
    metavar="A,B,...",
    callback=lambda _ctx, _option, text: _names(text),
    help="The systems to rank. [all]",
)


def _names(text: str | None) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in (text or "").split(",") if name.strip()))
    if text is not None and len(names) < 2:
        raise click.BadParameter(f"name two systems or more: A,B,C; got {text!r}.")
    return names
