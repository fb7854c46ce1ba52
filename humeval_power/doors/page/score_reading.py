"""How a table of scores, or logs, are read: which column is what, shown beside the answer and put right there.

What is chosen stands in the link as options of the command, so that a terminal reads the file in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from humeval_power.checking.columns import ROLES, Column, listing, shortened
from humeval_power.doors.page.answers import Work
from humeval_power.doors.page.requests import FORMS, CommandRequest, PageParts, file_places, offered
from humeval_power.errors import InputError
from humeval_power.fields import parts_of, typed_list
from humeval_power.saying.numbers import counted

if TYPE_CHECKING:
    from humeval_power.doors.page.workspace.reading import ColumnShown
    from humeval_power.files.tables import SourceTable

CommandName = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScoreAsk:
    """What can be asked of scores: in a few words, and the option of the command that takes the file."""

    words: str
    files: str


COMPARE, RUNS, RANK, JUDGE = ("compare", "scores"), ("runs", "test"), ("rank", "scores"), ("judge", "check")
ASKS: Mapping[CommandName, ScoreAsk] = {
    COMPARE: ScoreAsk("Which is better", "files"),
    RUNS: ScoreAsk("Which is better", "table"),
    RANK: ScoreAsk("A leaderboard", "files"),
    JUDGE: ScoreAsk("What a judge is worth", "table"),
}
WORDS: Mapping[str, str] = {  # what a column can be, by the option that says it
    "item": "what was scored: the item",
    "system": "which system it is",
    "systems": "the scores of one system",
    "score": "the score",
    "run": "the run: seed or prompt",
    "cluster": "its document or passage",
    "worker": "who rated: the worker",
    "human": "values from people",
    "judge": "a judge's scores",
}
_SHORT = {
    "systems": "scores of",
    "run": "runs",
    "cluster": "together",
    "human": "people",
    "judge": "judges",
}
_LISTS = ("systems", "human", "judge")  # several columns, with commas between
_MOST_VALUES = 60  # systems to tick
_IS, _TICK, _TICKS = "is", "tick", "ticks"  # of a column, a system that is compared, and how many there are


@dataclass(frozen=True, slots=True)
class ScoreColumns:
    """What stands in a table of scores.

    values : of each column what stands in it, with how often; none where there is too much.
    sizes : how many different texts each column has.
    compared, judged : what each column is as far as names and cells say, to compare systems and to check a judge.
    is_log : whether a harness wrote it. is_of_workers : whether workers gave these: a table of ratings.
    are_battles : whether a row says which of two systems won.
    """

    source: str
    n_rows: int
    head: tuple[tuple[str, ...], ...]
    columns: tuple[ColumnShown, ...]
    values: Mapping[str, tuple[tuple[str, int], ...]]
    sizes: Mapping[str, int]
    compared: Mapping[str, str]
    judged: Mapping[str, str]
    is_log: bool
    is_of_workers: bool
    are_battles: bool = False

    def proposed(self, command: CommandName) -> Mapping[str, str]:
        """What each column is for a command."""
        roles = self.judged if command == JUDGE else self.compared
        return {name: role for name, role in roles.items() if role in roles_of(command)}

    @property
    def ask(self) -> CommandName:
        """What such a table is brought for."""
        if {"human", "judge"} <= set(self.judged.values()) and not self.is_log:
            return JUDGE
        roles = list(self.compared.values())
        system = next((name for name, role in self.compared.items() if role == "system"), "")
        n_systems = self.sizes[system] if system else roles.count("systems")
        if "run" in roles:
            return RUNS
        return RANK if n_systems > 2 else COMPARE


def score_columns(paths: Sequence[str]) -> ScoreColumns:
    """The columns of a table, of logs, or of two files with a number a line.
    Raises InputError: files that cannot be read."""
    from humeval_power.comparisons.rank.files import are_battles
    from humeval_power.comparisons.scores.files import joined_files, one_table
    from humeval_power.doors.page.workspace.reading import ColumnShown, first_rows
    from humeval_power.files.tables import read_score_source

    logs = read_score_source(*paths)
    if logs is not None:
        table, is_named = logs, True
    else:
        table, is_named = (joined_files(paths), False) if len(paths) == 2 else one_table(paths[0])
    frame = table.frame
    names = list(map(str, frame.columns)) if is_named else []
    texts = {name: frame[name].fillna("").astype(str).str.strip() for name in names}
    counts = {name: cells[cells != ""].value_counts(sort=False) for name, cells in texts.items()}
    return ScoreColumns(
        source=table.source,
        n_rows=len(frame),
        head=tuple(first_rows(frame)),
        columns=tuple(
            ColumnShown(name, name, 1, tuple(shortened(text, width=24) for text in counts[name].index[:3]))
            for name in texts
        ),
        values={
            name: tuple((str(text), int(n)) for text, n in one.items()) if len(one) <= _MOST_VALUES else ()
            for name, one in counts.items()
        },
        sizes={name: len(one) for name, one in counts.items()},
        compared=_compared(table, paths) if is_named else {},
        judged=_judged(table) if is_named else {},
        is_log=logs is not None,
        is_of_workers=any(ROLES["worker"].fits(name) for name in texts),
        are_battles=are_battles(names),
    )


def _compared(table: SourceTable, paths: Sequence[str]) -> dict[str, str]:
    """What the columns are where systems are compared, as the commands find it; as far as they do."""
    from humeval_power.checking.suspects import cluster_suspects
    from humeval_power.comparisons.runs.files import ITEM, RUN, SYSTEM
    from humeval_power.comparisons.scores.files import open_scores

    names = [str(name) for name in table.frame.columns]
    item, system = _finest(table, names, ITEM), _finest(table, names, SYSTEM)
    if item and not system:
        system = _crossed(table, names, item)
    if system:  # a number of its own in each row counts the rows
        item = _finest(table, [one for one in names if table.frame[one].duplicated().any()], ITEM) or item
    try:
        source = open_scores(paths, item=item, system=system)
    except InputError:
        return {name: role for name, role in ((item, "item"), (system, "system")) if name}
    roles = {str(name): role for name, role in ((source.item, "item"), (source.system, "system")) if name}
    if source.system is None:
        return roles | dict.fromkeys(source.scores, "systems")
    others = [name for name in map(str, table.frame.columns) if name not in roles]
    run = _finest(table, others, RUN)
    if run and table.frame.duplicated([source.item, source.system]).any():
        roles[run] = "run"
    scores = [name for name in source.scores if name not in roles]
    score = next((name for name in scores if not ITEM.fits(name)), "")
    roles |= {score: "score"} if score else {}
    suspects = cluster_suspects(table.frame, item=source.item, taken=[*roles, *source.scores])
    clusters = [one.column for one in suspects if one.column]
    return roles | dict.fromkeys(clusters[:1], "cluster")


def _crossed(table: SourceTable, names: Iterable[str], item: str) -> str | None:
    """A column of a few words, all of which stand beside each item, as systems do; the first."""
    import pandas as pd

    n_items = table.frame[item].nunique()
    for name in names:
        n_values = table.frame[name].nunique()
        if name == item or not 2 <= n_values <= _MOST_VALUES or n_values * n_items > len(table.frame):
            continue
        is_number = pd.to_numeric(table.frame[name], errors="coerce").notna().any()
        if not is_number and len(table.frame[[item, name]].drop_duplicates()) == n_values * n_items:
            return name
    return None


def _judged(table: SourceTable) -> dict[str, str]:
    """What the columns are where a judge is checked."""
    from humeval_power.comparisons.judge.files import judged_roles

    try:
        roles = judged_roles(table, named={})
    except InputError:
        return {}
    single = {"item": roles.item, "system": roles.system, "worker": roles.worker}
    found = {name: role for role, name in single.items() if name}
    found |= dict.fromkeys(roles.humans, "human") | dict.fromkeys(roles.judges, "judge")
    return found


def _finest(table: SourceTable, names: Iterable[str], column: Column) -> str | None:
    """The column that may be this one by its name; of several the one that tells most rows apart."""
    fitting = [name for name in names if column.fits(name)]
    exact = [name for name in fitting if name == column.name]
    return max(exact or fitting, key=lambda name: len(set(table.frame[name].astype(str))), default=None)


# Between what is chosen for columns and the options of a command.


@cache
def roles_of(command: CommandName) -> Mapping[str, str]:
    """What a column can be for a command, in words."""
    options = offered(command, FORMS[command].hides)
    return {role: words for role, words in WORDS.items() if role in options}


def with_roles(
    command: CommandName, query: Sequence[tuple[str, str]]
) -> tuple[CommandName, list[tuple[str, str]]]:
    """The command and the options that say what was chosen for columns: of runs that of runs."""
    if command not in ASKS or not any(name in (_IS, _TICK, _TICKS) for name, _ in query):
        return command, list(query)
    said = [value.partition(":") for name, value in query if name == _IS]
    columns = {column: role for role, _, column in said}
    ticked = [value for name, value in query if name == _TICK]
    n_there = next((value for name, value in query if name == _TICKS), "")
    rest = [(name, value) for name, value in query if name not in (*roles_of(command), _IS, _TICK, _TICKS)]
    if command in (COMPARE, RUNS):
        turned = RUNS if "run" in columns.values() else COMPARE
        rest = _carried(rest, command, turned)
        command = turned
    options = _options(command, columns)
    if "system" in columns.values():
        options = [one for one in options if one[0] != "systems"]
        if str(len(ticked)) != n_there and ticked:
            options.append(("systems", typed_list(ticked)))
    return command, [*rest, *options]


def _carried(
    rest: Sequence[tuple[str, str]], before: CommandName, now: CommandName
) -> list[tuple[str, str]]:
    """The options that the other command has too, the file by its own name for it."""
    if before == now:
        return list(rest)
    options = offered(now, FORMS[now].hides)
    renamed = [(ASKS[now].files if name == ASKS[before].files else name, value) for name, value in rest]
    kept = [(name, value) for name, value in renamed if name in options]
    known = {name for name, _ in kept}
    return [*kept, *(one for one in FORMS[now].start if one[0] not in known)]


def _options(command: CommandName, columns: Mapping[str, str]) -> list[tuple[str, str]]:
    """Columns as options: several of a list with commas, of others the first, unless the option repeats."""
    options: list[tuple[str, str]] = []
    known = offered(command, FORMS[command].hides)
    for role in roles_of(command):
        names = [name for name, one in columns.items() if one == role]
        if role in _LISTS and names:
            options.append((role, typed_list(names)))
        elif names:
            repeats = getattr(known[role], "multiple", False)
            options += [(role, name) for name in (names if repeats else names[:1])]
    return options


def link_of(command: CommandName, files: Sequence[str], columns: ScoreColumns | None) -> str:
    """The page of a command with files, read as is proposed."""
    options = [(ASKS[command].files, one) for one in files]
    options += [] if columns is None else _options(command, columns.proposed(command))
    known = {name for name, _ in options}
    start = [one for one in FORMS[command].start if one[0] not in known]
    return CommandRequest(command, (*options, *start)).link


def completed(request: CommandRequest, columns: ScoreColumns) -> CommandRequest:
    """A request with what is proposed, where it says nothing of columns."""
    if any(name in roles_of(request.command) for name, _ in request.options):
        return request
    said = _options(request.command, columns.proposed(request.command))
    return replace(request, options=(*request.options, *said))


def link_of_battles(file: str) -> str:
    """The page of the leaderboard of a table of battles."""
    return CommandRequest(("rank", "battles"), (("table", file),)).link


async def columns_in(parts: PageParts, files: Sequence[str]) -> ScoreColumns | None:
    """What stands in files of scores; None where they cannot be read, which their answer says."""
    if not files:
        return None
    await parts.workers.some_live()
    if not parts.workers.readiness.live:
        return None
    try:
        request = CommandRequest(COMPARE, tuple(("files", one) for one in files))
        names, places = file_places(parts, request)
        work = Work((), places, columns_of=tuple(names.values()))
        answer = await parts.workers.live(work, "")
    except InputError:
        return None
    return None if answer is None else answer.columns


# What is shown.


@dataclass(frozen=True, slots=True)
class ScoresShown:
    """A table as a command reads it, for the page.

    roles : of columns. kinds : what a column can be.
    systems : there, with how often; chosen : those that are compared. asks : what else can be asked, with links.
    """

    table: ScoreColumns
    roles: Mapping[str, str]
    kinds: Mapping[str, str]
    systems: tuple[tuple[str, int], ...]
    chosen: tuple[str, ...]
    asks: tuple[tuple[str, str, bool], ...]

    @property
    def said(self) -> str:
        """What the columns are, in a line."""
        names = {
            role: [name for name, one in self.roles.items() if one == role] for role in self.roles.values()
        }
        parts = [f"{_SHORT.get(role, role)}: {listing(those, limit=4)}" for role, those in names.items()]
        text = "; ".join(parts)
        return text[:1].upper() + text[1:]

    @property
    def of_what(self) -> str:
        """How many rows, and of what."""
        of = {role: self.table.sizes[name] for name, role in self.roles.items() if name in self.table.sizes}
        n_wide = sum(role == "systems" for role in self.roles.values())
        n_systems = len(self.chosen) or of.get("system", 0) or n_wide
        n_items = of.get("item", 0) or self.table.n_rows
        said = [counted(n_items, "item")]
        said += [counted(n_systems, "system")] if n_systems else []
        said += [counted(of["run"], "run")] if "run" in of else []
        said += [counted(of["cluster"], "group") + " of items"] if "cluster" in of else []
        return f"{counted(self.table.n_rows, 'row')}: {', '.join(said)}"


def scores_shown(request: CommandRequest, columns: ScoreColumns) -> ScoresShown:
    """How a request reads its table."""
    command, kinds = request.command, roles_of(request.command)
    roles: dict[str, str] = {}
    there = {one.name for one in columns.columns}
    for name, value in request.options:
        if name in kinds:
            parts = parts_of(value) if name in _LISTS else [value]
            roles |= {part: name for part in parts if part in there}
    system = next((name for name, role in roles.items() if role == "system"), "")
    chosen = [part for value in request.values("systems") for part in parts_of(value)] if system else []
    files = request.values(ASKS[command].files)
    run = next((name for name, role in columns.compared.items() if role == "run"), "")
    others = [RUNS if run else COMPARE]
    others += [RANK] if run in ("", "run") else []  # over other runs a leaderboard takes no mean
    others += [JUDGE] if {"human", "judge"} <= set(columns.judged.values()) else []
    return ScoresShown(
        columns,
        roles,
        {
            "": "not used",
            **{role: words for role, words in kinds.items() if role != "systems" or not system},
        },
        columns.values.get(system, ()) if "systems" in kinds else (),
        tuple(chosen),
        tuple(
            (link_of(other, files, columns), ASKS[other].words, ASKS[other].words == ASKS[command].words)
            for other in others
        ),
    )
