"""Direct assessment: independent ratings without worker effects (Wei et al. 2022)."""
