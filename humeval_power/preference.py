"""Which of two outputs is better: sign tests with ties, panels of workers and items, and their power."""

from humeval_power.lazy_names import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
