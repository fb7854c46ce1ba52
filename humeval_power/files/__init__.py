"""Files that people have: bytes, tables and archives, read within limits; and the one way of writing."""
