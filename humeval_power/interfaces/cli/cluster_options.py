"""The option that names clusters of items, spelt once."""

from __future__ import annotations

import click

cluster_option = click.option(
    "--cluster",
    metavar="COLUMN",
    help="Column of clusters of items: passage, document, template.",
)
