"""NLPStatTest (Zhu et al. 2020): its sample computed again, and where its formulas need care."""

from __future__ import annotations

import numpy as np
import pandas as pd
from paper import Data, Paper, compared

import humeval_power as hp
from humeval_power.comparisons.scores.advice import skew_words

SAMPLE = Data(
    "nlpstattest_data-file.txt",
    "It is the sample `data-file.txt` of the toolkit (github.com/nlp-stat-test/nlp-stat-test), two columns of "
    "2,001 scores; it states no licence, and so is not passed on.",
)
FIGURE_2 = {
    "Column 1": ("0.28464", "0.25552", "0.15964", "0.02206", "1.00000"),
    "Column 2": ("0.28051", "0.24905", "0.15694", "0.01216", "1.00000"),
    "Difference": ("0.00413", "0.00070", "0.11228", "-0.83215", "0.51108"),
}
COLUMNS = ("mean", "median", "sd", "minimum", "maximum")
QUICK = {"power_by": "formula", "n_resamples": 200}

paper = Paper(
    "nlpstattest",
    "NLPStatTest: Zhu, Mak, Gioannini and Xia (2020)",
    "H. Zhu, D. Mak, J. Gioannini, F. Xia (2020): NLPStatTest: a toolkit for comparing NLP system performance. "
    "Its figure 2 was made from the sample that comes with the toolkit. The sample states no licence and is not "
    "part of this repository; where it is at hand, the figure is computed from it.",
    introduction="Data analysis, test, effect size, power: the four steps of the paper are those of `compare "
    "scores`. The paper prints few numbers; its screenshot of the data analysis comes out the same to the last "
    "digit.",
)


def figure_2() -> None:
    """The table and the recommendations of the screenshot, from the toolkit's own sample."""
    path = SAMPLE.path()
    if path is None:
        paper.keep("Figure 2", SAMPLE)
        paper.keep("Figure 3", SAMPLE)
        return
    tables = hp.compare.read_scores(
        path, systems=["B", "A"]
    )  # the paper's difference is the first less the second
    result = hp.compare.scores(tables, procedure="nlpstattest")
    found = result.comparison
    data, test = found.data, found.test
    paper.section("Figure 2", "Data analysis of the sample", data=SAMPLE)
    paper.command("humeval-power compare scores data-file.txt --systems B,A --procedure nlpstattest")
    ours = {"Column 1": data.second, "Column 2": data.first, "Difference": data.difference}
    paper.grid(
        "scores",
        {
            name: {
                column: compared(text, getattr(ours[name], column))
                for column, text in zip(COLUMNS, printed, strict=True)
            }
            for name, printed in FIGURE_2.items()
        },
    )
    paper.number("Skewness of the difference", compared("-0.2637", data.skewness))
    paper.number("The distribution is", compared("roughly symmetric", data.skew))
    paper.number(
        "Normality test", compared("does not pass", "passes" if data.is_normal else "does not pass")
    )
    paper.number("Test statistic", compared("mean", data.nlpstattest_statistic))
    paper.number("Preferred test", compared("Wilcoxon", test.label.split()[0]))
    paper.picture(
        result.document().pictures[1].figure,
        "figure-2",
        "The differences of the sample, as in the third histogram.",
    )
    paper.text(
        f"Run on, Wilcoxon's test gives p = {test.p_value:.3f} where a t test of the mean gives "
        f"p = {_t_of(tables):.3f}: two questions, two answers. Which of them is asked has to be decided before."
    )
    figure_3(tables, result)


def _t_of(tables: object) -> float:
    return hp.compare.scores(tables, question="mean", **QUICK).comparison.test.p_value


def figure_3(tables: object, result: object) -> None:
    """The curve of power against sample size, by both of the paper's methods."""
    paper.section("Figure 3", "Retrospective power", data=SAMPLE)
    paper.command(
        "humeval-power compare scores data-file.txt --systems B,A --procedure nlpstattest -o sample/"
    )
    power = result.comparison.power
    paper.picture(
        result.document().pictures[2].figure,
        "figure-3",
        "Power against the number of items for the sample, resampled as in the paper, and by formula.",
    )
    normal = hp.compare.scores(tables, procedure="nlpstattest", power_by="normal").comparison.power
    paper.text(
        f"The screenshot prints no number. With the items at hand the power is {power.at.power:.2f} by "
        f"resampling and {normal.at.power:.2f} from a normal law, which has not the long tails of these "
        "differences. (The dotted formula takes the variance of the signed ranks from the data.) "
        "Both are for the difference that was observed, and so say again what p says: at p = 0.05 "
        "such a power is about one half whatever the study. Say the smallest difference that matters instead: "
        "`--effect`."
    )


def thresholds() -> None:
    """The rule of thumb of section 3.1.3."""
    paper.section("Section 3.1.3", "Skewness and what is tested", "The rule of Bulmer (1979), at its ends.")
    for skewness, printed in (
        (0.0, "roughly symmetric"),
        (0.4999, "roughly symmetric"),
        (0.5, "slightly skewed"),
        (-0.9999, "slightly skewed"),
        (1.0, "highly skewed"),
        (-3.0, "highly skewed"),
    ):
        paper.number(f"Skewness {skewness:g}", compared(printed, skew_words(skewness)))


def effect_sizes() -> None:
    """Equations 2 to 5, as printed and as they should be."""
    paper.section("Section 3.3", "Effect sizes: two formulas that need care")
    rng = np.random.default_rng(3)
    drawn = pd.DataFrame({"A": np.zeros(12), "B": np.round(rng.normal(0.4, 1, 12), 2)})
    few = pd.DataFrame({"A": [0.0, 0.0, 0.0], "B": [1.0, 2.0, 10.0]})
    printed, ours = _effects(drawn, procedure="nlpstattest"), _effects(drawn, question="mean")
    d, n = ours["cohens_d"], 12
    given, exact = printed["hedges_g_as_published"], ours["hedges_g"]
    paper.number(
        "Eq. 3 of 12 differences, worked out as printed",
        compared(f"{d * (1 - 3 / (4 * n - 9)):.6f}", given),
    )
    pairs, all_pairs = (
        _effects(few, procedure="nlpstattest")["hodges_lehmann_as_published"],
        _effects(few, question="pseudomedian")["hodges_lehmann"],
    )
    paper.number("Eq. 5 of 1, 2 and 10, worked out as printed", compared("5.5", pairs))
    paper.text(
        "Eq. 3 is Hedges' correction for two samples. For one sample of differences it is 1 - 3/(4n - 5), or "
        f"exactly a ratio of Gamma functions: of 12 differences g is {exact:.4f}, not {given:.4f}. Eq. 5 leaves "
        "out the pairs of an item with itself; Hodges and Lehmann (and R) keep them: of 1, 2 and 10 the "
        f"estimate is {all_pairs:g}, not {pairs:g}. It is no estimate of the median but of the pseudomedian, "
        "unless the differences are symmetric. `--procedure nlpstattest` shows both as printed, `--question` as "
        "they should be."
    )


def _effects(table: pd.DataFrame, **asked: object) -> dict[str, float]:
    found = hp.compare.scores(table, **asked, **QUICK).comparison
    return {one.name: one.value for one in found.effects}


def prospective() -> None:
    """The number of items by formula."""
    paper.section(
        "Section 3.4.1", "Prospective power", "By the closed form of the t test; the paper has no example."
    )
    paper.command("humeval-power compare prospective --effect 0.02 --sd-difference 0.1")
    found = hp.compare.prospective(0.02, sd=0.1)
    paper.text(
        f"A mean difference of 0.02 with an SD of 0.1 needs {found.found.n} items for a power of 0.8."
    )
    paper.picture(found.document().pictures[0].figure, "prospective", "Power against the number of items.")


def left_out() -> None:
    """What the paper has and this page has not."""
    paper.skip(
        "Sections 2.2.1 and 5, figures 4 and 5",
        "see [nlpstattest_simulations](nlpstattest_simulations.md).",
    )
    paper.skip("Figure 1", "a diagram of the three stages, without numbers.")
    paper.skip("Equations 2 and 4", "definitions of Cohen's d and Wilcoxon's r, without an example.")


if __name__ == "__main__":
    figure_2()
    thresholds()
    effect_sizes()
    prospective()
    left_out()
    paper.finish()
