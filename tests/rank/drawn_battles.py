"""Battles that are drawn from the model, with tastes of users."""

import numpy as np

from humeval_power.clusters import Clusters
from humeval_power.comparisons.rank.battles import Battles


def drawn(
    rng: np.random.Generator,
    *,
    strengths: np.ndarray,
    n: int,
    users: int,
    taste: float = 0.0,
    order: float = 0.3,
    tie: float | None = -0.5,
    sizes: np.ndarray | None = None,
) -> Battles:
    """n battles by Davidson's model, every two systems as often; `sizes` are weights of users."""
    K = len(strengths)
    first = rng.integers(K, size=n)
    second = (first + rng.integers(1, K, size=n)) % K
    weight = np.ones(users) if sizes is None else sizes
    user = rng.choice(users, size=n, p=weight / weight.sum())
    own = taste * rng.standard_normal((users, K))
    eta = strengths[first] - strengths[second] + order + own[user, first] - own[user, second]
    shares = np.stack(
        [np.exp(eta / 2), np.full(n, 0.0 if tie is None else np.exp(tie)), np.exp(-eta / 2)], axis=1
    )
    shares /= shares.sum(axis=1, keepdims=True)
    outcome = 1 - (rng.random(n)[:, None] > shares.cumsum(axis=1)).sum(axis=1)
    names = tuple(f"s{k}" for k in range(K))
    return Battles(names, first, second, outcome, Clusters.of(user.tolist(), name="user"))
