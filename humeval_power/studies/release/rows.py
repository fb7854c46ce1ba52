"""What a release holds: rows and columns that may be published, and its README."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from humeval_power.checking.cells import MISSING_CODES, Codes, Ids, Mask, read_cells
from humeval_power.checking.columns import ROLES, Columns, Role, close_to, find_roles
from humeval_power.checking.rows import FlowStep, Rejected, Rows, read_rows, select_rows
from humeval_power.errors import InputError, Problem
from humeval_power.ratings import ratings_from_table
from humeval_power.safe_text import markdown_text
from humeval_power.saying.result import versions
from humeval_power.scales import RatingScale


@dataclass(frozen=True, slots=True, eq=False)
class ReleaseRows:
    """Ratings as text, one list for each column, all of one length and in the order of the file.

    `columns` are worker, item, system, rating, criterion (where there is one) and then the `extra`
    ones that were asked for; `left_out` names those that stay behind. `scales` has the scale of each
    criterion ('' without one), `original` the name that each column had in the file; `row_numbers`
    are those of the file, as a spreadsheet counts.
    """

    columns: Mapping[str, list[str]]
    extra: tuple[str, ...]
    left_out: tuple[str, ...]
    original: Mapping[str, str]
    row_numbers: tuple[int, ...]
    scales: Mapping[str, RatingScale]
    flow: tuple[FlowStep, ...]
    source: str

    @property
    def n_ratings(self) -> int:
        """Number of ratings."""
        return len(self.columns["rating"])

    def names(self, column: str) -> list[str]:
        """The different values of a column, sorted."""
        return sorted(set(self.columns[column]))


def release_rows(
    table: pd.DataFrame,
    *,
    named: Mapping[Role, str | None] | None = None,
    keep: Sequence[str] = (),
    criterion: str | None = None,
    systems: tuple[str, str] | None = None,
    scale: RatingScale | None = None,
    lower_is_better: bool = False,
    missing: Collection[str] = MISSING_CODES,
    rejected_rows: Rejected | None = None,
    source: str = "table",
) -> ReleaseRows:
    """Check every criterion of a table as an analysis would, and take from it what is to be released.

    Parameters
    ----------
    named : the column of each role; those left out are found by name.
    keep : columns to release besides those of the roles.
    rejected_rows : as in `ratings_from_table`: 'drop' leaves rejected and unfinished work out of the release.
    criterion, systems : release only these; None releases all.

    Raises
    ------
    InputError
        Every problem of the table, or a column that is not there.
    """
    table = table.set_axis([str(name).strip() for name in table.columns], axis=1)
    roles = dict(named or {})
    columns = find_roles(list(table.columns), named=roles, source=source)
    _check_kept(keep, columns, list(table.columns), source)
    rows = read_rows(table, columns, missing=missing, source=source)
    selection = select_rows(rows, criterion=criterion, systems=systems, rejected_rows=rejected_rows)
    scales: dict[str, RatingScale] = {}
    for name in _criteria(rows, selection.kept, source):
        checked = ratings_from_table(
            table,
            worker=columns.worker,
            item=columns.item,
            system=columns.system,
            rating=columns.rating,
            criterion_column=columns.criterion,
            criterion=name,
            systems=systems,
            scale=scale,
            lower_is_better=lower_is_better,
            missing=missing,
            rejected_rows=rejected_rows,
            require_pair=False,
            source=source,
        )
        scales[name or ""] = checked.scale
    texts = {str(role): _names(rows.ids[role], selection.kept) for role in rows.ids if role != "criterion"}
    ratings = [text.strip() for text in rows.cells.texts]
    texts["rating"] = _texts(ratings, rows.cells.code[selection.kept])
    if "criterion" in rows.ids:
        texts["criterion"] = _names(rows.ids["criterion"], selection.kept)
    for column in keep:
        cells = read_cells(table[column])
        texts[column] = _texts(cells.texts, cells.code[selection.kept])
    of_role = columns.of_role()
    taken = {*of_role.values(), *keep}
    return ReleaseRows(
        columns=texts,
        extra=tuple(keep),
        left_out=tuple(name for name in table.columns if name not in taken),
        original={**{str(role): name for role, name in of_role.items()}, **{name: name for name in keep}},
        row_numbers=tuple(rows.at["rating"].rows[selection.kept].tolist()),
        scales=scales,
        flow=selection.flow,
        source=source,
    )


def _criteria(rows: Rows, kept: Mask, source: str) -> list[str | None]:
    """The criteria that occur; [None] where the table has no column of them."""
    if "criterion" not in rows.ids or not kept.any():
        return [None]
    ids = rows.ids["criterion"]
    codes = np.unique(ids.code[kept])
    if codes[0] < 0 and len(codes) > 1:
        at = rows.at["criterion"]
        row = int(at.rows[np.flatnonzero(kept & (ids.code < 0))[0]])
        rule = "the criterion is blank, but there is a rating."
        raise InputError([Problem(rule, "Fill it in, or delete the row.", source, row, at.column)])
    return [ids.names[code] if code >= 0 else None for code in codes]


def _check_kept(keep: Sequence[str], columns: Columns, known: list[str], source: str) -> None:
    of_role = columns.of_role()
    problems = []
    for name in keep:
        if name not in known:
            problems.append(
                Problem(f"there is no column {name!r}, which --keep names.", close_to(name, known), source)
            )
        elif name in of_role.values():
            role = next(role for role, column in of_role.items() if column == name)
            problems.append(Problem(f"column {name!r} is released as the {role} anyway.", "", source))
        elif name in ROLES:
            rule = f"column {name!r} would be mistaken for the {name}, which is {of_role.get(name)!r} here."
            problems.append(Problem(rule, "Rename it in the table.", source))
    if len(set(keep)) < len(keep):
        problems.append(Problem("--keep names a column twice.", "", source))
    if problems:
        raise InputError(problems)


def _names(ids: Ids, kept: Mask) -> list[str]:
    return _texts((*ids.names, ""), ids.code[kept])  # -1, of a blank cell, is the last


def _texts(texts: Sequence[str], codes: Codes) -> list[str]:
    """The text of each code."""
    result: list[str] = np.array(texts, dtype=object)[codes].tolist()
    return result


# The README of a release: columns, scales, how the rows came about, how ids were made, licence.

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
        "## Licence\n\n"
        + (
            markdown_text(contents.licence)
            if contents.licence
            else "**Not stated.** Ask the authors before you reuse the ratings."
        ),
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
