"""Text made safe for each medium that it leaves the program by: one function a medium, used everywhere.

A name from somebody's table may hold anything: control characters that a terminal obeys, signs that turn
the direction of a line, markup, formulas, quotation marks. Every function here takes text and returns text
that the medium shows as those characters and does not act on. What cannot be seen, such as an escape
character or a mark that turns the direction, is shown as a code such as \\x1b or \\u202e, because it may be
all that distinguishes two names.

========================  ==========================================================================
terminal                  `visible` text, and `wrapped` lines, `display_width`, `padded`, `cut` for columns
Markdown, HTML, LaTeX     `markdown_text`, `markdown_code`, `html_text`, `latex_text`
BibTeX                    `bibtex_text`
pictures                  `picture_text`
CSV, spreadsheets         `csv_text`, `columns_csv`, `table_csv`; read again with `original_cells`
JSON, TOML, R             `json_text`, `toml_text`, `r_text`
a shell                   `shell_command`, `shell_word`
names of files            `file_stems`
========================  ==========================================================================
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


# Names of files made from names of anything.

LONGEST = 60  # characters; file systems take 255 bytes, and an ending follows
_DEVICES = re.compile(r"(?i:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")  # Windows opens these as devices


def file_stems(names: Sequence[str], *, nameless: str) -> list[str]:
    """The names as the starts of files' names, numbered where two would be the same.

    Letters and digits of any alphabet stay; `nameless` stands for a name without any.
    """
    stems = [_stem(name) or nameless for name in names]
    folded = [stem.casefold() for stem in stems]  # some file systems do not tell capitals
    return [
        stem if folded.count(stem.casefold()) == 1 else f"{place}-{stem}"
        for place, stem in enumerate(stems, start=1)
    ]


def _stem(name: str) -> str:
    stem = re.sub(r"[^\w.-]+", "_", name).strip("._")[:LONGEST].strip("._-")
    return f"_{stem}" if _DEVICES.fullmatch(stem) else stem


# Cells of a CSV file that no spreadsheet runs as a formula, and their way back.

# Also the full-width signs, and a mark of byte order, which a spreadsheet skips.
_RUN = re.compile(r"'*[=+\-@\t\r\n\ufeff\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_PLAIN = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_. :/-]*")  # most cells, at the price of one look
_QUOTED = re.compile(r'[,"\r\n]')
_EMPTY = '""'  # a line of one empty cell would be a blank line, which readers skip
_SURROGATES = re.compile(r"[\ud800-\udfff]")


def formula_safe(cell: str) -> str:
    """The cell with an apostrophe in front if a spreadsheet would run it; plain numbers stay as they are.

    A cell that already has apostrophes before such a sign gets one more, so that taking one away is
    always the way back.
    """
    return f"'{cell}" if _RUN.match(cell) and not _NUMBER.fullmatch(cell) else cell


def original_cells(cells: Sequence[str]) -> list[str]:
    """The cells of a column before `formula_safe`.

    A column with a cell that a spreadsheet would run was not written by `formula_safe`: it stays as it is,
    and so no two names of a table ever become one.
    """
    if not any(cell.startswith("'") for cell in cells):
        return list(cells)
    different = {cell for cell in cells if _RUN.match(cell)}
    guarded = {cell: cell[1:] for cell in different if cell.startswith("'")}
    if not guarded or any(formula_safe(cell) != cell for cell in different - set(guarded)):
        return list(cells)
    return [guarded.get(cell, cell) for cell in cells]


def csv_text(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as CSV: commas, line feeds, quotation marks where needed, and no formulas."""
    lines = [header, *rows]
    return "".join(f"{','.join(map(_written, line)) or _EMPTY}\n" for line in lines)


def columns_csv(columns: Mapping[str, Sequence[str]]) -> str:
    """Columns of text of one length as CSV, under their names; a text that stands often is looked at once."""
    return _joined(list(columns), [_written_texts(cells) for cells in columns.values()])


def table_csv(table: pd.DataFrame, *, digits: int | None = None) -> str:
    """A table as CSV without its index; `digits` are the significant ones of numbers, None for all.

    What is missing is an empty cell.
    """
    names = [str(name) for name in table]
    return _joined(names, [_written_column(table.iloc[:, place], digits) for place in range(len(names))])


def _joined(names: Sequence[str], columns: Sequence[list[str]]) -> str:
    """Cells as they are written, column by column, as the lines of a file: their texts lie in one piece of memory
    from the start."""
    header = f"{','.join(map(_written, names)) or _EMPTY}\n"
    if not columns or not columns[0]:
        return header
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(columns) == 1:
        columns = [[cell or _EMPTY for cell in columns[0]]]
    *others, last = (pa.array(cells, pa.large_string()) for cells in columns)
    nothing, feed, comma = (pa.scalar(text, pa.large_string()) for text in ("", "\n", ","))
    ended = pc.binary_join_element_wise(last, nothing, feed)
    lines = pc.binary_join_element_wise(*others, ended, comma)
    body: bytes = lines.buffers()[2].to_pybytes()
    return header + body.decode()


def _written_column(cells: pd.Series, digits: int | None) -> list[str]:
    """The cells of a column as they are written."""
    values, missing = cells.tolist(), cells.isna()
    if missing.any():
        values = ["" if gone else value for value, gone in zip(values, missing.tolist(), strict=True)]
    if set(map(type, values)) <= {str, int}:  # of which none equals another that is written otherwise
        return _written_texts(values)
    return [_written(_cell(value, digits)) for value in values]


def _written_texts(values: Sequence[str | int]) -> list[str]:
    """Texts and whole numbers as they are written, each different one looked at once."""
    written = {value: _written(str(value)) for value in set(values)}
    return [written[value] for value in values]


def _cell(value: object, digits: int | None) -> str:
    return f"{value:.{digits}g}" if isinstance(value, float) and digits is not None else str(value)


def _written(cell: str) -> str:
    if _PLAIN.fullmatch(cell):
        return cell
    cell = formula_safe(cell)
    text = _SURROGATES.sub(lambda match: f"\\u{ord(match[0]):04x}", cell)  # UTF-8 has none
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


# Characters that cannot be seen, shown as codes: what every medium for readers starts from.

# Controls, marks that turn the direction, line and paragraph separators, fillers and blanks of no width,
# tags, lone surrogates, and code points that are no characters. Tab and line ends are `_LAYOUT`.
_INVISIBLE = (
    r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff"
    + "".join(f"\\U{plane:04x}fffe\\U{plane:04x}ffff" for plane in range(1, 17))
)
# Joiners and variation selectors act on other alphabets and emoji; beside ASCII letters they only hide.
_JOINERS = r"(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
_SELECTORS = r"(?<![^\x00-\x7f])[\ufe00-\ufe0f](?!\u20e3)"
HIDDEN = re.compile(f"[{_INVISIBLE}]|{_JOINERS}|{_SELECTORS}")
_LAYOUT = re.compile(r"[\t\r]")
_BLANKS = re.compile(r"[ \t\r\n]+")
_SHORT = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}


def visible(text: str) -> str:
    """Text with its line feeds and nothing else that cannot be seen: an escape character becomes \\x1b.

    Doing it twice changes nothing more.
    """
    if text.isascii() and text.isprintable():  # nothing to look for, as in nearly all text
        return text
    return _LAYOUT.sub(_code, HIDDEN.sub(_code, text))


def one_line(text: str) -> str:
    """Visible text on one line: blanks and line ends become one blank, and none at the ends."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip(" ")
    return HIDDEN.sub(_code, _BLANKS.sub(" ", text).strip(" "))


def one_cell(text: str) -> str:
    """Visible text on one line with its line feeds as \\n: names that differ by them stay different."""
    return visible(text).replace("\n", r"\n")


def code_of(character: str) -> str:
    """The code that a hidden character is shown as: \\x1b, \\u202e or \\U000e0001."""
    if character in _SHORT:
        return _SHORT[character]
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _code(match: re.Match[str]) -> str:
    return code_of(match[0])


# Text for an HTML page, whatever stands in it.


def html_text(text: str) -> str:
    """The text on one line, for an element or a quoted attribute."""
    return escape(one_line(text))


# Any text as LaTeX that means that text and nothing else, in plain ASCII.

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


# Text for a field of a BibTeX entry, between braces.


def bibtex_text(text: str) -> str:
    r"""LaTeX without braces of its own: BibTeX counts \{ as a brace, and a style would change capitals."""
    return latex_text(text).replace(r"\{", r"\symbol{123}").replace(r"\}", r"\symbol{125}")


# Text for Markdown, with every character that Markdown could act on made plain.

# Whatever Markdown, or the HTML inside it, could read as more than a character. An interval such as
# [0, 1] and the underscores inside a name are left as they are: nothing acts on them.
_SPECIAL_MARKDOWN = re.compile(
    r"(?P<plain>\[0, 1\](?![\[(:])|(?<=[A-Za-z0-9])_(?=[A-Za-z0-9]))"
    r"|[\\`*_\[\]<|~$]|&(?=[#A-Za-z0-9]+;)|^(?:[#>]|[+=-](?=[\s=-]|$)|\d+(?=[.)](?:\s|$)))"
)


def markdown_text(text: str) -> str:
    """Text on one line, for a paragraph, a list or a cell of a table."""
    return _SPECIAL_MARKDOWN.sub(_backslashed, one_line(text))


def markdown_code(text: str) -> str:
    """Text on one line as code, between more backticks than stand in it; not for cells of tables."""
    line = one_line(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    edge = " " if line.startswith("`") or line.endswith("`") or not line else ""
    return f"{fence}{edge}{line}{edge}{fence}"


def _backslashed(match: re.Match[str]) -> str:
    if match["plain"] is not None:
        return match[0]
    return f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}"


# Text for a picture: one line that matplotlib's own font can draw.

FONT = "DejaVu Sans"


def picture_text(text: str) -> str:
    """The text on one line; a character that the font lacks is shown as its code, not as an empty box.

    Two names in a script that the font lacks would look the same otherwise.
    """
    line = one_line(text)
    if line.isascii():
        return line
    return "".join(mark if ord(mark) in _drawn() else code_of(mark) for mark in line)


@cache
def _drawn() -> frozenset[int]:
    """The code points that the font has."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return frozenset(get_font(findfont(FontProperties(family=[FONT]))).get_charmap())


# Text that another program reads: JSON, TOML, R, a shell.

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+")
_UNDECODED = re.compile(r"[\udc80-\udcff]")  # bytes of an argument that are not UTF-8, as Python keeps them


def json_text(document: str) -> str:
    r"""A JSON document whose strings hold hidden characters as \u202e: it reads back as the same values."""
    return HIDDEN.sub(lambda match: _json_code(match[0]), document)


def _json_code(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def toml_text(text: str, *, key: bool = False) -> str:
    """A string of TOML, or a key, which stays bare where it can."""
    if key and _PLAIN_KEY.fullmatch(text):
        return text
    return '"' + re.sub(r'["\\]|[\t\n\r]|' + HIDDEN.pattern, _toml_code, text) + '"'


def _toml_code(match: re.Match[str]) -> str:
    character = match[0]
    if character in '"\\':
        return f"\\{character}"
    if "\ud800" <= character <= "\udfff":
        return f"\\\\u{ord(character):04x}"  # TOML has no lone surrogates: shown, as for a reader
    code = code_of(character)
    return code.replace("\\x", "\\u00")


def r_text(text: str) -> str:
    r"""A string of R in ASCII, which is the same under every locale: "\u00e9" for é."""
    return '"' + re.sub(r'["\\]|[^ -~]', _r_code, text) + '"'


def _r_code(match: re.Match[str]) -> str:
    character = match[0]
    if character in '"\\':
        return f"\\{character}"
    if "\ud800" <= character <= "\udfff":
        return "\\ufffd"  # as R shows what is no character
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def shell_command(words: Iterable[str]) -> str:
    """A command to be shown and pasted: one line, and each word what it was in bash, zsh and ksh."""
    return " ".join(map(shell_word, words))


def shell_word(word: str) -> str:
    """One word of a command, such as the value of an option, quoted where that is needed."""
    if visible(word) == word and "\n" not in word:
        return shlex.quote(word)
    return "$'" + re.sub(r"['\\]|[\t\n\r]|" + HIDDEN.pattern, _shell_code, word) + "'"


def _shell_code(match: re.Match[str]) -> str:
    character = match[0]
    if character in "'\\":
        return f"\\{character}"
    if _UNDECODED.fullmatch(character):
        return f"\\x{ord(character) - 0xDC00:02x}"
    if "\x80" <= character <= "\xff":
        return f"\\u{ord(character):04x}"  # \x would be a byte
    return code_of(character)


# Text for a terminal: nothing that it would obey, in columns that align.

WIDTH = 80
_DOTS = "..."
_STARTS_OF_ERRORS = ("error:", "warning:")


def display_width(text: str) -> int:
    """Columns that visible text takes: two for wide East Asian characters, none for combining marks."""
    return len(text) if text.isascii() else sum(map(_width, text))


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Text with blanks up to a width, before it where it is set to the right."""
    blanks = " " * (width - display_width(text))
    return blanks + text if right else text + blanks


def cut(text: str, width: int) -> str:
    """Text of at most a width; what is cut off is shown by dots."""
    if display_width(text) <= width:
        return text
    room, kept = width - len(_DOTS), 0
    for character in text:
        room -= _width(character)
        if room < 0:
            break
        kept += 1
    return text[:kept] + _DOTS


def wrapped(text: str, *, width: int = WIDTH, bullet: str = "", indent: str = "") -> str:
    """Text in lines of at most `width` columns; names and paths are not broken, nor are blanks in them lost.

    Later lines start with `indent`, or below the text after the bullet, and never as an error does: a system
    may be named so.
    """
    later = indent or " " * display_width(bullet)
    lines: list[str] = []
    line = ""
    for piece in re.findall(r" *[^ ]+(?: %[^ ]*)?", visible(re.sub(r"[\t\r\n]", " ", text))):
        word = piece.lstrip(" ")
        room = width - display_width(later if lines else bullet)
        if not line:
            line = word
        elif display_width(line) + display_width(piece) <= room:
            line += piece
        elif not word.lower().startswith(_STARTS_OF_ERRORS):
            lines.append(line)
            line = word
        else:
            above, _, moved = line.rpartition(" ")
            lines += [above] if above else []
            line = moved + piece
    lines.append(line)
    return "\n".join((later if place else bullet) + each.rstrip(" ") for place, each in enumerate(lines))


def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


__all__ = [
    "WIDTH",
    "bibtex_text",
    "columns_csv",
    "csv_text",
    "cut",
    "display_width",
    "file_stems",
    "formula_safe",
    "html_text",
    "json_text",
    "latex_text",
    "markdown_code",
    "markdown_text",
    "one_line",
    "original_cells",
    "padded",
    "picture_text",
    "r_text",
    "shell_command",
    "shell_word",
    "table_csv",
    "toml_text",
    "visible",
    "wrapped",
]
