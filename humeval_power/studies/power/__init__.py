"""How often a study finds an effect: power, detectable effect, size, surface, calibration."""
