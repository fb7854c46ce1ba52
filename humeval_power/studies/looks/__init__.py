"""Looks before the end: boundaries, and what a study with looks does in the long run."""
