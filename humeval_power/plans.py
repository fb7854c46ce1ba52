"""What a plan is made of: the search, its costs, its assurance; and its rehearsal."""

from humeval_power.lazy_names import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
