"""What reports and releases are made from, and the list of what is still open."""

from humeval_power.lazy_names import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
