"""The paragraphs and the table for a paper, as LaTeX with booktabs."""

from __future__ import annotations

from humeval_power.reporting.checklist_items import ReportTable
from humeval_power.reporting.document_values import listed
from humeval_power.reporting.forms.documents import Documents
from humeval_power.reporting.forms.paragraphs import paragraphs
from humeval_power.reporting.forms.result_table import result_table
from humeval_power.reporting.forms.signature import signature_of
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


def latex_table(table: ReportTable, *, caption: str, label: str) -> str:
    """A floating table with the first column to the left and the others to the right."""
    columns = "l" + "r" * (len(table.header) - 1)
    lines = [_row(table.header), "\\midrule", *map(_row, table.rows)]
    body = "\n".join(lines)
    return (
        f"\\begin{{table}}[htbp]\n\\centering\n\\small\n\\begin{{tabular}}{{@{{}}{columns}@{{}}}}\n\\toprule\n"
        f"{body}\n\\bottomrule\n\\end{{tabular}}\n\\caption{{{latex_text(caption)}}}\n\\label{{{label}}}\n"
        "\\end{table}"
    )


def _row(cells: tuple[str, ...]) -> str:
    return " & ".join(map(latex_text, cells)) + r" \\"


def result_caption(documents: Documents) -> str:
    """What the table of results shows, and which system is A."""
    systems = [str(name) for name in listed(documents.study, "systems")]
    of = f" of {' and '.join(systems)}" if len(systems) == 2 else ""
    on = f" on {documents.criterion}" if documents.criterion else ""
    sides = f" A is {systems[0]}, B is {systems[1]}." if len(systems) == 2 else ""
    return f"Human evaluation{of}{on}. Means and SDs are on [0, 1], where 1 is best.{sides}"
