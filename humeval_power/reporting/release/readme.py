"""The README of a release: columns, scales, how the rows came about, how ids were made, licence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from humeval_power.reporting.records import versions
from humeval_power.reporting.release.rows import ReleaseRows
from humeval_power.safe_text import markdown_text

_MEANING = {
    "worker": "who rated; a pseudonym",
    "item": "what was rated, the same under every system",
    "system": "what produced the output that was rated",
    "rating": "the rating on the scale below",
    "criterion": "what the rating is about",
}
_KNOWN = {
    "parameters.json": "the parameters of the variation between workers and items, to plan the next study from: "
    "`humeval-power power --parameters parameters.json ...`",
    "plan.json": "the plan of the study, made before collection",
}


@dataclass(frozen=True, slots=True)
class Contents:
    """What the README says about the bundle around the rows."""

    pseudonymised: tuple[str, ...]
    documents: tuple[str, ...]
    n_formulas: Mapping[str, int]
    licence: str | None


def readme(rows: ReleaseRows, contents: Contents) -> str:
    """The README in Markdown; any name in it is shown as it is."""
    blocks = [
        "# Ratings of a human evaluation",
        _sizes(rows),
        "## Licence\n\n" + _licence(contents.licence),
        "## Files\n\n" + _files(contents.documents),
        "## Columns of ratings.csv\n\n" + _columns(rows, contents),
        "## Scale\n\n" + _scales(rows),
        "## From the ratings collected to those released\n\n" + _flow(rows),
        "## Ids and order\n\n" + _ids(contents),
        "## Versions\n\n"
        + "\n".join(f"- {markdown_text(name)} {markdown_text(text)}" for name, text in versions().items()),
    ]
    return "\n\n".join(blocks) + "\n"


def _sizes(rows: ReleaseRows) -> str:
    counts = [f"{rows.n_ratings:,} ratings"]
    counts += [
        f"{len(rows.names(kind)):,} {plural}"
        for kind, plural in (
            ("worker", "workers"),
            ("item", "items"),
            ("system", "systems"),
            ("criterion", "criteria"),
        )
        if kind in rows.columns
    ]
    return ", ".join(counts) + "."


def _licence(licence: str | None) -> str:
    return (
        markdown_text(licence)
        if licence
        else "**Not stated.** Ask the authors before you reuse the ratings."
    )


def _files(documents: Sequence[str]) -> str:
    lines = ["- `ratings.csv`: the ratings, one a row; UTF-8, commas, a header row"]
    lines += [f"- {markdown_text(name)}: {_KNOWN.get(name, 'added by the authors')}" for name in documents]
    return "\n".join([*lines, "- `SHA256SUMS`: checksums; check them with `sha256sum --check SHA256SUMS`"])


def _columns(rows: ReleaseRows, contents: Contents) -> str:
    table = [("column", "different values", "meaning")]
    for name in rows.columns:
        meaning = _MEANING.get(name, "kept as it was collected")
        if name in contents.pseudonymised and name != "worker":
            meaning += "; a pseudonym"
        table.append((markdown_text(name), f"{len(rows.names(name)):,}", meaning))
    text = _table(table)
    if rows.left_out:
        listed = ", ".join(markdown_text(name) for name in rows.left_out)
        text += f"\n\nColumns of the original table that were left out: {listed}."
    return text


def _scales(rows: ReleaseRows) -> str:
    table = [("criterion", "scale", "known from")]
    table += [
        (
            markdown_text(name) or "-",
            markdown_text(str(scale)),
            "the authors" if scale.source == "declared" else "the ratings that occur",
        )
        for name, scale in rows.scales.items()
    ]
    return _table(table)


def _flow(rows: ReleaseRows) -> str:
    table = [("step", "rows", "reason")]
    words = {"read": "in the table", "dropped": "dropped", "analysed": "released"}
    table += [(words[step.step], f"{step.rows:,}", markdown_text(step.reason)) for step in rows.flow]
    return _table(table)


def _ids(contents: Contents) -> str:
    kinds = " and ".join(f"{kind} ids" for kind in contents.pseudonymised)
    text = (
        f"The {kinds} are pseudonyms, made with a secret key (HMAC-SHA256); the same id has the same pseudonym "
        "everywhere in this bundle. The rows stand in an order made with the same key, not in that of collection."
    )
    if contents.n_formulas:
        listed = ", ".join(
            f"{markdown_text(name)} ({count:,})" for name, count in contents.n_formulas.items()
        )
        text += (
            "\n\nCells that a spreadsheet would run as a formula have an apostrophe in front: "
            f"{listed}. Take the one apostrophe away to get the original."
        )
    return text


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])
