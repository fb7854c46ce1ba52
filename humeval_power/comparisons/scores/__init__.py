"""Scores of systems on the same items: tests, effect sizes, power, logs of harnesses."""
