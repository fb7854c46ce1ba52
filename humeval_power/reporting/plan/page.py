"""A page of titled sections, as Markdown and as one HTML file that works offline and on paper."""

from __future__ import annotations

import re
from dataclasses import dataclass

from humeval_power.reporting.page_style import CSS
from humeval_power.reporting.tables import Table
from humeval_power.safe_text import html_text, markdown_text

Fact = tuple[str, str]
_NUMBER = re.compile(r"[+-]?[\d,]+(\.\d+)?( |$)")  # also "66 to 68", but no date

PLAN_CSS = """\
.figures { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0.8rem 1.5rem;
  margin: 1.2rem 0; padding: 0.8rem 0; border-top: 2px solid var(--ink);
  border-bottom: 1px solid var(--line); }
.figures div { display: flex; flex-direction: column; }
.figures dt { order: 2; margin: 0; font-weight: 400; font-size: 0.85rem; color: var(--quiet); }
.figures dd { font-size: 1.3rem; font-weight: 600; font-variant-numeric: tabular-nums; }
section > p { margin: 0.4rem 0; }
section > ul { margin: 0.4rem 0; padding-left: 1.2rem; }
section > ul > li { margin: 0.25rem 0; }
td.number, th.number { text-align: right; }
th:last-child, td:last-child { padding-right: 0; }
tr.total td { font-weight: 600; border-bottom: 0; border-top: 1px solid var(--ink); }
.provenance dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.15rem 1rem; }
.provenance dt { margin: 0; }
@media print {
  @page { margin: 12mm 15mm; }
  :root { font-size: 8.1pt; }
  body { line-height: 1.28; }
  h1 { margin: 0 0 0.3rem; }
  h2 { margin: 0.9rem 0 0.2rem; font-size: 1.05rem; }
  .sections { columns: 2; column-gap: 8mm; }
  .sections section { break-inside: avoid; }
  .sections section:first-child h2 { margin-top: 0; }
  table { font-size: inherit; }
  .sections table { width: 100%; }
  .figures { margin: 0.6rem 0; padding: 0.4rem 0; }
  .caveats { margin: 0.6rem 0; padding: 0.4rem 0.8rem; }
  .caveats li, section > ul > li { margin: 0.1rem 0; }
  section > p, .wide { margin: 0.2rem 0; }
  th, td { padding-top: 0.08rem; padding-bottom: 0.08rem; }
}
"""


@dataclass(frozen=True, slots=True)
class PageSection:
    """A title with sentences, points and a table, each of which may be missing.

    Columns of numbers are set to the right; `has_total` sets its last row apart.
    """

    title: str
    sentences: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    table: Table | None = None
    has_total: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its title, one sentence below it, the main figures, what to read first, and the rest."""

    title: str
    lead: str
    figures: tuple[Fact, ...]
    caveats: tuple[str, ...]
    sections: tuple[PageSection, ...]
    provenance: tuple[Fact, ...]


def page_markdown(page: Page) -> str:
    """The page as GitHub-flavoured Markdown."""
    blocks = [f"# {markdown_text(page.title)}", markdown_text(page.lead)]
    blocks.append(
        "\n".join(f"- {markdown_text(name)}: **{markdown_text(value)}**" for name, value in page.figures)
    )
    if page.caveats:
        blocks += ["## Read this first", _points(page.caveats)]
    for section in page.sections:
        blocks += [f"## {markdown_text(section.title)}", *map(markdown_text, section.sentences)]
        blocks += [_points(section.points)] if section.points else []
        blocks += [_table_markdown(section)] if section.table is not None else []
    blocks.append("## Where the numbers come from")
    blocks.append(
        "\n".join(f"- {markdown_text(name)}: {markdown_text(value)}" for name, value in page.provenance)
    )
    return "\n\n".join(blocks) + "\n"


def page_html(page: Page) -> str:
    """The page as one HTML file without scripts or links."""
    body = "\n".join(
        [
            f'<header><h1>{html_text(page.title)}</h1><p class="score">{html_text(page.lead)}</p></header>',
            f'<dl class="figures">{"".join(map(_figure, page.figures))}</dl>',
            _caveats(page.caveats),
            f'<div class="sections">{"".join(map(_section, page.sections))}</div>',
            _provenance(page.provenance),
        ]
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html_text(page.title)}</title>\n<style>\n{CSS}{PLAN_CSS}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _points(points: tuple[str, ...]) -> str:
    return "\n".join(f"- {markdown_text(point)}" for point in points)


def _table_markdown(section: PageSection) -> str:
    assert section.table is not None
    header, rows = section.table.header, section.table.rows
    right = _number_columns(rows)
    marks = ["--:" if column in right else "---" for column in range(len(header))]
    cells = [[markdown_text(cell) for cell in row] for row in rows]
    if section.has_total:
        cells[-1] = [f"**{cell}**" if cell else "" for cell in cells[-1]]
    lines = [[markdown_text(name) for name in header], marks, *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _number_columns(rows: tuple[tuple[str, ...], ...]) -> set[int]:
    """Columns whose cells all start with a number, or are empty."""
    columns = list(zip(*rows, strict=True))
    return {place for place, cells in enumerate(columns) if all(map(_is_number, cells)) and any(cells)}


def _is_number(cell: str) -> bool:
    return not cell or _NUMBER.match(cell) is not None


def _figure(fact: Fact) -> str:
    return f"<div><dt>{html_text(fact[0])}</dt><dd>{html_text(fact[1])}</dd></div>"


def _list(points: tuple[str, ...]) -> str:
    return f"<ul>{''.join(f'<li>{html_text(point)}</li>' for point in points)}</ul>" if points else ""


def _caveats(caveats: tuple[str, ...]) -> str:
    if not caveats:
        return ""
    return f'<section class="caveats"><h2>Read this first</h2>{_list(caveats)}</section>'


def _section(section: PageSection) -> str:
    sentences = "".join(f"<p>{html_text(sentence)}</p>" for sentence in section.sentences)
    table = "" if section.table is None else _table(section)
    return (
        f"<section><h2>{html_text(section.title)}</h2>{sentences}{_list(section.points)}{table}</section>"
    )


def _table(section: PageSection) -> str:
    assert section.table is not None
    header, rows = section.table.header, section.table.rows
    right = _number_columns(rows)
    head = "".join(
        f'<th scope="col"{_right(place in right)}>{html_text(name)}</th>'
        for place, name in enumerate(header)
    )
    body = [
        "".join(f"<td{_right(place in right)}>{html_text(cell)}</td>" for place, cell in enumerate(row))
        for row in rows
    ]
    lines = [f"<tr>{cells}</tr>" for cells in body]
    if section.has_total:
        lines[-1] = f'<tr class="total">{body[-1]}</tr>'
    return (
        f'<div class="wide" role="region" tabindex="0" aria-label="{html_text(section.title)}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def _right(is_number: bool) -> str:
    return ' class="number"' if is_number else ""


def _provenance(facts: tuple[Fact, ...]) -> str:
    lines = "".join(f"<dt>{html_text(name)}</dt><dd>{html_text(value)}</dd>" for name, value in facts)
    return f'<section class="provenance"><h2>Where the numbers come from</h2><dl>{lines}</dl></section>'
