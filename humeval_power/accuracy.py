"""Two classifiers on one test set: their tests, power, and what was claimed of them."""

from humeval_power.lazy_names import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
