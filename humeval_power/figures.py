"""Figures as Matplotlib figures, and how they become files."""

from humeval_power.lazy_names import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
