"""How a table of texts to rate is read: what each column is taken for, put right on the page, and written as it is
read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from humeval_power.checking.columns import bare, listing, shortened
from humeval_power.checking.outputs import ITEM_COLUMNS, SOURCE_COLUMNS, TEXT_COLUMNS, outputs_of_table
from humeval_power.doors.page.requests import on_page
from humeval_power.doors.page.workspace.reading import ColumnShown, first_rows
from humeval_power.errors import InputError, Problem
from humeval_power.files.tables import read_table
from humeval_power.safe_text import table_csv
from humeval_power.saying.numbers import counted
from humeval_power.studies.plan.assignment import numbered

LEFT_OUT, ITEM, SOURCE, SYSTEM, WHICH, TEXT = "", "item", "source", "system", "which", "text"
_OF = "system:"  # of a role: the system of the study whose texts a column holds
ROLES: Mapping[str, str] = {
    LEFT_OUT: "left out",
    ITEM: "the name of the item",
    SOURCE: "what stands above: source text, prompt",
    SYSTEM: "the texts of a system",
    WHICH: "which system it is, row by row",
    TEXT: "the texts, row by row",
}
# What is above texts, as its column is often called; the first of them are read so without being asked.
_ABOVE = (*SOURCE_COLUMNS, "prompt", "input", "question", "article", "context", "src", "instruction")
_MOST_COLUMNS = 60


@dataclass(frozen=True, slots=True)
class TextsRead:
    """A table of texts, what each column is taken for, and what comes of it.

    names : of the systems of the study; none where nothing says them yet. roles : by the names of columns.
    is_as_it_is : whether the table says all that by itself. problems : why it cannot be read so.
    items : how many there are. systems : whose texts they are. above : the column of what stands above them.
    planned : how many items there should be; 0 where nobody has said it. is_sealed : whether a sealed plan says it.
    first : what a worker would see first: what stands above, and the text below.
    written : the table as it is read, where that was asked for.
    """

    source: str
    columns: tuple[ColumnShown, ...]
    head: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]
    roles: Mapping[str, str]
    is_as_it_is: bool = False
    problems: tuple[str, ...] = ()
    items: int = 0
    systems: tuple[str, ...] = ()
    above: str = ""
    planned: int = 0
    is_sealed: bool = False
    first: tuple[str, str] = ("", "")
    written: str = ""

    @property
    def misses(self) -> str:
        """That there are other items than were planned, and what to do; "" where there are as many."""
        if not self.items or not self.planned or self.items == self.planned:
            return ""
        whose = "the sealed plan" if self.is_sealed else "the study"
        here = f"{counted(self.items, 'item')} in the file, and {self.planned:,} in {whose}"
        if self.items > self.planned:
            return (
                f"{here}: have {self.planned:,} chosen, or take {self.items - self.planned:,} out of the file by a "
                "rule that does not look at how good the texts are."
            )
        return (
            f"{here}: bring the other {self.planned - self.items:,} too, or plan for {self.items:,}. With fewer "
            "items a difference is missed more often."
        )

    @property
    def said(self) -> str:
        """What comes of it, in a line."""
        above = f", with \u201c{self.above}\u201d above them" if self.above else ""
        return f"{counted(self.items, 'item')}, texts of {listing(list(self.systems), limit=8)}{above}"

    @property
    def kinds(self) -> Mapping[str, str]:
        """What a column can be: the texts of each system of the study by its name."""
        if not self.names:
            return ROLES
        named = {f"{_OF}{name}": f"the texts of {name}" for name in self.names}
        return {
            role: words
            for one in ROLES
            for role, words in (named.items() if one == SYSTEM else ((one, ROLES[one]),))
        }


def planned(plan: str) -> tuple[tuple[str, ...], int]:
    """The names of the systems in a sealed plan, a file or its folder, and how many items it has; none and 0 where
    it does not say it."""
    place = Path(plan, "plan.json") if Path(plan).is_dir() else Path(plan)
    try:
        study = json.loads(place.read_text("utf-8"))["study"]
        names, n_items = study["systems"], study.get("items")
        return (
            tuple(map(str, names)) if isinstance(names, list) else (),
            n_items if type(n_items) is int else 0,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return (), 0


def texts_read(path: str, names: Sequence[str], said: Mapping[str, str] | None = None) -> TextsRead:
    """How a table of texts is read for a study of systems of these names.

    said : what each column is, as somebody chose it; the table is written then, if it can be.
    Raises InputError: a table that cannot be read, or has too many columns.
    """
    table = read_table(path)
    frame = table.frame.fillna("").astype(str)
    frame.columns = [str(name) for name in frame.columns]
    if len(frame.columns) > _MOST_COLUMNS:
        rule = f"has {len(frame.columns)} columns, more than {_MOST_COLUMNS}."
        raise InputError([Problem(rule, "Leave out those that are no texts.", table.source)])
    roles = _proposed(frame, names) if said is None else {one: said.get(one, "") for one in frame.columns}
    shown = TextsRead(
        source=table.source,
        columns=tuple(_column(name, frame[name]) for name in frame.columns),
        head=tuple(first_rows(frame)),
        names=tuple(names),
        roles=roles,
    )
    problems = tuple(_missing(shown))
    if problems:
        return replace(shown, problems=problems)
    called = {ITEM: ITEM, SOURCE: SOURCE, WHICH: "system", TEXT: TEXT}
    made = pd.DataFrame(
        {ITEM: numbered("i", len(frame))}, index=frame.index
    )  # where no column names the items
    for name, role in roles.items():
        if role != LEFT_OUT:
            made[called.get(role) or (name if role == SYSTEM else role.removeprefix(_OF))] = frame[name]
    try:
        outputs = outputs_of_table(made, origin=table.source)
    except InputError as error:
        return replace(shown, problems=tuple(on_page(str(one)) for one in error.problems))
    wanted = [
        name if role == SYSTEM else role.removeprefix(_OF) for name, role in roles.items() if _is_wide(role)
    ]
    if wanted and set(outputs.systems) != set(wanted):
        words = f"A system cannot be called {listing([repr(one) for one in wanted], limit=4)} in a table of texts."
        return replace(shown, problems=(f"{words} Give the column another name in the file.",))
    if absent := [name for name in names if name not in outputs.systems]:
        return replace(shown, problems=(f"Which column holds the texts of {listing(absent)}?",))
    if more := [name for name in outputs.systems if names and name not in names]:
        words = f"The study compares {listing(list(names))}: leave out {listing(more, limit=8)}"
        return replace(shown, problems=(f"{words}, or call them so in the file.",))
    return replace(
        shown,
        is_as_it_is=_is_as_it_is(table.frame, outputs.texts, outputs.sources),
        items=len(outputs.items),
        systems=outputs.systems,
        above=next((name for name, role in roles.items() if role == SOURCE), ""),
        first=(
            outputs.sources.get(outputs.items[0], ""),
            outputs.texts[outputs.items[0], outputs.systems[0]],
        ),
        written=""
        if said is None
        else table_csv(made),  # whose reader takes the guards of formulas off again
    )


def _column(name: str, cells: pd.Series[str]) -> ColumnShown:
    samples = [shortened(text, width=48) for text in dict.fromkeys(cells.str.strip()) if text][:2]
    return ColumnShown(name, name, 1, tuple(samples))


def _proposed(frame: pd.DataFrame, names: Sequence[str]) -> dict[str, str]:
    """What each column is by its name: a system of the study, an item, a source; others are systems where nobody
    has named these."""
    known = {bare(name): name for name in names}
    by_bare = {bare(name): name for name in frame.columns}
    roles: dict[str, str] = {}
    text = next((by_bare[one] for one in TEXT_COLUMNS if one in by_bare), None)
    is_long = "system" in by_bare and text is not None
    item = next((by_bare[one] for one in ITEM_COLUMNS if one in by_bare), None)
    source = next((by_bare[one] for one in _ABOVE if one in by_bare and one not in known), None)
    for name in frame.columns:
        if is_long:
            roles[name] = WHICH if name == by_bare["system"] else TEXT if name == text else LEFT_OUT
        elif known:
            roles[name] = f"{_OF}{known[bare(name)]}" if bare(name) in known else LEFT_OUT
        else:
            roles[name] = SYSTEM
        if name == item:
            roles[name] = ITEM
        elif name == source:
            roles[name] = SOURCE
    return roles


def _missing(shown: TextsRead) -> Iterator[str]:
    """What is there twice, or not at all."""
    roles = list(shown.roles.values())
    for role in (ITEM, SOURCE, WHICH, TEXT, *(f"{_OF}{name}" for name in shown.names)):
        columns = [name for name, one in shown.roles.items() if one == role]
        if len(columns) > 1:
            yield f"{listing(columns)} cannot both be {shown.kinds[role]}: leave one out, or choose what it is."
    wide = [role for role in roles if _is_wide(role)]
    if (WHICH in roles) != (TEXT in roles) or (WHICH in roles and wide):
        yield (
            "A table has a column of texts for each system; or one column that says which system a row is of, and "
            "one with the texts."
        )
    elif WHICH not in roles and shown.names:
        absent = [name for name in shown.names if f"{_OF}{name}" not in roles]
        if absent:
            yield f"Which column holds the texts of {listing(absent)}?"
    elif WHICH not in roles and len(wide) < 2:
        yield "Which columns hold the texts of the systems? Two at least are compared."
    if WHICH in roles and ITEM not in roles:
        yield "Which column is the name of the item? It says which texts belong together."


def _is_wide(role: str) -> bool:
    """Whether a column holds the texts of one system."""
    return role == SYSTEM or role.startswith(_OF)


def _is_as_it_is(
    frame: pd.DataFrame, texts: Mapping[tuple[str, str], str], sources: Mapping[str, str]
) -> bool:
    try:
        before = outputs_of_table(frame, origin="")
    except InputError:
        return False
    return dict(before.texts) == dict(texts) and dict(before.sources) == dict(sources)
