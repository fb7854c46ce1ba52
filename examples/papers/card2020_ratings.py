"""Card et al. (2020), section 5 and appendix H: ratings by people, and the survey of EMNLP 2019.

Run: python examples/papers/card2020_ratings.py [--write]
"""

from __future__ import annotations

import csv
import math
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from paper import Paper, compared, outside, published, repository

import humeval_power as hp

REPLICATES = 200  # theirs, in every cell of Figure 6
OURS = 10_000
RARE = 3.3  # standard errors: of 48 cells one lies further away in 1 of 22 such tables
GRID = "--preset high,low --workers 3,10 --items 50,100,500"
SETTINGS = {name: hp.preset(name) for name in ("high", "low")}

paper = Paper(
    "card2020_ratings",
    "Card et al. (2020): ratings by people",
    "Card, Henderson, Khandelwal, Jia, Mahowald and Jurafsky (2020), With little power comes great "
    "responsibility, EMNLP: section 5 and appendix H. Tables of the survey: the authors' repository "
    "(examples/papers/card2020_repository, Apache 2.0).",
)


def survey() -> None:
    """Section 5.1 and Figure 5: 117 comparisons of a new system with the best baseline."""
    table = repository("num_items_vs_effect_size.csv")
    comparisons, _ = hp.study.read_comparisons(table)
    found = hp.survey(comparisons, SETTINGS).found
    told, sizes, of_all = found.described, found.described.sizes, len(comparisons)
    paper.section(
        "Section 5.1",
        "What the comparisons report",
        "The table of the authors goes into the command as it is. Shares of sizes are of the "
        "comparisons that tell "
        "them, shares of what is missing are of all 117 (the paper says 'experiments').",
    )
    paper.command(f"humeval-power survey {table.name} --preset high,low")
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
        "Without the two comparisons of footnote 11, as in the paper. Grey are the comparisons; a "
        "study finds what "
        "lies outside its marks with power .8, if it has the variation of the paper's settings (3 "
        "workers and 3 "
        "ratings per item where they are not reported). Nearly all lie inside.",
    )
    paper.number("Kendall's tau", compared("-.07", without.found.signed.tau))
    paper.number("p of tau", compared(".32", without.found.signed.p_value))
    paper.number("comparisons left out", compared("2", of_all - len(kept)))
    everything = found.signed
    paper.text(
        f"With the two the correlation is {everything.tau:.2f} (p = {everything.p_value:.2f}). "
        "Either p-value takes the "
        f"comparisons of one paper as independent, which they are not: {of_all} come from "
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
        "the effects in the authors' table are differences divided by the upper end of the scale, "
        "not by its width "
        f"({by_end} of 117 are exactly that): a point of 1 to 5 counts as 0.20 and not 0.25"
    )
    paper.section(
        "Section 5.1, scale",
        "All ratings 'normalized to be on a 0-1 scale'",
        "The same from the means in `likert_ratings.csv`: the best new system minus the best "
        "baseline of each "
        "metric, divided by the width of its scale.",
    )
    sd = found.described.effects.sd
    paper.number("s.d. of the effects on [0, 1]", compared(".12", sd, reason=reason))
    paper.number("tau of the effects on [0, 1]", compared("-.07", tau.tau, reason=reason))
    paper.number("p of tau on [0, 1]", compared(".32", tau.p_value, reason=reason))
    paper.text(
        f"The middle effect is {found.described.effects.middle:.3f}, and "
        f"{_middle(comparisons):.3f} in the authors' "
        "table. What the paper concludes stays: effects vary much, and the correlation is not significant."
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
    told = hp.survey(hp.study.read_comparisons(table)[0], SETTINGS).found.described
    paper.section(
        "Appendix H.1",
        "Experiments with people at EMNLP 2019",
        "The relevant rows of `humaneval_master.csv` as a table with the columns paper, type, "
        "tested and bold.",
    )
    paper.command("humeval-power survey experiments.csv --preset high,low")
    paper.number("papers in the first pass", compared("117", len({row["Link"] for row in rows})))
    paper.number("papers with relevant evaluations", compared("86", told.papers))
    paper.number("experiments", compared("97", len(relevant)))
    for kind, printed in (("Likert", "51"), ("direct comparison", "38"), ("other", "8")):
        paper.number(f"experiments: {kind}", compared(printed, told.kinds[kind]))
    paper.number("significance tests", compared("24 %", 100 * told.tested.count / told.tested.known))
    paper.number("bold type or stars", compared("63 %", 100 * told.bold.count / told.bold.known))


def figure_6() -> None:
    """Power of the 48 cells by their rule, under the reading that reproduces them; and by a test "
    "that holds."""
    theirs = {_cell(row): float(row["power"]) for row in published("card2020_figure6.csv")}
    grid = {"workers": [3, 10], "items": [50, 100, 500]}
    cells = hp.study.list_cells(SETTINGS, **grid, effects=[0.1, 0.2, 0.3, 0.4], rule=hp.CARD2020)
    asked = {"n_simulations": OURS, "seed": 1, "settings": SETTINGS}
    result = hp.study_surface(cells, **asked, effect_unit=2.0)
    ours = {_cell({"variance": row["setting"], **row}): row["power"] for row in result.rows}
    paper.section(
        "Figure 6",
        "Power of rating studies",
        "Decided as the paper does: maximum likelihood and t > 1.96, effects in the right "
        "direction alone. The cells "
        "reproduce **if an effect of 0.05 is read as a difference of 0.1**: their coefficient "
        "stands for -1 and +1, so "
        "that it is half the difference of the means. Theirs are 200 simulations a cell (from the "
        "table behind the "
        f"figure, `highvar_lowmer_lmer.csv`), ours {OURS:,}.",
    )
    paper.command(f"humeval-power surface {GRID} --effect 0.05:0.2:0.05 --compat card2020")
    paper.grid("setting, workers x items", _grid_6(theirs, ours))
    drawn(result, "figure-6", "Figure 6, computed again by the paper's own rule.")
    paper.section("Section 5.2", "What the paper reads from Figure 6")
    found = [effect for effect in (0.05, 0.1, 0.15, 0.2) if ours["high", 3, 100, effect] >= 0.8]
    paper.number(
        "high variance, 3 workers, 100 items: smallest effect with power .8", compared("0.2", min(found))
    )
    more = {"workers": range(9, 16), "items": [100], "effects": [0.1], "rule": hp.CARD2020}
    cells = hp.study.list_cells({"low": SETTINGS["low"]}, **more)
    rows = hp.study_surface(cells, n_simulations=OURS, seed=1, settings=SETTINGS).rows
    ten = ours["low", 10, 100, 0.05]
    paper.number(
        "low variance, effect 0.05, 100 items: fewest workers with power .8",
        compared(
            "10",
            min(row["workers"] for row in rows if row["power"] >= 0.8),
            reason=f"10 workers have {ten:.3f}; the paper's 0.835 is of 200 simulations, with a "
            "standard error of "
            f"{math.sqrt(ten * (1 - ten) / REPLICATES):.3f}",
        ),
    )
    honest()


def honest() -> None:
    """The same studies by a test that keeps its level."""
    grid = {"workers": [3, 10], "items": [50, 100, 500], "effects": [0.05, 0.1, 0.2, 0.3, 0.4]}
    claimed = hp.study.list_cells(SETTINGS, **grid, rule=hp.CARD2020)
    held = hp.study.list_cells(SETTINGS, **grid)
    asked = {"n_simulations": 4000, "seed": 1, "settings": SETTINGS}
    both = hp.study_surface([*claimed, *held], **asked)
    power = {
        (row["rule"] == "card2020", row["setting"], row["workers"], row["items"], row["effect"]): row[
            "power"
        ]
        for row in both.rows
    }
    false = hp.study.list_cells(SETTINGS, workers=[3, 10], items=[100], effects=[0.0], rule=hp.CARD2020)
    rates = hp.study_surface(false, n_simulations=100_000, seed=2, settings=SETTINGS).rows
    wrong = {(row["setting"], row["workers"]): row["power"] for row in rates}
    old, new = (power[rule, "high", 3, 100, 0.4] for rule in (True, False))
    paper.text(
        "That rule finds a difference that is not there too often. In the one direction that it "
        "counts, where 2.5 % "
        f"would be right, it does in {100 * wrong['high', 3]:.1f} % of studies of 3 workers and "
        "100 items, and in "
        f"{100 * wrong['high', 10]:.1f} % of those of 10 (high variance). By a test that takes "
        "the few workers into "
        f"account (REML, Kenward-Roger) the commonest design is far weaker still: at a difference "
        "of 0.4 (the paper's "
        f"0.2) its power is {new:.2f} and not {old:.2f}. The paper's conclusion is right, and too mild."
    )
    paper.command(f"humeval-power surface {GRID} --effect 0.05,0.1,0.2,0.3,0.4 --compare card2020")
    drawn(
        both,
        "figure-6-tests",
        "The same studies by the paper's rule and by a test that keeps its level; x is the "
        "difference of the means.",
    )


def _cell(row: dict) -> tuple[str, int, int, float]:
    """Setting, workers, items, and the effect as the paper counts it."""
    return row["variance"], int(row["workers"]), int(row["items"]), round(float(row["effect"]), 10)


def _grid_6(theirs: dict, ours: dict) -> dict:
    lines: dict[str, dict] = {}
    for key, printed in theirs.items():
        setting, workers, items, effect = key
        power = ours[key]
        error = RARE * math.sqrt(max(power * (1 - power), 1e-4) / REPLICATES)
        lines.setdefault(f"{setting}, {workers} x {items}", {})[f"{effect:g}"] = compared(
            f"{printed:g}",
            power,
            within=error,
            because=f"{RARE:g} standard errors of their {REPLICATES} simulations",
        )
    return lines


def tables() -> None:
    """Tables 12 to 16: what can be told of the authors' fits."""
    paper.section(
        "Table 16",
        "The two settings of variation",
        "They come along as presets; the standard deviations stand for -1 and +1 there, and are "
        "doubled in difference "
        "coding.",
    )
    paper.command("humeval-power parameters show card2020-high")
    names = ("sd_worker_intercept", "sd_worker_slope", "sd_item_intercept", "sd_item_slope", "sd_residual")
    settings = published("card2020_table16_variance_settings.csv")
    paper.grid(
        "setting",
        {
            row["setting"]: {
                name: compared(row[name], getattr(SETTINGS[row["setting"]], name)) for name in names
            }
            for row in settings
        },
    )
    paper.text(
        "The paper calls the high setting 'typical of most of the datasets'. "
        f"{_slopes(0.11)} of its six fits have worker slopes of 0.11 or more in root mean square, "
        f"and {_residuals(0.25)} "
        "a residual of 0.25 or more. Public ratings vary less between workers than the high "
        "setting: see 'The presets "
        "are not typical' in [limitations](../limitations.md)."
    )
    dathathri()
    paper.skip(
        "Tables 12 to 15, other data sets",
        "the ratings of Hashimoto et al. (2019), WMT19 and Holtzman et al. (2020) do not come "
        "along; what is printed of "
        "them is in `humeval-power parameters list`.",
    )
    paper.skip(
        "Appendix H.1",
        "the one power analysis among the papers: it is named in the text, not in the table.",
    )


def _slopes(least: float) -> int:
    """Fits of Table 14 whose slopes are at least so large, in root mean square."""
    count = 0
    for row in published("card2020_table14_worker_sds.csv"):
        slopes = [float(row[f"s{place}"]) for place in range(1, 7) if row[f"s{place}"]]
        count += round(math.sqrt(sum(slope**2 for slope in slopes) / len(slopes)), 2) >= least
    return count


def _residuals(least: float) -> int:
    return sum(
        float(row["sd_residual"]) >= least for row in published("card2020_table13_fixed_effects.csv")
    )


def dathathri() -> None:
    """Tables 12 to 15: the one data set whose ratings are public, where they are at hand."""
    place, file = "Tables 12 to 15", outside("pplm_fluency.csv")
    if file is None:
        paper.skip(
            place,
            "the ratings of Dathathri et al. (2020): they do not come along, HUMEVAL_SHARED names "
            "their folder.",
        )
        return
    ratings = hp.read_ratings(file, scale=hp.RatingScale(1, 5), require_pair=False)
    fitted = hp.study.fit_joint(ratings)
    paper.section(
        place,
        "The ratings of Dathathri et al. (2020)",
        "Fluency from 1 to 5 of four systems, on [0, 1]; one fit of all, "
        "`hp.study.fit_joint(ratings)` (lme4 gives "
        "the same means to three digits). The paper's coefficients are differences from the mean "
        "of the systems.",
    )
    (row,) = (
        row for row in published("card2020_table12_datasets.csv") if row["dataset"].startswith("Dathathri")
    )
    paper.number("workers", compared(row["workers"], fitted.n_workers))
    paper.number("items", compared(row["items"], fitted.n_items))
    (row,) = (
        row
        for row in published("card2020_table13_fixed_effects.csv")
        if row["dataset"].startswith("Dathathri")
    )
    middle = float(fitted.means.mean())
    paper.number("b0, mean of the systems", compared(row["b0"], middle))
    for name, mean in zip(("b1", "b2", "b3"), fitted.means, strict=False):
        paper.number(f"{name}, a system minus that", compared(row[name], mean - middle))
    found = fitted.standard_deviations
    paper.number("residual", compared(row["sd_residual"], found["sd_residual"]))
    levels(found)


def levels(found: Mapping[str, float]) -> None:
    """What the paper's slopes are: the variation of each system's own level."""
    for who, table in (
        ("worker", "card2020_table14_worker_sds.csv"),
        ("item", "card2020_table15_item_sds.csv"),
    ):
        (row,) = (row for row in published(table) if row["dataset"].startswith("Dathathri"))
        level = math.hypot(found[f"sd_{who}"], found[f"sd_{who}_system"])
        for place in range(1, 5):
            paper.number(
                f"{who}s: SD of the level of system {place}",
                compared(
                    row[f"s{place}"],
                    level,
                    within=0.02,
                    because="theirs are of each system, ours of all in common",
                ),
            )
    worker, item = (math.sqrt(2) * found[f"sd_{who}_system"] for who in ("worker", "item"))
    paper.text(
        "So what Tables 14 and 15 call slopes are levels: how a worker's, or an item's, mean "
        "varies under each "
        "system. The levels of one worker under two systems go together, and the paper's model "
        "leaves that out. "
        f"What power depends on is how their *difference* varies: SD {worker:.3f} between workers "
        f"and {item:.3f} between "
        "items here. The settings of Table 16 were made from the levels, which is why they are large."
    )


def drawn(result: hp.Result, name: str, caption: str) -> None:
    """The picture that a command would write."""
    file = FOLDER / f"{name}.png"
    file.write_bytes(result.document().pictures[0].content("png"))
    paper.picture(file, name, caption)


with tempfile.TemporaryDirectory() as made:
    FOLDER = Path(made)
    survey()
    experiments(FOLDER)
    figure_6()
    tables()
    paper.finish()
