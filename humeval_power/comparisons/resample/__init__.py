"""Power of any test on studies drawn from a study's own ratings."""
