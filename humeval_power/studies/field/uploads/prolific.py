"""Prolific: what to enter for a study, as far as the plan says it; what it does not say is left blank
and marked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from humeval_power.choices import TITLES, WITH_PROLIFIC
from humeval_power.costs import CostModel, Rewards, money, rewards_of
from humeval_power.fees import PROLIFIC_LEAST_PAY
from humeval_power.safe_text import csv_text, markdown_text
from humeval_power.studies.field.form import Content, RatingForm, Uploader

_BLANK = "`____`"
_PARAMETERS = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"


@dataclass(frozen=True, slots=True)
class _Work:
    """What one slot does: outputs shown, the reward for all of them, and the minutes; None where it is
    not known."""

    outputs: int
    reward: Decimal | None
    minutes: int | None


def prolific_files(form: RatingForm) -> Mapping[str, Content]:
    """What to enter: prolific.md, places.csv with the work of each slot, and README.md."""
    work = {slot: _work(len(form.of_slot(slot)), form) for slot in form.slots}
    rows = [
        [slot, str(one.outputs), _cell(one.minutes), _cell(one.reward), "1"] for slot, one in work.items()
    ]
    return {
        "prolific.md": _to_enter(form, work),
        "places.csv": csv_text(["slot", "outputs", "minutes", "reward", "places"], rows),
        "README.md": _README,
    }


def _cell(value: object) -> str:
    return "" if value is None else f"{value:.2f}" if isinstance(value, Decimal) else str(value)


def _work(outputs: int, form: RatingForm) -> _Work:
    seconds = None if form.costs is None else form.costs.seconds_per_rating
    minutes = None if seconds is None else math.ceil(Fraction(seconds) * outputs / 60)
    return _Work(outputs, form.reward(outputs), minutes)


def _to_enter(form: RatingForm, work: Mapping[str, _Work]) -> str:
    most = max(work.values(), key=lambda one: one.outputs)
    same = len({one.outputs for one in work.values()}) == 1
    fields = {
        "Title of the study": markdown_text(form.title),
        "Description": markdown_text(form.instructions),
        "Places": f"{len(work):,}, one for each worker slot",
        "Estimated time": _minutes(most, same=same),
        "Reward": _reward(most, form.costs, same=same),
        "How participants are told apart": "by URL parameters",
        "URL of the study": "see below",
        "Completion code": f"{_BLANK} (the platform makes one; the study shows it at its end, or sends "
        "people back)",
    }
    rows = "\n".join(f"| {name} | {text} |" for name, text in fields.items())
    said = "\n".join(f"- {one}" for one in _remarks(form, work, most))
    urls = _URLS.replace("@page@", f"{form.slots[0]}.html")
    return f"# What to enter at Prolific\n\n| Field | Enter |\n|---|---|\n{rows}\n\n{said}\n\n{urls}"


def _minutes(most: _Work, *, same: bool) -> str:
    if most.minutes is None:
        return f"{_BLANK} minutes (the plan does not say how long a rating takes: measure it in a pilot)"
    whom = "" if same else " of the slot with the most outputs"
    return f"{most.minutes:,} minutes for the {most.outputs:,} outputs{whom}; add the time for the instructions"


def _reward(most: _Work, costs: CostModel | None, *, same: bool) -> str:
    if most.reward is None or costs is None:
        return f"{_BLANK} (the plan does not say what a rating costs)"
    whom = "" if same else ", for the slot with the most outputs: a study pays everyone the same"
    return f"{money(most.reward, costs.currency)}{whom}"


def _remarks(form: RatingForm, work: Mapping[str, _Work], most: _Work) -> Iterator[str]:
    yield "Rewards and minutes are for all that is shown, repeats and attention checks among it."
    costs = form.costs
    if costs is None:
        yield f"{_BLANK} marks what nobody has said: a plan with prices and seconds per rating fills it in."
        return
    yield from _least_pay(costs, most)
    yield from _fee(costs, [one.outputs for one in work.values()])


def _least() -> str:
    """The least that the platform takes, and who says so."""
    rule = PROLIFIC_LEAST_PAY
    known = " or ".join(money(amount, currency) for currency, amount in rule.per_hour.items())
    return f"({rule.source}, read {rule.date.isoformat()}: {known} an hour)"


def _underpaid(costs: CostModel | None) -> str | None:
    """That the pay is below the least that the platform takes; None where it is not, or nobody knows."""
    least = None if costs is None else PROLIFIC_LEAST_PAY.per_hour.get(costs.currency)
    if costs is None or least is None or costs.hourly_pay is None or costs.hourly_pay >= least:
        return None
    return (
        f"WARNING: {money(costs.hourly_pay, costs.currency)} an hour is below Prolific's least {_least()}. "
        "It refuses such a study, or asks for more pay later. Plan with a higher price."
    )


def _least_pay(costs: CostModel, most: _Work) -> Iterator[str]:
    """How the pay compares with the least that the platform takes."""
    least, said = PROLIFIC_LEAST_PAY.per_hour.get(costs.currency), _least()
    if least is None:
        yield f"Compare the pay per hour with the platform's least {said}: the plan is in {costs.currency}."
        return
    hourly = costs.hourly_pay
    if hourly is None:
        assert most.reward is not None  # of a plan with prices
        longest = math.floor(60 * most.reward / least)
        yield (
            f"At this reward the work may take {longest:,} minutes; if it takes longer, it is paid below "
            f"the platform's least {said}."
        )
    elif (warning := _underpaid(costs)) is not None:
        yield f"**{warning}**"
    else:
        yield f"The pay is {money(hourly, costs.currency)} an hour; the platform's least: {said}."


def _fee(costs: CostModel, outputs: Sequence[int]) -> Iterator[str]:
    """What all places cost, as one study and as a study for each slot."""
    if not costs.fee.is_prolific:
        yield f"The plan was costed with the fee of {markdown_text(costs.fee.name)}: Prolific's own is not in it."
        return
    once, apart = (rewards_of(outputs, costs, alike=alike) for alike in (True, False))
    yield f"{_sum(once, costs)}, if each place is filled once."
    if apart != once:
        yield f"As a study for each slot, after the rows of places.csv: {_sum(apart, costs)}."
    if costs.fee.caveat is not None:
        yield costs.fee.caveat


def _sum(rewards: Rewards, costs: CostModel) -> str:
    paid, fee, total = (money(one, costs.currency) for one in (rewards.paid, rewards.fee, rewards.total))
    return f"Rewards {paid} + fee {fee} = {total}"


_URLS = f"""The address of the study, with the parameters by which participants are told apart:

| Where the study is | URL |
|---|---|
| Qualtrics | `https://.../jfe/form/SV_...?{_PARAMETERS}` |
| Potato | `https://.../?{_PARAMETERS}` |
| Google Forms | a study for each form: its address stands in the sheet `links`, under 'link for Prolific' |
| Pages on a server of yours | a study for each page: `https://.../@page@?{_PARAMETERS}` |
"""
_FORMS = ", ".join(f"{TITLES[name]} (`--upload {name}`)" for name in WITH_PROLIFIC)
_README = f"""# Prolific

1. Prolific finds the people; it does not show them the texts. Make the study itself too, as {_FORMS}: another
   folder beside this one. Put it online, and try it.
2. Make a study at Prolific, and enter what stands in `prolific.md`. {_BLANK} marks what only you know.
3. Where each slot has an address of its own, make a study for each, with one place, after the rows of `places.csv`,
   and exclude those who took part in the others.
4. When all is done, export the participants as CSV and give the file to `import` beside the answers: it is joined
   by the participant, with status and time.

- Prolific knows no slots: it hands places to people as they come. Which slot they fill is told by the study, and
  found again in its answers.
- People who return or time out free their place; the slot that they began may be left over. Follow who is missing.
"""


def _said(form: RatingForm) -> tuple[str, ...]:
    warning = _underpaid(form.costs)
    return () if warning is None else (warning,)


PROLIFIC = Uploader("prolific", prolific_files, sliders=True, remarks=_said)
