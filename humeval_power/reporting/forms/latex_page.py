"""A form as a LaTeX document that pdfLaTeX compiles without further packages."""

from __future__ import annotations

from humeval_power.reporting.forms.fields import FormField, score
from humeval_power.reporting.forms.pages import LEGEND, MARKS, FormPage
from humeval_power.safe_text.latex import FONTS, PREAMBLE, latex_text

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
