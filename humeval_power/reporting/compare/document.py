"""A comparison as a document: the same sections as Markdown, LaTeX and HTML."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from humeval_power.inference.compare.all_pairs import PairwiseScores
from humeval_power.inference.compare.score_table import ScoreTable
from humeval_power.planning.compare.pair import PairComparison
from humeval_power.reporting.compare.words import (
    advice_table,
    curve_table,
    effect_table,
    many_caveats,
    means_table,
    pairs_report_table,
    report_rows,
    shape_words,
    summary_table,
    verdict,
)
from humeval_power.reporting.page_style import CSS
from humeval_power.reporting.tables import Table, html_table, latex_table, markdown_table
from humeval_power.safe_text import html_text, markdown_code, markdown_text
from humeval_power.safe_text.latex import FONTS, PREAMBLE, latex_text


@dataclass(frozen=True, slots=True)
class Section:
    """Paragraphs, then a table, then a picture by its name; `in_words`: its cells are sentences."""

    heading: str
    paragraphs: tuple[str, ...] = ()
    table: Table | None = None
    figure: str | None = None
    in_words: bool = False


@dataclass(frozen=True, slots=True)
class CompareDocument:
    """A title, what must be read first, the sections, the signature, and where the data came from."""

    title: str
    caveats: tuple[str, ...]
    sections: tuple[Section, ...]
    signature: str
    provenance: tuple[str, ...] = field(default=())


def pair_document(
    comparison: PairComparison, signature: str, *, everything: bool = False
) -> CompareDocument:
    """The report of one pair; `everything` lists the unsuitable tests too."""
    a, b = comparison.table.systems
    rows = report_rows(comparison)
    curve = curve_table(comparison)
    sections = [
        Section("Result", (verdict(comparison),), Table(("quantity", "value"), rows), in_words=True),
        Section("Data", tuple(shape_words(comparison)), summary_table(comparison), "histograms"),
        Section("Effect sizes", (), effect_table(comparison)),
        Section(
            "Tests for this question", (), advice_table(comparison, everything=everything), in_words=True
        ),
    ]
    if curve is not None:
        sections.append(Section("Power by number of items", (), curve, "power"))
    return CompareDocument(
        f"{b} (B) compared with {a} (A): {comparison.table.metric}",
        comparison.warnings,
        tuple(sections),
        signature,
        _provenance(comparison.table),
    )


def many_document(result: PairwiseScores, table: ScoreTable, signature: str) -> CompareDocument:
    """The report of all pairs of several systems."""
    groups = [", ".join(cluster) for cluster in result.clusters]
    clusters = tuple(f"Cluster {place}: {names}." for place, names in enumerate(groups, start=1))
    return CompareDocument(
        f"{len(result.means)} systems compared: {table.metric}",
        many_caveats(result),
        (
            Section("Systems", clusters, means_table(result)),
            Section("All pairs", (), None, "heat_map"),
            Section("Each pair", (), pairs_report_table(result)),
        ),
        signature,
        _provenance(table),
    )


def compare_markdown(document: CompareDocument) -> str:
    """The document as GitHub-flavoured Markdown, without its pictures."""
    blocks = [f"# {markdown_text(document.title)}"]
    if document.caveats:
        blocks.append(
            "## Read this first\n\n" + "\n".join(f"- {markdown_text(text)}" for text in document.caveats)
        )
    for section in document.sections:
        if section.table is None and not section.paragraphs:
            continue
        blocks += [f"## {markdown_text(section.heading)}", *map(markdown_text, section.paragraphs)]
        blocks += [markdown_table(section.table)] if section.table is not None else []
    blocks.append(f"## Signature\n\n{markdown_code(document.signature)}")
    blocks += ["## Where the numbers come from", *map(markdown_text, document.provenance)]
    return "\n\n".join(blocks) + "\n"


def compare_latex(document: CompareDocument) -> str:
    """The document as LaTeX that compiles by itself with booktabs."""
    blocks = [
        f"\\documentclass[a4paper,10pt]{{article}}\n{FONTS}\\usepackage[margin=22mm]{{geometry}}\n"
        f"\\usepackage{{booktabs,longtable}}\n\\setlength{{\\parindent}}{{0pt}}\\emergencystretch=3em\n{PREAMBLE}\\begin{{document}}",
        f"\\section*{{{latex_text(document.title)}}}",
    ]
    if document.caveats:
        items = "\n".join(f"\\item {latex_text(text)}" for text in document.caveats)
        blocks.append(f"\\subsection*{{Read this first}}\n\\begin{{itemize}}\n{items}\n\\end{{itemize}}")
    for place, section in enumerate(document.sections):
        if section.table is None and not section.paragraphs:
            continue
        blocks.append(f"\\subsection*{{{latex_text(section.heading)}}}")
        blocks += [latex_text(text) for text in section.paragraphs]
        if section.table is not None:
            blocks.append(_latex_rows(section, place))
    line = "\\textbar{}\\allowbreak{}".join(map(latex_text, document.signature.split("|")))
    blocks.append(f"{{\\raggedright\\noindent Signature: {{\\small\\ttfamily {line}}}\\par}}")
    return "\n\n".join(blocks) + "\n\n\\end{document}\n"


def compare_html(document: CompareDocument, figures: Mapping[str, str]) -> str:
    """The document as one HTML file that works offline; `figures` are SVGs by name, shown as images."""
    title = html_text(document.title)
    caveats = "".join(f"<li>{html_text(text)}</li>" for text in document.caveats)
    first = f'<section class="caveats"><h2>Read this first</h2><ul>{caveats}</ul></section>'
    provenance = "".join(f"<p>{html_text(text)}</p>" for text in document.provenance)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{CSS}</style>\n</head>\n<body>\n<main>\n"
        f"<header><h1>{title}</h1></header>\n{first if caveats else ''}\n"
        + "\n".join(_html_section(section, figures) for section in document.sections)
        + f"\n<section><h2>Signature</h2><p><code>{html_text(document.signature)}</code></p></section>\n"
        f'<section class="provenance"><h2>Where the numbers come from</h2>{provenance}</section>\n'
        "</main>\n</body>\n</html>\n"
    )


def _html_section(section: Section, figures: Mapping[str, str]) -> str:
    parts = [f"<p>{html_text(text)}</p>" for text in section.paragraphs]
    if section.table is not None:
        parts.append(
            _html_list(section.table) if section.in_words else html_table(section.table, section.heading)
        )
    if section.figure in figures:
        data = base64.b64encode(figures[str(section.figure)].encode()).decode()
        words = f"Picture: {section.heading}; its numbers are in the tables."
        parts.append(
            f'<figure><img alt="{html_text(words)}" src="data:image/svg+xml;base64,{data}"></figure>'
        )
    return f"<section><h2>{html_text(section.heading)}</h2>{''.join(parts)}</section>"


def _html_list(table: Table) -> str:
    """The first cell of each row as a term, the others as what is said of it."""
    return "".join(
        [
            "<dl>",
            *(
                f"<dt>{html_text(row[0])}</dt><dd>{html_text(_sentence(row[1:]))}</dd>"
                for row in table.rows
            ),
            "</dl>",
        ]
    )


def _sentence(cells: tuple[str, ...]) -> str:
    return ". ".join(filter(None, cells))


def _latex_rows(section: Section, place: int) -> str:
    """A floating table, a long one that may break over pages, or a list of sentences."""
    table, heading = _with_minus(section.table), section.heading
    if section.in_words:
        lines = [f"\\item[{{{latex_text(row[0])}}}] {latex_text(_sentence(row[1:]))}" for row in table.rows]
        return "\\begin{description}\n" + "\n".join(lines) + "\n\\end{description}"
    if len(table.rows) > _LONG:
        return _latex_long(table)
    return latex_table(table, caption=table.caption or heading, label=f"tab:compare-{place}")


_LONG = 30  # rows of a table that may break over pages
_MINUS = re.compile(r"(?<![\w-])-(?=\d)")


def _with_minus(table: Table | None) -> Table:
    """Negative numbers with a real minus sign."""
    if table is None:
        return Table((), ())
    rows = tuple(tuple(_MINUS.sub("\u2212", cell) for cell in row) for row in table.rows)
    return Table(table.header, rows, table.caption)


def _latex_long(table: Table) -> str:
    head = " & ".join(map(latex_text, table.header)) + r" \\"
    body = "\n".join(" & ".join(map(latex_text, row)) + r" \\" for row in table.rows)
    columns = "l" + "r" * (len(table.header) - 1)
    return (
        f"{{\\small\\begin{{longtable}}{{@{{}}{columns}@{{}}}}\n\\toprule\n{head}\n\\midrule\n\\endhead\n"
        f"{body}\n\\bottomrule\n\\end{{longtable}}}}"
    )


def _provenance(table: ScoreTable) -> tuple[str, ...]:
    source = f"{table.source}, SHA-256 {table.sha256[:12]}" if table.sha256 else table.source
    return (f"Scores: {source}.", *table.notices)
