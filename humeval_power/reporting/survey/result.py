"""What a survey of published comparisons says, and its record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING, ClassVar

from humeval_power.differences import Difference, understood
from humeval_power.planning.survey.comparison import Comparison
from humeval_power.planning.survey.described import KendallTau
from humeval_power.planning.survey.survey import TARGET, Survey
from humeval_power.reporting.answer_words import of_hundred
from humeval_power.reporting.document import Block, Document, Facts, Paragraph, Picture, Section, Table
from humeval_power.reporting.numbers import counted, p_words, percent
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.reporting.survey.described import DETAIL_WORDS, described
from humeval_power.rules import DecisionRule

if TYPE_CHECKING:  # Matplotlib is slow to import
    from matplotlib.figure import Figure

FLATTERED = (
    "Power at its own effect flatters a comparison: of the effects that get published the lucky ones are "
    "too large. The columns for given effects do not."
)
_ALIKE = (
    " The p-values take comparisons as independent; those of one paper are often alike, which makes them too "
    "small."
)


@dataclass(frozen=True, kw_only=True)
class SurveyResult(Result):
    """What a collection of comparisons reports, and could have found; `effects` are those asked for."""

    schema: ClassVar[str] = "humeval_power/survey/1"

    found: Survey
    comparisons: tuple[Comparison, ...]
    effects: tuple[Difference, ...]
    rule: DecisionRule
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    def body(self) -> Document:
        """Details reported, the correlation of effect and size, and what could have been found."""
        return Document(
            "What published comparisons report, and could have found",
            lead=self._lead(),
            sections=(
                Section("Reported", (_reported(self.found),)),
                *described(self.found.described),
                Section("Effect and size", tuple(self._effect_and_size())),
                Section(f"Power below {TARGET:g}", (_underpowered(self.found), Paragraph(FLATTERED))),
                Section("What they could have found", tuple(_could_find(self.found))),
            ),
        )

    def _lead(self) -> str:
        found = self.found
        setting, effect = found.powers[0].setting, found.effects[0]
        below, known = found.share_underpowered(setting, effect)
        asked = f"{_counted(found)}; power to find {understood(self.effects)}."
        if not known:
            return f"No comparison reports enough for its power to be known. {asked}"
        return (
            f"{below:,} of {counted(known, 'comparison')} could not find B - A = {effect:g} in "
            f"{of_hundred(TARGET)} of 100 studies, if ratings vary as in {setting!r}. {asked}"
        )

    def _effect_and_size(self) -> Iterator[Block]:
        yield Paragraph(_correlation(self.found))
        if any(each.reports("effect") and each.reports("items") for each in self.comparisons):
            yield Picture(
                "survey",
                self._figure,
                words="The scaled effect of each comparison against its number of items, and marks between "
                "which an effect would not have been found; a line joins comparisons of as many workers and "
                "ratings per item.",
            )

    def _figure(self) -> Figure:
        from humeval_power.reporting.survey.figure import survey_figure

        return survey_figure(self.comparisons, self.found)

    def content(self) -> Record:
        """The counts, the correlations and a row for each comparison and setting."""
        found = self.found
        settings = dict.fromkeys(each.setting for each in found.powers)
        return {
            "understood": understood(self.effects),
            "comparisons": found.n,
            "reported": dict(found.reported),
            "described": asdict(found.described),
            "kendall": None if found.signed is None else asdict(found.signed),
            "kendall_absolute": None if found.absolute is None else asdict(found.absolute),
            "underpowered": {
                setting: {
                    "at_own_effect": _counts(found, setting, None),
                    **{f"at_{effect:g}": _counts(found, setting, effect) for effect in found.effects},
                }
                for setting in settings
            },
            "rows": self._rows(),
            "rule": asdict(self.rule),
            "caution": FLATTERED,
        }

    def _rows(self) -> list[Record]:
        return [
            {
                "name": each.comparison.name,
                "setting": each.setting,
                "scaled_effect": each.comparison.scaled_effect,
                "items": each.comparison.items,
                "workers": each.comparison.workers,
                "ratings_per_item": each.comparison.ratings_per_item,
                "assumed": " ".join(each.assumed),
                "mde80": each.mde,
                "power_at_own_effect": each.power,
                **{
                    f"power_at_{effect:g}": power
                    for effect, power in zip(self.found.effects, each.power_at, strict=True)
                },
                "rough": each.is_rough,
                "reason": each.reason,
            }
            for each in self.found.powers
        ]


def _reported(found: Survey) -> Table:
    return Table(
        ("detail", "reported", "share", "missing", "share missing"),
        tuple(
            (
                DETAIL_WORDS[name],
                f"{count:,}",
                percent(count / found.n),
                f"{found.n - count:,}",
                percent((found.n - count) / found.n),
            )
            for name, count in found.reported.items()
        ),
    )


def _counted(found: Survey) -> str:
    papers = found.described.papers
    of = "" if papers is None else f" from {counted(papers, 'paper')}"
    return counted(found.n, "comparison") + of


def _correlation(found: Survey) -> str:
    if found.signed is None or found.absolute is None:
        return "Too few comparisons report effect and items for a correlation of the two."
    return (
        f"Kendall's tau of effect and number of items, over {counted(found.signed.n, 'comparison')}: "
        f"{_tau(found.signed)}; of the size of the effect: {_tau(found.absolute)}. A negative one can mean that "
        "small studies were published for their large effects only."
        + (_ALIKE if (found.described.papers or found.n) < found.n else "")
    )


def _tau(found: KendallTau) -> str:
    return f"{found.tau:.3f} ({p_words(found.p_value)})"


def _underpowered(found: Survey) -> Table:
    rows = []
    for setting in dict.fromkeys(each.setting for each in found.powers):
        cells = [found.share_underpowered(setting, effect) for effect in (None, *found.effects)]
        rows.append((setting, f"{cells[-1][1]:,}", *map(_share, cells)))
    return Table(
        ("setting", "known", "at own effect", *(f"at {effect:g}" for effect in found.effects)),
        tuple(rows),
        caption=f"Share of the comparisons of known power in which it is below {TARGET:g}",
    )


def _share(counts: tuple[int, int]) -> str:
    below, known = counts
    return "-" if known == 0 else percent(below / known)


def _could_find(found: Survey) -> Iterator[Block]:
    facts = []
    for setting in dict.fromkeys(each.setting for each in found.powers):
        known = [each for each in found.powers if each.setting == setting and not each.reason]
        if known:
            middle = median(each.mde for each in known)
            rough = sum(each.is_rough for each in known)
            few = f" ({rough} with fewer than 5 workers, where the formula is rough)" if rough else ""
            facts.append(
                (
                    setting,
                    f"the middle one of {len(known)} finds {middle:.3f} with power {TARGET:g}{few}",
                )
            )
    yield Facts(tuple(facts))
    first = found.powers[0].setting
    reasons = [each.reason for each in found.powers if each.setting == first and each.reason]
    counts = {reason: reasons.count(reason) for reason in dict.fromkeys(reasons)}
    if counts:
        most = sorted(counts.items(), key=lambda each: -each[1])
        shown = "; ".join(f"{count} ({reason})" for reason, count in most[:4])
        more = f"; and {len(most) - 4} other reasons" if len(most) > 4 else ""
        yield Paragraph(f"Power unknown: {shown}{more}. Workers, items and ratings can be assumed instead.")


def _counts(found: Survey, setting: str, effect: float | None) -> dict[str, int]:
    below, known = found.share_underpowered(setting, effect)
    return {"underpowered": below, "known": known}
