"""The design of a study and its price: searched, proved, sealed, and who rates what when."""
