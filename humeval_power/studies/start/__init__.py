"""Six questions, and the study file and commands that follow from the answers."""
