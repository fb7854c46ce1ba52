"""Power of a generator and a test of one's own."""
