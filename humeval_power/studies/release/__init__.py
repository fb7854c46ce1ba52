"""An anonymised bundle of a study, to publish."""
