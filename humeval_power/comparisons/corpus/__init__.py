"""Two systems by BLEU, chrF and other metrics of a whole test set."""
