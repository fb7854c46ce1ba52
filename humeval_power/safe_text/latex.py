"""Any text as LaTeX that means that text and nothing else, in plain ASCII.

What pdfLaTeX has no command for goes through \\humevalchar, which prints the character where the engine has
Unicode fonts and its code, such as U+05D0, where it has not.
"""

from __future__ import annotations

import re
import unicodedata

from humeval_power.safe_text.visible import one_line

PREAMBLE = r"""\providecommand{\humevalchar}[1]{%
  \ifdefined\Umathchar\symbol{"#1}\else\texttt{U+#1}\penalty0\hskip.1em\fi}
"""
# Without Latin Modern, T1 fonts are pictures of letters that cannot be searched well.
FONTS = "\\usepackage[T1]{fontenc}\n\\IfFileExists{lmodern.sty}{\\usepackage{lmodern}}{}\n"

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",
    "'": r"\symbol{39}",
    "`": r"\symbol{96}",
    "[": "{[}",  # would be an option after a line break
    "]": "{]}",
    "*": "{*}",
    "\u00a0": "~",
    "\u2013": "--",
    "\u2014": "---",
    "\u2018": "`",
    "\u2019": "'",
    "\u201c": "``",
    "\u201d": "''",
    "\u2026": r"\ldots{}",
    "\u2212": "$-$",
    "\u00d7": r"$\times$",
    "\u00b1": r"$\pm$",
    "\u2264": r"$\leq$",
    "\u2265": r"$\geq$",
    "\u00b7": r"$\cdot$",
    "\u00df": r"\ss{}",
    "\u00e6": r"\ae{}",
    "\u00c6": r"\AE{}",
    "\u0153": r"\oe{}",
    "\u0152": r"\OE{}",
    "\u00f8": r"\o{}",
    "\u00d8": r"\O{}",
    "\u0142": r"\l{}",
    "\u0141": r"\L{}",
    "\u0131": r"\i{}",
}
_ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r",
    "\u030b": "H",
    "\u030c": "v",
    "\u0327": "c",
}
# Two of these in a row become one character in some font: -- a dash, ,, a quotation mark.
_LIGATURES = re.compile(r"([-,])(?=\1)")
LONG_WORD, STRIDE = 24, 12  # characters of a word without blanks before it may break, and between breaks


def latex_text(text: str) -> str:
    """The text on one line; long words, such as commands and hashes, may break."""
    words = unicodedata.normalize("NFC", one_line(text)).split(" ")
    return " ".join(map(_word, words))


def _word(word: str) -> str:
    if len(word) <= LONG_WORD:
        return _plain(word)
    pieces, piece = [], ""
    for character in word:
        piece += character
        if len(piece) >= STRIDE or not character.isalnum():
            pieces.append(piece)
            piece = ""
    return r"\allowbreak{}".join(_plain(part) for part in [*pieces, piece] if part)


def _plain(text: str) -> str:
    return "".join(map(_character, _LIGATURES.sub("\\1\u200b", text)))


def _character(character: str) -> str:
    if character == "\u200b":
        return "{}"  # nothing to see, but no ligature
    if character in _SPECIAL:
        return _SPECIAL[character]
    if character.isascii():
        return character
    base, accent = _decomposed(character)
    if accent is not None:
        return f"\\{accent}{{{base}}}"
    return f"\\humevalchar{{{ord(character):04X}}}"


def _decomposed(character: str) -> tuple[str, str | None]:
    """A Latin letter and the command of its accent, None where it is not one."""
    parts = unicodedata.normalize("NFD", character)
    if len(parts) != 2 or not (parts[0].isascii() and parts[0].isalpha()):
        return "", None
    dotless = {"i": r"\i", "j": r"\j"}.get(parts[0], parts[0])
    accent = _ACCENTS.get(parts[1])
    return (parts[0] if accent == "c" else dotless), accent
