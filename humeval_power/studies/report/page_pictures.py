"""The pictures of a study's page: power, ratings, the effect, agreement, workers; each where its data are there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from humeval_power.saying.chart import Axis, Chart, LaterChart, Panels, Upright, interval_chart
from humeval_power.saying.document import Picture
from humeval_power.saying.values import (
    JsonRecord,
    bounds,
    cells,
    listed,
    number,
    part,
    rule_of,
    scale_of,
    words,
)
from humeval_power.studies.analyze.figures import ranking_chart
from humeval_power.studies.analyze.result_diagnostics import (
    DIFFERENCES_OF,
    difference_rows,
    pair_rows,
)
from humeval_power.studies.fit.figures import effect_chart
from humeval_power.studies.fit.wald import EffectTest
from humeval_power.studies.report.documents import CriterionDocuments
from humeval_power.studies.report.fact_record import findings_of, shown_comparisons


def surface_picture(surface: JsonRecord) -> Picture:
    """The power of each design of a surface document."""
    said = "Power against the difference between the systems; the numbers are in the table of this section."

    def draw() -> Chart | Panels:
        import pandas as pd

        from humeval_power.studies.power.figures import surface_chart

        halved = number(surface, "effect_unit") not in (None, 1.0)
        label = "Coefficient under -1/+1 coding (half of the difference)" if halved else None
        return surface_chart(pd.DataFrame(list(listed(surface, "rows"))), effect_label=label, words=said)

    return LaterChart("surface", draw, words=said)


def power(documents: CriterionDocuments) -> Iterator[Picture]:
    """The power of the plan, and that of the designs of a surface."""
    plan = documents.plan
    if plan is not None:

        def draw() -> Chart:
            from humeval_power.studies.plan.result import power_chart

            return power_chart(plan)

        words = "How often the planned study finds true differences around the one it is for, by formula."
        yield LaterChart("power", draw, words=words)
    if documents.surface is not None and cells(documents.surface):
        yield surface_picture(documents.surface)


def suffix_of(place: int, n_criteria: int) -> str:
    """What stands behind the names of the pictures of a criterion, by its place from 1; nothing for one alone."""
    return f"-{place}" if n_criteria > 1 else ""


def ratings(documents: CriterionDocuments, suffix: str) -> Iterator[Picture]:
    """How the ratings of each system are spread over the scale."""
    if documents.ratings is not None:
        from humeval_power.studies.fit.check import ratings_picture

        yield ratings_picture(documents.ratings, f"ratings{suffix}")


def effect(documents: CriterionDocuments, suffix: str) -> Iterator[Picture]:
    """The estimated difference with its interval, beside what it is judged by."""
    if documents.facts.is_of_several:
        yield from systems_pictures(documents, suffix)
        return
    tested, names = known_test(documents.study), documents.facts.systems
    if tested is None or len(names) != 2:
        return
    a, b = names
    interest = number(part(documents.study, "power_at_interest"), "effect")
    interest = documents.plan.effect if interest is None and documents.plan is not None else interest
    words = "The estimated difference with its interval, beside zero and what would matter."
    name, scale = f"effect{suffix}", scale_of(documents.study)
    yield effect_chart(tested, (a, b), scale, interest=interest, name=name, words=words)


def systems_pictures(documents: CriterionDocuments, suffix: str) -> Iterator[Picture]:
    """The findings of several systems, and their differences with intervals."""
    facts = documents.facts
    findings = findings_of(facts)
    if findings is None or not facts.has_result:
        return
    pairs = [one for one in shown_comparisons(facts, findings.unit) if not one.reason]

    words = "The mean of each system with its interval, and the groups that tests do not tell apart."
    yield ranking_chart([findings], name=f"ranking{suffix}", words=words)
    if pairs:
        yield pair_rows(pairs, findings.unit).chart(
            f"differences{suffix}",
            title="How large are the differences?",
            words="The differences with their intervals, largest on top.",
        )


def known_test(study: JsonRecord) -> EffectTest | None:
    """The test that a document holds; None where there is none."""
    effect, rule = part(study, "effect"), rule_of(study)
    estimate, ends = number(effect, "estimate"), bounds(effect, "interval")
    if rule is None or estimate is None or ends is None or words(effect, "reason") is not None:
        return None
    error, df, p = (number(effect, name) or 0.0 for name in ("standard_error", "df", "p_value"))
    return EffectTest(
        estimate=estimate,
        standard_error=error,
        df=df,
        p_value=p,
        interval=ends,
        significant=effect.get("significant") is True,
        rule=rule,
    )


def agreement(documents: CriterionDocuments, suffix: str) -> Iterator[Picture]:
    """Each measure of agreement with its interval."""
    rows = []
    for entry in listed(part(documents.study, "agreement"), "between"):
        name, of_other = words(entry, "measure"), bounds(entry, "interval_other")
        value = number(entry, "value" if of_other is None else "value_other")
        if name and value is not None:
            rows.append((name, value, of_other or bounds(entry, "interval") or (value, value)))
    if not rows:
        return
    words_ = (
        "Measures of the agreement of workers with their intervals, about other workers where there are such; the "
        "numbers are in the table above."
    )
    title, axis = "How far do workers agree?", "Agreement; 1 is perfect"
    chart = interval_chart(f"agreement{suffix}", rows, axis=axis, title=title, words=words_, null=None)
    lowest = min(low for _, _, (low, _) in rows)
    yield replace(chart, x=Axis(axis, min(-0.02, lowest - 0.05), 1.02), marks=(Upright("", 0.0),))


def workers(documents: CriterionDocuments, suffix: str) -> Iterator[Picture]:
    """Each worker's predicted difference, where the ratings are there and could be fitted."""
    ratings, study = documents.ratings, documents.study
    if ratings is None or ratings.n_systems != 2 or known_test(study) is None:
        return

    def draw() -> Chart:
        from humeval_power.estimation.fitting import fit
        from humeval_power.studies.analyze.diagnostics import predicted_effects, screen_workers

        predictions = predicted_effects(fit(ratings), ratings)
        rows, _ = difference_rows(predictions, ratings, "worker", screen_workers(ratings))
        return replace(rows.chart("workers", title="How do workers differ?", words=words), caption=caption)

    words = DIFFERENCES_OF["worker"]
    caption = "Predicted by a model of the single ratings."
    yield LaterChart(f"workers{suffix}", draw, words=words, caption=caption)
