"""Exports of annotation platforms and logs of harnesses: where scores stand, and one table of them."""

from humeval_power.lazy_names import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
