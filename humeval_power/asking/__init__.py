"""From declared fields to options, help, forms, programs and study files."""
