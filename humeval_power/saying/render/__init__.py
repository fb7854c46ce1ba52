"""Four renderers of a `Document`: terminal, Markdown, HTML, LaTeX. All text is made safe here, once.

Each is loaded when it is used, since HTML needs templates.
"""

from __future__ import annotations

from humeval_power.lazy_names import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
