"""The outputs that are to be rated: one text for each item under each system, checked as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from humeval_power.checking.columns import ITEM_NUMBERS, bare, listing
from humeval_power.errors import InputError, Problem, refusal, refuse
from humeval_power.safe_text import shell_word

TEXT_COLUMNS = ("text", "output")  # what the column of texts may be called, in a table of one output a row
SOURCE_COLUMNS = ("source", "document")  # what stands above an output
ITEM_COLUMNS = ("item", "itemid", *map(bare, ITEM_NUMBERS))
_SHOWN = 8  # problems of one kind


@dataclass(frozen=True, slots=True)
class Outputs:
    """What systems have made of items.

    `texts` are by item and system; `sources` are what stands above the outputs of an item (the article, the
    question), empty where nothing does. `named` says whether the items have names of their own, or go by number.
    """

    origin: str
    items: tuple[str, ...]
    systems: tuple[str, ...]
    texts: Mapping[tuple[str, str], str]
    sources: Mapping[str, str] = field(default_factory=dict)
    named: bool = True

    def __post_init__(self) -> None:
        """Refuse outputs that are missing or empty.

        Raises
        ------
        InputError
            Every item that a system has no output of.
        """
        absent = [
            (item, system)
            for item in self.items
            for system in self.systems
            if not self.texts.get((item, system), "").strip()
        ]
        if absent:
            raise InputError(first_problems(self.origin, [_absent(self.origin, *one) for one in absent]))

    def of_items(self, items: Sequence[str]) -> Outputs:
        """The outputs of some of the items, in this order.

        Raises
        ------
        InputError
            Items that it has no outputs of, all of them.
        """
        known = set(self.items)
        absent = [repr(name) for name in items if name not in known]
        if absent:
            rule = f"has no outputs of the item{_plural(absent)} {listing(absent, limit=_SHOWN)}."
            raise refusal(rule, f"It has {_those('item', self.items)}.", self.origin)
        texts = {(item, name): self.texts[item, name] for item in items for name in self.systems}
        sources = {item: self.sources[item] for item in items if item in self.sources}
        return replace(self, items=tuple(items), texts=texts, sources=sources)

    def check(self, items: Sequence[str], systems: Sequence[str]) -> None:
        """See that these are the outputs of just these items and systems.

        Raises
        ------
        InputError
            Items or systems that are on one side alone, all of them.
        """
        problems = []
        renamed = len(systems) == len(self.systems) and not set(systems) & set(self.systems)
        if renamed:
            names = shell_word(",".join(self.systems))
            rule = f"calls the systems {listing(self.systems)}, and the assignment {listing(systems)}."
            problems.append(
                Problem(rule, f"Call them alike, in the same order: --systems {names}", self.origin)
            )
        for what, wanted, values in (("item", items, self.items), ("system", systems, self.systems)):
            if renamed and what == "system":
                continue
            without = [repr(name) for name in wanted if name not in values]
            extra = [repr(name) for name in values if name not in wanted]
            if without:
                rule = f"has no outputs of the {what}{_plural(without)} {listing(without, limit=_SHOWN)}."
                problems.append(Problem(rule, f"It has {_those(what, values)}.", self.origin))
            if extra:
                rule = f"has outputs of the {what}{_plural(extra)} {listing(extra, limit=_SHOWN)}, "
                remedy = f"Leave them out, or assign them; the assignment has {_those(what, wanted)}."
                if what == "system":
                    above = f"Call a column {SOURCE_COLUMNS[0]!r} if it stands above the outputs"
                    remedy = f"{remedy} {above}, as a prompt does."
                problems.append(Problem(f"{rule}not in the assignment.", remedy, self.origin))
        refuse(problems)


def outputs_of_table(frame: pd.DataFrame, *, origin: str) -> Outputs:
    """Outputs out of a table of text: a column for each system, or one output a row.

    frame : its index counts rows as the file does. A column is called item. In a table of one output a row one is
        called system and one text (or output). Source (or document) is what stands above the outputs of an item.

    Raises
    ------
    InputError
        Columns that are missing, blank items, an output that stands twice, sources of an item that differ, or
        missing outputs: all of it.
    """
    cells = frame.fillna("").astype(str)
    names = {bare(str(name)): str(name) for name in frame.columns}
    cells.columns = [str(name) for name in frame.columns]
    rows = list(map(int, frame.index))
    item, above = _one_of(names, ITEM_COLUMNS), [names[name] for name in SOURCE_COLUMNS if name in names]
    problems = []
    if item is None:
        rule, remedy = "no column says which item a row is.", "Call one 'item'."
        problems.append(Problem(rule, f"{remedy} There are {listing(list(cells.columns))}.", origin))
    if len(above) > 1:
        rule = f"both {above[0]!r} and {above[1]!r} would stand above an output."
        problems.append(Problem(rule, "Keep one of them.", origin))
    if problems or item is None:
        raise InputError(problems)
    source = above[0] if above else None
    text = _one_of(names, TEXT_COLUMNS)
    long: list[tuple[int, str, str, str]]
    if "system" in names and text is not None:
        long = list(zip(rows, cells[item], cells[names["system"]], cells[text], strict=True))
    else:
        systems = [name for name in cells.columns if name not in (item, source)]
        long = [
            (row, name, system, output)
            for system in systems
            for row, name, output in zip(rows, cells[item], cells[system], strict=True)
        ]
    sources = [] if source is None else list(zip(rows, cells[item], cells[source], strict=True))
    return _together(long, sources, origin)


def _together(
    long: Sequence[tuple[int, str, str, str]], sources: Sequence[tuple[int, str, str]], origin: str
) -> Outputs:
    """Outputs of rows (row, item, system, text) and (row, item, source)."""
    problems = list(_blank(long, origin))
    texts: dict[tuple[str, str], str] = {}
    for row, item, system, text in long:
        if (item.strip(), system.strip()) in texts:
            rule = f"item {item!r} has a second output of {system!r}."
            problems.append(Problem(rule, "Keep one.", origin, row))
        else:
            texts[item.strip(), system.strip()] = text
    above: dict[str, str] = {}
    for row, item, source in sources:
        if above.setdefault(item.strip(), source) != source:
            rule = f"item {item!r} has another source than in an earlier row."
            problems.append(Problem(rule, "Give all outputs of an item the same source.", origin, row))
    items = tuple(dict.fromkeys(item for item, _ in texts if item))
    systems = tuple(dict.fromkeys(system for _, system in texts if system))
    if not systems:
        rule = "no column holds the outputs of a system."
        problems.append(Problem(rule, "Give each system a column, or write item, system, text.", origin))
    problems = first_problems(origin, problems)
    if problems:
        try:
            Outputs(origin, items, systems, texts, above)
        except InputError as error:
            problems += error.problems
        raise InputError(problems)
    return Outputs(origin, items, systems, texts, above)


def _blank(long: Sequence[tuple[int, str, str, str]], origin: str) -> Iterator[Problem]:
    seen = set()
    for row, item, system, _ in long:
        for what, name in (("item", item), ("system", system)):
            if not name.strip() and (row, what) not in seen:
                seen.add((row, what))
                yield Problem(f"the {what} is blank.", "Name it, or leave the row out.", origin, row)


def _absent(origin: str, item: str, system: str) -> Problem:
    return Problem(f"item {item!r} has no output of {system!r}, or an empty one.", "", origin)


def first_problems(origin: str, problems: list[Problem]) -> list[Problem]:
    """The first of many problems, and how many there are."""
    if len(problems) <= _SHOWN:
        return problems
    return [*problems[:_SHOWN], Problem(f"{len(problems):,} such problems in all.", "", origin)]


def _one_of(names: Mapping[str, str], wanted: Sequence[str]) -> str | None:
    return next((names[name] for name in wanted if name in names), None)


def _plural(names: Sequence[str]) -> str:
    return "s" if len(names) > 1 else ""


def _those(what: str, names: Sequence[str]) -> str:
    return f"the {what}{_plural(names)} {listing([repr(name) for name in names], limit=_SHOWN)}"
