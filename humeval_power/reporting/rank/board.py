"""A leaderboard as tables, pictures and plain values: the same for scores and for battles."""

from __future__ import annotations

from dataclasses import asdict

from humeval_power.checking.columns import listing, shortened
from humeval_power.clusters import Clusters
from humeval_power.inference.rank.leaderboard import MOST_GROUPS, Leaderboard, Place
from humeval_power.reporting.chart import Axis, Chart, Series
from humeval_power.reporting.document import Paragraph, Section, Table
from humeval_power.reporting.numbers import (
    counted,
    p_cell,
    significant,
    significant_interval,
)
from humeval_power.reporting.records import Record, versions
from humeval_power.reporting.signature import DIGITS, NAME, cluster_entry, named, short

MOST_PAIRS = 28  # that a terminal lists without being asked
_HALF = 0.3  # of a rank, on each side of a bar
_ROOM = 0.05
NO_P_VALUE = (
    "P(best) is the chance that a system is the best of these, given the data; it is no p-value. Ranks and groups "
    "follow from tests of all pairs at once: two systems that share a letter are not told apart, which does not "
    "show them to be alike."
)
NO_GROUPS = (
    f"More than {MOST_GROUPS} groups of systems are not told apart inside: none are shown; read the ranks."
)


def board_lead(board: Leaderboard) -> str:
    """Who is first or may be, and in how many pairs a difference is shown."""
    first = [each.system for each in board.places if each.rank_low == 1]
    leader, n = shortened(board.places[0].system), len(board.places)
    pairs = counted(len(board.pairs), "pair")
    shown = f"in {board.n_apart} of {pairs} a difference is shown (alpha {board.alpha:g})"
    if len(first) == 1:
        return f"{leader} is first of {n} systems; {shown}."
    return (
        f"{leader} leads, but {len(first)} of {n} systems may be first: {listing(first, limit=6)}; {shown}."
    )


def board_table(board: Leaderboard, value: str, extra: tuple[str, dict[str, str]] | None = None) -> Table:
    """A row for each system, best first; `extra` is a column with a cell for each system."""
    head: tuple[str, ...] = ("system", value, "interval", "ranks", "group", "P(best)")
    rows = list[tuple[str, ...]]()
    for each in board.places:
        cells: tuple[str, ...] = (
            shortened(each.system),
            significant(each.value),
            significant_interval(each.low, each.high),
            rank_words(each),
            each.letters or "-",
            chance_words(each.best),
        )
        rows.append(cells if extra is None else (*cells[:3], extra[1][each.system], *cells[3:]))
    if extra is not None:
        head = (*head[:3], extra[0], *head[3:])
    caption = (
        f"{100 * (1 - board.alpha):g} % intervals, each of a system by itself; ranks hold for all at once."
    )
    return Table(head, tuple(rows), caption)


def pairs_section(board: Leaderboard, unit: str) -> Section:
    """Every pair, with intervals that hold for all of them at once."""
    rows = tuple(
        (
            f"{shortened(each.better, width=24)} - {shortened(each.worse, width=24)}",
            significant(each.difference),
            significant_interval(each.low, each.high),
            p_cell(each.p_value),
            p_cell(each.corrected_p) + (" *" if each.significant else "  "),
        )
        for each in board.pairs
    )
    caption = (
        f"{unit}; intervals of all pairs at once; corrected by the law of the largest |t| of all pairs; * "
        f"significant at alpha {board.alpha:g}."
    )
    table = Table(("pair", "difference", "interval", "p", "corrected"), rows, caption)
    return Section("Each pair", (table,), is_detail=len(rows) > MOST_PAIRS)


def rank_words(place: Place) -> str:
    """'2' or '2 to 4'."""
    return (
        f"{place.rank_low}"
        if place.rank_low == place.rank_high
        else f"{place.rank_low} to {place.rank_high}"
    )


def chance_words(chance: float) -> str:
    """A chance from draws, of which the last ones cannot be told from none."""
    return "< 0.001" if chance < 0.001 else "> 0.999" if chance > 0.999 else f"{chance:.3f}"


def values_chart(board: Leaderboard, axis: str) -> Chart:
    """Each system's value with its interval, best on top."""
    places = board.places
    low, high = min(each.low for each in places), max(each.high for each in places)
    room = _ROOM * (high - low or 1.0)
    rows = tuple(float(row) for row in range(len(places)))
    names = tuple(shortened(each.system, width=24) for each in places)
    return Chart(
        name="leaderboard",
        title="How good are the systems?",
        words=f"{counted(len(places), 'system')} with their intervals, the best on top.",
        x=Axis(axis, low - room, high + room),
        y=Axis("", 0, max(1, len(names)), names=names),
        series=(
            Series(
                "bars",
                f"{100 * (1 - board.alpha):g} % interval",
                y=rows,
                low=tuple(each.low for each in places),
                high=tuple(each.high for each in places),
            ),
            Series("points", "estimate", tuple(each.value for each in places), rows, colour=1),
        ),
        numbers=Table(
            ("system", axis, "interval"),
            tuple(
                (name, significant(each.value), significant_interval(each.low, each.high))
                for name, each in zip(names, places, strict=True)
            ),
        ),
    )


def ranks_chart(board: Leaderboard) -> Chart:
    """The ranks that the tests leave each system, with the expected rank."""
    places, n = board.places, len(board.places)
    rows = tuple(float(row) for row in range(n))
    names = tuple(shortened(each.system, width=24) for each in places)
    return Chart(
        name="ranks",
        title="Which ranks may they have?",
        words=f"The ranks that tests of all pairs leave each of {counted(n, 'system')}, with the expected rank.",
        x=Axis("Rank", 0.5, n + 0.5, is_whole=True),
        y=Axis("", 0, max(1, n), names=names),
        series=(
            Series(
                "bars",
                "ranks",
                y=rows,
                low=tuple(each.rank_low - _HALF for each in places),
                high=tuple(each.rank_high + _HALF for each in places),
            ),
            Series("points", "expected rank", tuple(each.expected for each in places), rows, colour=1),
        ),
        numbers=Table(
            ("system", "ranks", "expected rank", "P(best)"),
            tuple(
                (name, rank_words(each), f"{each.expected:.2f}", chance_words(each.best))
                for name, each in zip(names, places, strict=True)
            ),
        ),
    )


def reading_section(board: Leaderboard) -> Section:
    """How the table is to be read."""
    said = (NO_P_VALUE,) if board.has_groups else (NO_P_VALUE, NO_GROUPS)
    return Section("How to read this", (Paragraph(" ".join(said)),))


def board_record(board: Leaderboard) -> Record:
    """Places and pairs."""
    return {
        "alpha": board.alpha,
        "n_draws": board.n_draws,
        "systems": [
            {**asdict(each), "chances": list(each.chances), "chance_best": each.best}
            for each in board.places
        ],
        "pairs": [asdict(each) for each in board.pairs],
    }


def board_rows(board: Leaderboard) -> list[Record]:
    """A row for each system, for a data frame."""
    return [
        {name: value for name, value in asdict(each).items() if name != "chances"}
        | {"chance_best": each.best}
        for each in board.places
    ]


def board_signature(
    board: Leaderboard, model: list[str], *, n: int, clusters: Clusters | None, sha256: str
) -> str:
    """The line for a paper: the model's entries, then what all leaderboards have."""
    entries = [
        NAME,
        *named("v", versions()["humeval-power"]),
        *model,
        f"alpha:{short(board.alpha)}",
        f"n:{n}",
        f"k:{len(board.places)}",
        *(() if clusters is None else cluster_entry(clusters.name, clusters.n_clusters)),
        "corr:max-t",
        f"seed:{board.seed}",
        *named("data", f"sha256:{sha256[:DIGITS]}" if sha256 else None),
    ]
    return "|".join(entries)
