"""Text made safe for each medium that it leaves the program by: one function a medium, used everywhere.

A name from somebody's table may hold anything: control characters that a terminal obeys, signs that turn
the direction of a line, markup, formulas, quotation marks. Every function here takes text and returns text
that the medium shows as those characters and does not act on. What cannot be seen, such as an escape
character or a mark that turns the direction, is shown as a code such as \\x1b or \\u202e, because it may be
all that distinguishes two names.

========================  ==========================================================================
terminal                  `terminal_text`, and `wrapped` lines, `display_width`, `padded`, `cut` for columns
Markdown, HTML, LaTeX     `markdown_text`, `markdown_code`, `html_text`, `latex_text`
BibTeX                    `bibtex_text`
pictures                  `picture_text`
CSV, spreadsheets         `csv_text`, `columns_csv`, `table_csv`; read again with `original_cells`
JSON, TOML, R             `json_text`, `toml_text`, `r_text`
a shell                   `shell_command`, `shell_word`
names of files            `file_stems`
========================  ==========================================================================
"""

from humeval_power.safe_text.bibtex import bibtex_text
from humeval_power.safe_text.file_names import file_stems
from humeval_power.safe_text.html import html_text
from humeval_power.safe_text.latex import latex_text
from humeval_power.safe_text.markdown import markdown_code, markdown_text
from humeval_power.safe_text.pictures import picture_text
from humeval_power.safe_text.programs import json_text, r_text, shell_command, shell_word, toml_text
from humeval_power.safe_text.spreadsheets import (
    columns_csv,
    csv_text,
    formula_safe,
    original_cells,
    table_csv,
)
from humeval_power.safe_text.terminal import WIDTH, cut, display_width, padded, terminal_text, wrapped
from humeval_power.safe_text.visible import one_line, visible

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
    "terminal_text",
    "toml_text",
    "visible",
    "wrapped",
]
