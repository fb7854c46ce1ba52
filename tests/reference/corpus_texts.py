"""Texts of two systems and two references, made by script: systems copy the reference with errors."""

import random

WORDS = ["the", "a", "cat", "dog", "house", "river", "sees", "likes", "finds", "old", "new", "green,"]
WORDS += ["red.", "day", "night", "(rain)", "on", "in", "\u00dcber", "8"]


def corpus(n: int, *, seed: int = 3, noise: tuple[float, float] = (0.45, 0.35)):
    """Texts of two systems and two references: systems copy the reference with errors of their own."""
    rng = random.Random(seed)
    first = [[rng.choice(WORDS) for _ in range(rng.randint(1, 14))] for _ in range(n)]

    def copied(text, share):
        return [
            rng.choice(WORDS) if rng.random() < share else word for word in text if rng.random() > share / 4
        ]

    def joined(texts):
        return [" ".join(text) for text in texts]

    a = [copied(text, noise[0]) for text in first]
    b = [a[i] if rng.random() < 0.15 else copied(text, noise[1]) for i, text in enumerate(first)]
    return joined(a), joined(b), [joined(first), joined(copied(text, 0.2) for text in first)]
