"""Comparisons of systems beside rating studies, a room for each kind."""
