"""A mixed model written as a formula: what it names of what is fitted here, and what it does not."""
