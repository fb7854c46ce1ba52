"""What p the bootstrap primer should expect: by number of items, effect and share of items hurt, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from humeval_power.choices import PRIMER_EFFECTS, PRIMER_HURT, PRIMER_ITEMS
from humeval_power.errors import InputError, Problem
from humeval_power.inference.compare.primer import primer_p


@dataclass(frozen=True, slots=True)
class PrimerCell:
    """Items in which B is better on a share `hurt + effect` and worse on a share `hurt`: counts, and the
    primer's p for exactly these counts."""

    n_items: int
    effect: float
    hurt: float
    n_helped: int
    n_hurt: int
    p_value: float


def primer_table(
    n_items: Sequence[int] = PRIMER_ITEMS,
    *,
    effects: Sequence[float] = PRIMER_EFFECTS,
    hurt: Sequence[float] = PRIMER_HURT,
) -> tuple[PrimerCell, ...]:
    """One cell for each number of items, effect and share hurt; combinations above 1 are left out.

    Shares become counts by cutting off, as the primer does; a thousandth is added first, so that a share
    such as 0.07 of 100 is 7 whatever its binary digits.

    Raises
    ------
    InputError
        Fewer than one item, or shares outside [0, 1].
    """
    problems = [
        Problem("at least 1 item is needed.", "", column="n_items", value=n, has_value=True)
        for n in n_items
        if n < 1
    ]
    problems += [
        Problem("a share must lie between 0 and 1.", "", column=name, value=share, has_value=True)
        for name, shares in (("effects", effects), ("hurt", hurt))
        for share in shares
        if not 0 <= share <= 1
    ]
    if problems:
        raise InputError(problems)
    return tuple(
        _cell(n, effect, share)
        for n in n_items
        for effect in effects
        for share in hurt
        if effect + 2 * share <= 1
    )


def _cell(n: int, effect: float, hurt: float) -> PrimerCell:
    n_helped, n_hurt = int((hurt + effect) * n + 1e-3), int(hurt * n + 1e-3)
    return PrimerCell(n, effect, hurt, n_helped, n_hurt, primer_p(n, n_helped, n_hurt))
