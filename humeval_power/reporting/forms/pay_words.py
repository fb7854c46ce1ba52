"""What workers are paid, as the plan prices it."""

from __future__ import annotations

from humeval_power.planning.plan import Plan


def pay_sentence(plan: Plan | None) -> str | None:
    """'0.12 USD for each rating, 10.80 USD an hour at 40 seconds a rating.' None where no pay is planned."""
    if plan is None or plan.costs is None or not plan.costs.exact_price:
        return None
    costs = plan.costs
    said = []
    if costs.price_per_rating is not None:
        said.append(f"{costs.price_per_rating:f} {costs.currency} for each rating")
    if costs.hourly_pay is not None and costs.seconds_per_rating is not None:
        said.append(
            f"{costs.hourly_pay:,.2f} {costs.currency} an hour at {costs.seconds_per_rating:f} seconds a rating"
        )
    return f"Planned: {', '.join(said)}." if said else None
