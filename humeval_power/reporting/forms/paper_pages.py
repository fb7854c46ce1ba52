"""The paragraphs and the table for a paper, as Markdown and as one HTML file."""

from __future__ import annotations

from humeval_power.reporting.checklist_items import ReportTable
from humeval_power.reporting.forms.documents import Documents
from humeval_power.reporting.forms.paper_latex import result_caption
from humeval_power.reporting.forms.paragraphs import paragraphs
from humeval_power.reporting.forms.result_table import result_table
from humeval_power.reporting.forms.signature import signature_of
from humeval_power.reporting.html_page import html_table
from humeval_power.reporting.markdown import markdown_table
from humeval_power.reporting.page_style import CSS
from humeval_power.safe_text import html_text, markdown_code, markdown_text

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


def _table(documents: Documents) -> ReportTable | None:
    found = result_table(documents.study)
    return None if found is None else ReportTable(found.header, found.rows, result_caption(documents))
