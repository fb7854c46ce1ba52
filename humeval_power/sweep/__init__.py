"""Long work as a list of blocks: pure functions of their arguments, computed anywhere, in any order, once.

A block carries its own stream of random numbers in its arguments (a seed, and the replicates first to
first + n - 1 of its endless sequence), so that where, when and in which order blocks are computed cannot be
seen in the result. Nothing here knows what is simulated.
"""
