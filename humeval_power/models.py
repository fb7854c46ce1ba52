"""The mixed model: its designs, fits and tests, power by formula, several systems."""

from humeval_power.lazy_names import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
