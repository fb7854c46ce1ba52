"""How much is simulated, as arguments."""

from __future__ import annotations

from humeval_power.choices import DEFAULT_SEED
from humeval_power.interfaces.python_code.expressions import Value
from humeval_power.interfaces.python_code.typed import Typed


def run_of(typed: Typed, *further: str) -> dict[str, Value]:
    """The arguments of a call that simulates: those that were typed, and further ones of the same name."""
    typed.refuse(["dry_run"], "prints what a simulation costs, and no result")
    return {
        **{name: typed.given(name) for name in further},
        "n_simulations": typed["simulations"],
        "seed": seed_of(typed),
    }


def seed_of(typed: Typed) -> int | None:
    """The seed that was typed; None for the usual one."""
    seed: int | None = typed["seed"]
    return None if seed == DEFAULT_SEED else seed
