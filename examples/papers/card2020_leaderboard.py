"""Card et al. (2020), appendix D, figure 9 and tables 6 and 8: the leaderboard of SQuAD 2.0.

Run: python examples/papers/card2020_leaderboard.py [--write]
"""

from __future__ import annotations

import math
from datetime import timedelta

import numpy as np
from matplotlib.figure import Figure
from paper import Paper, compared, repository

import humeval_power as hp
from humeval_power.comparisons.accuracy.claims import Submission, moment
from humeval_power.comparisons.accuracy.result_claims import LeaderboardResult
from humeval_power.saying.figure_style import COLOURS, house_style

N_TEST, N_VALIDATION = 8862, 11873  # items of SQuAD 2.0

paper = Paper(
    "card2020_leaderboard",
    "Card et al. (2020): the leaderboard of SQuAD 2.0",
    "Card, Henderson, Khandelwal, Jia, Mahowald and Jurafsky (2020), With little power comes great "
    "responsibility, EMNLP: section 3.2, appendix D, figure 9, tables 6 and 8. The leaderboard and its pairs are "
    "those of the authors' repository (examples/papers/card2020_repository).",
)


def leaderboard() -> None:
    """Who had the power, and how agreement and improvements go with the baseline."""
    paper.section(
        "Appendix D and Figure 10",
        "the leaderboard of SQuAD 2.0",
        "Agreement is that on the validation set, whose pairs are public. The paper's 19 "
        "have the power with as many items as the validation set has (11,873); on the test set (8,862 items), "
        "where the test is made, 15 have it.",
    )
    board, _ = hp.accuracy.read_leaderboard(repository("models.tsv"))
    pairs = hp.accuracy.read_pairs(repository("pairs_dev.tsv"), board, n_validation=N_VALIDATION)
    paper.command(
        "cd examples/papers/card2020_repository",
        "humeval-power compare accuracy leaderboard models.tsv --n 8862 --pairs pairs_dev.tsv --n-validation 11873 "
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
    beaten(board, result)
    paper.picture(
        result.document().pictures[0].figure, "figure-10", "Figure 10: submissions and the best so far."
    )
    found = hp.accuracy.pairs_of_leaderboard(board, pairs, new_best_of=N_TEST, power_on="validation")
    fitted = hp.accuracy.overlap(found)
    paper.section("Table 8", "improvement on baseline, SQuAD 2.0")
    paper.command(
        "humeval-power compare accuracy overlap models.tsv --pairs pairs_dev.tsv --n-validation 11873 "
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


def beaten(board: list[Submission], result: LeaderboardResult) -> None:
    """How long those that were significant without the power stood."""
    for each in result.judged:
        if each.is_significant and not each.is_best:
            since, accuracy = moment(each.submission.date), each.submission.accuracy
            later = [other for other in board if moment(other.date) > since]
            names = {judged.submission.name for judged in result.judged if judged.is_best}
            higher, best = (
                min(moment(other.date) - since for other in chosen) / timedelta(days=1)
                for chosen in (
                    [other for other in later if other.accuracy > accuracy],
                    [other for other in later if other.name in names],
                )
            )
            name = " ".join(each.submission.name.partition(" (")[0].split())
            follows = (
                f"until its accuracy is exceeded; a new best by the rule follows after {best:.1f} days"
            )
            paper.number(f"{name}, days until beaten", compared("< 5", higher, reason=follows))


def figure_9() -> None:
    """Accuracies on both sets; how often two models agree on the test set is not public."""
    paper.section(
        "Figure 9, left",
        "accuracy on the validation and the test set",
        "The right half of the figure, agreement of pairs on both sets, needs the pairs of the test set, which are "
        "not public.",
    )
    board, _ = hp.accuracy.read_leaderboard(repository("models.tsv"))
    validation, test = np.array([(each.validation, each.accuracy) for each in board]).T
    first, second = np.triu_indices(len(board), 1)
    apart = [accuracy[second] - accuracy[first] for accuracy in (validation, test)]
    cut = f"two digits, not rounded; the differences of all pairs have {np.corrcoef(apart)[0, 1]:.3f}"
    r = float(np.corrcoef(validation, test)[0, 1])
    paper.number("correlation", compared(".99", r, within=0.01, because=cut))
    with house_style():
        figure = Figure(figsize=(3.4, 3.0), layout="constrained")
        axes = figure.subplots()
        axes.plot(100 * validation, 100 * test, linestyle="", marker=".", color=COLOURS[0])
        axes.set_xlabel("Accuracy on the validation set, %")
        axes.set_ylabel("Accuracy on the test set, %")
    paper.picture(figure, "figure-9", f"Figure 9, left: {len(board)} models.")


leaderboard()
figure_9()
paper.finish()
