"""What every record of simulated rating studies holds, and what is said of failed fits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from humeval_power.asking.vocabulary import STANDINGS, TO_PLAN_FROM
from humeval_power.assumptions import Assumptions
from humeval_power.choices import Exclusion
from humeval_power.differences import Difference
from humeval_power.parameters import Parameters
from humeval_power.saying.answer_words import points_words
from humeval_power.saying.document import Fact
from humeval_power.saying.numbers import percent
from humeval_power.saying.result import Record
from humeval_power.studies.power.replication import MOST_FAILURES
from humeval_power.studies.power.result_several import family_words, several_content
from humeval_power.studies.power.systems_study import SystemsStudy
from humeval_power.systems import SystemsParameters

if TYPE_CHECKING:
    from humeval_power.studies.power.estimate import PowerEstimate
    from humeval_power.studies.power.strategies import AnyStudy, Cell, CellResult
    from humeval_power.studies.power.systems_goals import SystemsPower

STRICT = 0.01  # share of failed fits that is too many for those who ask for strictness


def category_facts(parameters: Parameters | SystemsParameters) -> Iterator[Fact]:
    """How ratings in categories arise; nothing for numbers."""
    latent = parameters.latent if isinstance(parameters, Parameters) else None
    if latent is None:
        return
    both = zip(latent.shares(0), latent.shares(1), strict=True)
    shares = ", ".join(f"{50 * (a + b):.3g}" for a, b in both)
    yield (
        "Categories",
        f"{len(latent.scores)} ({latent.family}, {latent.link}), shares {shares} %; latent effect "
        f"{latent.effect:.3g}",
    )


_LEFT_OUT: Mapping[Exclusion, str] = {
    "none": "",
    "careless": "the careless, as if they were known",
    "suspicious": "suspicious workers, by their answers",
}


def loss_facts(study: AnyStudy) -> Iterator[Fact]:
    """What happens to planned ratings, and which workers are left out; nothing where all is as planned."""
    if lost := [f"{percent(share)} {words}" for share, words in study.losses.shares()]:
        yield "Losses", "; ".join(lost)
    out = study.exclusion
    if words := _LEFT_OUT[out] if isinstance(out, str) else str(out.rules):
        yield "Left out", words


def study_facts(cell: Cell, test: str | None = None) -> Iterator[Fact]:
    """The setting, the design and the test of a study, in these words or in those of its rule, and its losses."""
    study = cell.study
    if cell.setting:
        yield "Setting", setting_words(cell.setting)
    yield from category_facts(study.parameters)
    yield "Study", str(study.design)
    if isinstance(study, SystemsStudy):
        yield "Tests", family_words(study.family, study.parameters.n_systems)
    yield "Test", test or str(study.rule)
    yield from loss_facts(study)


def beyond_pilot(assumed: Assumptions | None, said: Difference) -> Iterator[str]:
    """That a difference lies beyond what one's own ratings make plausible; nothing where it does not."""
    interval = None if assumed is None else assumed.observed_interval
    if (
        interval is None
        or interval[0] <= said.value <= interval[1]
        or abs(said.value) < max(map(abs, interval))
    ):
        return
    scale = said.scale
    # in points by which B is better, whatever the scale's direction
    width = 1.0 if scale is None else scale.width
    low, high = (f"{width * end:.3g}" for end in interval)
    yield (
        f"A difference of {points_words(said.value, scale, digits=3)} is more than your pilot makes plausible: its "
        f"interval is {low} to {high}. A study that is planned for it will miss what is likely to be there. Plan "
        "for the smallest difference that would matter."
    )


def setting_words(setting: str) -> str:
    """The name of a setting, of what comes along with whose ratings these are; of values that were typed, that they
    were."""
    if setting == "typed":
        return "values of your own"
    summary = TO_PLAN_FROM.get(setting)
    return setting if summary is None else f"{setting} ({summary})"


def setting_labels(names: Iterable[str]) -> dict[str, str]:
    """What tables, legends and sentences call settings: where they lie among public ratings, or their names."""
    labels = {name: f"{STANDINGS[name]} public ratings" if name in STANDINGS else name for name in names}
    return labels if len(set(labels.values())) == len(labels) else {name: name for name in labels}


def approximate_words(study: AnyStudy) -> str:
    """What the formula leaves out for ratings in categories: it is that of a linear model of their scores, whose
    variance of the difference is exact in a complete study."""
    if not isinstance(study.parameters, Parameters) or study.parameters.latent is None:
        return ""
    if study.rule.is_latent:
        return "; approximate: of the ratings as numbers"
    return "" if study.design.is_crossed else "; approximate: from variances on [0, 1]"


def result_row(result: CellResult, *, effect_unit: float = 1.0) -> Record:
    """One simulated power; `effect_unit` is the difference on [0, 1] that an effect of 1 stands for."""
    row = result.as_dict()
    row["effect"] = result.cell.study.true_effect / effect_unit
    return row


def study_notes(study: AnyStudy) -> tuple[str, ...]:
    """What was assumed of several systems, and what the design says of itself."""
    assumed = study.parameters.notes if isinstance(study, SystemsStudy) else ()
    return (*assumed, *study.design.notes)


def study_content(cell: Cell) -> Record:
    """What a simulated number was computed from."""
    study = cell.study
    documents = {"documents": study.design.n_documents} if study.design.n_documents else {}
    lost: Record = {"losses": asdict(study.losses)} if study.losses.shares() else {}
    if study.exclusion != "none":
        lost["exclusion"] = study.exclusion if isinstance(study.exclusion, str) else asdict(study.exclusion)
    return {
        "setting": cell.setting,
        "workers": study.design.n_workers,
        "items": study.design.n_items,
        **documents,
        "ratings_per_item": study.design.ratings_per_item,
        "n_ratings": study.design.n_ratings,
        "design": study.design.kind,
        "response": study.response,
        **lost,
        "rule": asdict(study.rule),
        "parameters": study.parameters.as_dict(),
        **(several_content(study) if isinstance(study, SystemsStudy) else {}),
    }


def too_many_failed(estimates: Sequence[PowerEstimate | SystemsPower], *, strict: bool) -> bool:
    """Whether no power can be given for some of them; under `strict`, whether more than 1 % failed."""
    return _worst(estimates) > (STRICT if strict else MOST_FAILURES)


def failure_remarks(estimates: Sequence[PowerEstimate | SystemsPower]) -> tuple[str, ...]:
    """How many fits failed, and what that means."""
    worst = _worst(estimates)
    failed = sum(estimate.n_failed for estimate in estimates)
    said = []
    if failed:
        said.append(
            f"{failed:,} fits failed, at most {100 * worst:.1f} % of a cell. They count as not significant."
        )
    if worst > MOST_FAILURES:
        said.append(
            f"Where more than {100 * MOST_FAILURES:.0f} % of the fits fail no power is given: the other "
            "studies are no fair sample. Plan more ratings of each worker and item."
        )
    return tuple(said)


def _worst(estimates: Sequence[PowerEstimate | SystemsPower]) -> float:
    return max((estimate.failure_rate for estimate in estimates), default=0.0)
