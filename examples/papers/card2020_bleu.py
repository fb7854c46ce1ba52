"""Card et al. (2020), section 4 and appendix G: power of comparisons by BLEU.

Run: python examples/papers/card2020_bleu.py [--write]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np
from paper import Paper, compared, published

import humeval_power as hp
from humeval_power.estimation.metrics import fit_delta_laplace
from humeval_power.studies.power.question_results import SurfaceResult

SIZES = range(100, 5001, 100)
DIFFERENCES = (0.25, 0.5, 1.0, 2.0)
ZERO_SHARES = (0.01, 0.13, 0.5, 0.8)
SCALES = (15.0, 25.8, 50.0, 100.0)
OURS = 4096
TEST_SETS = 200  # drawn anew for each row of Table 3
RARE = 3.3  # standard errors

paper = Paper(
    "card2020_bleu",
    "Card et al. (2020): machine translation and BLEU",
    "Card, Henderson, Khandelwal, Jia, Mahowald and Jurafsky (2020), With little power comes great "
    "responsibility, EMNLP: section 4 and appendix G.",
)


def table_3() -> None:
    """P0 and b0: their means, and whether the estimates come back from test sets that have them."""
    rows = published("card2020_table3_bleu.csv")
    paper.section(
        "Table 3",
        "P0 and b0 of four comparisons",
        "The translations are not at hand, so that the estimates themselves cannot be made again. What can be "
        f"asked is whether they come back: {TEST_SETS} test sets are drawn from each row's P0, b0 and "
        "difference, and the estimates are the means over them. The difference is half the sum of all effects, "
        "with its sign turned: swapping every sentence turns the difference around.",
    )
    lines = {}
    for place, row in enumerate(rows):
        study = hp.corpus.CorpusStudy(
            int(row["n"]),
            difference=float(row["delta_bleu"]),
            zero_share=float(row["p_zero"]),
            scale=float(row["b_zero"]),
        )
        effects = study.draw_effects(np.random.default_rng(place), TEST_SETS)
        fits = [fit_delta_laplace(one) for one in effects]
        found = {
            "difference": -effects.sum(axis=1) / 2,
            "P0": np.array([fit.n_zero / fit.n_sentences for fit in fits]),
            "b0": np.array([fit.scale for fit in fits]),
        }
        printed = {"difference": row["delta_bleu"], "P0": row["p_zero"], "b0": row["b_zero"]}
        name = f"{row['model_1']} and {row['model_2']}, {row['test_set']}"
        lines[name] = {
            what: compared(
                printed[what],
                float(values.mean()),
                within=RARE * float(values.std(ddof=1)) / math.sqrt(TEST_SETS),
                because=f"{RARE:g} standard errors of the mean over {TEST_SETS} drawn test sets",
            )
            for what, values in found.items()
        }
    paper.grid("systems", lines)
    paper.text("The averages of the four, which Figure 4 uses and which the caption of Figure 17 prints:")
    for name, column, printed in (("P0", "p_zero", "0.13"), ("b0", "b_zero", "25.8")):
        paper.number(
            f"{name}, mean", compared(printed, float(np.mean([float(row[column]) for row in rows])))
        )
    found_by_them(rows)


def found_by_them(rows: list[dict[str, str]]) -> None:
    """What each of the four test sets could find."""
    lines = []
    for row in rows:
        study = hp.corpus.CorpusStudy(
            int(row["n"]),
            difference=float(row["delta_bleu"]),
            zero_share=float(row["p_zero"]),
            scale=float(row["b_zero"]),
        )
        least = hp.mde(study, largest=10.0, method="analytic").found.effect
        power = hp.power(study, method="analytic").answer.computed.power
        lines.append(
            f"- {row['model_1']} and {row['model_2']}: {int(row['n']):,} sentences find {least:.2f} BLEU with "
            f"power .8; the {row['delta_bleu']} that were seen are found with power {power:.2f}."
        )
    paper.text("What the four could find (not in the paper):\n\n" + "\n".join(lines))
    paper.command("humeval-power compare corpus mde --n 2000 --bleu-preset wmt19-tf19-tf18")


def typical() -> None:
    """Section 4, the abstract, and the example of appendix G."""
    paper.section(
        "Section 4",
        "2,000 sentences and one point of BLEU",
        "By the normal approximation with the exact moments of the effects, and by simulation with random flips "
        "of signs as the paper's test does it.",
    )
    paper.command("humeval-power compare corpus power --n 2000 --effect 1 --test flips")
    rough = "the paper says 'approximately'"
    study = hp.corpus.CorpusStudy(2000, difference=1.0)
    flips = hp.corpus.CorpusStudy(2000, difference=1.0, test="flips")
    computed = hp.power(study, method="analytic").answer.computed
    drawn_power = hp.power(flips, method="simulate", n_simulations=OURS).answer.simulated
    paper.number("power by formula", compared("75 %", 100 * computed.power, within=1.0, because=rough))
    paper.number(
        f"power in {OURS:,} simulated test sets",
        compared("75 %", 100 * drawn_power.power, within=2.5, because=rough),
    )
    zero_share, scale = hp.corpus.PRESETS["card2020-appendix-g"]
    example = hp.corpus.CorpusStudy(2000, difference=1.0, zero_share=zero_share, scale=scale)
    answer = hp.power(example, method="analytic").answer.computed
    need = hp.size(lambda n: hp.corpus.CorpusStudy(n, difference=1.0), method="analytic").found.n
    paper.text(
        f"The example of appendix G (P0 = {zero_share:g}, b0 = {scale:g}; the paper prints no result) has power "
        f"{answer.power:.3f}, and its significant differences are {answer.type_m:.2f} times too large. For power "
        f".8 a difference of 1 takes {need:,} sentences."
    )


def figure_4() -> None:
    """Power over sizes and differences."""
    paper.section("Figure 4", "Power over sizes and differences", "With P0 = 0.13 and b0 = 25.8.")
    paper.command(
        f"humeval-power compare corpus surface --n 100:5000:100 --effect 0.25,0.5,1,2 --simulations {OURS}"
    )
    result = _surface()
    drawn(result, "figure-4", "Figure 4, computed again.")
    power = {(row["n"], row["effect"]): row["power"] for row in result.rows}
    paper.number(
        "read at 2,000 sentences and 1 BLEU",
        compared("75 %", 100 * power[2000, 1.0], within=1.0, because="the paper says 'approximately'"),
    )
    rises = all(
        power[n, low] < power[n, high] + 1e-12 and power[n, low] <= power.get((n + 100, low), 1.0)
        for n in SIZES
        for low, high in pairwise(DIFFERENCES)
    )
    paper.number("rises with n and with the difference", compared("yes", "yes" if rises else "no"))


def figure_17() -> None:
    """Power under other P0 and b0."""
    paper.section(
        "Figure 17",
        "Other P0 and b0",
        "The values in the paper's panels cannot be told from its text; these span what is likely. Above, b0 = "
        "25.8; below, P0 = 0.13.",
    )
    paper.command(
        "humeval-power compare corpus surface --n 100:5000:100 --effect 0.25,0.5,1,2 --p0 0.01,0.13,0.5,0.8",
        "humeval-power compare corpus surface --n 100:5000:100 --effect 0.25,0.5,1,2 --b0 15,25.8,50,100",
    )
    above = _surface(zero_shares=ZERO_SHARES)
    below = _surface(scales=SCALES)
    drawn(above, "figure-17-p0", "Figure 17, top: P0.")
    drawn(below, "figure-17-b0", "Figure 17, bottom: b0.")
    power = {(row["p0"], row["n"], row["effect"]): row["power"] for row in above.rows}
    easier = all(
        power[low, n, effect] <= power[high, n, effect] + 1e-12
        for low, high in pairwise(ZERO_SHARES)
        for n in SIZES
        for effect in DIFFERENCES
    )
    paper.number("the higher P0, the fewer sentences do", compared("yes", "yes" if easier else "no"))
    wide = {(row["b0"], row["n"], row["effect"]): row["power"] for row in below.rows}
    paper.number(
        "with a large b0 5,000 sentences do not find a large difference (2 BLEU, b0 = 100, power below .8)",
        compared("yes", "yes" if wide[100.0, 5000, 2.0] < 0.8 else "no"),
    )
    paper.text(
        f"At b0 = 100 the power for 2 BLEU on 5,000 sentences is {wide[100.0, 5000, 2.0]:.2f}; at b0 = 50 it is "
        f"{wide[50.0, 5000, 2.0]:.2f}. Such b0 are two to four times what was estimated in Table 3."
    )


def _surface(
    *, zero_shares: Sequence[float] = ZERO_SHARES[1:2], scales: Sequence[float] = SCALES[1:2]
) -> SurfaceResult:
    """Power over all sizes and differences, and over one list more, as `compare corpus surface` gives it."""
    cells = [
        (
            {
                **({"p0": zero_share} if len(zero_shares) > 1 else {}),
                **({"b0": scale} if len(scales) > 1 else {}),
                "n": n,
            },
            hp.corpus.CorpusStudy(n, difference=difference, zero_share=zero_share, scale=scale),
        )
        for zero_share, scale, n, difference in product(zero_shares, scales, SIZES, DIFFERENCES)
    ]
    return hp.surface(cells, method="analytic", along="n")


def left_out() -> None:
    """What needs the translations."""
    paper.skip(
        "Figure 15",
        "that single swaps add up, on the authors' systems: their outputs are not at hand. `humeval-power "
        "compare corpus estimate` draws it for two systems of yours, and tells the correlation and the slope.",
    )
    paper.skip(
        "Figure 16",
        "the Laplace fit to single swaps, for the same reason; the same command draws it for yours.",
    )


def drawn(result: hp.Result, name: str, caption: str) -> None:
    """The picture that a command would write."""
    paper.picture(result.document().pictures[0].figure, name, caption)


table_3()
typical()
figure_4()
figure_17()
left_out()
paper.finish()
