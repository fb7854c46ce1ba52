"""Scores of repeated generations, prompts or seeds: which kind they are, and the test that goes with it."""

from humeval_power.lazy_names import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
