"""Paragraphs and a table for a paper; in LaTeX a fragment to input into it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

from humeval_power.safe_text import PREAMBLE, latex_text
from humeval_power.saying.document import Block, Document, Paragraph, Picture, Section, Table
from humeval_power.saying.render.latex import COLUMN, PACKAGES, bare_float, latex_signature
from humeval_power.saying.result import Record
from humeval_power.studies.cite.result import CITE_COMMAND, with_citations
from humeval_power.studies.report.documents import CriterionDocuments
from humeval_power.studies.report.fact_record import findings_over
from humeval_power.studies.report.fact_words import StudyWords
from humeval_power.studies.report.page_pictures import suffix_of, systems_pictures
from humeval_power.studies.report.paragraphs import paragraphs, results_heading, signature_of
from humeval_power.studies.report.result import Report

TITLE = "Human evaluation: methods and results"
_OF_PILOT = (
    "WARNING: these are the ratings of the pilot that the plan was made from; the paragraphs tell them as "
    "the study's result. Give the analysis of the study's own ratings."
)
LABEL, FIGURE_LABEL = "tab:human-evaluation", "fig:human-evaluation"


_MOST_ROWS = 40  # of a table that fits on a page


def paper_latex(*criteria: CriterionDocuments, label: str = LABEL) -> str:
    """A fragment to input into a paper that loads `PACKAGES`: paragraphs, tables and pictures of results."""
    graphics = ", for pictures \\usepackage{graphicx}" if _figures(criteria) else ""
    blocks = [
        f"% Needs {PACKAGES}{graphics} and, for all names to print, \\usepackage[T1]{{fontenc}}.\n"
        f"{COLUMN}{PREAMBLE}{CITE_COMMAND.rstrip()}"
    ]
    tables, figures = _labelled_tables(criteria, label), _figures(criteria)
    referred = {
        results_heading(each, criteria): _references(each, tables, figures, place)
        for place, each in enumerate(criteria)
    }
    blocks += [
        rf"\paragraph{{{latex_text(heading)}.}} {with_citations(latex_text(text))}{referred.get(heading, '')}"
        for heading, text in paragraphs(*criteria).items()
    ]
    if signature := paper_signature(criteria):
        blocks.append(latex_signature(signature))
    blocks += [bare_float(one.table, caption=one.table.caption, label=one.label) for one in tables]
    blocks += [figure.float() for figure in figures]
    return "\n\n".join(blocks) + "\n"


class _Labelled(NamedTuple):
    """A table as a float: of which criterion it is, and its label. `starts` what others continue."""

    place: int
    table: Table
    label: str
    starts: bool


class _Figure(NamedTuple):
    """A picture of a criterion, which lies in the folder of the study's page."""

    place: int
    picture: Picture
    label: str

    @property
    def file(self) -> str:
        return f"{self.picture.name}.png"

    def float(self) -> str:
        """The picture as a float, where its file lies beside the paper."""
        return (
            f"\\IfFileExists{{{self.file}}}{{\\begin{{figure}}[htbp]\n\\centering\n"
            f"\\includegraphics[width=\\linewidth]{{{self.file}}}\n"
            f"\\caption{{{latex_text(self.picture.words)}}}\n\\label{{{self.label}}}\n\\end{{figure}}}}{{}}"
        )


def _labelled_tables(criteria: Sequence[CriterionDocuments], label: str) -> list[_Labelled]:
    labelled: list[_Labelled] = []
    for place, tables in enumerate(paper_tables(criteria)):
        for table in tables:
            for number, page in enumerate(_pages(table)):
                own = f"{label}-{len(labelled) + 1}" if labelled else label
                labelled.append(_Labelled(place, page, own, number == 0))
    return labelled


def _figures(criteria: Sequence[CriterionDocuments]) -> list[_Figure]:
    drawn = [
        (place, picture)
        for place, each in enumerate(criteria)
        if each.facts.is_of_several
        for picture in systems_pictures(each, suffix_of(place + 1, len(criteria)))
    ]
    return [
        _Figure(place, picture, f"{FIGURE_LABEL}-{number}")
        for number, (place, picture) in enumerate(drawn, start=1)
    ]


def _references(
    documents: CriterionDocuments, tables: Sequence[_Labelled], figures: Sequence[_Figure], place: int
) -> str:
    """Where the findings and the differences of several systems are; those of all criteria may be in one table."""
    own = [one for one in tables if one.starts and (one.place == place or one.table.spans)]
    if not documents.facts.is_of_several or not own:
        return ""
    named = " and ".join(f"Table~\\ref{{{one.label}}}" for one in own)
    shown = (figure for figure in figures if figure.place == place)
    return f" See {named}." + "".join(
        f"\\IfFileExists{{{figure.file}}}{{ See Figure~\\ref{{{figure.label}}}.}}{{}}" for figure in shown
    )


def paper_signature(criteria: Sequence[CriterionDocuments]) -> str:
    """The signature that all criteria share; empty where there is none."""
    signatures = {signature_of(each) or "" for each in criteria}
    return signatures.pop() if len(signatures) == 1 else ""


def paper_tables(criteria: Sequence[CriterionDocuments]) -> tuple[tuple[Table, ...], ...]:
    """The tables of results of each criterion under their captions; none where nothing was estimated.

    Findings of several systems stand in one table for all criteria, with the first of them.
    """
    of_each = [StudyWords(each.facts) for each in criteria]
    together = findings_over([each.facts for each in criteria], of_each[0].compared())
    if len(criteria) == 1 or together is None:
        return tuple(
            tuple(
                table if table.caption else replace(table, caption=said.caption())
                for table in said.tables()
            )
            for said in of_each
        )
    further = [said.tables()[1:] for said in of_each]
    return ((together, *further[0]), *further[1:])


def _pages(table: Table) -> Iterator[Table]:
    """The table, or its rows on as many pages as they need."""
    for start in range(0, len(table.rows), _MOST_ROWS):
        caption = f"{table.caption} Continued." if start else table.caption
        yield replace(table, rows=table.rows[start : start + _MOST_ROWS], caption=caption)


@dataclass(frozen=True, kw_only=True)
class PaperReport(Report):
    """Paragraphs and tables for a paper, on one criterion or several; in .tex a fragment to input into it."""

    endings: ClassVar[tuple[str, ...]] = (".tex",)
    form: ClassVar[str] = "paper"
    criteria: tuple[CriterionDocuments, ...]

    def body(self) -> Document:
        blocks: dict[str, list[Block]] = {
            name: [Paragraph(text)] for name, text in paragraphs(*self.criteria).items()
        }
        for each, tables in zip(self.criteria, paper_tables(self.criteria), strict=True):
            if tables:
                blocks.setdefault(results_heading(each, self.criteria), []).extend(tables)
        return Document(
            TITLE,
            sections=tuple(Section(name, tuple(shown)) for name, shown in blocks.items()),
            signature=paper_signature(self.criteria),
        )

    def content(self) -> Record:
        return {
            "form": self.form,
            "paragraphs": paragraphs(*self.criteria),
            "rows": [
                {**named, **dict(zip(table.header, row, strict=True))}
                for each, tables in zip(self.criteria, paper_tables(self.criteria), strict=True)
                for named in [{} if len(self.criteria) == 1 else {"criterion": each.criterion}]
                for table in tables
                for row in table.rows
            ],
            "signature": paper_signature(self.criteria) or None,
        }

    def artefact(self, ending: str) -> str:  # noqa: ARG002
        return paper_latex(*self.criteria)

    def files(self) -> Mapping[str, str]:
        return {"paper.tex": self.artefact(".tex")}

    @property
    def remarks(self) -> tuple[str, ...]:
        return (_OF_PILOT,) if any(each.is_of_pilot for each in self.criteria) else ()
