"""The seven parameters in their order, for tests that state many of them."""

from humeval_power.parameters import PARAMETER_NAMES, Parameters

CODED = (-0.5, 0.5)


def seven(*values: float, coding: tuple[float, float] = CODED, sd_worker_item: float = 0.0) -> Parameters:
    """Baseline, effect, SDs of workers, of items (intercept, slope each), residual."""
    named = dict(zip(PARAMETER_NAMES, values, strict=True))
    return Parameters(**named, coding=coding, sd_worker_item=sd_worker_item)
