"""Published comparisons: what they report, and what they could have found."""
