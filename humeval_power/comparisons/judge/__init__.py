"""What an automatic judge of further items is worth in human ratings."""
