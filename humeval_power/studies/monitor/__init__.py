"""A look at a running study by its plan, and the ledger of looks."""
