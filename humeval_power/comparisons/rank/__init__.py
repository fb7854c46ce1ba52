"""Leaderboards by scores or by battles, and what they leave open."""
