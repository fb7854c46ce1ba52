"""Tables of human values and judges' scores: a row for each rating, each output or each run, wide or long."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from humeval_power.checking.cells import (
    MISSING_CODES,
    cell_problems,
    codes_in,
    read_cells,
    read_ids,
    read_numbers,
    renumbered,
)
from humeval_power.checking.columns import Column, bare, find_columns, listing, named_column
from humeval_power.checking.rows import Rejected
from humeval_power.checking.suspects import cluster_suspects
from humeval_power.comparisons.judge.sampling import DrawnSample
from humeval_power.comparisons.judge.table import JudgedTable
from humeval_power.errors import InputError, Problem, refusal, refuse
from humeval_power.files.tables import SourceTable, clusters_of, read_decided, read_table
from humeval_power.saying.numbers import counted

_ITEM = Column(("item", "segment", "example", "id"), option="--item", required=False, is_id=True)
_SYSTEM = Column(("system",), option="--system", required=False, is_id=True)  # a model may be the judge's
_WORKER = Column(
    ("worker", "annotator", "assessor", "coder", "evaluator", "participant", "rater", "reviewer"),
    option="--worker",
    required=False,
    is_id=True,
)
_RUN = Column(("run", "repeat", "replicate", "sample", "trial"), required=False, is_id=True)
_HUMAN = Column(
    ("human", "rating", "human rating", "label", "gold", "score"), option="--human", required=False
)
_JUDGE = Column(("judge", "metric", "prediction", "judge score"), option="--judge", required=False)
_PEOPLE = re.compile(r"(human|rater|annotator|expert)([ _-]?\d+|_[a-z])", re.IGNORECASE)  # one column each
_SCORE = ("score", "judgescore", "value", "verdict")  # beside a column of judges' names
_WORDS = {
    **dict.fromkeys(
        ("pass", "passed", "true", "yes", "y", "correct", "right", "good", "accept", "accepted"), 1.0
    ),
    **dict.fromkeys(
        ("fail", "failed", "false", "no", "n", "incorrect", "wrong", "bad", "reject", "rejected"), 0.0
    ),
}
_SHOWN = 5
_MOST_CELLS = 50_000_000  # items x systems x judges
Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class JudgedRoles:
    """The columns of a table: each role's, '' where it has none; `long` where the judges are named in rows,
    `in_rows` those asked for of them."""

    item: str
    system: str
    worker: str
    run: str
    humans: tuple[str, ...]
    judges: tuple[str, ...]
    long: str
    notices: tuple[str, ...]
    in_rows: tuple[str, ...] = ()

    @property
    def taken(self) -> tuple[str, ...]:
        """All of them."""
        one = (self.item, self.system, self.worker, self.run, self.long)
        return tuple(name for name in (*one, *self.humans, *self.judges) if name)


def read_judged(
    path: str | Path,
    *,
    item: str | None = None,
    system: str | None = None,
    worker: str | None = None,
    cluster: str | None = None,
    human: Sequence[str] = (),
    judge: Sequence[str] = (),
    words: Mapping[str, float] | None = None,
    tuned_on: str | None = None,
    average_workers: bool = False,
    raters_fixed: bool = False,
    rejected_rows: Rejected | None = None,
    sample: str | Path | None = None,
    length: str | None = None,
    may_lack: bool = False,
) -> JudgedTable:
    """Read a table of human values and judges' scores, as `judge.estimate_table` takes it.

    Parameters
    ----------
    path : of a table with a row for each rating, each output or each run of a judge: item, judge (one column or
        several, or names of judges with a column of scores), human (blank where no human rated it; several columns
        are several people) and, where there are several, system; worker, where it is known who rated. Or logs of a
        harness, whose metrics are the judges.
    item, system, worker, cluster : the columns of items, of systems, of workers and of clusters of items; the first
        three are also found by their names.
    human, judge : the columns of human values and of the judges' scores.
    words : numbers of words in these columns; pass and fail, yes and no and their like are known.
    tuned_on : the column that marks rows on which a judge was tuned; they are left out.
    average_workers : take no account of who rated, and average the ratings of an output.
    raters_fixed : claims are about these raters alone: their mean ratings of an output are its value.
    rejected_rows : what to do with rows of rejected or unfinished work, 'drop' or 'keep'.
    sample : the file of `judge.sample`, by which the items that humans rated were drawn.
    length : the column that says how long outputs are.
    may_lack : human values may be missing altogether.

    Raises
    ------
    InputError
        What `judged_table` and `read_sample` raise, or rejected rows that nobody decided on.
    """
    table = read_decided(path, rejected_rows)
    roles = judged_roles(
        table,
        named={"item": item, "system": system, "worker": worker},
        humans=human,
        judges=judge,
        taken=[name for name in (cluster, tuned_on, length) if name],
    )
    result = judged_table(
        table,
        roles,
        cluster=cluster,
        words=words,
        tuned_on=tuned_on,
        average_workers=average_workers,
        raters_fixed=raters_fixed,
        length=length,
        may_lack=may_lack,
    )
    if sample is None:
        return result
    if cluster is not None:
        rule = "a sample is of single outputs, and --cluster says that they are not independent."
        raise refusal(rule, "Give --sample or --cluster, not both.")
    drawn = read_sample(sample, result.item_names)
    return replace(result, sample=drawn, notices=(*result.notices, *_sample_notices(result, drawn)))


_OF_SAMPLE = ("item", "stratum", "probability", "stratum size", "sample size")


def read_sample(path: str | Path, item_names: Sequence[str]) -> DrawnSample:
    """The sample that `judge sample` wrote, by the items of a table. InputError: columns that are missing,
    items that the table does not have or that come twice, rows that are lost, and probabilities or sizes that
    cannot be."""
    table = read_table(path)
    wanted = [Column((name,), is_id=name in _OF_SAMPLE[:2]) for name in _OF_SAMPLE]
    of = find_columns(table.frame.columns, wanted, source=table.source).of
    items, names = _ids(table, of["item"])
    stratum, strata = _ids(table, of["stratum"])
    known = {name: place for place, name in enumerate(item_names)}
    place = np.array([known.get(name, -1) for name in names], dtype=np.int64)[items]
    twice = np.ones(len(items), dtype=bool)
    twice[np.unique(items, return_index=True)[1]] = False
    problems: list[Problem] = []
    given = "Give the sample as it was drawn."

    def wrong(bad: NDArray[np.bool_], column: str, rule: str, remedy: str = given) -> None:
        cells, at = read_cells(table.frame[of[column]]), table.at(of[column])
        problems.extend(cell_problems(bad, cells, at=at, rule=rule, remedy=remedy))

    wrong(place < 0, "item", "is no item of the table of scores.", "Give the scores of all outputs.")
    wrong(twice, "item", "comes twice.")
    numbers = {
        name: read_numbers(read_cells(table.frame[of[name]]), missing=MISSING_CODES).value
        for name in _OF_SAMPLE[2:]
    }
    probability, size, n = (numbers[name] for name in _OF_SAMPLE[2:])
    wrong(~((probability > 0) & (probability <= 1)), "probability", "must lie above 0, at most 1.")
    first = np.unique(stratum, return_index=True)[1]
    wrong(
        ~((size >= np.bincount(stratum)[stratum]) & (size == size[first][stratum])),
        "stratum size",
        "must be one number in a stratum, no less than were drawn of it.",
    )
    if len(n) and not (n == len(n)).all():
        drawn = f"{n[0]:,.0f}" if (n == n[0]).all() else "several numbers"
        rule = f"{len(n):,} items are there, and {drawn} were drawn."
        problems.append(Problem(rule, given, table.source, column=of["sample size"]))
    refuse(problems)
    code, chance = np.full(len(item_names), -1, dtype=np.int64), np.full(len(item_names), np.nan)
    code[place], chance[place] = stratum, probability
    by_stratum = (np.bincount(stratum) / size[first])[stratum]
    active = not np.allclose(probability, by_stratum, rtol=1e-6)
    if active and len(strata) > 1:
        rule = "probabilities are those of strata, or outputs are drawn one by one out of a single one."
        raise refusal(rule, given, table.source, column=of["probability"])
    return DrawnSample(code, chance, size[first].astype(np.int64), active)


def _sample_notices(table: JudgedTable, sample: DrawnSample) -> Iterator[str]:
    """What is not as it was drawn."""
    rated = np.isfinite(table.human_means).any(axis=1)
    drawn = sample.code >= 0
    if left := int((rated & ~drawn).sum()):
        yield f"{counted(left, 'item')} with human values are not in the sample and do not count."
    if without := int((drawn & ~rated).sum()):
        yield (
            f"{without:,} of {int(drawn.sum()):,} items of the sample have no human value: those that have count "
            f"as a random part of {'all' if sample.active else 'their stratum'}."
        )


def judged_table(
    table: SourceTable,
    roles: JudgedRoles,
    *,
    cluster: str | None = None,
    words: Mapping[str, float] | None = None,
    tuned_on: str | None = None,
    average_workers: bool = False,
    raters_fixed: bool = False,
    length: str | None = None,
    may_lack: bool = False,
) -> JudgedTable:
    """The same from a table that has been read, and whose roles are known. may_lack : human values or judges
    may be missing altogether, as `judge check` takes it. InputError: a column that is missing, cells that are
    no numbers, blank ids, or clusters that are none."""
    if not may_lack:
        _refuse_without(roles, table)
    table, said = _without_tuned(table, tuned_on)
    notices = [*table.notices, *roles.notices, *said]
    if not roles.item:
        notices.append(_without_items(table, roles))
    items, item_names = _items(table, roles.item)
    one_system = np.zeros(len(items), dtype=np.int64), ("",)
    systems, system_names = _ids(table, roles.system) if roles.system else one_system
    humans, remarks = _labels(table, roles.humans, words)
    notices += remarks
    scores, judge_names, remarks = _scores(table, roles, words)
    notices += remarks
    n_cells = len(item_names) * len(system_names) * max(1, len(judge_names))
    if n_cells > _MOST_CELLS:
        rule = (
            f"{len(item_names):,} items under {len(system_names):,} systems are too many: most have no row."
        )
        raise refusal(rule, "Is this the column of systems?", table.source, column=roles.system)
    by_column = len(roles.humans) > 1
    if by_column:
        worker_codes, worker_names = np.repeat(np.arange(len(roles.humans)), len(items)), roles.humans
    elif roles.worker:
        worker_codes, worker_names = _workers(table, roles.worker, np.isfinite(humans[:, 0]))
    else:
        worker_codes, worker_names = np.zeros(len(items), dtype=np.int64), ()
    of_rows = len(roles.humans) if by_column else 1
    value = humans.T.ravel() if humans.shape[1] else np.full(len(items), np.nan)
    all_items, all_systems = np.tile(items, of_rows), np.tile(systems, of_rows)
    unit = items * len(system_names) + systems
    has_runs = (bool(roles.run) and _come_again(table, roles, unit)) or _differ_within(
        unit, scores, value[: len(items)], has_worker=bool(worker_names)
    )
    if has_runs or roles.long:
        key = (all_items * len(system_names) + all_systems) * max(1, len(worker_names)) + np.maximum(
            worker_codes, 0
        )
        _refuse_differing(table, roles, key, value)
        value = _first_only(key, value)
    padded = np.full((len(value), scores.shape[1]), np.nan)
    padded[: len(items)] = scores
    knows_workers = bool(worker_names) and not (average_workers or raters_fixed)
    if raters_fixed and not worker_names:
        rule = "--raters-fixed needs to know who rated."
        raise refusal(rule, "Name the column of the workers: --worker COLUMN", table.source)
    clusters = None
    if cluster is not None:
        clusters = clusters_of(table, cluster, item_names, item_column=roles.item or None)
    taken = [*roles.taken, *([] if cluster is None else [cluster])]
    suspects = (
        ()
        if cluster is not None or not roles.item
        else cluster_suspects(table.frame, item=roles.item, taken=taken)
    )
    lengths = None
    if length is not None:
        column = named_column(length, table.frame.columns, option="--length", source=table.source)
        lengths = np.full(len(value), np.nan)
        lengths[: len(items)] = _labels(table, [column], None)[0][:, 0]
    notices += _worker_notices(
        bool(worker_names) and not raters_fixed,
        average_workers=average_workers,
        n_workers=len(worker_names),
    )
    if has_runs:
        notices.append(_runs_notice(unit, scores))
    return JudgedTable(
        item=all_items,
        system=all_systems,
        human=value,
        judge=padded,
        item_names=item_names,
        system_names=system_names,
        judge_names=judge_names,
        worker=worker_codes if knows_workers else None,
        worker_names=worker_names if knows_workers else (),
        clusters=clusters,
        suspects=suspects,
        notices=tuple(dict.fromkeys(notices)),
        panel=tuple(worker_names) if raters_fixed else (),
        has_runs=has_runs,
        length=lengths,
    )


def judged_roles(
    table: SourceTable,
    *,
    named: Mapping[str, str | None],
    humans: Sequence[str] = (),
    judges: Sequence[str] = (),
    taken: Sequence[str] = (),
) -> JudgedRoles:
    """Which column is what: as the user names it, else by its name. InputError: columns that are not there, or
    of which two could be the same."""
    columns, source = [str(name) for name in table.frame.columns], table.source
    in_rows: tuple[str, ...] = ()
    if judges and not any(name in columns for name in judges):
        _, long = _judges_by_name(table, columns, bool(table.scores))
        if long and set(judges) <= set(read_cells(table.frame[long]).texts):
            in_rows, judges = tuple(judges), ()
    for option, given in (("--human", humans), ("--judge", judges)):
        for name in given:
            named_column(name, columns, option=option, source=source)
    fixed = [*humans, *judges, *taken]
    roles = find_columns(columns, [_ITEM, _SYSTEM, _WORKER, _RUN], source=source, named=named, taken=fixed)
    of = dict(roles.of)
    for role in ("item", "system", "worker", "run"):
        if of.get(role) in fixed and named.get(role) is None:
            del of[role]
    rest = [name for name in columns if name not in {*of.values(), *fixed}]
    long, notices = "", list(roles.notices)
    if not judges:
        judges, long = _judges_by_name(table, rest, bool(table.scores))
        if judges and tuple(judges) != ("judge",):
            notices.append(f"Read as {'the judge' if len(judges) == 1 else 'judges'}: {listing(judges)}.")
    rest = [name for name in rest if name not in {*judges, long}]
    if not humans:
        humans = _humans_by_name(rest, source)
        if humans and tuple(humans) != ("human",):
            notices.append(f"Read as human values: {listing(humans)}.")
    return JudgedRoles(
        of.get("item", ""),
        of.get("system", ""),
        of.get("worker", ""),
        of.get("run", ""),
        tuple(humans),
        tuple(judges),
        long,
        tuple(notices),
        in_rows,
    )


def _judges_by_name(
    table: SourceTable, columns: Sequence[str], is_log: bool
) -> tuple[tuple[str, ...], str]:
    """The columns of scores, and the column of judges' names where they stand below each other."""
    if is_log:
        return tuple(name for name in table.scores if name in columns), ""
    exact = [name for name in columns if bare(name) == "judge"]
    if exact:
        scored = [name for name in columns if bare(name) in _SCORE]
        if scored and _are_names(table.frame[exact[0]]):
            return (scored[0],), exact[0]
    several = [
        name
        for name in columns
        if bare(name).startswith("judge")
        or (bare(name).endswith(("judge", "metric")) and bare(name) != "metric")
    ]
    if several:
        return tuple(several), ""
    return tuple(find_columns(columns, [_JUDGE], source=table.source).of.values()), ""


def _are_names(column: pd.Series) -> bool:
    """Whether cells are names of judges: neither numbers nor words that stand for numbers."""
    texts = [text for text in read_cells(column).texts if text.casefold() not in MISSING_CODES]
    cells = read_cells(pd.Series(texts or [""], dtype=str))
    numbers = read_numbers(cells, missing=MISSING_CODES).value
    return (
        bool(texts)
        and bool(np.isnan(numbers).all())
        and not all(text.casefold() in _WORDS for text in texts)
    )


def _humans_by_name(columns: Sequence[str], source: str) -> tuple[str, ...]:
    """'human', else 'human_1', 'rater b' and their like, else what else is called so."""
    exact = [name for name in columns if bare(name) == "human"]
    people = [name for name in columns if _PEOPLE.fullmatch(name.strip())]
    if len(exact) == 1 or not people:
        return tuple(exact) or tuple(find_columns(columns, [_HUMAN], source=source).of.values())
    return tuple(people)


def _refuse_without(roles: JudgedRoles, table: SourceTable) -> None:
    if roles.item and roles.humans and roles.judges:
        return
    wanted = [
        replace(column, required=True)
        for column, has in ((_HUMAN, roles.humans), (_JUDGE, roles.judges), (_ITEM, roles.item))
        if not has
    ]
    find_columns(table.frame.columns, wanted, source=table.source, taken=roles.taken)


def _without_items(table: SourceTable, roles: JudgedRoles) -> str:
    """What is taken where no column tells the outputs apart. InputError: rows of which several may be of one."""
    remedy = f"Name it: --item COLUMN. The columns are: {listing(list(table.frame.columns))}"
    shared = [name for name in (roles.worker, roles.run, roles.long) if name]
    if shared:
        rule = (
            f"no column of items was found beside {shared[0]!r}: rows of one output would count as outputs of "
            "their own."
        )
        raise refusal(rule, remedy, table.source)
    return f"No column of items was found: each row counts as an output of its own. {remedy}."


def _without_tuned(table: SourceTable, column: str | None) -> tuple[SourceTable, tuple[str, ...]]:
    """The table without rows on which the judge was tuned."""
    if column is None:
        return table, ()
    name = named_column(column, table.frame.columns, option="--tuned-on", source=table.source)
    texts = table.frame[name].fillna("").astype(str).str.strip().str.casefold()
    marked = ~texts.isin(["", "0", "0.0", "false", "no", "n", *(code.casefold() for code in MISSING_CODES)])
    if marked.all():
        rule = "the judge was tuned on all rows: nothing is left to see how good it is."
        raise refusal(rule, "Have people rate others.", table.source, column=name)
    said = f"{int(marked.sum()):,} rows on which the judge was tuned ({name!r}) are left out."
    return table._replace(frame=table.frame[~marked]), (said,)


def _items(table: SourceTable, name: str) -> tuple[Codes, tuple[str, ...]]:
    if name:
        return _ids(table, name)
    rows = table.frame.index.to_numpy()
    return np.arange(len(rows)), tuple(str(row) for row in rows)


def _labels(
    table: SourceTable, columns: Sequence[str], words: Mapping[str, float] | None
) -> tuple[Floats, list[str]]:
    """Numbers of columns, shape (n_rows, columns), and which words were read as which numbers. InputError:
    cells that are neither numbers nor words with a number."""
    values = np.full((len(table.frame), len(columns)), np.nan)
    notices: list[str] = []
    problems: list[Problem] = []
    known = _WORDS if words is None else {key.casefold(): value for key, value in words.items()}
    for place, name in enumerate(columns):
        cells = read_cells(table.frame[name])
        numbers = read_numbers(cells, missing=MISSING_CODES)
        texts = [text.strip().casefold() for text in cells.texts]
        as_number = np.array([known.get(text, np.nan) for text in texts])[cells.code]
        is_word = ~numbers.missing & np.isnan(numbers.value)
        value = np.where(is_word, as_number, numbers.value)
        bad = is_word & np.isnan(as_number)
        if bad.any():
            at = table.at(name)
            remedy = "Say what the words stand for: --words good=1,bad=0; or leave the cell blank."
            problems += cell_problems(
                bad, cells, at=at, rule="is neither a number nor a known word.", remedy=remedy
            )
        elif is_word.any():
            read = {
                texts[code]: known[texts[code]] for code in codes_in(cells.code[is_word]) if texts[code]
            }
            said = ", ".join(f"{word!r} as {number:g}" for word, number in sorted(read.items()))
            notices.append(f"Column {name!r}: {said}.")
        values[:, place] = value
    refuse(problems)
    return values, notices


def _scores(
    table: SourceTable, roles: JudgedRoles, words: Mapping[str, float] | None
) -> tuple[Floats, tuple[str, ...], list[str]]:
    """The judges' scores, (n_rows, J), their names, and what was read."""
    values, notices = _labels(table, roles.judges, words)
    if not roles.long:
        return values, roles.judges, notices
    codes, names = _ids(table, roles.long)
    apart = np.full((len(values), len(names)), np.nan)
    apart[np.arange(len(values)), codes] = values[:, 0]
    if roles.in_rows:
        apart, names = apart[:, [names.index(name) for name in roles.in_rows]], roles.in_rows
    return apart, names, notices


def _come_again(table: SourceTable, roles: JudgedRoles, unit: Codes) -> bool:
    """Whether an output has several runs of a judge."""
    score = pd.DataFrame({"unit": unit, "run": table.frame[roles.run].to_numpy()})
    if roles.long:
        score["judge"] = table.frame[roles.long].to_numpy()
    return bool(score.drop_duplicates().drop(columns="run").duplicated().any())


def _differ_within(unit: Codes, scores: Floats, human: Floats, *, has_worker: bool) -> bool:
    """Whether a judge gave an output several scores, and people one value: rows are runs then."""
    order = np.argsort(unit, kind="stable")
    same = unit[order][1:] == unit[order][:-1]
    if not same.any():
        return False

    def differ(values: Floats) -> bool:
        before, after = values[order][:-1][same], values[order][1:][same]
        return bool((np.isfinite(before) & np.isfinite(after) & (before != after)).any())

    return any(differ(scores[:, place]) for place in range(scores.shape[1])) and (
        has_worker or not differ(human)
    )


def _first_only(key: Codes, value: Floats) -> Floats:
    """The values without those that come again with the same key."""
    given = np.flatnonzero(np.isfinite(value))
    first = given[np.unique(key[given], return_index=True)[1]]
    kept = np.full(len(value), np.nan)
    kept[first] = value[first]
    return kept


def _refuse_differing(table: SourceTable, roles: JudgedRoles, key: Codes, value: Floats) -> None:
    """Labels that come with each score of an output are the same, or nobody knows which one holds."""
    given = np.flatnonzero(np.isfinite(value))
    _, first, group = np.unique(key[given], return_index=True, return_inverse=True)
    before = given[first][group]
    wrong = given[value[given] != value[before]]
    if not len(wrong):
        return
    rows, n_rows = table.frame.index.to_numpy(), len(table.frame)
    of = "output and worker" if roles.worker or len(roles.humans) > 1 else "output"
    remedy = "Rows of one output have scores of judges here, and one label: correct it"
    if roles.run:
        remedy += f", or rename {roles.run!r} if it does not count runs of the judge"
    remedy += "." if roles.worker or len(roles.humans) > 1 else ", or name who rated: --worker COLUMN."
    first_row = dict(zip(given.tolist(), before.tolist(), strict=True))
    raise InputError(
        [
            Problem(
                f"row {int(rows[first_row[place] % n_rows])} has another value for the same {of}.",
                remedy,
                table.source,
                int(rows[place % n_rows]),
                roles.humans[place // n_rows],
                f"{value[place]:g}",
                has_value=True,
            )
            for place in wrong[:_SHOWN].tolist()
        ]
    )


def _runs_notice(unit: Codes, scores: Floats) -> str:
    counts = np.concatenate([np.bincount(unit[np.isfinite(each)]) for each in scores.T])
    counts = counts[counts > 0]
    if len(counts) and counts.min() == counts.max():
        return f"Each output has {counted(int(counts[0]), 'run')} of the judge, which are averaged."
    return (
        "Outputs have unequal numbers of runs of the judge; their means are used alike, though the noise of "
        "some is larger."
    )


def _worker_notices(has_worker: bool, *, average_workers: bool, n_workers: int) -> Iterator[str]:
    """What was assumed of the workers."""
    if has_worker and average_workers:
        yield "The ratings of an output are averaged, whoever gave them: workers count as interchangeable."
    elif has_worker and n_workers < 2:
        yield "One worker gave all ratings: nothing says how workers differ, and claims hold for this one."


def _ids(table: SourceTable, name: str) -> tuple[Codes, tuple[str, ...]]:
    problems: list[Problem] = []
    ids = table.ids(name, name, problems, may_look_alike=True)
    refuse(problems)
    return ids.code, ids.names


def _workers(table: SourceTable, name: str, rated: NDArray[np.bool_]) -> tuple[Codes, tuple[str, ...]]:
    """Codes of those who gave a rating; rows without one may lack them, and have -1."""
    ids = read_ids(read_cells(table.frame[name]))
    blank = np.flatnonzero((ids.code < 0) & rated)
    if len(blank):
        rows = table.frame.index.to_numpy()[blank[:_SHOWN]]
        rule, remedy = (
            "there is a human value, but no worker.",
            "Fill the worker in, or use --average-workers.",
        )
        raise InputError([Problem(rule, remedy, table.source, int(row), name) for row in rows])
    codes = np.where(rated, ids.code, -1)
    present = codes_in(codes)
    names = tuple(ids.names[code] for code in present if code >= 0)
    renamed = np.full(len(codes), -1, dtype=np.int64)
    renamed[rated] = renumbered(codes[rated])[1]
    return renamed, names
