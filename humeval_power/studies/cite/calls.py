"""What to cite: the program, and the methods that records say were used."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from humeval_power.references import Reference
    from humeval_power.studies.cite.result import Citations

_FIRST_YEAR = 2026  # of the copyright


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
    from humeval_power.references import REFERENCES
    from humeval_power.studies.cite.result import Citations, works_used

    reference: dict[Reference, str] = {}
    for record in records:
        for work, use in works_used(record).items():
            reference.setdefault(work, use)
    if everything:
        reference = {work: reference.get(work, "") for work in REFERENCES.values()}
    ordered = {
        work: reference[work] for work in sorted(reference, key=lambda work: (work.families, work.year))
    }
    return Citations(uses={_program(records): "planning, analysis and reporting", **ordered})


def _program(records: tuple[Mapping[str, Any], ...]) -> Reference:
    """The program in the version that made the records; where there are none, in the one that runs."""
    from humeval_power.references import Reference

    about = metadata.metadata("humeval-power")
    made = [(record.get("versions") or {}).get("humeval-power") for record in records]
    known = sorted({str(version) for version in made if version}) or [about["Version"]]
    return Reference(
        "misc",
        ("The humeval_power authors",),
        _FIRST_YEAR,
        f"humeval-power: {about['Summary']}",
        {
            "howpublished": "Python package",
            "note": f"Version{'' if len(known) == 1 else 's'} {' and '.join(known)}",
        },
        own_key="humeval-power",
    )
