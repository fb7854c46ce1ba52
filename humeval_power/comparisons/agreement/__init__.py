"""Agreement between workers and with themselves, and where the variance of ratings lies."""
