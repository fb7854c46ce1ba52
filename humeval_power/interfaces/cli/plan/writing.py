"""The plan that a search ended in, and the files that are written of it."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path

from humeval_power.differences import Difference
from humeval_power.interfaces.cli.output import note, write_directory
from humeval_power.interfaces.cli.run import typed_command
from humeval_power.interfaces.formats.documents.reading import to_json
from humeval_power.planning.looks.schedule import LookSchedule
from humeval_power.planning.plan.plan import ParameterSource, Plan, PredictedPower
from humeval_power.planning.plan.request import PlanRequest, PlanResult
from humeval_power.reporting.plan.result import plan_search_record
from humeval_power.reporting.rule_words import default_question


def plan_of(result: PlanResult, question: str, exclude: tuple[str, ...], seed: int) -> Plan:
    """The plan of the chosen design; its power is that of the setting planned for, or of the worst one. The
    others are kept beside it."""
    request, chosen = result.request, result.chosen
    simulated = chosen.simulated
    assert simulated is not None
    a, b = request.assumed.systems
    worst = min(chosen.powers, key=lambda name: chosen.powers[name])
    name = worst if request.robust else next(iter(request.settings))
    planned_for = next(entry for entry in request.assumed.entries if entry.name == name)
    return Plan(
        question=question or default_question(request.rule, (a, b)),
        systems=(a, b),
        effect=request.effect,
        parameters=planned_for.parameters,
        source=ParameterSource(name, planned_for.file, planned_for.ratings),
        counts=chosen.counts,
        rule=request.rule,
        target_power=request.target,
        predicted=PredictedPower(
            chosen.powers[name], simulated.power, simulated.interval, simulated.n_simulations
        ),
        seed=seed,
        max_ratings_per_worker=request.space.max_ratings_per_worker,
        scale=request.assumed.scale,
        costs=request.costs,
        cost=chosen.cost.total,
        exclusions=exclude,
        looks=None if chosen.sequential is None else chosen.sequential.calibrated(_wish(request)),
        expected=None if chosen.sequential is None else chosen.sequential.expected,
        others=tuple((one, values) for one, values in request.settings.items() if one != name),
    )


def _wish(request: PlanRequest) -> LookSchedule:
    assert request.looks is not None  # only a request with looks has a sequential option
    return request.looks


def file_names(output: str | None) -> dict[str, str]:
    """The files beside the plan, by what they hold."""
    stem = Path(output or "plan.json").stem
    return {
        "plan": Path(output or "plan.json").name,
        "markdown": f"{stem}.md",
        "html": f"{stem}.html",
        "png": f"{stem}_front.png",
        "svg": f"{stem}_front.svg",
        "table": f"{stem}_front.csv",
        "search": f"{stem}_search.json",
    }


def write_plan(
    plan: Plan,
    result: PlanResult,
    output: str,
    names: dict[str, str],
    date: datetime.datetime | None,
    *,
    force: bool,
    said: Difference | None = None,
) -> None:
    """Write the plan, sealed, with its pages, the front and the search."""
    from humeval_power.interfaces.formats.plan.plan_file import parse_plan, plan_to_json
    from humeval_power.reporting.figure_style import figure_bytes
    from humeval_power.reporting.plan.front_figure import front_figure
    from humeval_power.reporting.plan.text import plan_html, plan_markdown

    # the plan promises what its own assignment gives, to the last digit
    exact = replace(plan, predicted=replace(plan.predicted, analytic=plan.recomputed_power()))
    created = date.date() if date else datetime.date.today()
    figure = front_figure(result)
    rows = ["workers,items,ratings_per_item,paired,cost,power"]
    rows += [
        f"{p.counts.n_workers},{p.counts.n_items},{p.counts.ratings_per_item},{p.counts.paired},{p.cost},"
        f"{p.power:.6f}"
        for p in result.front
    ]
    sealed = plan_to_json(exact, created=created)
    checksum = parse_plan(sealed).checksum
    files: dict[str, str | bytes] = {
        names["plan"]: sealed,
        names["markdown"]: plan_markdown(exact, created=created, checksum=checksum),
        names["html"]: plan_html(exact, created=created, checksum=checksum),
        names["png"]: figure_bytes(figure, "png"),
        names["svg"]: figure_bytes(figure, "svg"),
        names["table"]: "\n".join(rows) + "\n",
        names["search"]: to_json(
            plan_search_record(result, seed=plan.seed, command=typed_command(), said=said)
        ),
    }
    write_directory(Path(output).parent, files, force=force)
    note(f"Written: {', '.join(files)}")
