"""Many systems compared in pairs, two systems on several data sets, and what is in a table of scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.choices import CORRECTIONS
from humeval_power.comparisons.scores.all_pairs import (
    BY_RESAMPLING,
    PairwiseScores,
    Replicability,
)
from humeval_power.comparisons.scores.comparison import PairComparison
from humeval_power.comparisons.scores.effect_sizes import TestSettings
from humeval_power.comparisons.scores.figures import heat_map_chart
from humeval_power.comparisons.scores.result import (
    draws,
    independence_of_pair,
    notices_of,
    origin,
    pair_record,
    pair_row,
    scores_signature,
    settings_record,
)
from humeval_power.comparisons.scores.score_table import ScoreTable
from humeval_power.safe_text import shell_word
from humeval_power.saying.chart import interval_chart
from humeval_power.saying.clustered_words import Independence, assumed_items
from humeval_power.saying.document import Document, Listing, Paragraph, Picture, Section, Table
from humeval_power.saying.numbers import counted, level_of, p_cell, significant, significant_interval
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record
from humeval_power.saying.stated import PaperResult, above, pairs_lead, table

MOST_PAIRS = 60  # that a terminal lists without being asked
_LIMITS = {
    "any": "the chance of any false one is at most alpha",
    "share": "on average at most a share alpha of the significant pairs is false; some of them may be",
}
_HOW = {"bonferroni": "Bonferroni, any dependence", "fisher": "Fisher, independent sets"}


def _independence_of_table(table: ScoreTable) -> tuple[Independence, ...]:
    """Clusters of the items of several systems, or that there are none known."""
    clusters = table.clusters
    if clusters is None:
        return (assumed_items(table.n_items, table.suspects),)
    sizes = clusters.sizes
    size = f"of {sizes[0]:,}" if sizes.min() == sizes.max() else f"of {sizes.min():,} to {sizes.max():,}"
    text = (
        f"The {table.n_items:,} items come in {clusters.n_clusters:,} clusters ({clusters.name}), {size}. Errors "
        "of every pair are robust to whatever items of a cluster share. Tests that resample or flip take whole "
        "clusters."
    )
    return (Independence("items", "accounted", text),)


@dataclass(frozen=True, kw_only=True)
class ManyResult(PaperResult):
    """Systems by their mean, the tests of their pairs with corrected p-values, and clusters."""

    schema: ClassVar[str] = "humeval_power/compare_many/2"

    found: PairwiseScores
    table: ScoreTable
    settings: TestSettings

    @property
    def remarks(self) -> tuple[str, ...]:
        return notices_of(self.table)

    @property
    def _size(self) -> str:
        """'500 items', or '500 items in 40 clusters'."""
        items, clusters = counted(self.table.n_items, "item"), self.table.clusters
        return items if clusters is None else f"{items} in {counted(clusters.n_clusters, 'cluster')}"

    def answer(self) -> Document:
        pairs, alpha = self.found, self.settings.alpha
        is_corrected = pairs.correction != "none"
        corrected = f", after {CORRECTIONS[pairs.correction].words}" if is_corrected else ", not corrected"
        better = [
            above(pair.first, pair.second, pair.test.lead) for pair in pairs.pairs if pair.significant
        ]
        group = {name: place for place, names in enumerate(pairs.clusters, 1) for name in names}
        means = table(
            pairs.means.items(),
            {
                "system": lambda row: row[0],
                "mean": lambda row: significant(row[1]),
                **({"group": lambda row: str(group[row[0]])} if group else {}),
            },
        )
        groups = Paragraph(
            "A group ends where every system above differs significantly from every one below. Systems of one "
            "group may differ from each other: see the pairs."
        )
        (first, best), (second, next_best), *_ = pairs.means.items()
        words = (
            "Corrected p-values of all pairs as a map: blue where the row's system is better, orange worse."
        )
        picture = heat_map_chart(self.found, alpha=self.settings.alpha, words=words)
        return Document(
            f"{len(pairs.means)} systems compared: {self.table.metric}",
            lead=f"{first} has the highest mean, {significant(best - next_best)} above {second}. "
            f"{pairs_lead(better, len(pairs.pairs), f'alpha {alpha:g}{corrected}')} {pairs.pairs[0].test.label}, "
            f"{self._size}.",
            caveats=(
                self._what_is_limited(),
                "A pair that is not significant is not shown to be alike; intervals are of each pair by itself.",
            ),
            sections=(
                Section("Systems", (means, *((groups,) if group else ()), picture)),
                Section("Each pair", (self._pairs(),), is_detail=len(pairs.pairs) > MOST_PAIRS),
            ),
            provenance=origin(self.table),
        )

    def _pairs(self) -> Table:
        """A row for each pair; of scores 0 and 1 with the items on which either system alone is right."""
        estimand, counts = self.found.pairs[0].test.estimand, self.table.is_binary
        changed = {"helped : hurt": lambda pair: f"{pair.n_helped:,} : {pair.n_hurt:,}"}
        caption = f"The {estimand}; * significant at alpha {self.settings.alpha:g} after the correction."
        if counts:
            caption += (
                " helped : hurt: items on which the first of the pair alone is right, and the second."
            )
        return table(
            self.found.pairs,
            {
                "pair": lambda pair: f"{pair.second} - {pair.first}",
                **(changed if counts else {}),
                estimand.split()[0]: lambda pair: significant(pair.test.estimate),
                "interval": lambda pair: significant_interval(*pair.test.interval),
                "p": lambda pair: p_cell(pair.test.p_value),
                "corrected": lambda pair: p_cell(pair.corrected_p) + (" *" if pair.significant else "  "),
            },
            caption,
        )

    def independence(self) -> tuple[Independence, ...]:
        return _independence_of_table(self.table)

    def paper(self) -> tuple[str, ...]:
        result, pairs = self.found, counted(len(self.found.pairs), "pair")
        return (
            f"We compared {len(result.means)} systems by {self.table.metric} on the same {self._size}: "
            f"{result.pairs[0].test.label} of {pairs}, {self._corrected()}. "
            f"{sum(pair.significant for pair in result.pairs)} of {pairs} differ significantly at alpha "
            f"{self.settings.alpha:g}.",
        )

    def _what_is_limited(self) -> str:
        """What the correction keeps small."""
        correction = self.found.correction
        if correction == "none":
            return "The p-values are not corrected for the number of pairs: by chance some will be significant."
        resampled = "the items" if self.table.clusters is None else "whole clusters of items"
        by = f", from joint resamples of {resampled}" if correction in BY_RESAMPLING else ""
        name = CORRECTIONS[correction]
        return f"The p-values are those after {name.words}{by}: {_LIMITS[name.limits]}."

    def _corrected(self) -> str:
        """The correction as a paper names and cites it."""
        correction = self.found.correction
        if correction == "none":
            return "p-values not corrected for the number of pairs"
        source = "Westfall and Young 1993" if correction == "max-t" else CORRECTIONS[correction].source
        by = " in joint resamples" if correction in BY_RESAMPLING else ""
        return f"p-values after {CORRECTIONS[correction].words}{by}{f' ({source})' if source else ''}"

    @property
    def is_drawn(self) -> bool:
        """Whether anything was resampled."""
        return any(draws(pair.test) for pair in self.found.pairs)

    @property
    def signature(self) -> str:
        pairs = self.found
        return scores_signature(
            pairs.question,
            pairs.pairs[0].test,
            self.table,
            self.settings,
            drawn=self.is_drawn,
            n_systems=len(pairs.means),
            correction=pairs.correction,
        )

    def numbers(self) -> Record:
        pairs = self.found
        return {
            "systems": list(pairs.means),
            "metric": self.table.metric,
            **values(pairs, "means", "question", "correction", "n_items", "clusters"),
            "settings": settings_record(self.settings),
            "pairs": [
                {
                    **asdict(pair.test),
                    **values(pair, "first", "second", "n_helped", "n_hurt", "significant"),
                    "corrected_p_value": pair.corrected_p,
                }
                for pair in pairs.pairs
            ],
            "notices": list(self.table.notices),
        }

    def table_rows(self) -> list[Record]:
        return [
            {
                **pair_row((pair.first, pair.second), pair.test),
                **values(pair, "n_helped", "n_hurt"),
                "corrected_p_value": pair.corrected_p,
                "significant": pair.significant,
            }
            for pair in self.found.pairs
        ]


@dataclass(frozen=True, kw_only=True)
class SetsResult(PaperResult):
    """One pair of systems on each of `names`, and how many of them replicate the effect."""

    schema: ClassVar[str] = "humeval_power/compare_sets/2"

    names: tuple[str, ...]
    comparisons: tuple[PairComparison, ...]
    found: Replicability

    @property
    def remarks(self) -> tuple[str, ...]:
        return notices_of(*(one.table for one in self.comparisons))

    def answer(self) -> Document:
        replicability, first, n = self.found, self.comparisons[0], len(self.names)
        a, b = first.names
        direction = "higher" if first.request.settings.alternative == "greater" else "lower"
        confidence = f"confidence {level_of(1 - replicability.alpha)}"
        lead = f"In none of {n} sets is it shown that {b} scores {direction} than {a} ({confidence})."
        if count := replicability.count:
            lead = f"{b} scores {direction} than {a} in at least {count} of {n} sets, with {confidence}."
        named = ", ".join(self.names[place] for place in replicability.named) or "none"
        changed = {"helped : hurt": lambda row: f"{row[1].data.n_helped:,} : {row[1].data.n_hurt:,}"}
        sets = table(
            zip(self.names, self.comparisons, replicability.holm_p, strict=True),
            {
                "set": lambda row: row[0],
                "n": lambda row: f"{row[1].test.n:,}",
                **(changed if all(one.data.is_binary for one in self.comparisons) else {}),
                first.test.estimand.split()[0]: lambda row: significant(row[1].test.estimate),
                "p": lambda row: p_cell(row[1].test.p_value),
                "Holm p": lambda row: p_cell(row[2]),
            },
        )
        how = Paragraph(
            f"{first.test.label}, one-sided; {_HOW[replicability.combination]} (Dror et al. 2017). One by one "
            f"(Holm): {named}."
        )
        old, new = first.table.systems
        return Document(
            f"{new} compared with {old} on {n} sets",
            lead=lead,
            sections=(Section("", (sets, how, *self._pictures())),),
            provenance=origin(*(one.table for one in self.comparisons)),
        )

    def _pictures(self) -> tuple[Picture, ...]:
        """Cohen's d, which alone can be compared between metrics; none where a set has no spread."""
        sizes = [each for one in self.comparisons for each in one.effects if each.name == "cohens_d"]
        if len(sizes) < len(self.names):
            return ()
        effects = [
            (name, each.value, (each.low, each.high)) for name, each in zip(self.names, sizes, strict=True)
        ]
        confidence = level_of(self.comparisons[0].request.settings.confidence)
        return (
            interval_chart(
                "effects",
                effects,
                axis="Cohen's d of B - A",
                title="How large is the effect in each set?",
                words=f"Cohen's d of B - A in each set, with its {confidence} interval, about 0.",
            ),
        )

    def independence(self) -> tuple[Independence, ...]:
        """One answer for each set, or one for all that count their items as independent."""
        if all(one.table.clusters is None for one in self.comparisons):
            suspects = {each.column: each for one in self.comparisons for each in one.table.suspects}
            n = sum(one.table.n_items for one in self.comparisons)
            return (assumed_items(n, tuple(suspects.values())),)
        return tuple(
            Independence(each.of, each.state, f"{name}: {each.text}")
            for name, one in zip(self.names, self.comparisons, strict=True)
            for each in independence_of_pair(one)
        )

    def numbers(self) -> Record:
        named = [self.names[place] for place in self.found.named]
        return {
            "names": list(self.names),
            "replicability": {**asdict(self.found), "named": named},
            "comparisons": [pair_record(one) for one in self.comparisons],
        }

    def table_rows(self) -> list[Record]:
        return [
            {"set": name, **pair_row(one.table.systems, one.test), "holm_p_value": holm}
            for name, one, holm in zip(self.names, self.comparisons, self.found.holm_p, strict=True)
        ]


@dataclass(frozen=True, kw_only=True)
class ScoreCheckResult(PaperResult):
    """Systems, items and scores of a table, by metric, and what was not independent."""

    schema: ClassVar[str] = "humeval_power/score_check/1"

    tables: tuple[ScoreTable, ...]

    @property
    def remarks(self) -> tuple[str, ...]:
        said = dict.fromkeys(notice for table in self.tables for notice in table.notices)
        return tuple(f"{self.tables[0].source}: {notice}" for notice in said)

    @property
    def is_binary(self) -> bool:
        return all(table.is_binary for table in self.tables)

    def answer(self) -> Document:
        first = self.tables[0]
        columns = {
            "system": lambda row: row["system"],
            "mean": lambda row: significant(row["mean"]),
            "SD": lambda row: significant(row["sd"]),
            "lowest": lambda row: significant(row["lowest"]),
            "highest": lambda row: significant(row["highest"]),
        }
        return Document(
            "A table of scores",
            lead=f"This table can be compared: {counted(first.n_items, 'item')}, "
            f"{counted(len(first.systems), 'system')}. It has no column of workers, so that it is no rating "
            "study.",
            sections=(
                *(Section(f"Scores: {one.metric}", (table(_rows(one), columns),)) for one in self.tables),
                Section("What to do next", tuple(self._next())),
            ),
        )

    def independence(self) -> tuple[Independence, ...]:
        return _independence_of_table(self.tables[0])

    def _next(self) -> Iterator[Paragraph | Listing]:
        first = self.tables[0]
        file = shell_word(first.source)
        named = next((each.column for each in first.suspects if each.column), None)
        cluster = "" if named is None else f" --cluster {shell_word(named)}"
        yield Paragraph(
            "Name the clusters if items of one are alike, and say what is asked before you look at differences:"
        )
        command = f"compare accuracy test {file}"
        if not self.is_binary:
            score = f" --score {shell_word(first.metric)}" if len(self.tables) > 1 else ""
            command = f"compare scores {file}{score} --question mean"
        yield Listing(f"humeval-power {command}{cluster}")

    def numbers(self) -> Record:
        first = self.tables[0]
        return {
            "n_items": first.n_items,
            "systems": list(first.systems),
            "binary": self.is_binary,
            "rows": [row for table in self.tables for row in _rows(table)],
        }


def _rows(table: ScoreTable) -> Iterator[Record]:
    for system in table.systems:
        scores = table.column(system)
        yield {
            "metric": table.metric,
            "system": system,
            "mean": float(scores.mean()),
            "sd": float(scores.std(ddof=1)),
            "lowest": float(scores.min()),
            "highest": float(scores.max()),
        }
