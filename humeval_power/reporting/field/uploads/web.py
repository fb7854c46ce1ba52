"""Files out of templates, and text for platforms that show HTML and fill in placeholders of their own."""

from __future__ import annotations

import json
import re
from functools import cache
from html import escape

from jinja2 import Environment, PackageLoader, StrictUndefined

from humeval_power.safe_text import json_text

_NO_CHARACTERS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
# What a placeholder is made of (${...}, {{...}}, [[...]]), what ends a line, characters of four bytes, which
# uploads refuse, and at the start what a spreadsheet would run.
_CODED = re.compile(r"[$`{}\[\]\t\n\r\x85\u2028\u2029\U00010000-\U0010ffff]|^[=+\-@]")


def web_text(text: str) -> str:
    """A text as HTML on one line, of characters of at most three bytes, in which no platform finds a placeholder.

    Line breaks stay as references: the element that holds it keeps white space. A character that HTML does not know
    is shown as the sign for it.
    """
    known = _NO_CHARACTERS.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _CODED.sub(lambda found: f"&#{ord(found[0])};", escape(known))


def json_page(values: object) -> str:
    """Values as a JSON file that people can read too."""
    return json_text(json.dumps(values, ensure_ascii=False, indent=1)) + "\n"


def filled(name: str, **values: object) -> str:
    """A file of the folder of templates, filled in. What people wrote in it has been through `web_text`."""
    return _environment().get_template(name).render(**values)


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("humeval_power.reporting.field.uploads"),
        autoescape=False,  # what people wrote comes as `web_text`, which escapes more than the engine does
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
