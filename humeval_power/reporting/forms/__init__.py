"""The forms that reviewers, registries and papers ask for, filled from the documents of a study."""
