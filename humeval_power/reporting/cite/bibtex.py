"""Works as entries of BibTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from humeval_power.references import Reference
from humeval_power.safe_text import bibtex_text

_VERBATIM = ("doi", "url", "eprint", "archiveprefix")  # what programs read, and no line may break
_PLAIN = re.compile(r"[A-Za-z0-9./:_()-]+")
_AS_WRITTEN = ("title",)  # capitals are kept by a second pair of braces


def entry(work: Reference) -> str:
    """One entry; accents are commands, so that every BibTeX reads it."""
    fields: Mapping[str, str] = {
        "author": " and ".join(map(_author, work.authors)),
        "title": _typeset(work.title),
        **{name: _field(name, text) for name, text in work.details.items() if text},
        "year": str(work.year),
    }
    lines = [
        f"  {name} = {{{{{text}}}}}," if name in _AS_WRITTEN else f"  {name} = {{{text}}},"
        for name, text in fields.items()
    ]
    return "\n".join([f"@{work.kind}{{{work.key},", *lines, "}"])


def bibliography(works: Iterable[Reference]) -> str:
    """The entries of a file, in the order given."""
    return "\n\n".join(map(entry, works)) + "\n"


def _typeset(text: str) -> str:
    """A text whose apostrophes are those of print: the other one is a command that not every program reads."""
    return bibtex_text(text.replace("'", "\u2019"))


def _author(name: str) -> str:
    """'Family, Given'; what has no comma is one name, of a group."""
    text = _typeset(name)
    return text if "," in name else f"{{{text}}}"


def _field(name: str, text: str) -> str:
    if name == "pages":
        return bibtex_text(text.replace("-", "\u2013"))
    if name not in _VERBATIM:
        return bibtex_text(text)
    assert _PLAIN.fullmatch(text), text
    return text
