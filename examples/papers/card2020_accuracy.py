"""Card et al. (2020), sections 2 and 3 and appendices B to E: power of comparisons by accuracy.

Run: python examples/papers/card2020_accuracy.py [--write]
"""

from __future__ import annotations

import csv
import math
from itertools import pairwise

import numpy as np
from paper import Paper, compared, published, repository

import humeval_power as hp
from humeval_power.planning.accuracy.claims import (
    EFFECTS_GLUE,
    Claim,
    compatible,
    effects_fit,
    fit_effects,
)
from humeval_power.planning.accuracy.published import published_columns
from humeval_power.reporting.accuracy.claims import ClaimsResult

N_TEST, N_VALIDATION = 8862, 11873  # items of SQuAD 2.0
COLUMNS = {
    "binomial": "mde_binomial",
    "lachenbruch": "mde_lachenbruch_mid",
    "lachenbruch_lower": "mde_lachenbruch_lower",
    "lachenbruch_upper": "mde_lachenbruch_upper",
    "regression": "mde_regression",
}
SEARCH = "their search stops at a tolerance, or elsewhere; the formula itself gives ours"
ROUNDED = "the baseline is printed to 0.1 point, which is worth 0.013 here"
DIFFERENCES = (0.01, 0.02, 0.03, 0.05)
AGREEMENTS = (0.8, 0.9, 0.95)
SIZES = range(100, 2001, 100)

paper = Paper(
    "card2020_accuracy",
    "Card et al. (2020): accuracy, GLUE and SQuAD 2.0",
    "Card, Henderson, Khandelwal, Jia, Mahowald and Jurafsky (2020), With little power comes great "
    "responsibility, EMNLP: sections 2 and 3, appendices B to E. The tables of claims and of the leaderboard are "
    "those of the authors' repository (examples/papers/card2020_repository).",
)


def figure_1() -> None:
    """The opening example: 65 % prefer B."""
    paper.section("Figure 1", "65 % of the people prefer system B")
    paper.command("humeval-power preference power --n 25 --effect 0.15 --method analytic")
    large, small = (hp.preference.Preference(n, preference=0.15).computed() for n in (100, 25))
    paper.number("100 people, power over .80", compared("> .80", large.power))
    near = {
        "within": 0.05,
        "because": 'the paper says "about 30 %", of tests that are discrete at this size',
    }
    paper.number("25 people, power", compared(".30", small.power, **near))
    paper.text(
        f"What is significant exaggerates the effect by {small.type_m:.2f} with 25 people and by "
        f"{large.type_m:.2f} with 100."
    )


def appendix_c() -> None:
    """The numerical example of McNemar's test."""
    paper.section(
        "Appendix C",
        "500 items, two points, agreement .9",
        "The paper took the exact conditional test. The formula of section 3.1, with shares instead of counts, "
        "lacks the factor n.",
    )
    paper.command(
        "humeval-power accuracy power --n 500 --effect 0.02 --agreement 0.9 --test exact --method analytic"
    )

    def found(n: int, difference: float, share: float) -> tuple[float, float]:
        agreement = hp.accuracy.KnownAgreement(share)
        one = hp.accuracy.PairedAccuracy(
            n, difference=difference, agreement=agreement, test="exact"
        ).computed()
        return one.power, one.type_m

    power, type_m = found(500, 0.02, 0.9)
    paper.number("500 items, power", compared(".25", power))
    paper.number("500 items, type M", compared("1.9", type_m))
    power, type_m = found(2000, 0.02, 0.9)
    nearly = {"within": 0.025, "because": 'the paper says "nearly", or that it is enough'}
    paper.number("2000 items, power", compared(".80", power, **nearly))
    paper.number("2000 items, type M", compared("1.1", type_m))
    paper.number("4 points, power", compared(".80", found(500, 0.04, 0.9)[0], **nearly))
    paper.number("agreement .975, power", compared(".80", found(500, 0.02, 0.975)[0], **nearly))


def figures_3_7_8() -> None:
    """Power, type M and type S over sizes, differences and agreement."""
    paper.section(
        "Figures 3, 7 and 8",
        "power, type M and type S",
        "The paper prints no numbers of these pictures. What it says of them is asked of ours.",
    )
    listed = "--n 100:2000:100 --effect 0.01,0.02,0.03,0.05 --agreement 0.8,0.9,0.95"
    paper.command(f"humeval-power accuracy surface {listed} --method analytic --draw power")
    computed = {
        (n, difference, share): hp.accuracy.PairedAccuracy(
            n, difference=difference, agreement=hp.accuracy.KnownAgreement(share)
        ).computed()
        for n in SIZES
        for difference in DIFFERENCES
        for share in AGREEMENTS
    }
    cells = [
        (
            {"agreement": share, "n": n},
            hp.accuracy.PairedAccuracy(
                n, difference=difference, agreement=hp.accuracy.KnownAgreement(share)
            ),
        )
        for share in AGREEMENTS
        for difference in DIFFERENCES
        for n in SIZES
    ]
    surface = hp.surface(cells, method="analytic", along="n")
    paper.picture(surface.document().pictures[0].figure, "figure-3", "Figure 3: power.")
    for what, sign in (("power", 1), ("type_m", -1), ("type_s", -1)):
        steps = [
            sign * (getattr(computed[1000, d, high], what) - getattr(computed[1000, d, low], what))
            for d in DIFFERENCES
            for low, high in pairwise(AGREEMENTS)
        ]
        said = "grows" if sign > 0 else "falls"
        paper.number(
            f"{what} {said} with agreement (1,000 items)",
            compared("yes", "yes" if min(steps) >= 0 else "no"),
        )


def table_9() -> None:
    """Detectable improvements; Table 2 is the column of the regression."""
    paper.section(
        "Tables 2 and 9",
        "the smallest improvements that test sets find",
        "In points, power .8. The regression column, said to be the unconditional test of Suissa and Shuster, has "
        "the power of the mid-p test; eq. (2) is rounded too much to give it, the notebook's coefficients do.",
    )
    paper.command("humeval-power accuracy bounds --n 1725 --baseline 0.92")
    rows, impossible = {}, []
    for row in published("card2020_table2_table9.csv"):
        baseline, name = float(row["sota_percent"]) / 100, row["dataset"]
        agreement = hp.accuracy.OVERLAP["squad" if name.startswith("SQuAD") else "glue"]
        found = published_columns(int(row["size"]), baseline=baseline, agreement=agreement)
        cells = {
            column: compared(row[there], 100 * getattr(found, column), reason=SEARCH)
            for column, there in COLUMNS.items()
            if "e" not in row[there]
        }
        if name in EFFECTS_GLUE.per_task:
            expected = EFFECTS_GLUE.expected(name, 100 * baseline)
            cells["expected"] = compared(row["expected_delta"], expected, within=0.0135, because=ROUNDED)
        rows[name] = cells
        impossible += [] if found.regression_is_possible else [name]
    paper.grid("data set", rows)
    paper.text(
        f"Impossible in the regression column: {', '.join(impossible)}, where more items would be newly right than "
        "the baseline has wrong. QQP's lower bound is printed as 8.45e-5; the formula gives 0.0020."
    )


def claims() -> tuple[list[Claim], list[int], int]:
    """The claims of improvement over the state of the art, their places in the table, and its length."""
    with repository("glue_test_set_sizes.csv").open(encoding="utf-8") as file:
        sizes = {row["Dataset"].strip(): int(row["size"]) for row in csv.DictReader(file)}
    with repository("Glue-Paper-Annotations.csv").open(encoding="utf-8") as file:
        _, *rows = csv.reader(file)
    chosen, places = [], []
    for place, (task, name, before, after, is_sota, is_claimed, *_) in enumerate(rows):
        if (is_sota, is_claimed) == ("Y", "Y"):
            gain = float(after) / 100 - float(before) / 100
            chosen.append(Claim(task, sizes[task], float(before) / 100, gain, name))
            places.append(place)
    gains = 100 * np.array([float(row[3]) / 100 - float(row[2]) / 100 for row in rows])
    paper.section("Figure 12", "improvements of every new model", "All rows of the table, claims or not.")
    paper.number("mean", compared("0.959", float(gains.mean())))
    paper.number("standard error", compared("0.23", float(gains.std(ddof=1)) / math.sqrt(len(gains))))
    counted = "the public table has one row fewer than the paper counts"
    paper.number("comparisons", compared("119", len(gains), reason=counted))
    return chosen, places, len(rows)


def table_7(of: list[Claim]) -> None:
    """The regression of improvements on baseline and task, with its errors."""
    paper.section(
        "Table 7", "improvement on baseline and task", "In points, from the 61 claims of the public table."
    )
    fit = effects_fit(of)
    named = {"constant": "Constant", "baseline": "Previous.Best"}
    rows = {}
    printed = {row["term"]: row for row in published("card2020_table7_effect_regression.csv")}
    for term in fit.terms:
        row = printed[named.get(term.name, "Task" + term.name.removeprefix("task "))]
        unit = 1.0 if term.name == "baseline" else 100.0
        rows[term.name] = {
            "estimate": compared(row["estimate"], unit * term.estimate),
            "standard error": compared(row["standard_error"], unit * term.standard_error),
        }
    paper.grid("term", rows)
    paper.number("claims", compared("61", fit.n))
    paper.number("R2", compared("0.690", fit.r_squared))
    paper.number("adjusted R2", compared("0.642", fit.adjusted_r_squared))
    paper.number("residual SE", compared("1.309", 100 * fit.residual_sd))
    paper.number("F", compared("14.455", fit.f_statistic))


def means(of: list[Claim], result: ClaimsResult) -> None:
    """The last columns of Table 9, Figures 13 and 14."""
    paper.section("Table 9, means", "mean improvement of the claims, by task")
    paper.command("humeval-power accuracy claims claims.csv")
    rows = {}
    positive = [claim for claim in of if claim.improvement > 0]
    printed = {row["dataset"]: row for row in published("card2020_table2_table9.csv")}
    for task in result.methods.tasks:
        row = printed[task.task]
        rows[task.task] = {
            "mean": compared(row["mean_abs_delta"], 100 * task.mean_improvement, reason=MEANS),
            "SE": compared(row["mean_abs_delta_se"], 100 * task.standard_error, reason=MEANS),
            "n": compared(row["n_papers"], task.n_claims, reason=MEANS),
        }
    paper.grid("task", rows)
    paper.section("Figures 13 and 14", "claims and what their test sets find")
    drawn = {picture.name: picture for picture in result.document().pictures}
    paper.picture(
        drawn["baselines"].figure, "figure-13", "Figure 13: improvement against baseline, by task."
    )
    paper.picture(
        drawn["methods"].figure, "figure-14", "Figure 14: claims less the smallest improvement found."
    )
    columns = [
        published_columns(c.n_items, baseline=c.baseline, agreement=hp.accuracy.OVERLAP["glue"])
        for c in positive
    ]
    shares = {
        "binomial": "26.7",
        "lachenbruch": "30",
        "lachenbruch_upper": "26.7",
        "lachenbruch_lower": "78.3",
    }
    for column, share in {**shares, "regression": "36.7"}.items():
        reached = [
            c.improvement >= getattr(each, column) for c, each in zip(positive, columns, strict=True)
        ]
        paper.number(
            f"reach the smallest improvement, {column}, %", compared(share, 100 * float(np.mean(reached)))
        )


MEANS = "from the public table as it stands; the paper may have read another row"


def table_10(of: list[Claim], places: list[int]) -> None:
    """The headline: "46 % adequate power"."""
    paper.section(
        "Section 3.3 and Table 10",
        'is it "only 46 %" that had adequate power?',
        "The 57 claims are those not on WNLI. The share that is printed as powered is the share *below* .8: the "
        "notebook marks a claim where its power is below. It also leaves out row k of the "
        "whole table, not the claim "
        "itself, when it predicts the k-th. Made again so, the printed share comes out, of "
        "claims *without* the power. Our own "
        "judgement leaves the claim itself out.",
    )
    rows = [k for k, claim in enumerate(of) if claim.task != "WNLI"]
    wrong = np.array([_power(of, claim, leave) for claim, leave in _as_printed(of, places, rows)])
    right = np.array([_power(of, of[k], k) for k in rows])
    judged = hp.accuracy.claims(of).judged.claims
    p_values = np.array([judged[k].p_value for k in rows])
    one = "one of 57 claims more: probably another version of the test in the notebook"
    paper.number("claims", compared("57", len(rows)))
    paper.number("power below .8 (printed as % powered)", compared("0.456", float(np.mean(wrong < 0.8))))
    paper.number("significant", compared("0.509", float(np.mean(p_values <= 0.05))))
    both = float(np.mean((wrong >= 0.8) & (p_values <= 0.05)))
    paper.number("significant and powered", compared("0.368", both, within=1.01 / 57, because=one))
    paper.number("mean power", compared("0.698", float(wrong.mean()), within=0.01, because=one))
    paper.number("mean p", compared("0.220", float(p_values.mean()), within=0.02, because=one))
    inverted = "inverted in the paper: the claims below .8 were counted"
    paper.number(
        "adequate power (section 3.3), %",
        compared("46", 100 * float(np.mean(wrong >= 0.8)), reason=inverted),
    )
    paper.number(
        "significant of those powered, %",
        compared(
            "80", 100 * both / float(np.mean(wrong >= 0.8)), reason=inverted + "; 37 % of all by 46 %"
        ),
    )
    paper.text(
        f"With the claim itself left out, {100 * np.mean(right >= 0.8):.1f} % of {len(rows)} have the power, and "
        f"{100 * np.mean((right >= 0.8) & (p_values <= 0.05)):.1f} % have it and are significant."
    )


def _as_printed(of: list[Claim], places: list[int], rows: list[int]) -> list[tuple[Claim, int | None]]:
    """Each claim with the place, among the claims, of row k of the whole table; None where that is no claim."""
    return [(of[k], places.index(at) if at in places else None) for at, k in enumerate(rows)]


def _power(of: list[Claim], claim: Claim, left_out: int | None) -> float:
    """The power for what a regression on the others expects."""
    expected = fit_effects([c for k, c in enumerate(of) if k != left_out]).expected(
        claim.task, claim.baseline
    )
    glue = hp.accuracy.OVERLAP["glue"]
    computed = compatible(claim, expected, glue, test="mid-p", alpha=0.05).computed()
    return computed.power if expected >= 0 else computed.rejection_rate - computed.power


def squad() -> None:
    """Appendix D, Tables 6 and 8."""
    paper.section(
        "Appendix D and Figure 10",
        "the leaderboard of SQuAD 2.0",
        "Agreement is that on the validation set, whose pairs are public. The paper's 19 have "
        "the power with as many "
        "items as the validation set has (11,873); on the test set (8,862 items), where the "
        "test is made, 15 have it.",
    )
    board, _ = hp.accuracy.read_leaderboard(repository("models.tsv"))
    pairs = hp.accuracy.read_pairs(repository("pairs_dev.tsv"), board, n_validation=N_VALIDATION)
    paper.command(
        "cd examples/papers/card2020_repository",
        "humeval-power accuracy leaderboard models.tsv --n 8862 --pairs pairs_dev.tsv --n-validation 11873 "
        "--power-on validation",
    )
    result = hp.accuracy.leaderboard(board, n=N_TEST, pairs=pairs, power_on="validation")
    best = sum(each.is_best for each in result.judged)
    lucky = sum(each.is_significant and not each.is_best for each in result.judged)
    for what, printed, ours in (
        ("models", "144", len(board)),
        ("submissions after the first", "143", len(result.judged)),
        ("powered", "19", result.n_powered),
        ("of these significant", "14", best),
        ("of these significant, %", "74", 100 * best / result.n_powered),
        ("others that are significant", "3", lucky),
    ):
        paper.number(what, compared(printed, ours))
    rest = 100 * lucky / (len(result.judged) - result.n_powered)
    paper.number(
        "others that are significant, %", compared("2.5", rest, within=0.1, because="3 of 124 are 2.4 %")
    )
    paper.picture(
        result.document().pictures[0].figure, "figure-10", "Figure 10: submissions and the best so far."
    )
    found = hp.accuracy.pairs_of_leaderboard(board, pairs, new_best_of=N_TEST, power_on="validation")
    fitted = hp.accuracy.overlap(found)
    paper.section("Table 8", "improvement on baseline, SQuAD 2.0")
    paper.command(
        "humeval-power accuracy overlap models.tsv --pairs pairs_dev.tsv --n-validation 11873 "
        "--of new-best --n 8862 --power-on validation"
    )
    fit = fitted.improvements
    for term, values in zip(fit.terms, (("0.1331", "0.023"), ("-0.1408", "0.028")), strict=True):
        paper.number(term.name, compared(values[0], term.estimate))
        paper.number(f"{term.name}, SE", compared(values[1], term.standard_error))
    paper.number("R2", compared("0.672", fit.r_squared))
    paper.number("adjusted R2", compared("0.644", fit.adjusted_r_squared))
    paper.number("F", compared("24.55", fit.f_statistic))
    constant, slope = (term.estimate for term in fit.terms)
    paper.number("next improvement (Table 9), %", compared("0.528", 100 * (constant + slope * 0.90724)))
    gains = [pair.difference for pair in found]
    paper.number("mean improvement (Table 9), %", compared("2.23", 100 * float(np.mean(gains))))
    error = 100 * float(np.std(gains, ddof=1)) / math.sqrt(len(gains))
    paper.number("its standard error", compared("0.431", error, reason="divided by n, not n - 1"))
    paper.section("Table 6 and Figure 11", "agreement on baseline and improvement, SQuAD 2.0")
    other = "they counted agreement on the test set, whose pairs are not public; ours is that of the validation set"
    for term, printed in zip(fitted.fitted.fit.terms, ("0.4339", "0.5932", "-1.2849"), strict=True):
        paper.number(term.name, compared(printed, term.estimate, reason=other))
    paper.number("R2", compared("0.944", fitted.fitted.fit.r_squared, reason=other))
    everything = hp.accuracy.overlap(hp.accuracy.pairs_of_leaderboard(board, pairs))
    paper.picture(
        everything.document().pictures[0].figure, "figure-11", "Figure 11: agreement, all pairs of models."
    )


figure_1()
appendix_c()
figures_3_7_8()
table_9()
CLAIMS, PLACES, _ = claims()
table_7(CLAIMS)
means(CLAIMS, hp.accuracy.claims(CLAIMS))
table_10(CLAIMS, PLACES)
squad()
paper.skip("Table 5", "the agreement of ten GLUE systems: their predictions are not public.")
paper.skip("Figure 9", "validation against test: the pairs of the test set are not public.")
paper.skip(
    "Appendix F, Table 11", "it prints no numbers; `humeval-power contingency power` plans such metrics."
)
paper.finish()
