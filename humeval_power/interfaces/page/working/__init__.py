"""Warm processes that answer what pages ask, at once or one after the other."""
