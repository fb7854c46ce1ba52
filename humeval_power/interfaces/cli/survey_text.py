"""A survey of published comparisons as text."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from humeval_power.interfaces.cli.output import wrapped
from humeval_power.interfaces.cli.text_table import text_table

if TYPE_CHECKING:
    from humeval_power.planning.survey import KendallTau, Survey, SurveyedPower

FLATTERED = (
    "Power at its own effect flatters a comparison: of the effects that get published the lucky ones are "
    "too large. The columns for given effects do not."
)
_DETAIL_WORDS = {
    "effect": "effect",
    "items": "number of items",
    "workers": "number of workers",
    "ratings_per_item": "ratings per item",
    "p_value": "p-value",
    "scale": "scale",
}


def survey_text(found: Survey) -> str:
    """What is reported, the correlation of effect and size, and what could have been found."""
    lines = [f"{found.n:,} comparisons. Reported:"]
    lines.append(
        text_table(
            [],
            [
                [_DETAIL_WORDS[name], f"{count:,}", f"{100 * count / found.n:.0f} %"]
                for name, count in found.reported.items()
            ],
        )
    )
    lines += ["", *_tau_lines(found)]
    header = ["setting", "known", "at own effect", *(f"at {effect:g}" for effect in found.effects)]
    rows = []
    for setting in dict.fromkeys(each.setting for each in found.powers):
        cells = [found.share_underpowered(setting, effect) for effect in (None, *found.effects)]
        rows.append([setting, f"{cells[-1][1]:,}", *map(_share, cells)])
    lines += ["", "Share of the comparisons of known power in which it is below 0.8:"]
    lines.append(text_table(header, rows))
    lines += ["", *_mde_lines(found), *_unknown_lines(found.powers)]
    return "\n".join([*lines, wrapped(FLATTERED)])


def _tau_lines(found: Survey) -> list[str]:
    if found.signed is None or found.absolute is None:
        return ["Too few comparisons report effect and items for a correlation of the two."]
    signed, absolute = _tau(found.signed), _tau(found.absolute)
    return [
        wrapped(
            f"Kendall's tau of effect and number of items, over {found.signed.n:,} comparisons: {signed}; of "
            f"the size of the effect: {absolute}. A negative one can mean that small studies were published "
            "for their large effects only."
        )
    ]


def _tau(found: KendallTau) -> str:
    return f"{found.tau:.3f} (p = {found.p_value:.3f})"


def _share(counts: tuple[int, int]) -> str:
    below, known = counts
    return "-" if known == 0 else f"{100 * below / known:.0f} %"


def _mde_lines(found: Survey) -> list[str]:
    lines = []
    for setting in dict.fromkeys(each.setting for each in found.powers):
        known = [each for each in found.powers if each.setting == setting and not each.reason]
        if known:
            middle = median(each.mde for each in known)
            rough = sum(each.is_rough for each in known)
            few = f" ({rough} have fewer than 5 workers, where the formula is rough)" if rough else ""
            text = f"{setting}: the middle one of {len(known)} finds {middle:.3f} with power 0.8{few}."
            lines.append(wrapped(text))
    return lines


def _unknown_lines(powers: tuple[SurveyedPower, ...]) -> list[str]:
    first = powers[0].setting
    reasons = [each.reason for each in powers if each.setting == first and each.reason]
    counts = {reason: reasons.count(reason) for reason in dict.fromkeys(reasons)}
    if not counts:
        return []
    shown = "; ".join(
        f"{count} ({reason})" for reason, count in sorted(counts.items(), key=lambda c: -c[1])[:4]
    )
    more = f"; and {len(counts) - 4} other reasons" if len(counts) > 4 else ""
    return [wrapped(f"Power unknown: {shown}{more}. --if-no-workers, --if-no-ratings fill in.")]
