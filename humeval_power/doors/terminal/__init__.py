"""The command `humeval-power`."""
