"""Checklists, forms, paragraphs and the page of a study, filled from what is known."""
