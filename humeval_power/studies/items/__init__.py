"""Which items of a pool to rate, drawn with what a metric says of all of them."""
