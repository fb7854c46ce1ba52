"""What is uploaded to annotation platforms: outputs under codes, questions, attention checks."""

from humeval_power.lazy_names import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
