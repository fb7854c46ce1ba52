"""What the tests of a finished comparison say, and their record."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from humeval_power.choices import ANONYMOUS
from humeval_power.comparisons.preference.latent_scale import PanelTest, StrengthTest
from humeval_power.comparisons.preference.scenario import Judgements, PreferenceTest
from humeval_power.inference.item_bootstrap import wilson_interval
from humeval_power.saying.answer_words import with_names
from humeval_power.saying.chart import Axis, Chart, Series, Upright
from humeval_power.saying.document import Block, Document, Fact, Facts, Paragraph, Section, Table
from humeval_power.saying.numbers import counted, interval_words, level_of, p_cell, p_words, percent
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record, Result
from humeval_power.saying.stated import pairs_lead

if TYPE_CHECKING:
    import pandas as pd


SHOWN = 30  # comparisons of the chart; a record holds all


def preference_chart(comparisons: Sequence[Judgements]) -> Chart:
    """A bar for each comparison, in the shares that prefer A, are ties and prefer B."""
    shown = comparisons[:SHOWN]
    named = {each.systems for each in comparisons}
    systems = (named.pop() if len(named) == 1 else None) or ANONYMOUS
    sides = tuple(with_names(side, systems) for side in ("prefers A", "tie", "prefers B"))
    rows = tuple(map(float, range(len(shown))))
    shares = 100 * np.array([[each.losses, each.ties, each.wins] for each in shown], dtype=float)
    shares /= shares.sum(axis=1, keepdims=True) / 100
    ends = np.column_stack([np.zeros(len(shown)), shares.cumsum(axis=1)]).T.tolist()
    series = [
        Series("bars", side, y=rows, low=tuple(low), high=tuple(high), colour=colour)
        for side, low, high, colour in zip(sides, ends, ends[1:], (0, 7, 1), strict=False)  # ties are grey
    ]
    hidden = len(comparisons) - len(shown)
    names = tuple(each.name or "judgements" for each in shown)
    return Chart(
        name="preference",
        title="Which output is preferred?",
        words=with_names(
            "For each comparison the shares of judgements that prefer A, are ties and prefer B.", systems
        ),
        x=Axis("Share of judgements", 0, 100, unit="%"),
        y=Axis("", 0, len(shown), names=names),
        series=tuple(series),
        marks=(Upright("half", 50),),
        caption=f"{hidden:,} more comparisons are not shown." if hidden else "",
        numbers=Table(
            ("", *sides),
            tuple(
                (name, *(f"{share:.1f} %" for share in of)) for name, of in zip(names, shares, strict=True)
            ),
        ),
    )


REPORT = "the one to report"


def strength_facts(strength: StrengthTest, *, confidence: str) -> Iterator[Fact]:
    """Probabilities first, then the latent scale."""
    latent = strength.latent
    won, tied, lost = latent.shares
    yield (
        "B preferred",
        f"probability {strength.preferred:.4f}, ties half ({confidence} "
        f"{interval_words(*strength.preferred_interval)}), over workers, items and orders",
    )
    yield "", f"prefers B {won:.4f}, tie {tied:.4f}, prefers A {lost:.4f} by the model"
    if strength.first_preferred is not None and strength.first_interval is not None:
        yield (
            "Shown first",
            f"preferred with probability {strength.first_preferred:.4f} where neither is stronger ({confidence} "
            f"{interval_words(*strength.first_interval)})",
        )
    yield (
        "Strength",
        f"B over A {latent.strength:+z.4f} on the {latent.link} scale ({confidence} "
        f"{interval_words(*strength.interval, signed=True)}), t = {strength.t:.3f}, df {strength.df:.1f}",
    )
    noise = "1" if latent.link == "probit" else "1.814"
    yield (
        "Variation",
        f"SD of workers {latent.sd_worker:.3f}, of items {latent.sd_item:.3f}; that of the noise is {noise}",
    )


def panel_sentences(panel: PanelTest) -> Iterator[str]:
    """Why there is no test of the strength, what is left out, and what may deceive."""
    if panel.problem:
        rest = (
            "Report instead the exact sign test below, of what most judgements of each prefer: the larger "
            "p-value, if there are two."
        )
        yield f"The model of workers and items cannot be fitted: {panel.problem}. {rest}"
    yield from panel.left_out
    if panel.n_repeated:
        yield (
            f"{counted(panel.n_repeated, 'judgement')} of a worker and an item that were there before: they count "
            "as new ones, which is too bold if workers repeat themselves."
        )


def _strength_record(strength: StrengthTest) -> Record:
    latent = strength.latent
    won, tied, lost = latent.shares
    return {
        **values(strength, "preferred", "preferred_interval", "first_preferred"),
        **values(strength, "standard_error", "df", "t", "p_value", "interval"),
        **values(latent, "link", "threshold", "sd_worker", "sd_item"),
        "win_share": won,
        "tie_share": tied,
        "loss_share": lost,
        "first_preferred_interval": strength.first_interval,
        "estimate": latent.strength,
        "position_bias": None if strength.first_preferred is None else latent.position_bias,
    }


@dataclass(frozen=True, kw_only=True)
class PreferenceTestResult(Result):
    """What is preferred in one comparison or several, with every treatment of ties."""

    schema: ClassVar[str] = "humeval_power/preference_test/1"

    found: tuple[PreferenceTest, ...]
    alpha: float

    @property
    def remarks(self) -> tuple[str, ...]:
        return tuple(notice for each in self.found for notice in each.judged.notices)

    def body(self) -> Document:
        if len(self.found) == 1:
            lead = _answer(self.found[0], self.alpha)
        else:
            shown = [_title(each.judged) for each in self.found if each.p_value <= self.alpha]
            how = f"alpha {self.alpha:g}, each tested on its own"
            lead = pairs_lead(shown, len(self.found), how, "a preference", of="comparison")
        sections = [Section(_title(each.judged), tuple(_blocks(each, self.alpha))) for each in self.found]
        if any(each.judged.ties for each in self.found):
            left_out = (
                "Without the ties another question is answered: what those prefer who have a preference. Report "
                "the share of ties."
            )
            sections.append(Section("Ties", (Paragraph(left_out),)))
        return Document(
            "Which output is preferred",
            lead=lead,
            sections=(Section("", (preference_chart([each.judged for each in self.found]),)), *sections),
        )

    def content(self) -> Record:
        return {"alpha": self.alpha, "comparisons": [_record(each, self.alpha) for each in self.found]}

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.json_normalize([_record(each, self.alpha) for each in self.found], sep="_")


def _record(test: PreferenceTest, alpha: float) -> Record:
    judged, panel, decided = test.judged, test.panel, test.judged.wins + test.judged.losses
    share = judged.wins / decided if decided else math.nan
    return {
        **values(judged, "name", "wins", "ties", "losses"),
        "n_judgements": judged.n,
        "effect": share - 0.5,
        "tie_share": judged.ties / judged.n,
        "share_without_ties": share,
        "share_without_ties_interval": _interval_without_ties(judged, alpha),
        "share_ties_half": (judged.wins + judged.ties / 2) / judged.n,
        "independent": not judged.is_clustered,
        "p_sign_exact": test.sign_exact,
        "p_sign_mid_p": test.sign_mid_p,
        "p_ties_kept": test.score,
        "p_ties_split": test.split,
        "design_effect": test.design_effect,
        "design_effect_if_independent": test.independent_range,
        "panel": panel
        and {
            **values(panel, "problem", "left_out", "n_repeated"),
            "strength": panel.strength and _strength_record(panel.strength),
            "majorities": [
                values(each, "unit", "prefer_b", "prefer_a", "p_value") for each in panel.majorities
            ],
        },
        "p_value": test.p_value,
    }


def _interval_without_ties(judged: Judgements, alpha: float) -> tuple[float, float] | None:
    """Wilson's; None where judgements depend on each other, or all are ties."""
    decided = judged.wins + judged.losses
    return wilson_interval(judged.wins, decided, 1 - alpha) if decided and not judged.is_clustered else None


def _title(judged: Judgements) -> str:
    """What is compared, by the names of the systems where there are any."""
    return judged.name if judged.systems is None else f"{judged.systems[1]} against {judged.systems[0]}"


def _answer(test: PreferenceTest, alpha: float) -> str:
    judged, confidence = test.judged, f"{level_of(1 - alpha)} interval"
    decided = judged.wins + judged.losses
    if not decided:
        return "No preference is shown: every judgement is a tie."
    strength = None if test.panel is None else test.panel.strength
    share, where, was = judged.wins / decided, "in {} of the judgements without a tie", "was"
    ends = _interval_without_ties(judged, alpha)
    if strength is not None:
        share, ends = strength.preferred, strength.preferred_interval
        where, was = "with probability {} by such workers, ties counted half", "is"
    name = (judged.systems or ANONYMOUS)[share >= 0.5]
    reach = ""
    if ends is not None:
        low, high = sorted(ends if share >= 0.5 else (1 - ends[0], 1 - ends[1]))
        reach = f"{percent(low)} to {percent(high)}"
    preferred, p = f"preferred {where.format(percent(max(share, 1 - share)))}", p_words(test.p_value)
    if test.p_value <= alpha:
        about = f" ({confidence} {reach})" if reach else ""
        return f"{name} is {preferred}{about}: a difference is shown ({p})."
    possible = f"; anything from {reach} is still possible" if reach else ""
    return f"No preference is shown ({p}): {name} {was} {preferred}{possible}."


def _blocks(test: PreferenceTest, alpha: float) -> Iterator[Block]:
    systems = test.judged.systems or ANONYMOUS
    yield Facts(
        tuple(
            (with_names(label, systems), with_names(text, systems)) for label, text in _facts(test, alpha)
        )
    )
    yield from map(Paragraph, _dependence(test))
    if test.panel is not None:
        yield from map(Paragraph, panel_sentences(test.panel))
    yield Table(("test", "p", ""), tuple((*row, with_names(said, systems)) for *row, said in _tests(test)))


def _facts(test: PreferenceTest, alpha: float) -> Iterator[Fact]:
    judged, confidence = test.judged, f"{level_of(1 - alpha)} interval"
    yield (
        "Judgements",
        f"{judged.n:,}: prefers B {judged.wins:,}, tie {judged.ties:,} ({percent(judged.ties / judged.n)}), "
        f"prefers A {judged.losses:,}",
    )
    if judged.worker is not None and judged.item is not None:
        workers, items = (len(set(codes.tolist())) for codes in (judged.worker, judged.item))
        yield "", f"{counted(workers, 'worker')}, {counted(items, 'item')}"
    label = "Prefers B"
    if decided := judged.wins + judged.losses:
        share = f"{judged.wins / decided:.4f} of those without a tie"
        ends = _interval_without_ties(judged, alpha)
        yield label, share if ends is None else f"{share} ({confidence} {interval_words(*ends)})"
        label = ""
    yield label, f"{(judged.wins + judged.ties / 2) / judged.n:.4f} with ties counted half"
    if test.panel is None and decided and judged.position is not None and judged.preference is not None:
        first = int((judged.position * judged.preference > 0).sum())
        yield "Shown first", f"preferred in {first:,} of {counted(decided, 'judgement')} without a tie"
    if test.panel is not None and test.panel.strength is not None:
        yield from strength_facts(test.panel.strength, confidence=confidence)


def _tests(test: PreferenceTest) -> Iterator[tuple[str, str, str]]:
    is_alone = test.panel is None  # of judgements that count as independent
    yield "sign test, ties excluded, exact", p_cell(test.sign_exact), "cautious" * is_alone
    yield "sign test, ties excluded, mid-p", p_cell(test.sign_mid_p), ""
    yield "score test of -1, 0, +1 (ties kept)", p_cell(test.score), "same test, asymptotic"
    split = "too cautious" if is_alone and test.judged.ties else ""
    yield "ties split, variance n/4", p_cell(test.split), split
    if test.panel is not None:
        largest = max(test.panel.majorities, key=lambda each: each.p_value, default=None)
        for each in test.panel.majorities:
            chosen = f"; {REPORT}" if test.panel.strength is None and each is largest else ""
            words = f"{each.prefer_b:,} prefer B, {each.prefer_a:,} prefer A{chosen}"
            yield f"sign test of {each.unit}s, exact", p_cell(each.p_value), words
        if test.panel.strength is not None:
            yield "t test, workers and items", p_cell(test.panel.strength.p_value), REPORT


def _dependence(test: PreferenceTest) -> Iterator[str]:
    """What the judgements tell of their dependence: no more than differs from what chance shows."""
    judged, effect, expected = test.judged, test.design_effect, test.independent_range
    if not judged.is_clustered:
        return
    several = "Some workers or items have several judgements"
    if expected is None:
        yield (
            f"{several}. If these go together, the p-values below are too small: to allow for it, name the worker "
            "and the item of each."
        )
        return
    low, high = expected
    chance = f"independent ones show {low:.2f} to {high:.2f} here in 90 % of cases"
    if effect > high:
        yield f"{several}, which are not independent: the first four p-values below are not valid."
        yield (
            f"The variance is about {effect:.2f} times that of independent judgements ({chance}): these "
            f"{judged.n:,} are worth {judged.n / effect:.0f}."
        )
    else:
        yield (
            f"{several}. Whether these go together cannot be told from these {judged.n:,}: their variance is "
            f"estimated at {effect:.2f} times that of independent judgements, and {chance}. If they do, the first "
            "four p-values below are too small."
        )
