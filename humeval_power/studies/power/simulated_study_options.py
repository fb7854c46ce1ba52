"""Fields of simulated rating studies, and the work ahead of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from humeval_power.asking.run import Run
from humeval_power.asking.vocabulary import COMPAT_HELP, HALF_WIDTH_HELP, STRICT_HELP
from humeval_power.fields import flag, own, real, word

if TYPE_CHECKING:
    from humeval_power.studies.power.surface import AnyStudy

COMPAT = own(
    word(("card2020",)),
    COMPAT_HELP,
    "Decide as",
    words={"card2020": "Card et al. (2020)"},
    note="Decide by maximum likelihood and t > 1.96; the effect is their coefficient under -1/+1 coding, which is "
    "HALF the difference B - A.",
    further=True,
)
HALF_WIDTH = own(
    real(0, 0.5, open="both"),
    HALF_WIDTH_HELP,
    "Simulate until the power is known to +-",
    note=": the power is simulated until its own is so narrow.",
    further=True,
)
STRICT = own(
    flag(),
    STRICT_HELP,
    "No answer if fits fail",
    note=": more than 1 % of the fits failed.",
    usual=False,
    further=True,
)


def tell_studies(
    studies: Sequence[AnyStudy], run: Run, precision: float | None = None, *, times: int = 1
) -> None:
    """Say how long the studies will take to simulate, or refuse them; `times`: the steps of a search."""
    from humeval_power.studies.power.estimate import MAX_SIMULATIONS
    from humeval_power.studies.power.strategies import workload
    from humeval_power.studies.power.work_ahead import precise_simulations, tell_work

    most = precise_simulations(run.simulations(), precision, MAX_SIMULATIONS)
    work = workload(studies, n_simulations=times * most, n_jobs=run.slots)
    tell_work(work, n_simulations=most, way_out="--method analytic")
