"""Tools for assistants, by the Model Context Protocol: commands that read files of one folder and write nothing."""
