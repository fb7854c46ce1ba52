"""Scores of systems on the same items: which test, what effect size, what power."""

from humeval_power.lazy_names import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
