"""`humeval-power accuracy claims` and `leaderboard`: could test sets have shown what was claimed?"""

from __future__ import annotations

import math
from dataclasses import asdict

import click

from humeval_power.inference.mcnemar import PairedTest
from humeval_power.interfaces.cli.accuracy.bounds import paired_test_option
from humeval_power.interfaces.cli.family import Decorator
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.options import alpha_option, power_target_option, result_options
from humeval_power.interfaces.cli.output import emit, note, refuse_to_overwrite, wrapped
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.run import typed_command
from humeval_power.interfaces.cli.text import text_table
from humeval_power.interfaces.formats.documents.reading import to_json
from humeval_power.planning.accuracy.claims import JudgedClaim, JudgedClaims, judge_claims
from humeval_power.planning.accuracy.detectable import PRIORS, Prior
from humeval_power.planning.accuracy.leaderboard import JudgedSubmission, judge_leaderboard
from humeval_power.reporting.records import versions


def _overlap(default: Prior) -> Decorator:
    return click.option(
        "--overlap",
        type=click.Choice(list(PRIORS)),
        default=default,
        show_default=True,
        help="How the agreement of two systems is guessed from the baseline.",
    )


@click.command("claims", cls=Command)
@click.argument("table")
@_overlap("glue")
@paired_test_option
@power_target_option
@alpha_option
@result_options
def claims(
    table: str,
    overlap: Prior,
    test_name: PairedTest,
    target: float,
    alpha: float,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """Could test sets have shown the improvements that were claimed?

    TABLE has a row for each claim: task, n, baseline, improvement (or accuracy)
    and perhaps name. Each claim is compared with the smallest improvement that
    its test set finds, and with what a regression on all other claims expects.
    """
    from humeval_power.interfaces.formats.accuracy import read_claims

    if output is not None:
        refuse_to_overwrite([output], force=force)
    read, percent = read_claims(table)
    if percent:
        note("The accuracies are taken as per cent.")
    judged = judge_claims(
        read,
        agreement=PRIORS[overlap],
        test=test_name,
        power=target,
        alpha=alpha,
    )
    text = to_json(_claims_record(judged, overlap, test_name)) if as_json else _claims_text(judged)
    emit(text, output=output, force=force)


@click.command("leaderboard", cls=Command)
@click.argument("table")
@click.option("--n", type=WholeNumber(min=2), required=True, help="Items in the test set.")
@_overlap("squad")
@paired_test_option
@power_target_option
@alpha_option
@result_options
def leaderboard(
    table: str,
    n: int,
    overlap: Prior,
    test_name: PairedTest,
    target: float,
    alpha: float,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """Which submissions to a leaderboard were improvements one can trust?

    TABLE has a row for each submission: system, date (2020-05-06), accuracy on
    the test set and perhaps validation, the accuracy on the validation set.
    """
    from humeval_power.interfaces.formats.accuracy import read_leaderboard

    if output is not None:
        refuse_to_overwrite([output], force=force)
    read, percent = read_leaderboard(table)
    if percent:
        note("The accuracies are taken as per cent.")
    if all(math.isnan(each.validation) for each in read):
        note("Without a column 'validation' no power is known: significance alone decides.")
    judged = judge_leaderboard(
        read,
        n_items=n,
        agreement=PRIORS[overlap],
        test=test_name,
        power=target,
        alpha=alpha,
    )
    if as_json:
        record = {
            "schema": "humeval_power/accuracy_leaderboard/1",
            "n": n,
            "overlap": overlap,
            "test": test_name,
            "power": target,
            "alpha": alpha,
            "submissions": [asdict(each) for each in judged],
            "versions": versions(),
            "command": typed_command(),
        }
        text = to_json(record)
    else:
        text = _leaderboard_text(judged)
    emit(text, output=output, force=force)


def _claims_record(judged: JudgedClaims, overlap: str, test_name: str) -> dict[str, object]:
    return {
        "schema": "humeval_power/accuracy_claims/1",
        "overlap": overlap,
        "test": test_name,
        "power": judged.target,
        "alpha": judged.alpha,
        "claims": [{**asdict(each), "is_below": each.is_below} for each in judged.claims],
        "regression": {**asdict(judged.regression)},
        "share_below": judged.share_below,
        "share_powered": judged.share_powered,
        "share_significant": judged.share_significant,
        "share_both": judged.share_both,
        "versions": versions(),
        "command": typed_command(),
    }


def _claims_text(judged: JudgedClaims) -> str:
    rows = [_claim_row(each) for each in judged.claims]
    header = ["claim", "n", "baseline", "claimed", "smallest", "", "expected", "power", "p"]
    fit = judged.regression
    remarks = [
        f"{100 * judged.share_below:.0f} % of {len(judged.claims)} claims are below the smallest improvement "
        f"that their test set finds with power {judged.target:g}.",
        f"{100 * judged.share_significant:.0f} % would be significant at the agreement that is predicted.",
        f"Regression on baseline and task: R2 {fit.r_squared:.2f}; "
        f"{100 * fit.per_baseline:+.2f} points for a baseline 100 points better.",
    ]
    if judged.predicted:
        remarks.insert(
            1,
            f"{100 * judged.share_powered:.0f} % of {len(judged.predicted)} had that power for the "
            f"improvement that the other claims let one expect; {100 * judged.share_both:.0f} % had it and "
            "are significant.",
        )
    legend = (
        "Improvements in points of 100. smallest: found with the target power; expected: predicted from the "
        "other claims, and the power if that is true; p: of the claim, at the agreement predicted."
    )
    return "\n".join(
        [text_table(header, rows, indent=""), "", wrapped(legend), *(wrapped(line) for line in remarks)]
    )


def _claim_row(each: JudgedClaim) -> list[str]:
    claim = each.claim
    return [
        claim.name,
        f"{claim.n_items:,}",
        f"{100 * claim.baseline:.2f}",
        f"{100 * claim.improvement:+.2f}",
        "none" if math.isnan(each.detectable) else f"{100 * each.detectable:.2f}",
        "below" if each.is_below else "",
        "-" if math.isnan(each.expected) else f"{100 * each.expected:+.2f}",
        "-" if math.isnan(each.power) else f"{each.power:.2f}",
        f"{each.p_value:.3f}",
    ]


def _leaderboard_text(judged: tuple[JudgedSubmission, ...]) -> str:
    rows = [
        [
            each.submission.name,
            each.submission.date,
            f"{100 * each.submission.accuracy:.2f}",
            f"{100 * each.improvement:+.2f}",
            "-" if math.isnan(each.power) else f"{each.power:.2f}",
            f"{each.p_value:.3f}",
            "new best" if each.is_best else ("underpowered" if each.is_significant else ""),
        ]
        for each in judged
    ]
    header = ["system", "date", "accuracy", "to best", "power", "p", ""]
    best = sum(each.is_best for each in judged)
    lucky = sum(each.is_significant and not each.is_best for each in judged)
    return "\n".join(
        [
            text_table(header, rows, indent=""),
            "",
            wrapped(
                "power: of a significant improvement on the test set, if that on the validation set is true."
            ),
            f"New best: {best} of {len(judged)}; significant without the power: {lucky}.",
        ]
    )
