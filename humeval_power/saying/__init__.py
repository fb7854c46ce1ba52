"""Results as documents: numbers in words, tables, charts, and their renderers."""
