"""The outputs that are to be rated: one text for each item under each system, checked as a whole.

Tables of outputs with a metric's scores, and the files of pools that say which items were chosen: checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from humeval_power.checking.cells import MISSING_CODES
from humeval_power.checking.columns import ITEM_NUMBERS, bare, close_to, listing
from humeval_power.errors import InputError, Problem, refusal, refuse
from humeval_power.item_pool import IDENTICAL, SAME_PROBABILITY, ItemPool
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
        Raises InputError: every item that a system has no output of."""
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
        Raises InputError: items that it has no outputs of, all of them."""
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
        Raises InputError: items or systems that are on one side alone, all of them."""
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
    Raises InputError: columns that are missing, blank items, an output that stands twice, sources of an item that
    differ, or missing outputs: all of it.
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


Floats = NDArray[np.float64]

SCORE = "score_"  # before the name of a system: the column of its scores in the file of a pool
IDENTICAL_WORD = "identical"
_BETWEEN = r"[ _.:-]"  # what stands between the names of a metric and of a system


@dataclass(frozen=True, eq=False)
class ScoredOutputs:
    """Items with the outputs of systems, or a metric's scores of them, or both.

    scores : (N, K), NaN where there is none; (N, 0) where no metric was named. texts : by item and system; None
    where the table has none, so that nobody knows which outputs are identical.
    """

    items: tuple[str, ...]
    systems: tuple[str, ...]
    scores: Floats
    texts: Mapping[tuple[str, str], str] | None
    source: str
    metric: str | None = None

    @property
    def identical(self) -> NDArray[np.bool_]:
        """Which items have the same output under all systems, (N,)."""
        if self.texts is None:
            return np.zeros(len(self.items), dtype=bool)
        return np.array(
            [len({self.texts[item, system].strip() for system in self.systems}) == 1 for item in self.items]
        )


def scored_of_table(
    frame: pd.DataFrame, *, source: str, score: str | None, systems: Sequence[str] | None = None
) -> ScoredOutputs:
    """Outputs and scores of a table, whose index counts rows as the file does.

    A row is an output (item, system, and the column `score`, with or without the text), or an item: the texts of
    systems in columns of their names, their scores in columns such as chrf_A for the metric chrf and the system A.
    systems : those that count, in their order; None takes all.
    Raises InputError: columns that are missing, scores that are no numbers, items that stand twice, fewer than two
    systems.
    """
    names = {bare(str(name)): str(name) for name in frame.columns}
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    item = next((names[name] for name in ITEM_COLUMNS if name in names), None)
    if item is None:
        raise refusal("no column says which item a row is.", _there_are(frame, "Call one 'item'."), source)
    if "system" in names:
        read = _of_outputs(frame, item, names["system"], names, score, source)
    elif score is None:
        outputs = outputs_of_table(frame, origin=source)
        none = np.empty((len(outputs.items), 0))
        read = ScoredOutputs(outputs.items, outputs.systems, none, outputs.texts, outputs.origin)
    else:
        read = _of_items(frame, item, score, source)
    if systems is not None:
        absent = [name for name in systems if name not in read.systems]
        if absent:
            rule = f"has no outputs of the system {absent[0]!r}."
            raise refusal(rule, close_to(absent[0], read.systems), source)
        scores = read.scores
        if scores.shape[1]:
            scores = scores[:, [read.systems.index(name) for name in systems]]
        read = ScoredOutputs(read.items, tuple(systems), scores, read.texts, source, read.metric)
    if len(read.systems) < 2:
        rule = f"has one system, {read.systems[0]!r}; items are chosen to compare two or more."
        raise refusal(rule, "Add the outputs of another.", source)
    return read


def _of_outputs(
    frame: pd.DataFrame,
    item: str,
    system: str,
    names: Mapping[str, str],
    score: str | None,
    source: str,
) -> ScoredOutputs:
    """A row is one output."""
    text = next((names[name] for name in TEXT_COLUMNS if name in names and names[name] != score), None)
    if score is not None and score not in frame.columns:
        rule = f"there is no column {score!r} of scores."
        raise refusal(rule, close_to(score, list(frame.columns)), source)
    if score is None and text is None:
        remedy = _there_are(frame, "Name the column of a metric with --score, or add the texts.")
        raise refusal("there is neither a text nor a score.", remedy, source)
    texts = None
    if text is not None:
        texts = outputs_of_table(frame[[item, system, text]], origin=source).texts
    cells = frame[[item, system]].fillna("").astype(str)
    keys = [(one.strip(), other.strip()) for one, other in zip(cells[item], cells[system], strict=True)]
    problems = list(_key_problems(frame, keys, source)) if text is None else []
    items = tuple(dict.fromkeys(one for one, _ in keys))
    systems = tuple(dict.fromkeys(other for _, other in keys))
    scores = np.full((len(items), 0 if score is None else len(systems)), np.nan)
    if score is not None:
        values, wrong = _numbers(frame, score, source)
        problems += wrong
        row = {name: place for place, name in enumerate(items)}
        column = {name: place for place, name in enumerate(systems)}
        for (one, other), value in zip(keys, values, strict=True):
            scores[row[one], column[other]] = value
    if problems:
        raise InputError(first_problems(source, problems))
    return ScoredOutputs(items, systems, scores, texts, source, score)


def _of_items(frame: pd.DataFrame, item: str, score: str, source: str) -> ScoredOutputs:
    """A row is an item: scores in columns of metric and system, texts in columns of the systems."""
    metric = re.escape(score)
    pattern = re.compile(f"{metric}{_BETWEEN}(?P<after>.+)|(?P<before>.+){_BETWEEN}{metric}")
    columns = {}
    for name in frame.columns:
        fitting = pattern.fullmatch(name)
        if fitting:
            columns[fitting["after"] or fitting["before"]] = name
    if len(columns) < 2:
        rule = f"no two columns hold the scores {score!r} of two systems."
        remedy = f"Call them {score}_A and {score}_B; or give each output a row: item, system, {score}."
        raise refusal(rule, _there_are(frame, remedy), source)
    systems = tuple(columns)
    keys = [(str(name).strip(), "") for name in frame[item].fillna("")]
    problems = list(_key_problems(frame, keys, source))
    scores = np.full((len(frame), len(systems)), np.nan)
    for place, name in enumerate(columns.values()):
        scores[:, place], wrong = _numbers(frame, name, source)
        problems += wrong
    if problems:
        raise InputError(first_problems(source, problems))
    texts = None
    if set(systems) <= set(frame.columns):
        texts = outputs_of_table(frame[[item, *systems]], origin=source).texts
    return ScoredOutputs(tuple(one for one, _ in keys), systems, scores, texts, source, score)


def _key_problems(frame: pd.DataFrame, keys: Sequence[tuple[str, str]], source: str) -> Iterator[Problem]:
    """Items and systems without a name, and those that stand twice."""
    seen: set[tuple[str, str]] = set()
    for row, (item, system) in zip(frame.index, keys, strict=True):
        if not item:
            yield Problem("the item is blank.", "Name it, or leave the row out.", source, int(row))
        elif (item, system) in seen:
            second = f"a second output of {system!r}" if system else "a second row"
            yield Problem(f"item {item!r} has {second}.", "Keep one.", source, int(row))
        seen.add((item, system))


def _numbers(frame: pd.DataFrame, name: str, source: str) -> tuple[Floats, list[Problem]]:
    """The numbers of a column, NaN where the cell is blank; and the cells that hold none."""
    values, problems = np.full(len(frame), np.nan), []
    for place, (row, cell) in enumerate(zip(frame.index, frame[name], strict=True)):
        text = "" if cell is None or cell != cell else str(cell).strip()
        if text in MISSING_CODES:
            continue
        try:
            values[place] = float(text)
        except ValueError:
            values[place] = np.inf
        if not np.isfinite(values[place]):
            problems.append(
                Problem(
                    "is not a number.",
                    "Write a decimal number such as 0.25, or leave the cell blank.",
                    source,
                    int(row),
                    name,
                    text,
                    has_value=True,
                )
            )
    return values, problems


def _there_are(frame: pd.DataFrame, remedy: str) -> str:
    return f"{remedy} There are {listing(list(frame.columns))}."


# The file of a pool: a row for each item, the chosen ones first.


def pool_table(pool: ItemPool) -> pd.DataFrame:
    """The file of a pool: item, chosen (1 or 0), stratum, probability, and the score of each system."""
    strata = [IDENTICAL_WORD if code == IDENTICAL else str(code + 1) for code in pool.stratum.tolist()]
    return pd.DataFrame(
        {
            "item": pool.items,
            "chosen": pool.chosen.astype(int),
            "stratum": strata,
            "probability": pool.probability,
            **{
                f"{SCORE}{name}": pool.scores[:, place]
                for place, name in enumerate(pool.systems if pool.scores.shape[1] else ())
            },
        }
    )


def pool_of_table(frame: pd.DataFrame, *, source: str) -> ItemPool:
    """A pool from the table of its file, one that 'items' wrote or of a design of your own.

    A design of your own has the columns item, chosen and probability for every item of the pool, chosen or not.
    Raises InputError: columns that are missing, cells that break a rule, items of the pool that could never be
    drawn, or a pool or strata whose chosen items are not as many as their probability says: all at once.
    """
    frame = frame.set_axis([str(name).strip() for name in frame.columns], axis=1)
    absent = [name for name in ("item", "chosen", "probability") if name not in frame.columns]
    if absent:
        rule = f"there is no column {' and no column '.join(map(repr, absent))}."
        remedy = _there_are(frame, "Give the file that 'humeval-power more items' wrote.")
        raise refusal(rule, remedy, source)
    items = [str(cell).strip() for cell in frame["item"].fillna("")]
    rows = list(map(int, frame.index))
    problems = list(_key_problems(frame, [(name, "") for name in items], source))
    chosen, wrong = _numbers(frame, "chosen", source)
    problems += wrong
    for row, value in zip(rows, chosen, strict=True):
        if value not in (0.0, 1.0) and not np.isinf(value):
            problems.append(Problem("chosen is 1 or 0.", "", source, row, "chosen"))
    probability, wrong = _numbers(frame, "probability", source)
    problems += wrong
    score_names = [name for name in frame.columns if name.startswith(SCORE) and len(name) > len(SCORE)]
    scores = np.empty((len(frame), len(score_names)))
    for place, name in enumerate(score_names):
        scores[:, place], wrong = _numbers(frame, name, source)
        problems += wrong
    labels = (
        [str(cell).strip() for cell in frame["stratum"].fillna("")]
        if "stratum" in frame.columns
        else [""] * len(frame)
    )
    if problems:
        raise InputError(first_problems(source, problems))
    named = {
        label: place
        for place, label in enumerate(dict.fromkeys(sorted(set(labels) - {IDENTICAL_WORD}, key=_natural)))
    }
    stratum = np.array([IDENTICAL if label == IDENTICAL_WORD else named[label] for label in labels])
    is_chosen = chosen == 1
    identical = stratum == IDENTICAL
    problems += [
        Problem(
            "its outputs are identical, and it is chosen.",
            "Ratings of identical outputs are checks: they stay out of the estimate.",
            source,
            rows[place],
        )
        for place in np.flatnonzero(is_chosen & identical)
    ]
    if not np.isnan(probability).all():
        rules = (
            (
                ~identical & ~(probability > 0),
                "this item of the pool could never be drawn, so that nothing is known of it.",
                "Leave it out of the pool, or draw it with a probability above 0.",
            ),
            (probability > 1, "a probability is at most 1.", ""),
        )
        for broken, rule, remedy in rules:
            problems += [Problem(rule, remedy, source, rows[place]) for place in np.flatnonzero(broken)]
        if not problems:
            problems += _stratum_problems(stratum, probability, is_chosen, list(named), source)
    if problems:
        raise InputError(first_problems(source, problems))
    order = np.argsort(~is_chosen, kind="stable")
    return ItemPool(
        tuple(items),
        tuple(name.removeprefix(SCORE) for name in score_names),
        scores,
        stratum,
        probability,
        is_chosen,
        source,
    ).reordered(order)


def _stratum_problems(
    stratum: NDArray[np.int64],
    probability: Floats,
    chosen: NDArray[np.bool_],
    labels: Sequence[str],
    source: str,
) -> Iterator[Problem]:
    """Of a pool with strata: one whose probabilities differ, or are not its share of chosen items. Of one without:
    equal probabilities that are not the share of its chosen items, as where the file lost rows."""
    if len(labels) < 2:
        drawn = probability[stratum != IDENTICAL]
        n, size = int(chosen.sum()), len(drawn)
        if np.ptp(drawn) <= SAME_PROBABILITY < abs(drawn[0] - n / size):
            rule = f"{n:,} of {size:,} items are chosen, and each was drawn with the probability {drawn[0]:.6g}."
            remedy = f"Give the whole file of the draw; {n:,} of {size:,} have {n / size:.6g}."
            yield Problem(rule, remedy, source)
        return
    for place, label in enumerate(labels):
        inside = stratum == place
        own = probability[inside]
        n, size = int(chosen[inside].sum()), int(inside.sum())
        if np.ptp(own) > SAME_PROBABILITY or abs(own[0] - n / size) > SAME_PROBABILITY:
            rule = f"stratum {label!r} has {n:,} chosen of {size:,} items, and not all have {n / size:.6g}."
            remedy = (
                "An item is replaced at random by one of its stratum only; keep the numbers of the draw."
            )
            yield Problem(rule, remedy, source)
        if n < 2:
            rule = f"stratum {label!r} has {n:,} chosen of {size:,} items; at least 2 show how items of it differ."
            yield Problem(rule, "Join it with another before the draw.", source)


def _natural(label: str) -> tuple[int, str]:
    return (int(label), "") if label.isdecimal() else (10**9, label)
