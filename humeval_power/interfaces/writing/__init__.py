"""The one way in which files are written: a set of files comes to be as a whole or not at all.

Everything is first written into a staging folder beside the targets, then a journal is put there, and only
then do the files take their names. A run that is killed before the journal has changed nothing; one that is
killed after it is completed by the next command that names a file of that folder.
"""
