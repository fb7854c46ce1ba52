"""The generators of many replicates at once, each the child of the seed that NumPy's SeedSequence gives.

SeedSequence and Philox take longer to make than the numbers of a small study. Its mixing of entropy (O'Neill 2015,
as NumPy documents it and promises to keep) is therefore done here for all replicates side by side, and one Philox
is given their keys in turn.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]

_POOL = 4  # words
_WORD = 1 << 32
_INIT_A, _MULT_A = 0x43B0D7E5, 0x931E8875
_INIT_B, _MULT_B = 0x8B51F9DD, 0x58F38DED
_MIX_LEFT, _MIX_RIGHT = 0xCA01F9DD, 0x4973F715
_SHIFT = np.uint32(16)


def generators(seed: int, first: int, n: int) -> Iterator[np.random.Generator]:
    """The generators of replicates `first` to `first + n - 1` of a seed, one after the other: the next takes the
    place of the last, which must not be used any more."""
    source = np.random.Philox(0)
    generator, state = np.random.Generator(source), source.state
    state["state"]["counter"][:] = 0
    for key in philox_keys(seed, first, n):
        state["state"]["key"][:] = key
        source.state = state
        yield generator


def philox_keys(seed: int, first: int, n: int) -> NDArray[np.uint64]:
    """The keys (n, 2) of the children `first` to `first + n - 1` of a seed."""
    if first + n > _WORD:  # a child's number of more than one word is mixed in word by word
        sequences = (np.random.SeedSequence(seed, spawn_key=(child,)) for child in range(first, first + n))
        return np.stack([sequence.generate_state(2, np.uint64) for sequence in sequences])
    pool = np.random.SeedSequence(seed).pool
    seed_words = -(-int(seed).bit_length() // 32)
    mixed = _POOL * max(seed_words, _POOL)  # hashed so far: the seed's words, and all pairs of the pool
    constant = _INIT_A * pow(_MULT_A, mixed, _WORD) % _WORD
    child = np.arange(first, first + n, dtype=np.uint32)
    own = np.empty((_POOL, n), dtype=np.uint32)
    for place in range(_POOL):
        word, constant = _hashed(child, constant, _MULT_A)
        own[place] = _mixed(np.full(n, pool[place], dtype=np.uint32), word)
    constant, words = _INIT_B, np.empty((n, _POOL), dtype=np.uint32)
    for place in range(_POOL):
        words[:, place], constant = _hashed(own[place], constant, _MULT_B)
    return words.astype("<u4").view("<u8").astype(np.uint64)


def _hashed(value: Words, constant: int, multiplier: int) -> tuple[Words, int]:
    """Hashed words, and the constant of the next hash."""
    following = constant * multiplier % _WORD
    value = (value ^ np.uint32(constant)) * np.uint32(following)
    return value ^ (value >> _SHIFT), following


def _mixed(left: Words, right: Words) -> Words:
    value = left * np.uint32(_MIX_LEFT) - right * np.uint32(_MIX_RIGHT)
    return np.asarray(value ^ (value >> _SHIFT))
