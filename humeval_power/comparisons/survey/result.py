"""What a survey of published comparisons says, and its record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import ClassVar

from humeval_power.comparisons.survey.survey import (
    TARGET,
    Description,
    PublishedComparison,
    Share,
    Survey,
)
from humeval_power.differences import Difference, understood
from humeval_power.rules import DecisionRule
from humeval_power.saying.answer_words import of_hundred
from humeval_power.saying.chart import Axis, Chart, Level, Series
from humeval_power.saying.document import Block, Document, Facts, Paragraph, Section, Table
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


def _blocks(description: Description) -> Iterator[Block]:
    facts = tuple(_facts(description))
    if facts:
        yield Facts(facts)
    if description.sizes:
        yield table(
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
    if description.up_to:
        known = next(iter(description.up_to.values())).known
        counts = {f"up to {most}": share.count for most, share in description.up_to.items()}
        last, fewer = list(description.up_to.items())[-1]
        counts[f"over {last}"] = known - fewer.count
        caption = f"Of the {counted(known, 'comparison')} with a known number of items"
        yield _shares("items", counts, known, caption)
    if description.kinds:
        total = sum(description.kinds.values())
        shown = dict(list(description.kinds.items())[:_MOST_KINDS])
        if others := total - sum(shown.values()):
            shown[f"{len(description.kinds) - len(shown)} others"] = others
        yield _shares("type", shown, total)


def _shares(of: str, counts: dict[str, int], total: int, caption: str = "") -> Table:
    rows = tuple((name, f"{count:,}", percent(count / total)) for name, count in counts.items())
    return Table((of, "comparisons", "share"), rows, caption)


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


FLATTERED = (
    "Power at its own effect flatters a comparison: of the effects that get published the lucky ones are "
    "too large. The columns for given effects do not."
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
        n, described = self.found.n, tuple(_blocks(self.found.described))
        is_drawn = any(each.items and each.scaled_effect is not None for each in self.comparisons)
        pictures = (survey_chart(self.comparisons, self.found),) if is_drawn else ()
        reported = table(
            self.found.reported.items(),
            {
                "detail": lambda row: DETAIL_WORDS[row[0]],
                "reported": lambda row: f"{row[1]:,}",
                "share": lambda row: percent(row[1] / n),
                "missing": lambda row: f"{n - row[1]:,}",
                "share missing": lambda row: percent((n - row[1]) / n),
            },
        )
        return Document(
            "What published comparisons report, and could have found",
            lead=self._lead(),
            sections=(
                Section("Reported", (reported,)),
                *((Section("What they are", described),) if described else ()),
                Section("Effect and size", (Paragraph(_correlation(self.found)), *pictures)),
                Section(f"Power below {TARGET:g}", (_underpowered(self.found), Paragraph(FLATTERED))),
                Section("What they could have found", tuple(_could_find(self.found))),
            ),
        )

    def _lead(self) -> str:
        survey = self.found
        setting, effect = survey.powers[0].setting, survey.effects[0]
        below, known = survey.share_underpowered(setting, effect)
        papers = survey.described.papers
        of = "" if papers is None else f" from {counted(papers, 'paper')}"
        lead = f"{counted(survey.n, 'comparison')}{of}; power to find {understood(self.effects)}."
        if not known:
            reasons = {each.reason for each in survey.powers}
            why = f" ({reasons.pop()})" if len(reasons) == 1 else ""
            return f"No comparison reports enough for its power to be known{why}. {lead}"
        return (
            f"{below:,} of {counted(known, 'comparison')} could not find a difference of {100 * effect:g} % of the "
            f"scale in {of_hundred(TARGET)} of 100 studies, if ratings vary as in {setting!r}. {lead}"
        )

    def content(self) -> Record:
        survey = self.found
        settings = dict.fromkeys(each.setting for each in survey.powers)
        names = [f"power_at_{effect:g}" for effect in survey.effects]
        return {
            "understood": understood(self.effects),
            "comparisons": survey.n,
            "reported": dict(survey.reported),
            "described": asdict(survey.described),
            "kendall": None if survey.signed is None else asdict(survey.signed),
            "kendall_absolute": None if survey.absolute is None else asdict(survey.absolute),
            "underpowered": {
                setting: {
                    "at_own_effect" if effect is None else f"at_{effect:g}": {
                        "underpowered": below,
                        "known": known,
                    }
                    for effect in (None, *survey.effects)
                    for below, known in [survey.share_underpowered(setting, effect)]
                }
                for setting in settings
            },
            "rows": [
                {
                    "name": each.comparison.name,
                    "setting": each.setting,
                    **values(each.comparison, "scaled_effect", "items", "workers", "ratings_per_item"),
                    "assumed": " ".join(each.assumed),
                    "mde80": each.mde,
                    "power_at_own_effect": each.power,
                    **dict(zip(names, each.power_at, strict=True)),
                    "rough": each.is_rough,
                    "reason": each.reason,
                }
                for each in survey.powers
            ],
            "rule": asdict(self.rule),
            "caution": FLATTERED,
        }


def _correlation(survey: Survey) -> str:
    if survey.signed is None or survey.absolute is None:
        return "Too few comparisons report effect and items for a correlation of the two."
    signed, absolute = (
        f"{each.tau:.3f} ({p_words(each.p_value)})" for each in (survey.signed, survey.absolute)
    )
    said = (
        f"Kendall's tau of effect and number of items, over {counted(survey.signed.n, 'comparison')}: {signed}; of "
        f"the size of the effect: {absolute}. A negative one can mean that small studies were published for their "
        "large effects only."
    )
    if (survey.described.papers or survey.n) == survey.n:
        return said
    return (
        f"{said} The p-values take comparisons as independent; those of one paper are often alike, which makes "
        "them too small."
    )


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
        yield Paragraph(
            f"Power unknown: {shown}{more}. What is not reported can be assumed: --if-no-workers, --if-no-items, "
            "--if-no-ratings."
        )


def survey_chart(comparisons: Sequence[PublishedComparison], survey: Survey) -> Chart:
    """The scaled effect of each comparison against its number of items (Card et al. 2020, Fig. 5).

    For each setting marks at what each comparison could find, above and below 0: effects between the two would not
    be found. A line joins those with the same workers and ratings per item, and no others.
    """
    points = [
        (each.items, each.scaled_effect)
        for each in comparisons
        if each.items is not None and each.scaled_effect is not None
    ]
    items, effects = zip(*points, strict=True)
    most = max(1.1 * max(map(abs, effects)), 0.1)
    found: dict[str, dict[tuple[int | None, int | None], dict[float, float]]] = {}
    for each in survey.powers:
        if not each.reason and each.comparison.items is not None:
            crews = found.setdefault(each.setting, {})
            crews.setdefault((each.workers, each.ratings_per_item), {})[each.comparison.items] = each.mde
    series = []
    for colour, (setting, by_crew) in enumerate(found.items()):
        for by_size in by_crew.values():
            sizes = tuple(sorted(by_size))
            for sign in (1, -1):
                series.append(
                    Series("line", "", sizes, tuple(sign * by_size[n] for n in sizes), colour=colour)
                )
        marks = [
            (n, sign * mde) for each in by_crew.values() for n, mde in each.items() for sign in (1, -1)
        ]
        label = f"found with power {TARGET:g} ({setting})"
        inside = [mark for mark in marks if abs(mark[1]) <= most]
        if inside:
            series.append(Series.of("points", label, inside, colour))
        else:
            series[-1] = replace(series[-1], name=f"{label}: beyond this picture")
    return Chart(
        name="survey",
        title="Which effects could have been found?",
        words="The scaled effect of each comparison against its number of items, and marks between which an effect "
        "would not have been found; a line joins comparisons of as many workers and ratings per item.",
        x=Axis("Number of items", min(items) / 1.2, 1.2 * max(items), is_log=True),
        y=Axis("Effect B - A on [0, 1]", -most, most),
        series=(*series, Series("points", "comparison", items, effects, colour=6)),
        marks=(Level("", 0.0),),
        numbers=table(
            points, {"items": lambda each: f"{each[0]:,}", "effect B - A": lambda each: f"{each[1]:+z.3f}"}
        ),
    )
