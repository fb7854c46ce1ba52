"""What a study is planned from: parameters, and the scale, systems and uncertainty that go with them.

One rule holds for all of it: what the user says always wins over what a file says, and what another
study says of its own ratings (its scale, its systems, its effect) is never taken for this study's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Literal

from humeval_power.choices import ANONYMOUS
from humeval_power.errors import ParametersError, field_problem
from humeval_power.latent import LATENT_DEVIATIONS, Latent, Link
from humeval_power.parameters import CORRELATIONS, Parameters
from humeval_power.rules import DEFAULT_RULE
from humeval_power.scales import RatingScale

if TYPE_CHECKING:
    from humeval_power.uncertainty import VarianceUncertainty

Origin = Literal["pilot", "file", "library", "published", "typed"]
OWN: tuple[Origin, ...] = ("pilot", "file")


@dataclass(frozen=True, slots=True)
class Assumed:
    """Parameters under a name, and what their origin says of itself.

    Of a pilot, or a file that was fitted to one, the scale, the systems and the estimate are those of the
    study; of an entry of the library they are another study's. `file` and `ratings` name the document
    and the table of ratings. `standing` is where these lie among ratings of the same kind ('typical',
    'cautious end', 'hopeful end'), and `whose` says whose ratings they are, where the user named none.
    `observed_interval` is that of the fitted difference on [0, 1], None where it had no test.
    """

    name: str
    parameters: Parameters
    _: KW_ONLY
    scale: RatingScale | None = None
    systems: tuple[str, str] | None = None
    uncertainty: VarianceUncertainty | None = None
    origin: Origin = "typed"
    file: str | None = None
    ratings: str | None = None
    standing: str = ""
    whose: str = ""
    observed_interval: tuple[float, float] | None = None

    @property
    def is_own(self) -> bool:
        """Whether what its origin says holds of the study itself."""
        return self.origin in OWN


@dataclass(frozen=True, slots=True)
class Assumptions:
    """Everything that is assumed of a study before it is carried out.

    entries : parameters by name, the first being planned for.
    typed_scale, typed_systems : what the user said; they win over what the entries say.
    chosen : why these entries, in words, where the user did not name them.
    """

    entries: tuple[Assumed, ...]
    typed_scale: RatingScale | None = None
    typed_systems: tuple[str, str] | None = None
    chosen: str = ""

    @property
    def by_name(self) -> dict[str, Parameters]:
        """The parameters alone."""
        return {entry.name: entry.parameters for entry in self.entries}

    @property
    def scale(self) -> RatingScale | None:
        """The scale of this study: the user's, else that of its own pilot or file where there is one."""
        own = self._own()
        return self.typed_scale or (own.scale if own is not None else None)

    @property
    def systems(self) -> tuple[str, str]:
        """A and B of this study: the user's, else those of its own pilot or file, else 'A' and 'B'."""
        own = self._own()
        return self.typed_systems or (own.systems if own is not None else None) or ANONYMOUS

    @property
    def uncertainty(self) -> VarianceUncertainty | None:
        """How uncertain the parameters planned for are, where that is known."""
        return self.entries[0].uncertainty if self.entries else None

    @property
    def observed(self) -> float | None:
        """The difference B - A on [0, 1] that the study's own pilot or file estimates."""
        own = self._own()
        return None if own is None else own.parameters.difference

    @property
    def observed_interval(self) -> tuple[float, float] | None:
        """The interval of that difference; None where it is not known."""
        own = self._own()
        return None if own is None else own.observed_interval

    def _own(self) -> Assumed | None:
        """The pilot, else the only file of one's own: two of them may contradict each other."""
        own = [entry for entry in self.entries if entry.is_own]
        pilots = [entry for entry in own if entry.origin == "pilot"]
        result = pilots or own
        return result[0] if len(result) == 1 else None


_ROUNDING = 0.01  # by which a number that the shares fix may miss it


def in_categories(
    assumed: Assumptions,
    shares: Sequence[float],
    *,
    link: Link = DEFAULT_RULE.link,
    difference: float = 0.0,
) -> Assumptions:
    """The same with ratings in categories of these shares, worst first, the mean of both systems where these
    differ by `difference`. The standard deviations stay; baseline and residual are what the shares leave.

    Raises
    ------
    ParametersError
        Parameters that are in categories already, that state what the shares contradict, or that leave no room.
    """
    points = assumed.scale.points if assumed.scale is not None else None
    if points is not None and points != len(shares):
        rule = f"must be one for each of the scale's {points} points."
        raise ParametersError([field_problem("shares", list(shares), rule)])
    entries = (
        replace(entry, parameters=_of_shares(entry, shares, link, difference), uncertainty=None)
        for entry in assumed.entries
    )
    return replace(assumed, entries=tuple(entries))


def _of_shares(entry: Assumed, shares: Sequence[float], link: Link, difference: float) -> Parameters:
    values = entry.parameters.recoded()
    if values.latent is not None:
        raise ParametersError(
            f"{entry.name} is in categories already, with shares of its own: leave out those given."
        )
    deviations = {name: getattr(values, name) for name in LATENT_DEVIATIONS}
    parameters = Parameters.of_latent(
        Latent.of_shares(shares, link=link, difference=difference, **deviations)
    )
    if entry.origin == "typed":
        _refuse_contradictions(values, parameters)
    return parameters


def _refuse_contradictions(typed: Parameters, parameters: Parameters) -> None:
    """Refuse what was typed and is not what the shares fix; what was left out has its usual value."""
    usual = {"baseline": 0.5, "sd_residual": 0.0, "sd_worker_item": 0.0}
    problems = [
        field_problem(
            name,
            getattr(typed, name),
            f"contradicts the shares, which make it {getattr(parameters, name):.3g}: leave it out.",
        )
        for name, without in usual.items()
        if getattr(typed, name) != without
        and abs(getattr(typed, name) - getattr(parameters, name)) > _ROUNDING
    ]
    problems += [
        field_problem(name, getattr(typed, name), "is not known of ratings in categories: leave it out.")
        for name in CORRELATIONS
        if getattr(typed, name)
    ]
    if problems:
        raise ParametersError(problems)


def assumptions_of(
    parameters: Mapping[str, Parameters], *, uncertainty: VarianceUncertainty | None = None
) -> Assumptions:
    """Assumptions of parameters by name; `uncertainty` is what a pilot says of the first, which is planned for."""
    entries = [Assumed(name, values) for name, values in parameters.items()]
    if entries and uncertainty is not None:
        entries[0] = replace(entries[0], uncertainty=uncertainty, origin="pilot")
    return Assumptions(tuple(entries))
