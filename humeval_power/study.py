"""The parts of a rating study: designs, the fit and its tests, power by formula, many systems."""

from humeval_power.lazy_names import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
