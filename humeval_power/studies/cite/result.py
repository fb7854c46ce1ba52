"""What to cite: the program, and the methods that records say were used, as entries of BibTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import Any, ClassVar

from humeval_power.choices import CORRECTIONS
from humeval_power.references import REFERENCES, Reference, citation_key, reference
from humeval_power.safe_text import bibtex_text, latex_text
from humeval_power.saying.document import Document, Listing, Section, Table
from humeval_power.saying.numbers import counted
from humeval_power.saying.result import UNKNOWN, Provenance, Record, Result

# Which works a record of the package rests on, by what it says was done.

Uses = dict[str, str]  # what a work was used for, by how texts name it
_POWER = {"power", "mde", "size", "surface", "plan"}
_REML = ("Patterson and Thompson 1971", "estimates of the variances (REML)")
_EQUIVALENCE = ("Schuirmann 1987", "two one-sided tests of equivalence")
_INTERVALS = ("Jennison and Turnbull 1989", "intervals that hold at every look")
_CARD = "Card et al. 2020"
_HEDS = "Belz and Thomson 2024"
_DF: Mapping[object, tuple[str, str]] = {
    "kenward-roger": ("Kenward and Roger 1997", "standard errors and degrees of freedom of the tests"),
    "satterthwaite": ("Satterthwaite 1946", "degrees of freedom of the tests"),
}
_CORRECTIONS: Mapping[object, tuple[str, str]] = {
    name: (each.source, each.words) for name, each in CORRECTIONS.items() if each.source
}
_BOUNDARIES = (
    ("lan-demets", "Lan and DeMets 1983"),
    ("obrien-fleming", "O'Brien and Fleming 1979"),
    ("pocock", "Pocock 1977"),
    ("wang-tsiatis", "Wang and Tsiatis 1987"),
    ("haybittle", "Haybittle 1971"),
    ("hwang-shih-decani", "Hwang, Shih and De Cani 1990"),
    ("hwang-shih-decani", "Lan and DeMets 1983"),
    ("kim-demets", "Kim and DeMets 1987"),
    ("kim-demets", "Lan and DeMets 1983"),
)
_AGREEMENT = {
    "Krippendorff": ("Krippendorff 2004", "agreement of workers"),
    "intraclass correlation, ": ("McGraw and Wong 1996", "reliability of ratings"),
    "ICC(1,1)": ("Shrout and Fleiss 1979", "agreement of workers with themselves"),
}
_SIGNED: Mapping[str, tuple[str, str]] = {  # what an entry of a signature says was done
    "model:ppi++": ("Angelopoulos, Duchi and Zrnic 2023", "the estimate with a judge's help"),
    "model:bradley-terry": ("Bradley and Terry 1952", "strengths from pairwise battles"),
    "ties:davidson": ("Davidson 1970", "ties of battles"),
    "ties:rao-kupper": ("Rao and Kupper 1967", "ties of battles"),
    "df:kr": _DF["kenward-roger"],
    "corr:holm": _CORRECTIONS["holm"],
    "corr:max-t": _CORRECTIONS["max-t"],
    "test:mann-whitney": ("Mann and Whitney 1947", "the test of two samples by ranks"),
    "test:welch": ("Welch 1947", "the test of two means"),
    "test:wilcoxon": ("Wilcoxon 1945", "the test of differences by their ranks"),
    **dict.fromkeys(
        ("test:bootstrap", "test:bootstrap-t", "test:bootstrap-median"),
        ("Efron and Tibshirani 1993", "the test by resampling"),
    ),
}
_MIXED = {"model:lmm+judge", "kind:crossed"}  # there clusters are a random effect


def works_used(record: Mapping[str, Any]) -> dict[Reference, str]:
    """The works that a record rests on, each with what it was used for, in the order of its parts."""
    uses: Uses = {}
    kind = "".join(str(record.get("schema", "")).split("/")[1:2]).split("_")
    if set(kind) & _POWER:
        uses[_CARD] = "power of human evaluations under a mixed model"
    if kind[:2] == ["runs", "test"]:
        uses |= dict(_of_runs(record))
    if "accuracy" in kind:
        uses["McNemar 1947"] = "the test of two classifiers on the same items"
    if any(str(name).startswith("heds-") for name in record):
        uses[_HEDS] = "the datasheet"
    for part in _parts(record):
        for name, use in (*_of_part(part), *_of_signature(str(part.get("signature", "")))):
            uses.setdefault(name, use)
    if kind == ["plan"] and "looks" in (study := record.get("study", {})):
        uses |= dict(_of_looks(str(study.get("efficacy"))))
        if "stop_when" in study:
            uses.setdefault(*_INTERVALS)
        if "comparisons" in study:
            uses["Maurer and Bretz 2013"] = "steps over comparisons at the planned looks"
    return {reference(name): use for name, use in uses.items()}


def _of_runs(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if record.get("kind") == "nested":
        yield "Miller 2024", "the split of the error between items and generations"
    else:
        yield _DF["kenward-roger"]
        yield _REML
    if len(record.get("rows") or ()) > 1:
        yield _CORRECTIONS["holm"]
    if record.get("alternative") == "equivalent":
        yield _EQUIVALENCE


def _of_signature(signature: str) -> Iterator[tuple[str, str]]:
    """What the line for a paper says was done."""
    entries = signature.split("|")
    yield from (_SIGNED[entry] for entry in entries if entry in _SIGNED)
    if any(entry.startswith("cluster:") for entry in entries) and _MIXED.isdisjoint(entries):
        yield "Bell and McCaffrey 2002", "standard errors and degrees of freedom of items in clusters"
        if "test:mann-whitney" in entries:
            yield "Brunner and Munzel 2000", "the test of ranks where variances differ"
            yield "Obuchowski 1997", "ranks of ratings in clusters"


def _parts(value: object) -> Iterator[Mapping[str, Any]]:
    """Every table of a record, outer ones first."""
    if isinstance(value, Mapping):
        yield value
        value = list(value.values())
    for inner in value if isinstance(value, list) else ():
        yield from _parts(inner)


def _of_part(part: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if {"estimator", "df", "alternative"} <= part.keys():
        if part["estimator"] == "reml":
            yield _REML
        if part["df"] in _DF:
            yield _DF[part["df"]]
        if part["alternative"] == "equivalent":
            yield _EQUIVALENCE
    if "correction" in part and "n_tests" in part:
        yield from _of_family(part)
    if part.get("groups") and "pairs" in part:
        yield "Piepho 2004", "letters of systems that are not told apart"
    if part.get("engine") == "lme4":
        yield "Bates et al. 2015", "the fit of the model"
        yield "Kuznetsova, Brockhoff and Christensen 2017", "the tests of the model"
    if part.get("type_m") is not None or part.get("type_s") is not None:
        yield "Gelman and Carlin 2014", "type M and type S errors"
    if "n_simulations" in part and "power_low" in part:
        yield "Wilson 1927", "Monte Carlo interval of the power"
    if "efficacy" in part and "shares" in part:
        yield from _of_looks(str(part["efficacy"]))
    if "stop_when" in part or {"half_width", "reason", "bias"} <= part.keys():
        yield _INTERVALS
    for word, cited in _AGREEMENT.items():
        if word in str(part.get("measure", "")) and part.get("value") is not None:
            yield cited
    if part.get("best_margin") is not None:
        yield "Hsu 1984", "comparisons with the best"
    forms = (part.get("form"), *(part.get("forms") or ()))
    if "heds" in forms:
        yield _HEDS, "the datasheet"
    if "card2020" in forms:
        yield _CARD, "the checklist"


def _of_family(family: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    correction = family["correction"]
    if correction not in _CORRECTIONS or not (family["n_tests"] or 0) > 1:
        return
    yield _CORRECTIONS[correction]
    if correction == "max-t" and family.get("comparisons") == "baseline":
        yield "Dunnett 1955", "comparisons with one baseline"
    if correction == "max-t" and family.get("variances") == "own":
        yield "Hasler and Hothorn 2008", "the same where each system has variances of its own"


def _of_looks(boundary: str) -> Iterator[tuple[str, str]]:
    return ((name, "boundaries of the planned looks") for word, name in _BOUNDARIES if word in boundary)


# Works as entries of BibTeX.

_VERBATIM = ("doi", "url", "eprint", "archiveprefix")  # what programs read, and no line may break
_PLAIN = re.compile(r"[A-Za-z0-9./:_()-]+")


def entry(work: Reference) -> str:
    """One entry; accents are commands, so that every BibTeX reads it."""
    fields: Mapping[str, str] = {
        "author": " and ".join(map(_author, work.authors)),
        "title": f"{{{_typeset(work.title)}}}",  # capitals are kept by a second pair of braces
        **{name: _field(name, text) for name, text in work.details.items() if text},
        "year": str(work.year),
    }
    lines = [f"  {name} = {{{text}}}," for name, text in fields.items()]
    return "\n".join([f"@{work.kind}{{{work.key},", *lines, "}"])


def _typeset(text: str) -> str:
    """A text whose apostrophes are those of print: the other one is a command that not every program reads."""
    return bibtex_text(text.replace("'", "\u2019"))


def _author(name: str) -> str:
    """'Family, Given'; what has no comma is one name, of a group."""
    text = _typeset(name)
    return text if "," in name else f"{{{text}}}"


def _field(name: str, text: str) -> str:
    if name == "pages":
        return bibtex_text(text.replace("-", "\u2013"))
    if name not in _VERBATIM:
        return bibtex_text(text)
    assert _PLAIN.fullmatch(text), text
    return text


@dataclass(frozen=True, kw_only=True)
class Citations(Result):
    """Works and what each was used for, the program first."""

    schema: ClassVar[str] = "humeval_power/citations/1"
    endings: ClassVar[tuple[str, ...]] = (".bib",)
    printed_as: ClassVar[str] = ".bib"
    uses: Mapping[Reference, str]
    provenance: Provenance = UNKNOWN

    @property
    def bibtex(self) -> str:
        """The entries."""
        return "\n\n".join(map(entry, self.uses)) + "\n"

    def artefact(self, ending: str) -> str:  # noqa: ARG002
        texts = (f"% {work.named}: {use}.\n{entry(work)}" for work, use in self.uses.items())
        return "\n\n".join(texts) + "\n"

    def body(self) -> Document:
        rows = tuple((work.named, work.key, use) for work, use in self.uses.items())
        return Document(
            "What to cite",
            lead=f"{counted(len(rows), 'work')} to cite.",
            sections=(
                Section("", (Table(("work", "key", "used for"), rows, in_words=True),)),
                Section("BibTeX", (Listing(self.bibtex.rstrip("\n")),)),
            ),
        )

    def content(self) -> Record:
        return {
            "rows": [
                {"work": work.named, "key": work.key, "used_for": use, "bibtex": entry(work)}
                for work, use in self.uses.items()
            ]
        }


# Works that a LaTeX text names in words, as citations that a paper may set in its own way.

# Without a bibliography the words stay: a paper defines the command before, to cite by the key.
CITE_COMMAND = "\\providecommand{\\humevalcite}[2]{#2}\n"
_NAMED = {latex_text(said): work for work in REFERENCES for said in (work, f"{work[:-5]} ({work[-4:]})")}
_WORDS = re.compile("|".join(map(re.escape, sorted(_NAMED, key=len, reverse=True))))


def with_citations(tex: str) -> str:
    """The text with each work that it names as \\humevalcite{key}{words}."""
    return _WORDS.sub(lambda match: f"\\humevalcite{{{citation_key(_NAMED[match[0]])}}}{{{match[0]}}}", tex)


def cite(*records: Mapping[str, Any], everything: bool = False) -> Citations:
    """Say what to cite for the numbers of these records, as BibTeX.

    Parameters
    ----------
    records : what `record()` of a result gives and the commands write: of a fit, an analysis, a plan, a power;
        without any, the program alone.
    everything : whether all works are given that the package can cite.

    Returns
    -------
    Citations
        `bibtex` are the entries; `uses` says what each work was used for.
    """
    uses: dict[Reference, str] = {}
    for record in records:
        uses = works_used(record) | uses
    if everything:
        uses = {work: uses.get(work, "") for work in REFERENCES.values()}
    ordered = {work: uses[work] for work in sorted(uses, key=lambda work: (work.families, work.year))}
    return Citations(uses={_program(records): "planning, analysis and reporting", **ordered})


def _program(records: tuple[Mapping[str, Any], ...]) -> Reference:
    """The program in the version that made the records; where there are none, in the one that runs."""
    about = metadata.metadata("humeval-power")
    made = [(record.get("versions") or {}).get("humeval-power") for record in records]
    known = sorted({str(version) for version in made if version}) or [about["Version"]]
    return Reference(
        "misc",
        ("The humeval_power authors",),
        2026,  # of the copyright
        f"humeval-power: {about['Summary']}",
        {
            "howpublished": "Python package",
            "note": f"Version{'' if len(known) == 1 else 's'} {' and '.join(known)}",
        },
        own_key="humeval-power",
    )
