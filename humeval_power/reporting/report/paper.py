"""The paragraphs and the table for a paper, as LaTeX with booktabs."""

from __future__ import annotations

from humeval_power.reporting.page_style import CSS
from humeval_power.reporting.report.documents import Documents
from humeval_power.reporting.report.paragraphs import paragraphs
from humeval_power.reporting.report.result_table import result_table
from humeval_power.reporting.report.signature import signature_of
from humeval_power.reporting.tables import Table, html_table, latex_table, markdown_table
from humeval_power.reporting.values import listed
from humeval_power.safe_text import html_text, markdown_code, markdown_text
from humeval_power.safe_text.latex import FONTS, PREAMBLE, latex_text

LABEL = "tab:human-evaluation"


def paper_latex(documents: Documents, *, label: str = LABEL) -> str:
    """A fragment to input into a paper that uses booktabs: both paragraphs, and the table of results."""
    blocks = [
        f"% Needs \\usepackage{{booktabs}} and, for all names to print, \\usepackage[T1]{{fontenc}}.\n{PREAMBLE}"
    ]
    blocks += [
        f"\\paragraph{{{heading}.}} {latex_text(text)}" for heading, text in paragraphs(documents).items()
    ]
    signature = signature_of(documents)
    if signature is not None:
        line = "\\textbar{}\\allowbreak{}".join(map(latex_text, str(signature).split("|")))
        blocks.append(f"{{\\raggedright\\noindent Signature: {{\\small\\ttfamily {line}}}\\par}}")
    table = result_table(documents.study)
    if table is not None:
        blocks.append(latex_table(table, caption=result_caption(documents), label=label))
    return "\n\n".join(blocks) + "\n"


def paper_document(documents: Documents) -> str:
    """The fragment as a document of its own, to be looked at."""
    return (
        f"\\documentclass[a4paper,11pt]{{article}}\n{FONTS}"
        "\\usepackage[margin=25mm]{geometry}\n\\usepackage{booktabs}\n\\emergencystretch=3em\n"
        f"\\begin{{document}}\n{paper_latex(documents)}\\end{{document}}\n"
    )


def result_caption(documents: Documents) -> str:
    """What the table of results shows, and which system is A."""
    systems = [str(name) for name in listed(documents.study, "systems")]
    of = f" of {' and '.join(systems)}" if len(systems) == 2 else ""
    on = f" on {documents.criterion}" if documents.criterion else ""
    sides = f" A is {systems[0]}, B is {systems[1]}." if len(systems) == 2 else ""
    return f"Human evaluation{of}{on}. Means and SDs are on [0, 1], where 1 is best.{sides}"


TITLE = "Human evaluation: methods and results"


def paper_markdown(documents: Documents) -> str:
    """Both paragraphs, the table of results and the signature, as GitHub-flavoured Markdown."""
    blocks = [f"## {heading}\n\n{markdown_text(text)}" for heading, text in paragraphs(documents).items()]
    table, signature = _table(documents), signature_of(documents)
    blocks += [] if table is None else [markdown_table(table)]
    blocks += [] if signature is None else [f"Signature: {markdown_code(str(signature))}"]
    return "\n\n".join(blocks) + "\n"


def paper_html(documents: Documents) -> str:
    """The same as one HTML file without scripts or links."""
    blocks = [
        f'<section><h2>{html_text(heading)}</h2><p dir="auto">{html_text(text)}</p></section>'
        for heading, text in paragraphs(documents).items()
    ]
    table, signature = _table(documents), signature_of(documents)
    blocks += [] if table is None else [html_table(table, "Results")]
    blocks += [] if signature is None else [f'<p class="source">Signature: {html_text(str(signature))}</p>']
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{TITLE}</title>\n<style>\n{CSS}</style>\n</head>\n<body>\n<main>\n<h1>{TITLE}</h1>\n"
        + "\n".join(blocks)
        + "\n</main>\n</body>\n</html>\n"
    )


def _table(documents: Documents) -> Table | None:
    found = result_table(documents.study)
    return None if found is None else Table(found.header, found.rows, result_caption(documents))
