"""Two classifiers by F1, MCC and other metrics of the whole confusion matrix."""
