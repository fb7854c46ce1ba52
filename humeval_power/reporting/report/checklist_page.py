"""A checklist as one HTML file that works offline, on a phone, on paper and in the dark."""

from __future__ import annotations

import base64

from humeval_power.reporting.page_style import CSS
from humeval_power.reporting.report.items import Checklist, ChecklistItem
from humeval_power.reporting.tables import html_table
from humeval_power.safe_text import html_text


def as_html(checklist: Checklist, figure_svg: str | None = None) -> str:
    """The checklist as a self-contained page; `figure_svg` is shown as an image, so it cannot act."""
    body = [
        f"<header><h1>{html_text(checklist.title)}</h1>{_score(checklist)}</header>",
        _caveats(checklist.caveats),
        *(_section(checklist, section, figure_svg) for section in checklist.sections),
        _provenance(checklist.provenance),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html_text(checklist.title)}</title>\n<style>\n{CSS}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(filter(None, body))
        + "\n</main>\n</body>\n</html>\n"
    )


def _score(checklist: Checklist) -> str:
    n_items, n_open = len(checklist.items), checklist.n_open
    return (
        f'<p class="score"><strong>{n_items - n_open}</strong> of {n_items} items are filled from the '
        f"documents named; <strong>{n_open}</strong> are open: only the authors can answer them. The items "
        "follow the recommendations of Card et al. (2020), section 6.</p>"
    )


def _caveats(caveats: tuple[str, ...]) -> str:
    if not caveats:
        return ""
    lines = "".join(f"<li>{html_text(caveat)}</li>" for caveat in caveats)
    return f'<section class="caveats"><h2>Read this first</h2><ul>{lines}</ul></section>'


def _section(checklist: Checklist, section: str, figure_svg: str | None) -> str:
    items = [item for item in checklist.items if item.section == section]
    parts = [f"<section><h2>{html_text(section)}</h2>", *map(_item, items)]
    if figure_svg is not None and any(item.key == "power" for item in items):
        parts.insert(1, _figure(figure_svg))
    return "\n".join([*parts, "</section>"])


def _figure(svg: str) -> str:
    data = base64.b64encode(svg.encode()).decode()
    words = (
        "Power against the difference between the systems; the numbers are in the table of this section."
    )
    return f'<figure><img alt="{words}" src="data:image/svg+xml;base64,{data}"></figure>'


def _item(item: ChecklistItem) -> str:
    mark = "Filled" if item.state == "filled" else "Open"
    parts = [f"<h3>{html_text(item.question)}</h3>"]
    if item.answer:
        parts.append(f'<p class="answer">{html_text(item.answer)}</p>')
    if item.table is not None:
        parts.append(html_table(item.table, item.question))
    if item.state == "open" and item.advice:
        parts.append(f'<p class="advice">{html_text(item.advice)}</p>')
    if item.source:
        parts.append(f'<p class="source">From {html_text(item.source)}</p>')
    return (
        f'<article class="{item.state}" id="{html_text(item.key)}"><p class="mark">{mark}</p>'
        f"<div>{''.join(parts)}</div></article>"
    )


def _provenance(provenance: tuple[tuple[str, str], ...]) -> str:
    if not provenance:
        return ""
    lines = "".join(f"<dt>{html_text(name)}</dt><dd>{html_text(value)}</dd>" for name, value in provenance)
    return f'<section class="provenance"><h2>Where the numbers come from</h2><dl>{lines}</dl></section>'
