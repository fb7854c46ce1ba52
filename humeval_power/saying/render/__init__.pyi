from humeval_power.saying.render.html import as_html as as_html
from humeval_power.saying.render.html import as_html_beside as as_html_beside
from humeval_power.saying.render.html import as_html_part as as_html_part
from humeval_power.saying.render.html import as_notebook as as_notebook
from humeval_power.saying.render.latex import as_latex as as_latex
from humeval_power.saying.render.markdown import as_markdown as as_markdown
from humeval_power.saying.render.terminal import as_terminal as as_terminal
