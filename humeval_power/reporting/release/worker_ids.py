"""Worker ids that stand as whole words in what is to be published, in whatever case."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

TELLING = 6  # characters from which an id that turns up elsewhere is hardly there by chance
_WORD = re.compile(r"[^\W_]+")
_NUMBER_BEFORE = re.compile(r"\d[.,]$")
_NUMBER_AFTER = re.compile(r"^[.,]\d")
# Scripts written without spaces: Thai, Lao, Khmer, kana and Chinese characters.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


class _Sought(NamedTuple):
    folded: str
    offset: int  # of its first word
    name: str


class IdSearch:
    """Finds the ids among `names` in texts: as whole words, in any case, in any form of Unicode."""

    def __init__(self, names: Iterable[str]) -> None:
        self._by_word: dict[str, list[_Sought]] = {}
        self._anywhere: list[_Sought] = []
        for name in names:
            folded = _folded(name).strip()
            first = _WORD.search(folded)
            if not folded:
                continue
            if first is None or _UNSPACED.search(folded):
                self._anywhere.append(_Sought(folded, 0, name))
            else:
                self._by_word.setdefault(first[0], []).append(_Sought(folded, first.start(), name))

    def found(self, text: str) -> set[str]:
        """The ids in a text."""
        folded = _folded(text)
        ids = {sought.name for sought in self._anywhere if sought.folded in folded}
        for word in _WORD.finditer(folded):
            for sought in self._by_word.get(word[0], ()):
                if _stands(sought, folded, word.start() - sought.offset):
                    ids.add(sought.name)
        return ids


def is_telling(name: str) -> bool:
    """Whether an id is too long to stand somewhere by chance."""
    return len(name.strip()) >= TELLING


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _stands(sought: _Sought, text: str, start: int) -> bool:
    if start < 0 or not text.startswith(sought.folded, start):
        return False
    before, after = text[max(0, start - 2) : start], text[start + len(sought.folded) :][:2]
    if sought.folded.isdecimal() and (_NUMBER_BEFORE.search(before) or _NUMBER_AFTER.search(after)):
        return False  # a part of 0.17 or 1,700
    return not (after[:1].isalnum() and sought.folded[-1].isalnum()) and not (
        before[-1:].isalnum() and sought.folded[0].isalnum()
    )
