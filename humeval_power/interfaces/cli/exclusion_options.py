"""The option that says by which rules workers are left out."""

from __future__ import annotations

import click

from humeval_power.exclusions import NO_RULES, RULES, ExclusionRules
from humeval_power.interfaces.cli.options import Function


def exclude_if_option(words: str) -> Function:
    """The option --exclude-if; the command gets it as `exclude_if: ExclusionRules`, none where it was not typed.

    words : what it does in this command, for its help.
    """
    return click.option(
        "--exclude-if",
        metavar="RULES",
        callback=_rules,
        help=f"{words}: {','.join(f'{name}={limit}' for name, limit in _EXAMPLE.items())}, or some of it.",
    )


_EXAMPLE = dict(zip(RULES, ("0.34", "0.3", "2", "0.95", "0"), strict=True))


def _rules(_ctx: click.Context, _option: click.Parameter, text: str | None) -> ExclusionRules:
    return NO_RULES if text is None else ExclusionRules.parse(text)
