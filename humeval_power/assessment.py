"""Direct assessment: independent ratings without worker effects (Wei, Kocmi and Federmann 2022)."""

from humeval_power.lazy_names import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
