"""The local web page: a command of the terminal as a form, a link and a document."""
