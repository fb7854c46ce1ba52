"""`hp.looks.study` and `hp.looks.anytime`: looks at a rating study, of a `Study` or of the parts that make one."""

from __future__ import annotations

from typing import Any

from humeval_power.doors.verbs import answer
from humeval_power.study import Study


def study(about: Any, /, *parts: Any, **how: Any) -> Any:
    """A rating study with looks: information and boundaries at each, careless procedures, the long run.

    Parameters
    ----------
    about : a `Study` with its size, effect and looks; or `RatingLooks`, of several systems `SystemsLooks`, with a
        `StoppingRule` behind them.
    how : `calibrate`, `effects`, `n_simulations`, `seed`, `n_jobs`; of parts as `looks.study` takes them:
        `effects`, `cost`, `calibration`, `setting`, `said`; of several systems `goal`.

    Returns
    -------
    LooksStudyResult
        `plan` (boundaries, what is there at each look), `points` (operating characteristics). Of a `Study` with
        `drop_systems` a `DroppingResult`, as of `looks.dropping`.

    Raises
    ------
    InputError
        Looks at which the difference cannot be estimated, or what is missing or contradicts itself.
    """
    if isinstance(about, Study):
        return answer(about, "looks study", how)
    from humeval_power.studies.looks import calls as looks

    return looks.study(about, *parts, **how)


def anytime(about: Any, /, **how: Any) -> Any:
    """An interval of B - A that holds after every worker, where each rated items of his own.

    Parameters
    ----------
    about : a `Study` that names its ratings, or ratings in the order in which workers came.
    how : `narrowest_at`, the workers at which the interval is narrowest; of ratings also `alpha`.

    Returns
    -------
    AnytimeResult
        `steps`, the interval after each worker; `last`, after all of them; `price`.

    Raises
    ------
    InputError
        Items that several workers rated, that lack a system, or unequal numbers of them.
    """
    if isinstance(about, Study):
        return answer(about, "looks anytime", how)
    from humeval_power.studies.looks import calls as looks

    return looks.anytime(about, **how)
