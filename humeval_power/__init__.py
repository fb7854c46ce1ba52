"""Power analysis, planning and reporting for human evaluations of language systems.

The public names are those of the stub beside this file; they are loaded on first use, so that importing the package
costs nothing. Namespaces hold what belongs to one subject: `looks`, `compare`, `accuracy`, ...
"""

from __future__ import annotations

from humeval_power.lazy_names import attach

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = attach(__name__, __file__)
