"""The calls of the library: each takes records and gives back a result; the terminal is a guest here."""
