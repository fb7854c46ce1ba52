"""Card et al. (2020), section 5.2 and appendix H: power of ratings by people.

Run: python examples/papers/card2020_ratings.py [--write]
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from paper import Data, Paper, compared, published

import humeval_power as hp

REPLICATES = 200  # theirs, in every cell of Figure 6
OURS = 10_000
RARE = 3.3  # standard errors: of 48 cells one lies further away in 1 of 22 such tables
GRID = "--preset high,low --workers 3,10 --items 50,100,500"
SETTINGS = {name: hp.preset(name) for name in ("high", "low")}
DATHATHRI = Data(
    "pplm_fluency.csv",
    "It is made of the ten tables of `human_annotation/pplm_labeled_csvs` of github.com/uber-research/PPLM "
    "(Apache 2.0): a row for each score of fluency, with the columns worker, item (the passage), system (B, BR, BC "
    "or BCR), rating (1 to 5) and prompt (topic and sample, which the systems share).",
)

paper = Paper(
    "card2020_ratings",
    "Card et al. (2020): ratings by people",
    "Card, Henderson, Khandelwal, Jia, Mahowald and Jurafsky (2020), With little power comes great "
    "responsibility, EMNLP: section 5.2 and appendix H. Figure 6: the table behind it, in the authors' repository "
    "(Apache 2.0). Ratings: those of Dathathri et al. (2020), Apache 2.0, where they are at hand.",
)


def figure_6() -> None:
    """Power of the 48 cells by their rule, under the reading that reproduces them; then by a test that holds."""
    theirs = {_cell(row): float(row["power"]) for row in published("card2020_figure6.csv")}
    grid = {"workers": [3, 10], "items": [50, 100, 500]}
    cells = hp.models.list_cells(SETTINGS, **grid, effects=[0.1, 0.2, 0.3, 0.4], rule=hp.CARD2020)
    asked = {"n_simulations": OURS, "seed": 1, "settings": SETTINGS}
    result = hp.surface(cells, **asked, effect_unit=2.0)
    ours = {_cell({"variance": row["setting"], **row}): row["power"] for row in result.rows}
    paper.section(
        "Figure 6",
        "Power of rating studies",
        "Decided as the paper does: maximum likelihood and t > 1.96, effects in the right direction alone. The "
        "cells reproduce **if an effect of 0.05 is read as a difference of 0.1**: their coefficient stands for "
        "-1 and +1, so that it is half the difference of the means. Theirs are 200 simulations a cell (from the "
        f"table behind the figure, `highvar_lowmer_lmer.csv`), ours {OURS:,}.",
    )
    paper.command(
        f"humeval-power surface {GRID} --effect 0.05:0.2:0.05 --compat card2020 --simulations {OURS}"
    )
    paper.grid("setting, workers x items", _grid_6(theirs, ours))
    drawn(result, "figure-6", "Figure 6, computed again by the paper's own rule.")
    paper.section("Section 5.2", "What the paper reads from Figure 6")
    found = [effect for effect in (0.05, 0.1, 0.15, 0.2) if ours["high", 3, 100, effect] >= 0.8]
    paper.number(
        "high variance, 3 workers, 100 items: smallest effect with power .8", compared("0.2", min(found))
    )
    more = {"workers": range(9, 16), "items": [100], "effects": [0.1], "rule": hp.CARD2020}
    cells = hp.models.list_cells({"low": SETTINGS["low"]}, **more)
    rows = hp.surface(cells, n_simulations=OURS, seed=1, settings=SETTINGS).rows
    ten = ours["low", 10, 100, 0.05]
    paper.number(
        "low variance, effect 0.05, 100 items: fewest workers with power .8",
        compared(
            "10",
            min(row["workers"] for row in rows if row["power"] >= 0.8),
            reason=f"10 workers have {ten:.3f}; the paper's 0.835 is of 200 simulations, with a "
            f"standard error of {math.sqrt(ten * (1 - ten) / REPLICATES):.3f}",
        ),
    )
    honest()


def honest() -> None:
    """The same studies by a test that keeps its level."""
    grid = {"workers": [3, 10], "items": [50, 100, 500], "effects": [0.05, 0.1, 0.2, 0.3, 0.4]}
    claimed = hp.models.list_cells(SETTINGS, **grid, rule=hp.CARD2020)
    held = hp.models.list_cells(SETTINGS, **grid)
    asked = {"n_simulations": OURS, "seed": 1, "settings": SETTINGS}
    both = hp.surface([*claimed, *held], **asked)
    power = {
        (row["rule"] == "card2020", row["setting"], row["workers"], row["items"], row["effect"]): row[
            "power"
        ]
        for row in both.rows
    }
    false = hp.models.list_cells(SETTINGS, workers=[3, 10], items=[100], effects=[0.0], rule=hp.CARD2020)
    rates = hp.surface(false, n_simulations=100_000, seed=2, settings=SETTINGS).rows
    wrong = {(row["setting"], row["workers"]): row["power"] for row in rates}
    old, new = (power[rule, "high", 3, 100, 0.4] for rule in (True, False))
    paper.text(
        "That rule finds a difference that is not there too often. In the one direction that it counts, where "
        f"2.5 % would be right, it does in {100 * wrong['high', 3]:.1f} % of studies of 3 workers and 100 items, "
        f"and in {100 * wrong['high', 10]:.1f} % of those of 10 (high variance). By a test that takes the few "
        "workers into account (REML, Kenward-Roger) the commonest design is far weaker still: at a difference "
        f"of 0.4 (the paper's 0.2) its power is {new:.2f} and not {old:.2f}. The paper's conclusion is right, "
        "and too mild."
    )
    paper.command(
        f"humeval-power surface {GRID} --effect 0.05,0.1,0.2,0.3,0.4 --compare card2020 --simulations {OURS}"
    )
    drawn(
        both,
        "figure-6-tests",
        "The same studies by the paper's rule and by a test that keeps its level; x is the difference of the "
        "means.",
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
        "They come along as presets; the standard deviations stand for -1 and +1 there, and are doubled in "
        "difference coding.",
    )
    paper.command("humeval-power more parameters show card2020-high")
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
        f"The paper calls the high setting 'typical of most of the datasets'. {_slopes(0.11)} of its six fits "
        f"have worker slopes of 0.11 or more in root mean square, and {_residuals(0.25)} a residual of 0.25 or "
        "more. Public ratings vary less between workers than the high setting: see 'The presets are not "
        "typical' in [limitations](../limitations.md)."
    )
    dathathri()
    paper.skip(
        "Tables 12 to 15, other data sets",
        "the ratings of Hashimoto et al. (2019), WMT19 and Holtzman et al. (2020) do not come along; what is "
        "printed of them is in `humeval-power more parameters list`.",
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
    place, file = "Tables 12 to 15", DATHATHRI.path()
    if file is None:
        paper.keep(place, DATHATHRI)
        return
    ratings = hp.read_ratings(file, scale=hp.RatingScale(1, 5), require_pair=False)
    fitted = hp.models.fit_joint(ratings)
    paper.section(
        place,
        "The ratings of Dathathri et al. (2020)",
        "Fluency from 1 to 5 of four systems, on [0, 1]; one fit of all, `hp.models.fit_joint(ratings)` (lme4 "
        "gives the same means to three digits). The paper's coefficients are differences from the mean of the "
        "systems.",
        data=DATHATHRI,
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
    levels(found, file)


def levels(found: Mapping[str, float], file: Path) -> None:
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
    by_prompt = hp.models.fit_joint(
        hp.read_ratings(file, scale=hp.RatingScale(1, 5), item="prompt", require_pair=False)
    ).standard_deviations
    worker, item = (
        math.sqrt(2) * each[f"sd_{who}_system"] for each, who in ((found, "worker"), (by_prompt, "item"))
    )
    paper.text(
        "So what Tables 14 and 15 call slopes are levels: how a worker's, or an item's, mean varies under each "
        "system. The levels of one worker under two systems go together, and the paper's model leaves that out. "
        f"What power depends on is how their *difference* varies: SD {worker:.3f} between workers. Passages cannot "
        "tell how that of an item does, since most of them belong to one system; with the prompt as item it is "
        f"{item:.2f}. The settings of Table 16, in this coding 0.08 and 0.22 for workers and 0.26 and "
        "0.28 for items, were made from the levels: for workers they are large."
    )


def drawn(result: hp.Result, name: str, caption: str) -> None:
    """The picture that a command would write."""
    paper.picture(result.document().pictures[0].figure, name, caption)


figure_6()
tables()
paper.finish()
