"""Prose that stands in templates: passages of whole sentences, each a macro of a file `templates/*.md.j2`."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from humeval_power.saying.numbers import in_words, with_minus
from humeval_power.saying.values import estimated, plain, share, signed

if TYPE_CHECKING:
    from jinja2 import Environment

Prose = Callable[[str], str]
_BREAK = "\x1f"  # a line break of a template; in a name it would be a space

# Around what opens and ends a passage nothing breaks, so that one may stand within a sentence of another.
_NO_BREAK = re.compile(rf"{{% (?:macro|set) [^%]*%}}{_BREAK}|{_BREAK}{{% endmacro %}}")


def prose_of(package: str, template: str, **facts: object) -> Prose:
    """What writes a passage of the template by its name.

    A line break of a template is a space, as in Markdown; what is missing in it is an error. Names are written as
    they are: what renders the passage escapes them.
    """
    passages = _environment(package).get_template(template).make_module(facts)

    def written(passage: str) -> str:
        text = str(getattr(passages, passage)())
        return re.sub(f"{_BREAK}+", " ", text.strip(_BREAK))

    return written


@cache
def _environment(package: str) -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    def source(template: str) -> str:
        text = files(package).joinpath("templates", template).read_text(encoding="utf-8")
        lines = _BREAK.join(filter(None, map(str.strip, text.splitlines())))
        return _NO_BREAK.sub(lambda match: match[0].strip(_BREAK), lines)

    environment = Environment(loader=FunctionLoader(source), undefined=StrictUndefined, autoescape=False)
    filters: dict[str, Callable[..., str]] = {
        "n": "{:,}".format,
        "g": "{:g}".format,
        "estimated": lambda value: with_minus(estimated(value)),
        "in_words": in_words,
        "plain": plain,
        "share": share,
        "signed": signed,
        "with_minus": with_minus,
    }
    environment.filters |= filters
    return environment
