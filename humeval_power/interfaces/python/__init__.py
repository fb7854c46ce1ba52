"""The Python door by subject: each module states its names in its stub, and loads them when they are used."""
