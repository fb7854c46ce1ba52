"""Scores of repeated generations, and of several prompts or seeds."""
