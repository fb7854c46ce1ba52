"""Card et al. (2020), section 5.1 and appendix H.1: the survey of human evaluations at EMNLP 2019.

Run: python examples/papers/card2020_survey.py [--write]
"""

from __future__ import annotations

import csv
import math
import tempfile
from dataclasses import replace
from pathlib import Path

from paper import Paper, compared, repository

import humeval_power as hp

SETTINGS = {name: hp.preset(name) for name in ("high", "low")}

paper = Paper(
    "card2020_survey",
    "Card et al. (2020): the survey of EMNLP 2019",
    "Card, Henderson, Khandelwal, Jia, Mahowald and Jurafsky (2020), With little power comes great "
    "responsibility, EMNLP: section 5.1 and appendix H.1. Tables: the authors' repository "
    "(examples/papers/card2020_repository, Apache 2.0).",
)


def survey() -> None:
    """Section 5.1 and Figure 5: 117 comparisons of a new system with the best baseline."""
    table = repository("num_items_vs_effect_size.csv")
    comparisons, _ = hp.models.read_comparisons(table)
    found = hp.survey(comparisons, SETTINGS).found
    told, sizes, of_all = found.described, found.described.sizes, len(comparisons)
    paper.section(
        "Section 5.1",
        "What the comparisons report",
        "The table of the authors goes into the command as it is. Shares of sizes are of the comparisons that "
        "tell them, shares of what is missing are of all 117 (the paper says 'experiments').",
    )
    paper.command(f"humeval-power more survey {table.name} --preset high,low")
    paper.number("comparisons", compared("117", of_all))
    paper.number("papers", compared("41", told.papers))
    paper.number("s.d. of the effects", compared(".12", told.effects.sd))
    hundred, two_hundred = told.up_to[100], told.up_to[200]
    paper.number("100 items or fewer", compared("69 %", 100 * hundred.count / hundred.known))
    paper.number("over 200 items", compared("18 %", 100 * (1 - two_hundred.count / two_hundred.known)))
    for name, printed in (("ratings_per_item", "34 %"), ("workers", "28 %"), ("items", "7 %")):
        missing = 100 * (1 - found.reported[name] / of_all)
        paper.number(f"{name.replace('_', ' ')} not reported", compared(printed, missing))
    per_item = sizes["ratings_per_item"]
    paper.number("3 ratings per item", compared("57 %", 100 * per_item.n_commonest / per_item.n))
    paper.number("ratings per item, most often", compared("3", per_item.commonest))
    paper.number("workers, most often", compared("3", sizes["workers"].commonest))

    kept = [each for each in comparisons if not (each.items == 500 and each.effect < -0.3)]
    without = hp.survey(kept, SETTINGS, if_missing={"workers": 3, "ratings_per_item": 3})
    paper.section(
        "Figure 5",
        "Effect and number of items",
        "Without the two comparisons of footnote 11, as in the paper. Grey are the comparisons; a study finds "
        "what lies outside its marks with power .8, if it has the variation of the paper's settings (3 workers "
        "and 3 ratings per item where they are not reported).",
    )
    paper.number("Kendall's tau", compared("-.07", without.found.signed.tau))
    paper.number("p of tau", compared(".32", without.found.signed.p_value))
    paper.number("comparisons left out", compared("2", of_all - len(kept)))
    everything = found.signed
    weak = {name: without.found.share_underpowered(name) for name in SETTINGS}
    below = {name: 100 * count / known for name, (count, known) in weak.items()}
    paper.text(
        f"At its own effect {below['high']:.0f} % of the comparisons have power below .8 under the high setting, "
        f"and {below['low']:.0f} % under the low one."
    )
    paper.text(
        f"With the two the correlation is {everything.tau:.2f} (p = {everything.p_value:.2f}). Either p-value "
        f"takes the comparisons of one paper as independent, which they are not: {of_all} come from "
        f"{told.papers} papers."
    )
    drawn(
        without,
        "figure-5",
        "Figure 5: scaled effects against numbers of items, and what could have been found.",
    )
    scaling(comparisons)


def scaling(comparisons: list) -> None:
    """How the effects were put on [0, 1], from the means that the authors typed."""
    pairs = means()
    by_end = sum(
        math.isclose((new - old) / high, float(each.effect), abs_tol=1e-6)
        for (_, high, old, new), each in zip(pairs, comparisons, strict=True)
    )
    right = [
        replace(each, effect=(new - old) / (high - low))
        for (low, high, old, new), each in zip(pairs, comparisons, strict=True)
    ]
    found = hp.survey(right, SETTINGS).found
    kept = [each for each, as_typed in zip(right, comparisons, strict=True) if not _left_out(as_typed)]
    tau = hp.survey(kept, SETTINGS).found.signed
    reason = (
        "the effects in the authors' table are differences divided by the upper end of the scale, not by its "
        f"width ({by_end} of 117 are exactly that): a point of 1 to 5 counts as 0.20 and not 0.25"
    )
    paper.section(
        "Section 5.1, scale",
        "All ratings 'normalized to be on a 0-1 scale'",
        "The same from the means in `likert_ratings.csv`: the best new system minus the best baseline of each "
        "metric, divided by the width of its scale.",
    )
    sd = found.described.effects.sd
    paper.number("s.d. of the effects on [0, 1]", compared(".12", sd, reason=reason))
    paper.number("tau of the effects on [0, 1]", compared("-.07", tau.tau, reason=reason))
    paper.number("p of tau on [0, 1]", compared(".32", tau.p_value, reason=reason))
    paper.text(
        f"The middle effect is {found.described.effects.middle:.3f}, and {_middle(comparisons):.3f} in the "
        "authors' table. What the paper concludes stays: effects vary much, and the correlation is not "
        "significant."
    )


def _left_out(each) -> bool:
    return each.items == 500 and each.effect < -0.3


def _middle(comparisons: list) -> float:
    return hp.survey(comparisons, SETTINGS).found.described.effects.middle


def means() -> list[tuple[float, float, float, float]]:
    """For each comparison of the survey, in its order: the scale, the best baseline, the best new system."""
    best: dict[tuple[str, ...], dict[str, float]] = {}
    scales: dict[tuple[str, ...], tuple[float, float]] = {}
    for row in _rows("likert_ratings.csv"):
        key = _key(row)
        low, high = row["Response"].rsplit("_", 1)
        scales[key] = (float(low), float(high))
        kind = row["Category"].lower()[:3]
        if kind in ("new", "bas"):
            value = float(row["Value"])
            known = best.setdefault(key, {})
            known[kind] = max(value, known.get(kind, value))
    keys = [_key(row) for row in _rows("num_items_vs_effect_size.csv")]
    return [(*scales[key], best[key]["bas"], best[key]["new"]) for key in keys]


def _key(row: dict[str, str]) -> tuple[str, ...]:
    return tuple(row[name] for name in ("Link", "Eval number", "Dataset", "Metric"))


def _rows(name: str) -> list[dict[str, str]]:
    """A table of the repository, whose lines may end with a carriage return."""
    return list(csv.DictReader(repository(name).read_text("utf-8").splitlines()))


def experiments(folder: Path) -> None:
    """Appendix H.1: all experiments with people, from the authors' list of papers."""
    rows = _rows("humaneval_master.csv")
    relevant = [row for row in rows if row["Probably not relevant to us"] == "0"]
    kinds = {"l": "Likert", "h": "direct comparison", "o": "other"}
    table = folder / "experiments.csv"
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("paper", "type", "tested", "bold"))
        for row in relevant:
            kind = kinds[row["ResponseCategory"]]
            writer.writerow((row["Link"], kind, row["HasTest"], row["Bold text in results table"]))
    told = hp.survey(hp.models.read_comparisons(table)[0], SETTINGS).found.described
    paper.section(
        "Appendix H.1",
        "Experiments with people at EMNLP 2019",
        "The relevant rows of `humaneval_master.csv` as a table with the columns paper, type, tested and bold.",
    )
    paper.command("humeval-power more survey experiments.csv --preset high,low")
    paper.number("papers in the first pass", compared("117", len({row["Link"] for row in rows})))
    paper.number("papers with relevant evaluations", compared("86", told.papers))
    paper.number("experiments", compared("97", len(relevant)))
    for kind, printed in (("Likert", "51"), ("direct comparison", "38"), ("other", "8")):
        paper.number(f"experiments: {kind}", compared(printed, told.kinds[kind]))
    paper.number("significance tests", compared("24 %", 100 * told.tested.count / told.tested.known))
    paper.number("bold type or stars", compared("63 %", 100 * told.bold.count / told.bold.known))


def drawn(result: hp.Result, name: str, caption: str) -> None:
    """The picture that a command would write."""
    paper.picture(result.document().pictures[0].figure, name, caption)


survey()
with tempfile.TemporaryDirectory() as made:
    experiments(Path(made))
paper.skip(
    "Appendix H.1", "the one power analysis among the papers: it is named in the text, not in the table."
)
paper.finish()
