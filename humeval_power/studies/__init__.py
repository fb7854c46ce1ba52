"""The life of a study of human ratings, a room for each step of it, in order."""
