"""What to cite: the program and the methods that were used."""
