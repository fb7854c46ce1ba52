"""Four renderers of a `Document`: terminal, Markdown, HTML, LaTeX. All text is made safe here, once."""

from humeval_power.reporting.render.html import as_html, as_html_part, as_notebook
from humeval_power.reporting.render.latex import as_latex
from humeval_power.reporting.render.markdown import as_markdown
from humeval_power.reporting.render.terminal import as_terminal

__all__ = ["as_html", "as_html_part", "as_latex", "as_markdown", "as_notebook", "as_terminal"]
