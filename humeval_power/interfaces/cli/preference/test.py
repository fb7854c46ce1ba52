"""`humeval-power preference test`: what the wins, ties and losses of a finished comparison show."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from humeval_power.errors import HumevalPowerError, InputError
from humeval_power.inference.preference.sign_test import preference_p
from humeval_power.inference.shares import wilson_interval
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.options import alpha_option, rejected_rows_option, result_options
from humeval_power.interfaces.cli.output import emit, refuse_to_overwrite, wrapped
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.run import typed_command
from humeval_power.interfaces.cli.text import text_table
from humeval_power.interfaces.formats.documents.reading import to_json
from humeval_power.reporting.numbers import NO_P
from humeval_power.reporting.records import versions
from humeval_power.rules import DecisionRule

if TYPE_CHECKING:  # pandas and the kernels, which --wins and --losses do without
    from humeval_power.checking.submissions import Rejected
    from humeval_power.inference.preference.clustered import MixedPreference
    from humeval_power.interfaces.formats.preference import Judgements


@dataclass(frozen=True, slots=True)
class _Answer:
    """One comparison: its tests, and the mixed model where workers or items repeat."""

    judged: Judgements
    sign_exact: float
    sign_mid_p: float
    score: float
    split: float
    design_effect: float
    independent_range: tuple[float, float] | None
    mixed: MixedPreference | None
    mixed_problem: str


@click.command("test", cls=Command)
@click.argument("table", required=False)
@click.option("--wins", type=WholeNumber(min=0), help="Judgements that prefer B.")
@click.option("--ties", type=WholeNumber(min=0), default=0, show_default=True, help="Ties.")
@click.option("--losses", type=WholeNumber(min=0), help="Judgements that prefer A.")
@rejected_rows_option
@alpha_option
@result_options
def test(
    table: str | None,
    wins: int | None,
    ties: int,
    losses: int | None,
    rejected_rows: Rejected | None,
    alpha: float,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """Test a preference, with ties excluded, split or kept.

    From --wins, --ties and --losses; from a TABLE with those columns; or from a
    TABLE with a judgement a row: preference (B, A or tie), worker and item.
    Where workers or items repeat, a mixed model is fitted too.
    """
    from humeval_power.interfaces.cli.loading import read_decided
    from humeval_power.interfaces.formats.preference import Judgements, judgements_of

    if output is not None:
        refuse_to_overwrite([output], force=force)
    if (table is None) == (wins is None or losses is None):
        raise click.UsageError("Give a TABLE, or --wins and --losses.")
    if table is None:
        comparisons = [Judgements("", wins or 0, ties, losses or 0)]
    else:
        comparisons = judgements_of(read_decided(table, rejected_rows))
    if any(each.n == 0 for each in comparisons):
        raise InputError("There are no judgements.")
    answers = [_answer(each, alpha) for each in comparisons]
    if as_json:
        record = {
            "schema": "humeval_power/preference_test/1",
            "alpha": alpha,
            "comparisons": [_record(each) for each in answers],
            "versions": versions(),
            "command": typed_command(),
        }
        text = to_json(record)
    else:
        text = "\n\n".join(_text(each, alpha) for each in answers)
    emit(text, output=output, force=force)


def _answer(judged: Judgements, alpha: float) -> _Answer:
    won, lost, n = judged.wins, judged.losses, judged.n
    effect, problem = math.nan, ""
    expected: tuple[float, float] | None = None
    mixed: MixedPreference | None = None
    preference, worker, item = judged.preference, judged.worker, judged.item
    if judged.is_clustered and preference is not None:
        if worker is None or item is None:
            problem = "The mixed model needs the columns worker and item."
        else:
            from humeval_power.inference.preference.clustered import (
                design_effect,
                independent_range,
                mixed_preference_test,
            )
            from humeval_power.interfaces.cli.compiling import compiled_kernels

            effect = design_effect(worker, item, preference)
            expected = independent_range(worker, item, preference)
            try:
                with compiled_kernels():
                    mixed = mixed_preference_test(worker, item, preference, rule=DecisionRule(alpha=alpha))
            except HumevalPowerError as error:
                problem = f"The mixed model could not be fitted: {error}"
    return _Answer(
        judged,
        sign_exact=float(preference_p(won, lost, n, ties="excluded", test="exact")),
        sign_mid_p=float(preference_p(won, lost, n, ties="excluded", test="mid-p")),
        score=float(preference_p(won, lost, n, ties="kept", test="asymptotic")),
        split=float(preference_p(won, lost, n, ties="split", test="asymptotic")),
        design_effect=effect,
        independent_range=expected,
        mixed=mixed,
        mixed_problem=problem,
    )


def _record(answer: _Answer) -> dict[str, object]:
    judged, mixed = answer.judged, answer.mixed
    return {
        "name": judged.name,
        "wins": judged.wins,
        "ties": judged.ties,
        "losses": judged.losses,
        "tie_share": judged.ties / judged.n,
        "share_without_ties": _share(judged.wins, judged.wins + judged.losses),
        "share_ties_half": (judged.wins + judged.ties / 2) / judged.n,
        "independent": not judged.is_clustered,
        "p_sign_exact": answer.sign_exact,
        "p_sign_mid_p": answer.sign_mid_p,
        "p_ties_kept": answer.score,
        "p_ties_split": answer.split,
        "design_effect": answer.design_effect,
        "design_effect_if_independent": answer.independent_range,
        "mixed": None
        if mixed is None
        else {
            "estimate": mixed.test.estimate,
            "standard_error": mixed.test.standard_error,
            "df": mixed.test.df,
            "p_value": mixed.test.p_value,
            "interval": list(mixed.test.interval),
            "sd_worker": mixed.sd_worker,
            "sd_item": mixed.sd_item,
            "sd_residual": mixed.sd_residual,
        },
        "mixed_problem": answer.mixed_problem,
    }


def _text(answer: _Answer, alpha: float) -> str:
    judged = answer.judged
    decided = judged.wins + judged.losses
    facts = [
        (
            "Judgements",
            f"{judged.n:,}: prefers B {judged.wins:,}, tie {judged.ties:,} "
            f"({100 * judged.ties / judged.n:.3g} %), prefers A {judged.losses:,}",
        )
    ]
    if decided:
        low, high = wilson_interval(judged.wins, decided, 1 - alpha)
        facts.append(
            (
                "Prefers B",
                f"{judged.wins / decided:.4f} of those without a tie  ({100 * (1 - alpha):g} % interval "
                f"{low:.4f} to {high:.4f})",
            )
        )
    facts.append(("", f"{(judged.wins + judged.ties / 2) / judged.n:.4f} with ties counted half"))
    rows = [
        ["sign test, ties excluded, exact", _p(answer.sign_exact), "cautious"],
        ["sign test, ties excluded, mid-p", _p(answer.sign_mid_p), ""],
        ["score test of -1, 0, +1 (ties kept)", _p(answer.score), "same test, asymptotic"],
        ["ties split, variance n/4", _p(answer.split), "too cautious" if judged.ties else ""],
    ]
    lines = [judged.name] if judged.name else []
    lines += [wrapped(text, bullet=f"{label:<12}") for label, text in facts]
    lines += _cluster_lines(answer, rows)
    lines += ["", text_table(["test", "p", ""], rows)]
    if judged.ties:
        lines += [
            "",
            wrapped(
                "Without the ties another question is answered: what those prefer who have a preference. "
                "Report the share of ties."
            ),
        ]
    return "\n".join(lines)


def _cluster_lines(answer: _Answer, rows: list[list[str]]) -> list[str]:
    judged = answer.judged
    if not judged.is_clustered:
        return []
    lines = ["", *map(wrapped, _dependence(answer))]
    if answer.mixed_problem:
        lines.append(wrapped(answer.mixed_problem))
    if (mixed := answer.mixed) is not None:
        found = mixed.test
        rows.append(["mixed model, workers and items", _p(found.p_value), "the one to report"])
        low, high = found.interval
        lines.append(
            wrapped(
                f"Mixed model: mean preference {found.estimate:+.4f} on -1 to +1 (interval {low:+.4f} to "
                f"{high:+.4f}, df {found.df:.1f}); standard deviations of workers {mixed.sd_worker:.3f}, of "
                f"items {mixed.sd_item:.3f}, of the rest {mixed.sd_residual:.3f}."
            )
        )
    return lines


def _dependence(answer: _Answer) -> list[str]:
    """What the judgements tell of their dependence: no more than differs from what chance shows."""
    judged, effect, expected = answer.judged, answer.design_effect, answer.independent_range
    several = "Some workers or items have several judgements"
    if expected is None:
        return [f"{several}. If these go together, the first four p-values below are too small."]
    low, high = expected
    chance = f"independent ones show {low:.2f} to {high:.2f} here in 90 % of cases"
    if effect > high:
        return [
            f"{several}, which are not independent: the first four p-values below are too small.",
            f"The variance is about {effect:.2f} times that of independent judgements ({chance}): these "
            f"{judged.n:,} are worth {judged.n / effect:.0f}.",
        ]
    return [
        f"{several}. Whether these go together cannot be told from these {judged.n:,}: their variance is estimated "
        f"at {effect:.2f} times that of independent judgements, and {chance}. If they do, the first four p-values "
        "below are too small."
    ]


def _p(value: float) -> str:
    if math.isnan(value):
        return NO_P
    return f"{value:.4f}" if value >= 0.0001 else f"{value:.1e}"


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
