"""The guided start: six questions, and what follows from their answers."""
