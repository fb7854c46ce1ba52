"""A whole study out of its plan: every step of it, as one file or a zip."""
