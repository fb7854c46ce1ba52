"""A form as a page for people: Markdown, and one HTML file that works offline and on paper."""

from __future__ import annotations

from dataclasses import dataclass

from humeval_power.reporting.page_style import CSS
from humeval_power.reporting.report.fields import FormField, State, score
from humeval_power.safe_text import html_text, markdown_text
from humeval_power.safe_text.latex import FONTS, PREAMBLE, latex_text

MARKS: dict[State, str] = {"filled": "filled", "suggested": "check", "open": "open"}
LEGEND = (
    "Filled: known from the source named. Check: follows from it, to be checked by a person. Open: only the "
    "authors can answer it."
)
FORM_CSS = """\
.suggested .mark { color: var(--note); }
.suggested .mark::before { content: "?"; }
article h3 { font-weight: 600; }
"""


@dataclass(frozen=True, slots=True)
class FormPage:
    """A form with a title and a note on whose questions these are."""

    title: str
    note: str
    fields: tuple[FormField, ...]

    @property
    def sections(self) -> dict[str, list[FormField]]:
        """The fields by the heading that they stand under: section, and criterion where there is one."""
        found: dict[str, list[FormField]] = {}
        for field in self.fields:
            heading = field.section if field.criterion is None else f"{field.section}: {field.criterion}"
            found.setdefault(heading, []).append(field)
        return found


def form_markdown(page: FormPage) -> str:
    """The form as GitHub-flavoured Markdown; every field on a line of its own."""
    blocks = [
        f"# {markdown_text(page.title)}",
        markdown_text(page.note),
        f"**{score(page.fields)}** {LEGEND}",
    ]
    for heading, fields in page.sections.items():
        blocks += [f"## {markdown_text(heading)}"] if heading else []
        blocks.append("\n".join(map(_line, fields)))
    return "\n\n".join(blocks) + "\n"


def _line(field: FormField) -> str:
    box = "[x]" if field.state == "filled" else "[ ]"
    text = f"- {box} **{markdown_text(field.number)} {markdown_text(field.prompt)}**"
    if field.answer is None or field.source is None:
        return f"{text}: **open**"
    check = " **Check.**" if field.state == "suggested" else ""
    return f"{text}: {markdown_text(field.answer)}{check} *({markdown_text(field.source)})*"


def form_html(page: FormPage) -> str:
    """The form as one HTML file without scripts or links."""
    sections = "".join(
        f"<section><h2>{html_text(heading)}</h2>{''.join(map(_article, fields))}</section>"
        for heading, fields in page.sections.items()
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html_text(page.title)}</title>\n<style>\n{CSS}{FORM_CSS}</style>\n</head>\n<body>\n<main>\n"
        f"<header><h1>{html_text(page.title)}</h1><p>{html_text(page.note)}</p>"
        f'<p class="score"><strong>{html_text(score(page.fields))}</strong> {html_text(LEGEND)}</p></header>\n'
        f"{sections}\n</main>\n</body>\n</html>\n"
    )


def _article(field: FormField) -> str:
    answer = "" if field.answer is None else f'<p class="answer" dir="auto">{html_text(field.answer)}</p>'
    source = "" if field.source is None else f'<p class="source">{html_text(field.source)}</p>'
    return (
        f'<article class="{field.state}"><p class="mark">{MARKS[field.state]}</p><div>'
        f"<h3>{html_text(field.number)} {html_text(field.prompt)}</h3>{answer}{source}</div></article>"
    )


_HEAD = (
    f"\\documentclass[a4paper,10pt]{{article}}\n{FONTS}\\usepackage[margin=25mm]{{geometry}}\n"
    "\\setlength{\\parindent}{0pt}\\setlength{\\parskip}{4pt plus 1pt}\\emergencystretch=3em\n"
)
_FIELD = (
    "\\newcommand{\\formfield}[5]{\\par\\textbf{#1\\quad #2}\\hfill\\textsf{\\footnotesize #3}\\nopagebreak\\par\n"
    "  {\\leftskip=1.5em #4\\par{\\footnotesize\\itshape #5\\par}}}\n"
)


def form_latex(page: FormPage) -> str:
    """The whole document; each field with its number, prompt, state, answer and source."""
    title, note = latex_text(page.title), latex_text(page.note)
    blocks = [
        f"{_HEAD}{PREAMBLE}{_FIELD}\\begin{{document}}\n{{\\Large\\bfseries {title}\\par}}",
        f"{note}\\par\n\\textbf{{{latex_text(score(page.fields))}}} {latex_text(LEGEND)}\\par",
    ]
    for heading, fields in page.sections.items():
        blocks += [f"\\section*{{{latex_text(heading)}}}"] if heading else []
        blocks += [_field(field) for field in fields]
    return "\n\n".join(blocks) + "\n\n\\end{document}\n"


def _field(field: FormField) -> str:
    cells = (field.number, field.prompt, MARKS[field.state], field.answer or "", field.source or "")
    return "\\formfield" + "".join(f"{{{latex_text(cell)}}}" for cell in cells)
