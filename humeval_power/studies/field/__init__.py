"""To the field and back: forms for platforms, exports of platforms, and who has done what."""
