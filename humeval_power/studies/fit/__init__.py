"""Ratings of a pilot or a study: what the table holds, and the mixed model that is fitted to it."""
