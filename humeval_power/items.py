"""Which items of a pool to rate, drawn with what a metric says of all of them."""

from humeval_power.lazy_names import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
