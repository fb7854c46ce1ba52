"""A finished study, decided as planned: two systems, several, several criteria."""
