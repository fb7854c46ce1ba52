"""The ways in: the terminal, the page, assistants, harnesses."""
