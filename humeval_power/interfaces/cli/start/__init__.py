"""The command `start`."""
