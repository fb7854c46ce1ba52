"""A document as LaTeX that compiles by itself: article, booktabs, longtable, numbers aligned by siunitx."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from humeval_power.safe_text import FONTS, PREAMBLE, latex_text
from humeval_power.saying.document import (
    NUMBERS_FROM,
    READ_FIRST,
    Block,
    Document,
    Fact,
    Facts,
    FormLine,
    Listing,
    Paragraph,
    Picture,
    Points,
    Table,
)
from humeval_power.saying.numbers import MINUS, minus_of_numbers

LONG = 30  # rows of a table that may break over pages
_MOST_COLUMNS = 11  # of a table with labelled columns that still fits a page
PACKAGES = "\\usepackage{booktabs,siunitx}"  # what a table needs
# A column of numbers, N{2.3}: so many digits before and after the point. Without siunitx it ends at the right.
COLUMN = (
    "\\ifdefined\\sisetup\\newcolumntype{N}[1]{S[table-format=#1,group-digits=integer,group-minimum-digits=4,"
    "group-separator={,},retain-explicit-plus]}\\else\\newcolumntype{N}[1]{>{$}r<{$}}\\fi\n"
)
_NUMBER = re.compile(r"(?P<sign>[+\-\u2212]?)(?P<whole>\d[\d,]*)(?:\.(?P<rest>\d+))?")
_HEAD = (
    f"\\documentclass[a4paper,10pt]{{article}}\n{FONTS}"
    "\\usepackage[margin=22mm]{geometry}\n\\usepackage{booktabs,longtable}\n"
    f"\\IfFileExists{{siunitx.sty}}{{\\usepackage{{siunitx}}}}{{\\usepackage{{array}}}}\n{COLUMN}"
    f"\\setlength{{\\parindent}}{{0pt}}\\setlength{{\\parskip}}{{4pt}}\\emergencystretch=3em\n{PREAMBLE}"
    "\\begin{document}"
)


def as_latex(document: Document) -> str:
    """The document, without its pictures: their numbers are in its tables."""
    return "\n\n".join(block for block in _blocks(document) if block) + "\n"


def _blocks(document: Document) -> Iterator[str]:
    yield _HEAD
    yield f"\\section*{{{_text(document.title)}}}"
    yield _text(document.lead)
    yield _description(document.headline)
    if document.caveats:
        yield f"\\subsection*{{{READ_FIRST}}}"
        yield _items(document.caveats)
    for section in document.all_sections:
        shown = [text for text in map(_block, section.blocks) if text]
        if shown and section.title:
            yield f"\\subsection*{{{_text(section.title)}}}"
        yield from shown
    if document.signature:
        yield latex_signature(document.signature)
    if document.provenance:
        yield f"\\subsection*{{{NUMBERS_FROM}}}"
        yield _description(document.provenance)
    yield "\\end{document}"


def latex_signature(signature: str) -> str:
    """The line that says what was tested, which may break between its entries."""
    line = "\\textbar{}\\allowbreak{}".join(map(latex_text, signature.split("|")))
    return f"{{\\raggedright\\noindent Signature: {{\\small\\ttfamily {line}}}\\par}}"


def _block(block: Block) -> str:
    match block:
        case Facts(lines):
            return _description(lines)
        case Paragraph(text):
            return _text(text)
        case Points(points):
            return _items(points)
        case Listing(text):
            copied = "\\\\\n".join(map(latex_text, text.split("\n")))
            return f"{{\\raggedright\\noindent\\small\\ttfamily {copied}\\par}}"
        case Table():
            return latex_table(block)
        case FormLine():
            return _field(block)
        case Picture():
            return ""


def latex_float(table: Table, *, caption: str, label: str) -> str:
    """A table as a float to put into a paper that loads `PACKAGES`, with the commands that it needs."""
    return f"% {PACKAGES}\n{COLUMN}{PREAMBLE}{bare_float(table, caption=caption, label=label)}\n"


def bare_float(table: Table, *, caption: str, label: str) -> str:
    """A table as a float; one with labelled columns is as wide as the page, if it is too wide in parts that stand
    below each other."""
    kind = "table*" if table.spans else "table"
    parts = table.parts(lambda part: len(part.header) <= _MOST_COLUMNS)
    bodies = "\n\n\\medskip\n".join(_tabular(part, "tabular") for part in parts)
    return (
        f"\\begin{{{kind}}}[t]\n\\centering\\small\n{bodies}\n"
        f"\\caption{{{_text(caption)}}}\n\\label{{{label}}}\n\\end{{{kind}}}"
    )


def latex_table(table: Table) -> str:
    """A table between rules; a long one may break over pages, one of sentences is a list."""
    if table.in_words:
        return _description([(row[0], ". ".join(filter(None, row[1:]))) for row in table.rows])
    parts = table.parts(lambda part: len(part.header) <= _MOST_COLUMNS)
    if len(parts) > 1:
        return "\n\n".join(map(latex_table, parts))
    environment = "longtable" if len(table.rows) > LONG else "tabular"
    caption = f"{_text(table.caption)}\\par\n" if table.caption else ""
    return f"{caption}{{\\small\n{_tabular(table, environment)}\\par}}"


def _tabular(table: Table, environment: str) -> str:
    width = len(table.header) or max(map(len, table.rows), default=0)
    formats = {place: form for place in table.numbers if (form := _format([r[place] for r in table.rows]))}
    columns = "".join(
        f"N{{{formats[place]}}}" if place in formats else "r" if place in table.numbers else "l"
        for place in range(width)
    )
    head = f"{_cells(table.header, formats)}\n\\midrule" if table.header else ""
    end = "\\endhead" if head and environment == "longtable" else ""
    rows = [_cells(row, formats) for row in table.rows]
    if table.has_total and rows:
        rows.insert(-1, "\\midrule")
    lines = (
        "\\setlength{\\tabcolsep}{4pt}" if table.spans else "",
        f"\\begin{{{environment}}}{{@{{}}{columns}@{{}}}}\n\\toprule",
        _labels(table),
        head,
        end,
        *rows,
        f"\\bottomrule\n\\end{{{environment}}}",
    )
    return "\n".join(filter(None, lines))


def _format(cells: Sequence[str]) -> str:
    """The most digits before and after the point, such as '2.3'; empty where a cell is more than a number."""
    numbers = [_NUMBER.fullmatch(cell) for cell in cells if cell[:1].isdigit() or cell[1:2].isdigit()]
    if not numbers or not all(numbers):
        return ""
    known = [number for number in numbers if number is not None]
    whole = max(len(number["whole"].replace(",", "")) for number in known)
    rest = max(len(number["rest"] or "") for number in known)
    return f"{'-' if any(number['sign'] for number in known) else ''}{whole}{f'.{rest}' * bool(rest)}"


def _labels(table: Table) -> str:
    """Labels above the columns that they are of, each with a rule."""
    if not table.spans:
        return ""
    cells, rules, start = [""], [], 2
    for label, n in table.spans:
        cells.append(f"\\multicolumn{{{n}}}{{c}}{{{_text(label)}}}")
        rules.append(f"\\cmidrule(lr){{{start}-{start + n - 1}}}")
        start += n
    return " & ".join(cells) + r" \\" + "\n" + " ".join(rules)


def _cells(cells: Sequence[str], formats: Mapping[int, str]) -> str:
    """A row; in a column of numbers what is none, such as its name, is set apart."""
    shown = []
    for place, cell in enumerate(cells):
        if place not in formats or not cell:
            shown.append(_text(cell))
        elif _NUMBER.fullmatch(cell):
            shown.append(cell.replace(MINUS, "-").replace(",", ""))
        else:
            shown.append(f"\\multicolumn{{1}}{{r}}{{{_text(cell)}}}")
    return " & ".join(shown) + r" \\"


def _items(texts: Sequence[str]) -> str:
    lines = "\n".join(f"\\item {_text(text)}" for text in texts)
    return f"\\begin{{itemize}}\n{lines}\n\\end{{itemize}}"


def _description(facts: Sequence[Fact]) -> str:
    if not facts:
        return ""
    lines = "\n".join(f"\\item[{{{_text(label)}}}] {_text(text)}" for label, text in facts)
    return f"\\begin{{description}}\n{lines}\n\\end{{description}}"


def _field(field: FormLine) -> str:
    mark = "" if field.state == "filled" else f" \\emph{{({field.state})}}"
    parts = [f"\\textbf{{{_text(field.question)}}}{mark}"]
    parts += [_text(field.answer)] if field.answer else []
    if field.state != "filled" and field.advice:
        parts.append(f"\\emph{{{_text(field.advice)}}}")
    parts += [f"{{\\small From {_text(field.source)}}}"] if field.source else []
    text = "\\\\\n".join(parts)
    return text if field.table is None else f"{text}\n\n{latex_table(field.table)}"


def _text(text: str) -> str:
    """Text with real minus signs before numbers."""
    return latex_text(minus_of_numbers(text))
