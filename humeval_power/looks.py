"""Looks at the ratings while they come in: boundaries, their costs, and inference after stopping."""

from humeval_power.lazy_names import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
