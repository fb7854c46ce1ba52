"""Leaderboards: systems in an order by scores or by battles, and how sure it is."""

from humeval_power.lazy_names import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
