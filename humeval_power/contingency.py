"""F1, precision, recall and MCC: randomisation test and power."""

from humeval_power.lazy_names import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
