"""Right and wrong answers of two systems on the same items: what a finished comparison shows."""

from __future__ import annotations

from collections.abc import Sequence

from humeval_power.choices import RECOMMENDED, Compat, PairedTest, PowerOn, Prior
from humeval_power.comparisons.accuracy.agreement import AgreementSource, ValidationPairs
from humeval_power.comparisons.accuracy.claims import (
    EFFECTS_GLUE,
    PRIORS,
    Claim,
    Submission,
    SystemPair,
    by_every_method,
    detectable_accuracy,
    detectable_by_prior,
    fit_improvements,
    fit_overlap,
    judge_claims,
    judge_leaderboard,
    pairs_of_best,
    pairs_of_board,
    published_by_prior,
)
from humeval_power.comparisons.accuracy.counts import (
    Answers,
    PairedCounts,
    UnpairedAccuracy,
    all_comparisons,
    compared,
)
from humeval_power.comparisons.accuracy.result import AccuracyEstimateResult, AccuracyTestsResult
from humeval_power.comparisons.accuracy.result_claims import (
    BoundsResult,
    ClaimsResult,
    LeaderboardResult,
    OverlapResult,
)
from humeval_power.errors import InputError, refusal


def estimate(answers: PairedCounts | Answers, *, remarks: Sequence[str] = ()) -> AccuracyEstimateResult:
    """Accuracies, difference and agreement of two systems on the same items.

    Parameters
    ----------
    answers : items by which system got them right, such as from `paired_counts`, or what `read_answers` reads.
    remarks : what was noticed in reading.

    Returns
    -------
    AccuracyEstimateResult
        Shares; the difference is B - A, with its 95 % interval (Bonett and Price 2012; with clusters Student's by
        CR2).

    Raises
    ------
    InputError
        Answers of more than two systems.
    """
    if isinstance(answers, PairedCounts):
        return AccuracyEstimateResult(comparison=compared("", answers), remarks=tuple(remarks))
    if len(answers.systems) > 2:
        rule = f"two systems are estimated; the table has {len(answers.systems)}: {', '.join(answers.systems)}."
        remedy = "Name two of them: --systems A,B. `compare accuracy test` compares all of them."
        raise refusal(rule, remedy)
    return AccuracyEstimateResult(
        comparison=all_comparisons(answers)[0], answers=answers, remarks=(*_noticed(answers), *remarks)
    )


def test(
    comparisons: PairedCounts | Answers | Sequence[tuple[str, PairedCounts]],
    *,
    alpha: float = 0.05,
    remarks: Sequence[str] = (),
) -> AccuracyTestsResult:
    """Test differences of accuracy in several ways, the recommended one first.

    Parameters
    ----------
    comparisons : items by which system got them right, or several of them with their names; or the answers of two
        systems or more, as `read_answers` reads them, of which every pair is compared (Holm's correction). Items in
        clusters are tested by Student's t with CR2 and by swapping whole clusters.
    alpha : level of the tests; the interval has the confidence 1 - alpha.
    remarks : what was noticed in reading.

    Returns
    -------
    AccuracyTestsResult
        Counts, the difference B - A with its interval and the p-values; `to_frame` has a row for each
        comparison.

    Raises
    ------
    InputError
        Clusters of other items.
    """
    if isinstance(comparisons, Answers):
        said = (*_noticed(comparisons), *remarks)
        tested = all_comparisons(comparisons)
        return AccuracyTestsResult(comparisons=tested, answers=comparisons, alpha=alpha, remarks=said)
    named = [("", comparisons)] if isinstance(comparisons, PairedCounts) else comparisons
    tested = tuple(compared(name, counts) for name, counts in named)
    return AccuracyTestsResult(comparisons=tested, alpha=alpha, remarks=tuple(remarks))


def _noticed(answers: Answers) -> tuple[str, ...]:
    """What was noticed in reading, and columns that look like clusters."""
    return (*answers.notices, *(each.sentence() for each in answers.suspects))


# Accuracies that others published: what test sets can show, what was claimed, leaderboards, how systems
# agree.


def bounds(
    n: int,
    baseline: float,
    *,
    test: PairedTest = RECOMMENDED,
    power: float = 0.8,
    alpha: float = 0.05,
    compat: Compat | None = None,
) -> BoundsResult:
    """The smallest improvement that a test set can show, agreement of the systems not known.

    Parameters
    ----------
    n : items in the test set.
    baseline : accuracy of A, as a share.
    test : version of McNemar's test.
    power : target power.
    compat : 'card2020' for the columns of Card et al. (2020), Tables 2 and 9, as they computed them: normal
        approximations, and improvements that the accuracies leave no room for; with what their regression of GLUE
        claims expects of each task.

    Returns
    -------
    BoundsResult
        Improvements, as shares, under the least and the most agreement that the accuracies allow, half-way
        between them, as regressions on GLUE and SQuAD 2.0 systems predict it, and for items of their own.

    Raises
    ------
    InputError
        A baseline outside [0, 1], or a power that is not between alpha and 1.
    """
    if compat:
        effects = published_by_prior(n, baseline=baseline, test=test, power=power, alpha=alpha)
    else:
        guessed = detectable_by_prior(n, baseline=baseline, test=test, power=power, alpha=alpha)
        unpaired = UnpairedAccuracy(n, 0.0, baseline=baseline, alpha=alpha)
        effects = {str(name): each for name, each in guessed.items()}
        effects["unpaired"] = detectable_accuracy(unpaired, power=power)
    tasks = EFFECTS_GLUE.per_task if compat else ()
    return BoundsResult(
        n=n,
        baseline=baseline,
        test=test,
        power=power,
        alpha=alpha,
        found=effects,
        expected={task: EFFECTS_GLUE.expected(task, 100 * baseline) / 100 for task in tasks},
    )


def claims(
    claims: Sequence[Claim],
    *,
    overlap: Prior | AgreementSource = "glue",
    test: PairedTest = RECOMMENDED,
    power: float = 0.8,
    alpha: float = 0.05,
    remarks: Sequence[str] = (),
) -> ClaimsResult:
    """Could test sets have shown the improvements that were claimed?

    Parameters
    ----------
    claims : as `read_claims` reads them from a table.
    overlap : how the agreement of two systems is guessed from the baseline: a word, or what `read_overlap` reads.
    test : version of McNemar's test.
    power : target power.
    remarks : what was noticed in reading.

    Returns
    -------
    ClaimsResult
        Each claim beside the smallest improvement that its test set finds, and beside what a regression on
        all other claims expects; the smallest improvements by every way of guessing, means by task; `to_frame`
        has a row for each claim.

    Raises
    ------
    InputError
        Claims that determine no regression on baseline and task.
    """
    name, agreement = _prior(overlap)
    judged = judge_claims(claims, agreement=agreement, test=test, power=power, alpha=alpha)
    methods = by_every_method(claims, test=test, power=power, alpha=alpha)
    return ClaimsResult(judged=judged, methods=methods, overlap=name, test=test, remarks=tuple(remarks))


def leaderboard(
    submissions: Sequence[Submission],
    *,
    n: int,
    overlap: Prior | AgreementSource = "squad",
    pairs: ValidationPairs | None = None,
    power_on: PowerOn = "test",
    test: PairedTest = RECOMMENDED,
    power: float = 0.8,
    alpha: float = 0.05,
    remarks: Sequence[str] = (),
) -> LeaderboardResult:
    """Which submissions to a leaderboard were improvements one can trust?

    Parameters
    ----------
    submissions : as `read_leaderboard` reads them from a table.
    n : items in the test set.
    overlap : how the agreement of two systems is guessed from the better one before.
    pairs : how often two submissions do alike on the validation set, as `read_pairs` reads it; then nothing is
        guessed.
    power_on : the set whose size the power is of; 'validation' as Card et al. (2020, App. D) took it.
    test : version of McNemar's test.
    power : that which the improvement on the validation set must promise.
    remarks : what was noticed in reading.

    Returns
    -------
    LeaderboardResult
        Every submission but the first, in order of time, beside the best before it.

    Raises
    ------
    InputError
        Pairs that are compared and were not given; the power on a validation set without pairs.
    """
    name, agreement = _prior(overlap)
    judged = judge_leaderboard(
        submissions,
        n_items=n,
        agreement=agreement,
        pairs=pairs,
        power_on=power_on,
        test=test,
        power=power,
        alpha=alpha,
    )
    return LeaderboardResult(
        judged=judged,
        n=n,
        overlap=name,
        test=test,
        power=power,
        alpha=alpha,
        n_validation=None if pairs is None else pairs.n_items,
        power_on=power_on,
        said=tuple(remarks),
    )


def pairs_of_leaderboard(
    submissions: Sequence[Submission],
    pairs: ValidationPairs,
    *,
    new_best_of: int | None = None,
    power_on: PowerOn = "test",
) -> list[SystemPair]:
    """Pairs of a leaderboard's submissions with their accuracies on the test set and their counted agreement.

    Parameters
    ----------
    submissions, pairs : as `read_leaderboard` and `read_pairs` read them.
    new_best_of : items in the test set; then each new best with the best before it alone, as `leaderboard` judges.
    power_on : as in `leaderboard`.

    Raises
    ------
    InputError
        As `leaderboard`.
    """
    if new_best_of is None:
        return pairs_of_board(submissions, pairs)
    return pairs_of_best(leaderboard(submissions, n=new_best_of, pairs=pairs, power_on=power_on).judged)


def overlap(pairs: Sequence[SystemPair], *, remarks: Sequence[str] = ()) -> OverlapResult:
    """How often do two systems do alike? A regression on pairs of them (Card et al. 2020, App. E.2).

    Parameters
    ----------
    pairs : as `read_system_pairs` reads them, or `pairs_of_leaderboard`; shares.
    remarks : what was noticed in reading.

    Returns
    -------
    OverlapResult
        agreement = constant + a * worse accuracy + b * difference, and the difference on the worse accuracy, by
        least squares. Its JSON record is what `read_overlap` reads.

    Raises
    ------
    InputError
        Pairs that do not determine the coefficients.
    """
    return OverlapResult(
        fitted=fit_overlap(pairs), improvements=fit_improvements(pairs), remarks=tuple(remarks)
    )


def _prior(overlap: Prior | AgreementSource) -> tuple[str, AgreementSource]:
    """What a prior is called, and itself."""
    if isinstance(overlap, str):
        if overlap not in PRIORS:
            known = ", ".join(PRIORS)
            raise InputError(
                f"overlap {overlap!r} is none of {known}; for your own pairs: `read_overlap(path)`."
            )
        return overlap, PRIORS[overlap]
    names = {agreement: str(name) for name, agreement in PRIORS.items()}
    return names.get(overlap, overlap.label), overlap
