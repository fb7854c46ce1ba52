"""Is a reported p-value credible? How often studies without a difference give it or less, by every test."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Literal

from humeval_power.designs import Design
from humeval_power.planning.study.calibration import VERDICT_CONFIDENCE, Calibrated, Calibration
from humeval_power.reporting.document import Document, Facts, Paragraph, Points, Section, Table
from humeval_power.reporting.numbers import counted

Credible = Literal["yes", "no", "unclear", "not defined"]
_COMMON = "item-means-t"  # what is reported most, beside the planned test


def credible(result: Calibration, alpha: float) -> Credible:
    """Whether a test gives the p-value in at most alpha of the studies without a difference: by the whole interval
    of the share, so far as it tells."""
    low, high = result.judged_interval
    if math.isnan(low):
        return "not defined"
    return "no" if low > alpha else "yes" if high <= alpha else "unclear"


def reported_p(p: float, alpha: float, design: Design, settings: Sequence[Calibrated]) -> Document:
    """Whether the p-value is credible, then how often chance gives it by every test under every setting."""
    level = f"{100 * alpha:g} %"
    said = {
        "yes": f"credible at {level}",
        "no": f"not credible at {level}",
        "unclear": f"at the edge of {level}",
        "not defined": "not to be had from this design",
    }
    verdicts = [(each.setting, said[credible(each.planned, alpha)]) for each in settings]
    size = f"{counted(design.n_workers, 'worker')} and {counted(design.n_items, 'item')}"
    simulated = max(result.estimate.n_simulations for each in settings for result in each.results)
    facts = (
        ("Study", str(design)),
        ("Studies", f"{simulated:,} simulated without a difference, the same for every test"),
    )
    found = f"p = {p:g} from {size}"
    if len({verdict for _, verdict in verdicts}) == 1:
        answer = f"{found} is {verdicts[0][1]}"
    else:
        parts = ", ".join(f"{verdict} under {setting}" for setting, verdict in verdicts)
        answer = f"It depends on the ratings: {found} is {parts}"
    shares = [_share(each, verdict) for each, (_, verdict) in zip(settings, verdicts, strict=True)]
    return Document(
        f"Is p = {p:g} credible?",
        lead=f"{answer} ({settings[0].planned.label}).",
        sections=(
            Section("", (Points(tuple(shares)), Facts(facts), _tests(p, alpha, settings))),
            Section("", tuple(map(Paragraph, _legend(alpha, settings)))),
        ),
    )


def _share(each: Calibrated, verdict: str) -> str:
    """How often chance alone gives the p-value under a setting."""
    planned = each.planned
    if planned.verdict == "not defined":
        return f"{each.setting}: {verdict}."
    low, high = planned.judged_interval
    return (
        f"{each.setting}: {100 * planned.judged[0]:.1f} % of studies without any difference give that p or less "
        f"({100 * VERDICT_CONFIDENCE:g} % interval {100 * low:.1f} to {100 * high:.1f}); {verdict}."
    )


def _tests(p: float, alpha: float, settings: Sequence[Calibrated]) -> Table:
    header = ["test"]
    for each in settings:
        header += [each.setting, "credible"]
    rows = []
    for results in zip(*(each.results for each in settings), strict=True):
        row = [results[0].label + (" *" if results[0].is_rule else "")]
        for result in results:
            share = "" if math.isnan(result.judged_interval[0]) else f"{result.judged[0]:.3f}"
            row += [share, credible(result, alpha)]
        rows.append(tuple(row))
    caption = f"Share of studies without any difference in which a test gives p = {p:g} or less"
    return Table(tuple(header), tuple(rows), caption=caption)


def _legend(alpha: float, settings: Sequence[Calibrated]) -> Iterator[str]:
    yield (
        f"Look for the test that the p-value comes from (*: the planned one). Its share is what the p-value should "
        f"have been. Credible: its {100 * VERDICT_CONFIDENCE:g} % interval ends at {alpha:g} or below."
    )
    common = [result for each in settings for result in each.results if result.test == _COMMON]
    if any(credible(result, alpha) == "no" for result in common):
        shares = " and ".join(f"{100 * result.judged[0]:.0f} %" for result in common)
        yield (
            f"Beware of tests that take the workers of the study for all there are: {common[0].label} gives it by "
            f"chance in {shares} of the studies."
        )
