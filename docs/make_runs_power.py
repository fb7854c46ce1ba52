"""Power of planned runs by formula and by simulation, side by side: the table in docs/runs-plan.md.

python docs/make_runs_power.py      about four minutes on one core
"""

from __future__ import annotations

from pathlib import Path

from shown_rows import shown_rows

from humeval_power.comparisons.runs.scenario import RunsPlan, RunsScenario, runs_scenario
from humeval_power.runs_parameters import RunsParameters
from humeval_power.studies.power.estimate import estimate_power

PAGE = Path(__file__).with_name("runs-plan.md")
START, END = "<!-- powers -->", "<!-- end -->"
NESTED = RunsParameters(kind="nested", sd_item=0.3, sd_run_a=0.4, sd_run_b=0.3, icc=0.3)
ANSWERS = RunsParameters(
    kind="nested", family="binary", sd_item=0.2, sd_run_a=0.4, sd_run_b=0.4, icc=0.3, baseline=0.7
)
CROSSED = RunsParameters(kind="crossed", sd_item=0.3, sd_prompt_slope=0.06, sd_residual=0.3, icc=0.3)
LOGIT = RunsParameters(
    kind="crossed",
    family="binary",
    sd_item=0.8,
    sd_prompt_slope=0.3,
    sd_item_level=1.5,
    sd_prompt_level=0.3,
    baseline=0.7,
)


def _row(name: str, scenario: RunsScenario, n_simulations: int) -> str:
    null = estimate_power(scenario.with_effect(0.0), n_simulations=n_simulations, seed=5)
    found = estimate_power(scenario, n_simulations=n_simulations, seed=5)
    low, high = found.interval
    return (
        f"| {name} | {scenario.precision.df:.1f} | {100 * null.rejection_rate:.1f} % | "
        f"{scenario.computed().power:.3f} | {found.power:.3f} ({low:.3f} to {high:.3f}) |"
    )


def rows() -> list[str]:
    """The table's lines."""
    found = [
        "| studies | df | size at 5 % | power by formula | simulated (95 %) |",
        "|---|--:|--:|--:|--:|",
    ]

    def plan(n: int, runs: int, **clusters: float) -> RunsPlan:
        return RunsPlan(n_items=n, runs_a=runs, runs_b=runs, **clusters)  # type: ignore[arg-type]

    for count, effect in ((5, 0.3), (10, 0.18), (20, 0.12), (50, 0.07), (100, 0.05)):
        for cv in (0.0, 0.8):
            words = "equal" if cv == 0 else "unequal"
            planned = plan(6 * count, 3, cluster_size=6.0, cluster_cv=cv)
            for name, of in (("numbers", NESTED), ("right or wrong", ANSWERS)):
                scenario = runs_scenario(of, planned, effect=effect)
                found.append(_row(f"nested, {name}, {count} {words} clusters", scenario, 8000))
    for prompts in (3, 5, 10):
        scenario = runs_scenario(CROSSED, plan(200, prompts, cluster_size=5.0), effect=0.15)
        found.append(_row(f"crossed, numbers, {prompts} prompts, 40 equal clusters", scenario, 8000))
    unequal = plan(200, 5, cluster_size=5.0, cluster_cv=0.8)
    found.append(
        _row(
            "crossed, numbers, 5 prompts, 40 unequal clusters",
            runs_scenario(CROSSED, unequal, effect=0.15),
            500,
        )
    )
    for prompts in (5, 10):
        scenario = runs_scenario(LOGIT, plan(60, prompts), effect=0.12)
        found.append(_row(f"crossed, right or wrong, {prompts} prompts, 60 items", scenario, 400))
    return found


def main() -> None:
    """Write the table."""
    text = PAGE.read_text()
    head, tail = text[: text.index(START)], text[text.index(END) :]
    PAGE.write_text(
        head + START + "\n\n" + shown_rows("\n".join(rows()), r"crossed|, (5|20) ") + "\n\n" + tail
    )


if __name__ == "__main__":
    main()
