"""A study on one page: its plan, its data, what it decides, what there is to mind, and its forms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from humeval_power.checking.rehearsed import NOTICE, REHEARSAL
from humeval_power.comparisons.agreement.result_report import is_about_others
from humeval_power.differences import Difference
from humeval_power.errors import InputError
from humeval_power.saying.document import Block, Document, Fact, Facts, Paragraph, Section, Table
from humeval_power.saying.numbers import POWER_LABEL, in_words
from humeval_power.saying.result import Record, Source
from humeval_power.saying.row_flow import flow_rows
from humeval_power.saying.values import NOTHING, bounds, listed, number, part, share, words
from humeval_power.studies.plan.result_words import variances_from
from humeval_power.studies.report import page_pictures as pictures
from humeval_power.studies.report.caveats import caveats
from humeval_power.studies.report.documents import CriterionDocuments
from humeval_power.studies.report.fact_record import ComparisonFacts, StudyFacts
from humeval_power.studies.report.fact_words import StudyWords
from humeval_power.studies.report.paragraphs import paragraphs, signature_of
from humeval_power.studies.report.plans import PlanWords
from humeval_power.studies.report.power_answers import merged_notes, power_of_design
from humeval_power.studies.report.result import FormReport, Report

if TYPE_CHECKING:
    import pandas as pd

_FOUND = ("estimate", "standard_error", "df", "p_value", "interval", "significant")
FORM_NAMES = {
    "card2020": "Card et al. (2020)",
    "heds": "HEDS 3.0",
    "arr": "ARR's checklist",
    "aspredicted": "AsPredicted",
    "osf": "OSF",
    "paper": "For the paper",
    "parameters": "Parameters",
}


@dataclass(frozen=True, kw_only=True)
class StudyReport(Report):
    """What is known of a study, one of `criteria` after the other, and its `forms` by name."""

    form: ClassVar[str] = "study"
    criteria: tuple[CriterionDocuments, ...]
    forms: Mapping[str, Report]

    @property
    def n_open(self) -> int:
        """Fields that are open, of all forms."""
        return sum(one.n_open for one in self.forms.values())

    def with_command(self, command: str, sources: tuple[Source, ...]) -> Self:
        """The same with what was typed, in the forms too."""
        forms = {name: one.with_command(command, sources) for name, one in self.forms.items()}
        return super(StudyReport, replace(self, forms=forms)).with_command(command, sources)

    def body(self) -> Document:
        """The decision first, then everything in the order in which a study happens."""
        first = self.criteria[0]
        sections = [section for place in range(len(self.criteria)) for section in self._criterion(place)]
        decided = " ".join(_decided(each, named=len(self.criteria) > 1) for each in self.criteria)
        is_rehearsal = any(NOTICE in listed(each.study, "notices") for each in self.criteria)
        signature = signature_of(first) if len(self.criteria) == 1 else None
        return Document(
            f"Study{_about(first, one=len(self.criteria) == 1)}",
            lead=f"{REHEARSAL if is_rehearsal else ''}{decided}",
            headline=tuple(_headline(first)) if len(self.criteria) == 1 else (),
            caveats=_caveats(self.criteria),
            sections=(
                *_nonempty("Plan", _plan(first)),
                *sections,
                *_nonempty("Forms", (self._forms(),)),
            ),
            signature=signature or "",
        )

    def _criterion(self, place: int) -> Iterator[Section]:
        documents, suffix = self.criteria[place], pictures.suffix_of(place + 1, len(self.criteria))
        of = f"{documents.criterion}: " if suffix else ""
        yield from _nonempty(f"{of}Data", _data(documents, suffix))
        yield from _nonempty(f"{of}Decision", _decision(documents, suffix))
        yield from _nonempty(f"{of}Diagnostics", _diagnostics(documents, suffix))

    def _forms(self) -> Table:
        rows = []
        for name, one in self.forms.items():
            content = one.content()
            counts = [content.get(key) for key in ("n_filled", "n_to_check", "n_open")]
            rows.append(
                (
                    FORM_NAMES[name.partition("-")[0]],
                    *("" if n is None else f"{n}" for n in counts),
                    _files(name, one),
                )
            )
        return Table(
            ("form", "filled", "to check", "open", "files"),
            tuple(rows),
            caption="The files lie beside this page, where it was written to a folder.",
        )

    def content(self) -> Record:
        """For each criterion what was found, and for each form how much of it is filled."""
        first = self.criteria[0]
        return {
            "form": self.form,
            "systems": list(first.systems),
            "plan_checksum": first.plan_checksum,
            "rows": [
                {
                    "criterion": each.criterion,
                    **row,
                    "decision": _decided(each, named=False),
                }
                for each in self.criteria
                for row in _rows(each.facts)
            ],
            "forms": {name: one.content() for name, one in self.forms.items()},
        }

    def to_frame(self) -> pd.DataFrame:
        """A row for each comparison under each criterion: estimate, standard error, df, p-value and decision."""
        return super().to_frame().drop(columns="interval")

    def files(self) -> Mapping[str, str | bytes]:
        """Each form as a page, and the files that other programs read."""
        from humeval_power.saying.render import as_html

        result: dict[str, str | bytes] = {}
        for name, one in self.forms.items():
            if isinstance(one, FormReport) or one.n_open:
                result[f"{name}.html"] = as_html(one.document())
            result |= {f"{name}{ending}": one.artefact(ending) for ending in one.endings}
        return result


def _rows(facts: StudyFacts) -> list[Record]:
    """What each comparison found; a row without numbers where there is none."""
    rows = []
    for one in facts.comparisons or (ComparisonFacts("A", "B"),):
        named = {"first": one.first, "second": one.second} if facts.is_of_several else {}
        result = {name: getattr(one, name) for name in _FOUND}
        rows.append({**named, **result, "interval": one.interval and list(one.interval)})
    return rows


def _files(name: str, one: Report) -> str:
    page = [f"{name}.html"] if isinstance(one, FormReport) or one.n_open else []
    return ", ".join([*page, *(f"{name}{ending}" for ending in one.endings)])


def _nonempty(title: str, blocks: Iterator[Block] | tuple[Block, ...]) -> Iterator[Section]:
    nonempty = tuple(blocks)
    if nonempty:
        yield Section(title, nonempty)


def _about(documents: CriterionDocuments, *, one: bool) -> str:
    names = documents.systems
    compared = [in_words(names)] if len(names) > 1 else []
    said = ", ".join([*compared, *([documents.criterion] if one and documents.criterion else [])])
    return f": {said}" if said else ""


def _decided(documents: CriterionDocuments, *, named: bool) -> str:
    """What a study shows, in a sentence or two; before collection, what it is planned to find."""
    of = f"{documents.criterion}: " if named and documents.criterion else ""
    if documents.study:
        return f"{of}{StudyWords(documents.facts).decided()}"
    return (
        ""
        if documents.plan is None
        else f"Planned, not carried out: power {PlanWords(documents.plan).passage('power')}"
    )


def _headline(documents: CriterionDocuments) -> Iterator[Fact]:
    yield from StudyWords(documents.facts).headline()
    if documents.plan is not None:
        predicted = documents.plan.predicted
        power = predicted.power
        yield "power planned", share(power)


def _caveats(criteria: tuple[CriterionDocuments, ...]) -> tuple[str, ...]:
    """Those of every criterion."""
    of_each = [caveats(each.facts, each.surface or NOTHING, each.power or NOTHING) for each in criteria]
    return merged_notes([str(each.criterion) for each in criteria], of_each)


def _plan(documents: CriterionDocuments) -> Iterator[Block]:
    """What was promised before collection; without a plan the power that was computed."""
    plan = documents.plan
    if plan is None:
        answer = power_of_design(documents.study, documents.surface or NOTHING, documents.power or NOTHING)
        if answer is not None:
            yield Paragraph(answer.text)
            yield from () if answer.table is None else (answer.table,)
    else:
        design, said = plan.design(), PlanWords(plan)
        points = None if plan.scale is None else plan.scale.effect_to_raw(plan.effect)
        interest = Difference(plan.effect, plan.scale, points, None if plan.many else plan.pair)
        each = "1 rating" if design.ratings_per_item == 1 else f"{design.ratings_per_item:g} ratings"
        size = (
            f"{design.n_workers:,} workers, {design.n_items:,} items, {each} for each item and system: "
            f"{design.n_ratings:,} ratings"
        )
        seal = [("SHA-256", f"{documents.plan_checksum[:16]}...")] if documents.plan_checksum else []
        out = [("Left out", " ".join(plan.left_out_words))] if plan.left_out_words else []
        yield Facts(
            (
                ("Question", plan.question),
                ("Difference of interest", str(interest)),
                ("Design", size),
                (POWER_LABEL, said.passage("power")),
                ("Variances", f"from {variances_from(plan)}"),
                ("Test", said.test_line()),
                *out,
                *seal,
            )
        )
    yield from pictures.power(documents)


def _data(documents: CriterionDocuments, suffix: str) -> Iterator[Block]:
    scale = documents.facts.scale
    size = StudyWords(documents.facts).size()
    facts = [] if size is None else [("Collected", size)]
    facts += [] if scale is None else [("Scale", str(scale))]
    facts += [
        (name, f"{n} rows" + (f": {why}" if why else ""))
        for name, n, why in flow_rows(documents.facts.record)
    ]
    if facts:
        yield Facts(tuple(facts))
    yield from pictures.ratings(documents, suffix)


def _decision(documents: CriterionDocuments, suffix: str) -> Iterator[Block]:
    said = paragraphs(documents).get("Results")
    if said is None:
        return
    yield Paragraph(said)
    yield from pictures.effect(documents, suffix)
    yield from StudyWords(documents.facts).tables()


def _diagnostics(documents: CriterionDocuments, suffix: str) -> Iterator[Block]:
    """What the documents say on how far the result can be trusted."""
    study = documents.study
    rows = tuple(
        (
            name,
            f"{value:.3f}",
            *_intervals(name, entry),
        )
        for entry in listed(part(study, "agreement"), "between")
        if isinstance(entry, Mapping)
        and (name := words(entry, "measure"))
        and (value := number(entry, "value")) is not None
    )
    if rows:
        yield Table(("agreement of workers", "value", "these workers", "other workers"), rows)
    yield from pictures.agreement(documents, suffix)
    record = part(study, "diagnostics")
    said = [text for key in ("screening", "influence") if (text := words(record, key))]
    yield from map(Paragraph, said)
    if not said and documents.ratings is not None:
        from humeval_power.studies.analyze.diagnostics import screen_workers, screening_sentence

        yield Paragraph(screening_sentence(screen_workers(documents.ratings)))
    yield from pictures.workers(documents, suffix)


def _intervals(name: str, entry: Mapping[str, Any]) -> tuple[str, str]:
    """The interval of these workers, and the value of other workers with its own."""
    these, other = (
        " to ".join(f"{end:.3f}" for end in bounds(entry, claim) or ())
        for claim in ("interval", "interval_other")
    )
    if is_about_others(name):
        return "", other
    value = number(entry, "value_other")
    return these, f"{value:.3f} ({other})" if value is not None and other else ""


def refuse_nothing(criteria: tuple[CriterionDocuments, ...]) -> None:
    """Raise InputError where there is nothing to say."""
    if not criteria or not any(
        (each.study, each.plan, each.power, each.surface) != _NONE for each in criteria
    ):
        raise InputError(
            "There is nothing to report: give a plan, an analysis, or the parameters of a fit."
        )


_NONE = (NOTHING, None, None, None)
