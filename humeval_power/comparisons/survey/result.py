"""What a survey of published comparisons says, and its record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import ClassVar

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from humeval_power.comparisons.survey.survey import (
    TARGET,
    Description,
    KendallTau,
    PublishedComparison,
    Share,
    Survey,
)
from humeval_power.differences import Difference, understood
from humeval_power.errors import InputError
from humeval_power.rules import DecisionRule
from humeval_power.safe_text import picture_text
from humeval_power.saying.answer_words import of_hundred
from humeval_power.saying.document import Block, Document, Facts, Paragraph, Picture, Section, Table
from humeval_power.saying.figure_style import COLOURS, DASHES, INK, MARKERS, QUIET, house_style
from humeval_power.saying.numbers import counted, p_words, percent
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record, Result
from humeval_power.saying.stated import table

# What a collection of comparisons is, in tables: effects, sizes, kinds, tests and bold type.

DETAIL_WORDS = {
    "effect": "effect",
    "items": "number of items",
    "workers": "number of workers",
    "ratings_per_item": "ratings per item",
    "p_value": "p-value",
    "scale": "scale",
}
_MOST_KINDS = 12


def described(description: Description) -> tuple[Section, ...]:
    """A section on what the comparisons are; none where nothing is known."""
    blocks = tuple(_blocks(description))
    return (Section("What they are", blocks),) if blocks else ()


def _blocks(description: Description) -> Iterator[Block]:
    facts = tuple(_facts(description))
    if facts:
        yield Facts(facts)
    if description.sizes:
        yield _sizes(description)
    if description.up_to:
        rows = [(f"up to {most}", share.count, share.known) for most, share in description.up_to.items()]
        last, known = next(reversed(description.up_to)), rows[-1][2]
        rows.append((f"over {last}", known - rows[-1][1], known))
        yield Table(
            ("items", "comparisons", "share"),
            tuple((words, f"{count:,}", percent(count / of)) for words, count, of in rows),
            caption=f"Of the {counted(known, 'comparison')} that tell their number of items",
        )
    if description.kinds:
        total = sum(description.kinds.values())
        shown = list(description.kinds.items())[:_MOST_KINDS]
        others = total - sum(count for _, count in shown)
        rest = [(f"{len(description.kinds) - len(shown)} others", others)] if others else []
        yield Table(
            ("type", "comparisons", "share"),
            tuple((name, f"{count:,}", percent(count / total)) for name, count in (*shown, *rest)),
        )


def _facts(description: Description) -> Iterator[tuple[str, str]]:
    effects = description.effects
    if effects is not None:
        sd = "" if effects.sd is None else f", SD {effects.sd:.3f}"
        yield (
            "Effects",
            f"mean {effects.mean:+z.3f}{sd}, on [0, 1]; from {effects.low:+z.3f} to {effects.high:+z.3f}, "
            f"the middle one {effects.middle:+z.3f}",
        )
    if description.tested is not None:
        yield "Tested", f"{_share(description.tested)} report a test"
    if description.bold is not None:
        yield "Bold type", f"{_share(description.bold)} set the best number in bold type or star it"


def _share(share: Share) -> str:
    return f"{share.count:,} of {share.known:,} that tell ({percent(share.count / share.known)})"


def _sizes(description: Description) -> Table:
    return table(
        description.sizes.items(),
        {
            "size": lambda row: DETAIL_WORDS[row[0]],
            "known": lambda row: f"{row[1].n:,}",
            "smallest": lambda row: f"{row[1].low:,}",
            "middle": lambda row: f"{row[1].middle:,g}",
            "largest": lambda row: f"{row[1].high:,}",
            "most often": lambda row: f"{row[1].commonest:,}",
            "share": lambda row: percent(row[1].n_commonest / row[1].n),
        },
    )


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
    comparisons: tuple[PublishedComparison, ...]
    effects: tuple[Difference, ...]
    rule: DecisionRule
    remarks: tuple[str, ...] = ()

    def body(self) -> Document:
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
        survey = self.found
        setting, effect = survey.powers[0].setting, survey.effects[0]
        below, known = survey.share_underpowered(setting, effect)
        lead = f"{_counted(survey)}; power to find {understood(self.effects)}."
        if not known:
            return f"No comparison reports enough for its power to be known. {lead}"
        return (
            f"{below:,} of {counted(known, 'comparison')} could not find a difference of {100 * effect:g} % of the "
            f"scale in {of_hundred(TARGET)} of 100 studies, if ratings vary as in {setting!r}. {lead}"
        )

    def _effect_and_size(self) -> Iterator[Block]:
        yield Paragraph(_correlation(self.found))
        if any(each.reports("effect") and each.reports("items") for each in self.comparisons):
            yield Picture(
                "survey",
                lambda: survey_figure(self.comparisons, self.found),
                words="The scaled effect of each comparison against its number of items, and marks between "
                "which an effect would not have been found; a line joins comparisons of as many workers and "
                "ratings per item.",
            )

    def content(self) -> Record:
        survey = self.found
        settings = dict.fromkeys(each.setting for each in survey.powers)
        return {
            "understood": understood(self.effects),
            "comparisons": survey.n,
            "reported": dict(survey.reported),
            "described": asdict(survey.described),
            "kendall": None if survey.signed is None else asdict(survey.signed),
            "kendall_absolute": None if survey.absolute is None else asdict(survey.absolute),
            "underpowered": {
                setting: {
                    "at_own_effect": _counts(survey, setting, None),
                    **{f"at_{effect:g}": _counts(survey, setting, effect) for effect in survey.effects},
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
                **values(each.comparison, "scaled_effect", "items", "workers", "ratings_per_item"),
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


def _reported(survey: Survey) -> Table:
    return table(
        survey.reported.items(),
        {
            "detail": lambda row: DETAIL_WORDS[row[0]],
            "reported": lambda row: f"{row[1]:,}",
            "share": lambda row: percent(row[1] / survey.n),
            "missing": lambda row: f"{survey.n - row[1]:,}",
            "share missing": lambda row: percent((survey.n - row[1]) / survey.n),
        },
    )


def _counted(survey: Survey) -> str:
    papers = survey.described.papers
    of = "" if papers is None else f" from {counted(papers, 'paper')}"
    return counted(survey.n, "comparison") + of


def _correlation(survey: Survey) -> str:
    if survey.signed is None or survey.absolute is None:
        return "Too few comparisons report effect and items for a correlation of the two."
    return (
        f"Kendall's tau of effect and number of items, over {counted(survey.signed.n, 'comparison')}: "
        f"{_tau(survey.signed)}; of the size of the effect: {_tau(survey.absolute)}. A negative one can mean that "
        "small studies were published for their large effects only."
        + (_ALIKE if (survey.described.papers or survey.n) < survey.n else "")
    )


def _tau(tau: KendallTau) -> str:
    return f"{tau.tau:.3f} ({p_words(tau.p_value)})"


def _underpowered(survey: Survey) -> Table:
    rows = []
    for setting in dict.fromkeys(each.setting for each in survey.powers):
        cells = [survey.share_underpowered(setting, effect) for effect in (None, *survey.effects)]
        shares = (percent(below / known) if known else "-" for below, known in cells)
        rows.append((setting, f"{cells[-1][1]:,}", *shares))
    return Table(
        ("setting", "known", "at own effect", *(f"at {effect:g}" for effect in survey.effects)),
        tuple(rows),
        caption=f"Share of the comparisons of known power in which it is below {TARGET:g}",
    )


def _could_find(survey: Survey) -> Iterator[Block]:
    facts = []
    for setting in dict.fromkeys(each.setting for each in survey.powers):
        known = [each for each in survey.powers if each.setting == setting and not each.reason]
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
    first = survey.powers[0].setting
    reasons = [each.reason for each in survey.powers if each.setting == first and each.reason]
    counts = {reason: reasons.count(reason) for reason in dict.fromkeys(reasons)}
    if counts:
        most = sorted(counts.items(), key=lambda each: -each[1])
        shown = "; ".join(f"{count} ({reason})" for reason, count in most[:4])
        more = f"; and {len(most) - 4} other reasons" if len(most) > 4 else ""
        yield Paragraph(f"Power unknown: {shown}{more}. Workers, items and ratings can be assumed instead.")


def _counts(survey: Survey, setting: str, effect: float | None) -> dict[str, int]:
    below, known = survey.share_underpowered(setting, effect)
    return {"underpowered": below, "known": known}


# Published comparisons as a picture: scaled effect against number of items (Card et al. 2020, Fig. 5).

Crew = tuple[int | None, int | None]  # workers, ratings per item
BySize = Mapping[int, float]


def survey_figure(
    comparisons: Sequence[PublishedComparison], survey: Survey, *, width: float = 4.6
) -> Figure:
    """A point for each comparison that reports effect and items; x is logarithmic.

    For each setting marks at what each comparison could find with power 0.8, above and below 0: effects between
    the two would not be found. A line joins those with the same workers and ratings per item, and no others.
    """
    points = [
        (each.items, each.scaled_effect)
        for each in comparisons
        if each.items is not None and each.scaled_effect is not None
    ]
    if not points:
        raise InputError("No comparison reports both its effect and its number of items.")
    with house_style():
        figure = Figure(figsize=(width, 0.66 * width), layout="constrained")
        axes = figure.subplots()
        axes.axhline(0, color=QUIET, linewidth=0.8)
        items, effects = zip(*points, strict=True)
        axes.scatter(items, effects, s=16, color=INK, alpha=0.55, linewidth=0, label="comparison", zorder=3)
        most = max(1.1 * max(abs(effect) for effect in effects), 0.1)
        for place, (setting, crews) in enumerate(_detectable(survey).items()):
            _draw_setting(axes, place, setting, crews, most=most)
        axes.set_xscale("log")
        known = [step * 10**power for power in range(8) for step in (1, 2, 5)]
        below = max(tick for tick in known if tick <= max(min(items), 1))
        above = min((tick for tick in known if tick >= max(items)), default=known[-1])
        ticks = [tick for tick in known if below <= tick <= above]
        axes.xaxis.set_major_locator(FixedLocator(ticks))
        axes.xaxis.set_major_formatter(FixedFormatter([f"{tick:,}" for tick in ticks]))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_ylim(-most, most)
        axes.set_xlabel("Number of items")
        axes.set_ylabel("Effect B - A on [0, 1]")
        if survey.signed is not None:
            tau = f"Kendall's tau {survey.signed.tau:.2f}, {p_words(survey.signed.p_value)}"
            axes.set_title(f"{len(points)} comparisons; {tau}", loc="left", color=QUIET)
        figure.legend(loc="outside lower center", ncols=1)
    return figure


def _draw_setting(
    axes: Axes, place: int, setting: str, crews: Mapping[Crew, BySize], *, most: float
) -> None:
    """What could be found under one setting, a line for each crew of workers."""
    smallest = min(min(by_size.values()) for by_size in crews.values())
    outside = ": beyond this picture" if smallest > most else ""
    label: str | None = f"found with power 0.8 ({picture_text(setting)}){outside}"
    for by_size in crews.values():
        sizes = sorted(by_size)
        for sign in (1, -1):
            axes.plot(
                sizes,
                [sign * by_size[size] for size in sizes],
                color=COLOURS[place],
                linestyle=DASHES[place],
                linewidth=0.8,
                marker=MARKERS[place],
                markersize=2.6,
                alpha=0.8,
                label=label,
            )
            label = None


def _detectable(survey: Survey) -> Mapping[str, Mapping[Crew, BySize]]:
    """For each setting and crew the detectable effect at each number of items."""
    values: dict[str, dict[Crew, dict[int, float]]] = {}
    for each in survey.powers:
        if not each.reason and each.comparison.items is not None:
            crews = values.setdefault(each.setting, {})
            crews.setdefault((each.workers, each.ratings_per_item), {})[each.comparison.items] = each.mde
    return values
