"""Two classifiers on one test set, right or wrong: tests, power, published claims."""
