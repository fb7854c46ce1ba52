"""What a panel of workers and items shows of a preference, in facts, sentences, rows of a table and a record."""

from __future__ import annotations

from collections.abc import Iterator

from humeval_power.inference.preference.panel_test import PanelTest, StrengthTest
from humeval_power.reporting.document import Fact
from humeval_power.reporting.numbers import counted, interval_words, p_cell
from humeval_power.reporting.records import Record

REPORT = "the one to report"


def strength_facts(found: StrengthTest, *, confidence: str) -> Iterator[Fact]:
    """Probabilities first, then the latent scale."""
    latent = found.latent
    won, tied, lost = latent.shares
    yield (
        "B preferred",
        f"probability {found.preferred:.4f}, ties half ({confidence} "
        f"{interval_words(*found.preferred_interval)}), over workers, items and orders",
    )
    yield "", f"prefers B {won:.4f}, tie {tied:.4f}, prefers A {lost:.4f} by the model"
    if found.first_preferred is not None and found.first_interval is not None:
        yield (
            "Shown first",
            f"preferred with probability {found.first_preferred:.4f} where neither is stronger ({confidence} "
            f"{interval_words(*found.first_interval)})",
        )
    yield (
        "Strength",
        f"B over A {latent.strength:+.4f} on the {latent.link} scale ({confidence} "
        f"{interval_words(*found.interval, signed=True)}), t = {found.t:.3f}, df {found.df:.1f}",
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


def panel_rows(panel: PanelTest) -> Iterator[tuple[str, str, str]]:
    """Rows of the table of tests."""
    largest = max(panel.majorities, key=lambda each: each.p_value, default=None)
    for each in panel.majorities:
        chosen = panel.strength is None and each is largest
        words = f"{each.prefer_b:,} prefer B, {each.prefer_a:,} prefer A{f'; {REPORT}' if chosen else ''}"
        yield f"sign test of {each.unit}s, exact", p_cell(each.p_value), words
    if panel.strength is not None:
        yield "t test, workers and items", p_cell(panel.strength.p_value), REPORT


def panel_record(panel: PanelTest) -> Record:
    """The same for programs."""
    return {
        "strength": None if panel.strength is None else _strength_record(panel.strength),
        "problem": panel.problem,
        "majorities": [
            {
                "unit": each.unit,
                "prefer_b": each.prefer_b,
                "prefer_a": each.prefer_a,
                "p_value": each.p_value,
            }
            for each in panel.majorities
        ],
        "left_out": list(panel.left_out),
        "n_repeated": panel.n_repeated,
    }


def _strength_record(found: StrengthTest) -> Record:
    latent = found.latent
    won, tied, lost = latent.shares
    return {
        "preferred": found.preferred,
        "preferred_interval": list(found.preferred_interval),
        "win_share": won,
        "tie_share": tied,
        "loss_share": lost,
        "first_preferred": found.first_preferred,
        "first_preferred_interval": None if found.first_interval is None else list(found.first_interval),
        "estimate": latent.strength,
        "standard_error": found.standard_error,
        "df": found.df,
        "t": found.t,
        "p_value": found.p_value,
        "interval": list(found.interval),
        "link": latent.link,
        "threshold": latent.threshold,
        "position_bias": None if found.first_preferred is None else latent.position_bias,
        "sd_worker": latent.sd_worker,
        "sd_item": latent.sd_item,
    }
