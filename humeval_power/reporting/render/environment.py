"""Templates that escape all text: one environment for documents and for the pages around them."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from humeval_power.safe_text import one_line, visible


def safe_environment(package: str) -> Environment:
    """The templates of a package, in which all text is escaped, on one line, with what cannot be seen as a code.

    What was marked as safe stays as it is; the filter `lines` keeps the lines of a text.
    """
    found = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters["lines"] = lambda text: Markup("\n").join(map(visible, text.split("\n")))
    return found


def _shown(value: Any) -> Any:
    return one_line(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
