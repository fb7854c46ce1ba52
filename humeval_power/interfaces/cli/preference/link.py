"""The option that says which noise a latent strength has."""

from __future__ import annotations

from typing import get_args

import click

from humeval_power.latent import Link
from humeval_power.rules import DEFAULT_RULE

link_option = click.option(
    "--link",
    type=click.Choice(get_args(Link)),
    default=DEFAULT_RULE.link,
    show_default=True,
    help="The scale of the strengths of a panel: normal noise of SD 1, or logistic.",
)
