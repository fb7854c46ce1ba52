"""From declared fields to files, options and help."""
