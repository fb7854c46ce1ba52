"""Wei, Kocmi and Federmann (2022): tables, figures, sentences; simulated ratings where theirs are not public."""

from __future__ import annotations

import csv
import math
from functools import cache

import numpy as np
from matplotlib.figure import Figure
from paper import HERE, Paper, TestedDifference, compared

import humeval_power as hp
from humeval_power.comparisons.assessment.pairs import ObservedMDE
from humeval_power.comparisons.assessment.result import comparisons_chart
from humeval_power.comparisons.judge.plan import data_efficiency
from humeval_power.saying.figure_style import COLOURS, MARKERS, house_style
from humeval_power.studies.looks.boundaries import Boundaries
from humeval_power.studies.looks.figures import budget_chart, spending_chart
from humeval_power.studies.looks.how_many import PROCEDURES, PoolStudy, wei_rules
from humeval_power.studies.looks.judgement_plan import simulated_pool
from humeval_power.studies.power.questions import required_n

N = 600  # judgements of each system in their comparisons
MEAN, SD = 75.0, 25.0  # of a judgement: usual in direct assessment, not in the paper
HALF = 0.6744897501960817  # the median size of a standard normal deviate
POOLS = 5  # simulated collections of each language pair
PAIRS, STUDIES = 60, 300  # of the simulated pool; the paper has 4,004 and 1,000
BUDGETS = (300, 600, 900, 1200, 1800, 2300, 2400, 3600, 5400)
SHIP_DATA = "their ShipData are not public, and this is a simulated pool with its own differences"

paper = Paper(
    "wei2022",
    "Wei, Kocmi and Federmann (2022)",
    "J. T.-Z. Wei, T. Kocmi and C. Federmann: Searching for a higher power in the human evaluation of MT.",
    introduction="The 4,004 comparisons of the paper (ShipData) are not public. What follows from printed numbers "
    "is "
    "computed from them; the rest is computed on simulated ratings, and shows the procedure and the shape of the "
    "result: where such a number is compared with a printed one, the difference is mostly that of the data.",
)


def published(name: str) -> list[dict[str, str]]:
    """A table of the paper."""
    with (HERE / "published" / f"wei2022_{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def power(effect: float, n: int = N) -> float:
    """Of Mann-Whitney's test at their size, by formula."""
    return hp.assessment.DirectAssessment(n, mean=MEAN, sd=SD, effect=effect).computed().power


@cache
def judgements(effect: float, sd: float = SD, test: str = "mann-whitney") -> int:
    """Of both systems together, for 95 % power."""
    found = required_n(
        lambda n: hp.assessment.DirectAssessment(n, mean=MEAN, sd=sd, effect=effect, test=test),  # type: ignore[arg-type]
        power=0.95,
    )
    assert found.n is not None
    return 2 * found.n


def collection(n: int, sd: float, spread: float, seed: tuple[int, int]) -> ObservedMDE:
    """Comparisons of 600 ratings a system with normal true differences, tested as they test."""
    rng = np.random.default_rng(seed)
    means = [(MEAN, MEAN + spread * rng.normal()) for _ in range(n)]
    a, b = (
        np.concatenate([hp.assessment.GammaScores(each[side], sd).draw(rng, (1, N)) for each in means])
        for side in (0, 1)
    )
    tested = hp.assessment.score_tests(a, b, test="mann-whitney")
    return hp.assessment.observed_mde(tested.estimate, tested.p_value, fewest_above=3).whole


def collections() -> dict[str, list[ObservedMDE]]:
    """Simulated collections of each language pair of Table 1, of its size and median difference."""
    found = {}
    for number, row in enumerate(published("table1_mde")):
        n = int(row["significant"]) + int(row["insignificant"])
        target = (float(row["median_difference"]) / HALF) ** 2
        noise = min(2 * SD**2 / N, target / 2)
        sd, spread = math.sqrt(noise * N / 2), math.sqrt(target - noise)
        found[row["pair"]] = [collection(n, sd, spread, (number, pool)) for pool in range(POOLS)]
    return found


def near(printed: str, values: list[float], what: str) -> TestedDifference:
    """A printed number beside the middle of several simulated ones."""
    middle = float(np.median(values)) if values else math.nan
    reach = max((abs(each - middle) for each in values), default=0.0)
    said = f"within the spread of {POOLS} simulated collections"
    return compared(printed, middle, within=reach, because=said, reason=f"{what}; {SHIP_DATA}")


def section_3() -> None:
    """Sentences and the footnote."""
    paper.section("Sections 1 and 3", "Numbers in the text")
    paper.number("(1 - alpha)(1 - beta) at 0.05 and 0.05", compared("0.9", 0.95**2))
    paper.number(
        "Footnote 3: a false finding among 20 tests",
        compared("0.63", 1 - 0.95**20, reason="a slip: 1 - 0.95^20 is 0.6415"),
    )
    paper.number("Pocock's level at each of 3 looks", compared("0.0221", nominal(wei_rules(3)[0])))
    paper.text(
        "(1 - alpha)(1 - beta) is called an accuracy there. Where half of the null hypotheses are "
        "true, the share of "
        "right conclusions is the mean of 1 - alpha and the power, and no product. "
        f"That evaluations 'can reliably detect up to 2-3 point' needs less noise than an SD of {SD:g}: by formula "
        f"the power of {N} judgements a system is {power(2):.2f} at 2 points and {power(3):.2f} at 3. "
        "Pocock's correction is called conservative in section 7.1: for equal looks it is exact."
    )
    paper.command(
        "humeval-power more assessment power --n 600 --effect 2", "humeval-power looks pool --simulated 60"
    )


def nominal(bounds: Boundaries) -> float:
    """The level of each look."""
    return math.erfc(float(bounds.efficacy[0]) / math.sqrt(2))


def table_1(found: dict[str, list[ObservedMDE]]) -> None:
    """Observed MDEs."""
    paper.section(
        "Table 1",
        "Observed minimum detectable effects",
        f"Its computation on {POOLS} simulated collections of each language pair, with {N} Gamma "
        "ratings a system, as "
        "many comparisons and the same median difference. 'Observed MDE' is the first difference with 95 % "
        "significant at or above it (3 comparisons or more); the paper does not say whether every "
        "larger one must do so "
        f"too. {N} ratings of SD {SD:g} without any true difference have a median observed difference of "
        f"{HALF * SD * math.sqrt(2 / N):.2f}; where the printed median is smaller, ratings of a "
        "smaller SD were drawn.",
    )
    rows: dict[str, dict[str, TestedDifference | None]] = {}
    shares: list[float] = []
    for row in published("table1_mde"):
        pools = found[row["pair"]]
        hits, misses = int(row["significant"]), int(row["insignificant"])
        shares.append(hits / (hits + misses))
        first = [pool.first.difference for pool in pools if pool.first is not None]
        rows[row["pair"]] = {
            "significant": near(row["significant"], [pool.n_significant for pool in pools], "a count"),
            "observed MDE": near(row["observed_mde"], first, "a threshold"),
        }
    paper.grid("pair", rows)
    paper.text(
        f"Less than half of the comparisons are significant in {sum(share < 0.5 for share in shares)} of the 10 "
        f"language pairs as printed, {100 * min(shares):.0f} % to {100 * max(shares):.0f} %."
    )
    paper.command("humeval-power more assessment test ratings.csv --by pair -o pairs.csv")
    paper.command("humeval-power more assessment observed-mde pairs.csv --by group")


def figure_2(found: ObservedMDE) -> None:
    """Differences and p-values."""
    first = None if found.first is None else found.first.difference
    drawn = comparisons_chart(found.difference, found.p_value, 0.05, threshold=first)
    below = float(np.mean(np.array(found.difference) < (first or 0)))
    paper.section(
        "Figure 2",
        "Differences and significance, English to French",
        "The first simulated collection of Table 1. 'Most pairs are on the left-hand side of this line' holds: "
        f"{100 * below:.0f} % are.",
    )
    paper.picture(
        drawn.figure, "figure-2", "Each comparison of a simulated collection, and its observed MDE"
    )


def tables_2_and_3() -> None:
    """Variances, and what a metric is worth."""
    paper.section("Table 2", "Variance of judgements, and its reducible share")
    columns = ("WMT21", "pSQM zh-en", "pSQM en-de")
    second = published("table2_variance")
    for name, row in zip(columns, second, strict=True):
        paper.number(
            f"{name}, SD of the variance {row['variance']}",
            compared(row["sd"], math.sqrt(float(row["variance"])), reason="cut off, not rounded"),
        )
    shares = {name: float(row["reducible_share"]) for name, row in zip(columns, second, strict=True)}
    irreducible = {name: 100 * (1 - share) for name, share in shares.items()}
    for name, share in irreducible.items():
        reason = "'at least half of the variance is irreducible' fails here"
        paper.number(f"{name}, irreducible share, %", compared("> 50 %", share, reason=reason))
    paper.section(
        "Table 3",
        "Data efficiency of a control variate",
        "From Table 2 by equation (2). The text below equation (1) exchanges the names of its two terms; gamma in "
        "equation (3), the annotators' noise over true quality, is what is used.",
    )
    bound = "no gamma gives it" if data_efficiency(0.0, 0.2) < 1.05 else ""
    reason = (
        f"does not follow from Table 2 by equation (2); at rho = 0.2 {bound}: without any noise it is "
        f"{data_efficiency(0.0, 0.2):.4f}"
    )
    rows: dict[str, dict[str, TestedDifference | None]] = {}
    for row in published("table3_data_efficiency"):
        rho = float(row["correlation"])
        rows[f"rho = {row['correlation']}"] = {
            name: compared(row[name], data_efficiency(1 / shares[name] - 1, rho), reason=reason)
            for name in columns
        }
    paper.grid("metric", rows)
    paper.command("humeval-power more assessment decompose ratings.csv --correlations 1,0.5,0.2")


def figure_3() -> None:
    """Judgements for 95 % power."""
    effects = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
    deviations = (20.0, SD, 29.4)
    with house_style():
        figure = Figure(figsize=(4.6, 3.2), layout="constrained")
        axes = figure.subplots()
        for place, sd in enumerate(deviations):
            sizes = [judgements(effect, sd) for effect in effects]
            axes.plot(sizes, effects, color=COLOURS[place], marker=MARKERS[place], label=f"SD {sd:g}")
        axes.set_xlabel("Judgements of both systems")
        axes.set_ylabel("Detectable difference, points")
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _place: f"{value:,.0f}")
        figure.legend(loc="outside lower center", ncols=3)
    slope = math.log(judgements(0.5) / judgements(4.0)) / math.log(4.0 / 0.5)
    by_t = judgements(2.0, SD, "student")
    paper.section(
        "Figure 3",
        "Judgements needed for a detectable effect",
        "There it is a picture of curves for language pairs. Here: Gamma ratings of mean 75 and "
        "three SDs, Mann-Whitney, "
        f"95 % power. For 1 point and SD {SD:g} it takes {judgements(1.0):,} judgements, for 2 points "
        f"{judgements(2.0):,}, by a t test {by_t:,}: Gamma errors of one SD and different means "
        "differ in shape too.",
    )
    paper.number(
        "Growth of the judgements: power of 1 / difference ('exponential')",
        compared(
            "exponential",
            f"{slope:.2f}",
            reason="the growth is quadratic: half the difference takes four times the judgements",
        ),
    )
    ratios = [
        (float(row["observed_mde"]) / float(row["median_difference"])) ** 2
        for row in published("table1_mde")
    ]
    paper.number(
        "Section 6.1, times the judgements that reduce an MDE to 1 point: least of those above 1",
        compared(
            "2",
            min(
                float(row["observed_mde"]) ** 2
                for row in published("table1_mde")
                if float(row["observed_mde"]) > 1
            ),
            reason="by the square rule from the printed MDEs; 'can require up to 2x' understates it",
        ),
    )
    paper.number(
        "Section 6.2, times the judgements from the MDE to the median difference: median over Table 1",
        compared(
            "> 2",
            float(np.median(ratios)),
            reason="by the square rule from the printed numbers",
        ),
    )
    paper.text(
        "From the printed MDEs and median differences these multiples are "
        + ", ".join(f"{ratio:.1f}" for ratio in ratios)
        + " in the order of Table 1; the paper's '2x-10x' is their middle."
    )
    paper.picture(figure, "figure-3", "Judgements of both systems for 95 % power")
    paper.command("humeval-power more assessment size --effect 1 --power 0.95")


def figures_4_to_6() -> None:
    """Looks on a pool of pairs."""
    pairs = simulated_pool(PAIRS, typical=1.5, mean=MEAN, sd=SD)
    study = hp.looks.pool(pairs, budgets=BUDGETS, n_simulations=STUDIES).study
    at = {budget: place for place, budget in enumerate(BUDGETS)}
    fixed, futility = PROCEDURES.index("fixed"), PROCEDURES.index("interim-futility")
    before, after = study.power[fixed, at[1200]], study.power[futility, at[2300]]
    paper.section(
        "Figure 4",
        "Power of each pair: one look at 1,200, looks with futility planned for 2,300",
        f"A pool of {PAIRS} pairs with Gamma scores of mean {MEAN:g} and SD {SD:g} and exponential "
        "true differences of "
        f"mean 1.5 points, {STUDIES} studies of each. As in the paper the power of pairs in the "
        "middle and above rises; that of the others hardly changes here, where more judgements are spent than "
        "there.",
    )
    high = before >= 0.3
    paper.number(
        "Judgements spent where 2,300 are planned ('about 1200')",
        compared(
            "1200",
            float(study.spent[futility, at[2300]].mean()),
            reason=SHIP_DATA,
        ),
    )
    falls = f"here hardly anything, since more than 1,200 are spent; {SHIP_DATA}"
    gained = float((after - before)[high].mean())
    lost = float((after - before)[~high].mean())
    paper.number("Change of the power of pairs from 0.3 on", compared("> 0", gained))
    paper.number("Change of the power of pairs below 0.3", compared("< 0", lost, reason=falls))
    with house_style():
        figure = Figure(figsize=(4.2, 3.6), layout="constrained")
        axes = figure.subplots()
        axes.plot(before, after, color=COLOURS[0], marker=MARKERS[0], linestyle="none", alpha=0.7)
        axes.plot([0, 1], [0, 1], color="#595959", linewidth=0.8)
        axes.set_xlabel("Power of one look, 1,200 judgements")
        axes.set_ylabel("Looks with futility, 2,300 planned")
    paper.picture(figure, "figure-4", "Power of each simulated pair under both procedures")
    paper.section(
        "Figure 5",
        "Judgements that are collected where 1,200 are planned",
        "Looks stop early where the difference is large, and with futility where it is small.",
    )
    spent = study.spent[:, at[1200]]
    small, large = (
        np.argsort(np.abs(study.differences))[: PAIRS // 5],
        np.argsort(-np.abs(study.differences))[:5],
    )
    for place, name in ((1, "looks"), (2, "looks with futility")):
        for kept, which in ((small, "smallest fifth"), (large, "five largest")):
            paper.number(
                f"{name}, {which} differences (strictly less than planned)",
                compared("< 1200", float(spent[place, kept].mean())),
            )
    words = "Judgements spent on each simulated pair"
    paper.picture(spending_chart(study, budget=1200, words=words).figure, "figure-5", words)
    figure_6(study)


def figure_6(study: PoolStudy) -> None:
    """Average power against budget."""
    paper.section(
        "Figure 6",
        "Average power against budget",
        "All pairs, those with a difference up to the median, and the others. The savings are read off by "
        "linear interpolation, as the paper does.",
    )
    budget_1200, budget_3600 = (
        100 * study.saving("interim-futility", budget=budget) for budget in (1200, 3600)
    )
    why = f"the saving is a property of the pool; {SHIP_DATA}"
    paper.number(
        "990 of 1,200 judgements, %",
        compared("18 %", 100 * (1 - 990 / 1200), within=0.5001, because="17.5 to whole per cents"),
    )
    paper.number("Saved at 1,200, %", compared("18 %", budget_1200, reason=why))
    paper.number(
        "Saved at 3,600, section 7.3, %",
        compared("28 %", budget_3600, reason=why),
    )
    paper.number("Saved at 3,600, abstract, %", compared("27 %", budget_3600, reason=why))
    plain = 100 * study.saving("interim", budget=3600)
    paper.text(
        f"Looks without futility save {100 * study.saving('interim', budget=1200):.0f} % at 1,200 and "
        f"{plain:.0f} % at 3,600 "
        "here. The abstract has 27 % and section 7.3 has 28 % of the same saving. At a true drift "
        "that gives one look "
        "80 % power, p > 0.5 as futility costs 6 points of power: looks that are planned for a fixed "
        "budget lose it."
    )
    words = "Average power of all pairs, of the half with small differences, of the other"
    paper.picture(budget_chart(study, words).figure, "figure-6", words)
    paper.skip(
        "Figure 1",
        "a drawing of the three procedures without numbers; Pocock's level is among the numbers in the text",
    )
    paper.skip(
        "ShipData", "4,004 comparisons that are not public: tables and figures of them are simulated"
    )


found = collections()
section_3()
table_1(found)
figure_2(found["ENU-FRA"][0])
tables_2_and_3()
figure_3()
figures_4_to_6()
paper.finish()
