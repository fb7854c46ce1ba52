"""Looks at a running study as plain values."""

from __future__ import annotations

from dataclasses import asdict

from humeval_power.inference.looks.stagewise import stagewise_inference
from humeval_power.planning.monitor.state import Monitoring, TakenLook
from humeval_power.planning.monitor.step import estimates, taken_boundaries
from humeval_power.planning.plan.plan import Plan
from humeval_power.reporting.records import Record, versions

MONITOR_SCHEMA = "humeval_power/monitor/2"


def look_record(
    state: Monitoring,
    look: TakenLook | None,
    plan: Plan,
    *,
    ledger: str,
    seal: Record | None = None,
    command: str,
) -> Record:
    """The looks so far and what the last one decided; `inference` is None while the study goes on. `seal` is the
    end of the ledger's chain."""
    adjusted = (
        asdict(stagewise_inference(estimates(state), taken_boundaries(state))) if state.ended else None
    )
    return {
        "schema": MONITOR_SCHEMA,
        "decision": None if look is None else look.decision,
        "look": None if look is None else asdict(look),
        "looks": [asdict(each) for each in state.looks],
        "planned": {
            "by": state.unit,
            "shares": list(state.shares),
            "fractions": list(state.fractions),
            "rule": str(state.rule),
            "effect": state.effect,
            "maximum_information": state.maximum_information,
            "factor": state.factor,
        },
        "systems": list(plan.systems),
        "inference": adjusted,
        "ledger": ledger,
        "seal": seal,
        "versions": versions(),
        "command": command,
    }
