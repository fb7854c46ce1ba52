"""What `judge check` says: what the file supports and why, each judge beside people, and the commands that now
work."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import ClassVar

from humeval_power.checking.columns import listing, shortened
from humeval_power.comparisons.judge.check import MOST_PAIRS, CheckedFile, JudgeQuality, Worth, holm
from humeval_power.comparisons.judge.quality import Distortion, Favour, Measured
from humeval_power.comparisons.judge.result_answers import JudgedResult
from humeval_power.safe_text import shell_word
from humeval_power.saying.document import Document, Fact, Facts, Listing, Paragraph, Section, Table
from humeval_power.saying.numbers import (
    counted,
    decimals,
    level_of,
    p_cell,
    percent,
    significant,
    significant_interval,
)
from humeval_power.saying.result import Record, Result
from humeval_power.saying.stated import signature, table

_CARRIES_OVER = (
    "The corrected rate takes sensitivity and specificity to be the same wherever the labels come from. Where the "
    "labels are a random part of the items, 'judge estimate' needs no such assumption and is more precise."
)
_TUNED = (
    "A judge whose prompt, threshold or examples were chosen on these labels looks better than it is, and "
    "no interval here holds: mark those rows and leave them out with --tuned-on COLUMN."
)
_DISTORTS = (
    "How far the judge's mean difference is from people's. It is what correction by labels takes away, and "
    "no sign of preference: a judge that errs alike everywhere distorts a difference between systems whose "
    "rates differ."
)
_FAVOURS = (
    "What the judge gives a system among outputs that people value alike: its scores on what one person says, with "
    "another person's rating in the place of the truth (two-stage least squares)."
)
_MOST_WORTH = 12  # rows of a table
_Bias = tuple[JudgeQuality, str, Distortion | Favour, float]  # of what, and its corrected p-value


@dataclass(frozen=True, kw_only=True)
class JudgeCheck(Result):
    """Levels of evidence, the quality of each judge, and what it is worth in labels."""

    schema: ClassVar[str] = "humeval_power/judge_check/1"

    found: CheckedFile
    source: str
    columns: tuple[tuple[str, str], ...]
    options: tuple[tuple[str, str], ...] = ()
    remarks: tuple[str, ...] = ()

    def body(self) -> Document:
        return Document(
            "What this file supports",
            lead=self._lead(),
            headline=tuple(self._headline()),
            caveats=tuple(self._caveats()),
            sections=tuple(self._sections()),
        )

    def _lead(self) -> str:
        checked = self.found
        if not checked.n_labelled:
            return "Nothing about people: no output has a human label; --human names their columns."
        if not checked.judge_names:
            outputs = counted(checked.n_labelled, "labelled output")
            return f"There are {outputs} and no judge; --judge names its column."
        helped = next(one for one in checked.evidence if "with the judge's help" in one.what)
        if not helped.supported:
            because = helped.because
            return (
                f"Not an estimate for all items with the judge's help ({because}); what follows does hold."
            )
        said = (
            f"{counted(checked.n_labelled, 'label')} and {checked.n_extra:,} more scores support an estimate with "
            "the judge's help"
        )
        best = max(checked.worth, key=lambda one: one.times, default=None)
        of = "" if best is None else f" ({best.of[0].lower()}{best.of[1:]})"
        if best is None or best.times <= 1:
            return f"{said}, but the judge adds nothing to the labels{of}."
        return f"{said}: the labels are then worth {best.times:.2f} times as many{of}."

    def _headline(self) -> Iterator[Fact]:
        checked = self.found
        many = f", {counted(len(checked.systems), 'system')}" if checked.systems else ""
        yield (
            "Outputs",
            f"{checked.n_outputs:,} of {counted(checked.n_items, 'item')}{many}; {checked.n_labelled:,} labelled",
        )
        if checked.human_kind:
            raters = checked.worker_names
            by = f", by {counted(len(raters), 'rater')}" if raters else ""
            yield "Labels", f"{checked.human_kind}{by}"
        yield from self.columns
        if not math.isnan(checked.between):
            of, noise = "outputs", ""
            if len(checked.systems) > 1:
                of = "differences of systems"
            elif any(math.isfinite(one.run_reliability) for one in checked.judges):
                noise = ", freed of the noise of their runs"
            yield "With each other", f"judges correlate {decimals(checked.between, 2)}, over {of}{noise}"

    def _caveats(self) -> Iterator[str]:
        checked = self.found
        if checked.ties and any(one.classes is not None for one in checked.judges):
            ties = counted(checked.ties, "output")
            yield f"{ties} with as many yes as no are left out of sensitivity and specificity."
        if checked.judge_names and checked.n_labelled and not any("tuned" in one for one in self.remarks):
            yield _TUNED

    def _sections(self) -> Iterator[Section]:
        checked = self.found
        levels = table(
            checked.evidence,
            {
                "": lambda one: one.what,
                "supported": lambda one: "yes" if one.supported else "not yet",
                "because": lambda one: one.because,
            },
            in_words=True,
        )
        yield Section("What can be said", (levels,))
        yield from _beside_people([one for one in checked.judges if one.n], checked)
        if any(one.classes is not None and math.isfinite(one.classes.rate.low) for one in checked.judges):
            yield Section("What the corrected rate assumes", (Paragraph(_CARRIES_OVER),))
        yield from self._bias()
        if checked.worth:
            yield Section("What the judge is worth", (self._worth(),))
        if commands := self.commands():
            yield Section("What you can run now", (Listing("\n".join(commands)),))

    def _bias(self) -> Iterator[Section]:
        judges, several = self.found.judges, len(self.found.judges) > 1

        def biases(names: tuple[str, str], rows: list[_Bias], caption: str = "") -> Table:
            """What each judge gives to what, with its corrected p-value."""
            columns: dict[str, Callable[[_Bias], str]] = {
                "judge": lambda row: shortened(row[0].name),
                names[0]: lambda row: row[1],
                names[1]: lambda row: significant(row[2].estimate),
                f"{level_of(self.found.confidence)} interval": lambda row: significant_interval(
                    *row[2].interval
                ),
                "Holm p": lambda row: p_cell(row[3]),
            }
            shown = {name: cell for name, cell in columns.items() if several or name != "judge"}
            return table(rows, shown, caption)

        if any(one.distortions for one in judges):
            rows: list[_Bias] = [
                (one, f"{shortened(each.second)} - {shortened(each.first)}", each, p)
                for one in judges
                for each, p in zip(one.distortions, holm(one.distortions), strict=True)
            ]
            shown = biases(("difference", "distorted by"), rows, " ".join(self._pairs_left()))
            yield Section("Does the raw judge distort a difference?", (shown, Paragraph(_DISTORTS)))
        if any(one.favours for one in judges):
            rows = [
                (one, shortened(each.of), each, p)
                for one in judges
                for each, p in zip(one.favours, holm(one.favours), strict=True)
            ]
            shown = biases(("system", "given beyond others"), rows)
            yield Section("Does the judge favour a system?", (shown, Paragraph(_FAVOURS)))

    def _worth(self) -> Table:
        shown = sorted(self.found.worth, key=lambda one: -one.times)[:_MOST_WORTH]
        columns: dict[str, Callable[[Worth], str]] = {
            "of": lambda one: one.of,
            "judge": lambda one: ", ".join(map(shortened, one.judges)),
            "labels": lambda one: f"{one.n:,}",
            "worth": lambda one: "not used" if one.found.reason else f"{one.n * one.times:,.0f}",
            "half-width": lambda one: significant((one.found.interval[1] - one.found.interval[0]) / 2),
            "to reach": lambda one: significant(one.half_width),
            "with judge": lambda one: _labels(one.needed, is_sought=one.is_sought and not one.found.reason),
            "without": lambda one: _labels(one.needed_alone, is_sought=one.is_sought),
        }
        if len({one.of for one in self.found.worth}) == 1:
            columns.pop("of")
        if len(self.found.judge_names) == 1:
            columns.pop("judge")
        more = list(self._pairs_left())
        if len(self.found.worth) > _MOST_WORTH:
            more.insert(0, f"The {_MOST_WORTH} that are worth most of {len(self.found.worth)}.")
        more += dict.fromkeys(one.found.reason for one in shown if one.found.reason)
        if len(self.found.worker_names) > 1:
            more.append(
                "All of this is about these raters; 'judge estimate' counts how others would differ."
            )
        caption = (
            "Worth: as many labels without the judge. Half-width: of the interval with the judge. To reach: half "
            "of what the labels alone give, or --half-width; then the labels that this takes with the judge (at "
            "the lower 80 % limit of its squared correlation) and without; none: not even all items would do."
        )
        return table(shown, columns, " ".join([caption, *more]))

    def _pairs_left(self) -> Iterator[str]:
        n_pairs = math.comb(len(self.found.systems), 2)
        if n_pairs > MOST_PAIRS:
            yield f"The first {MOST_PAIRS} of {n_pairs:,} pairs of systems were looked at."

    def commands(self) -> tuple[str, ...]:
        """The lines that this file can be given to; without a column of items only this command takes it."""
        if "Items" not in dict(self.columns):
            return ()
        lines = []
        for command, *words in self.found.offers:
            line = ["humeval-power", "judge", command, self.source]
            for name, value in self.options:
                line += [f"--{name}", value] if f"--{name}" not in words else []
            lines.append(" ".join(map(shell_word, [*line, *words])))
        return tuple(lines)

    def content(self) -> Record:
        record = asdict(self.found)
        del record["offers"]  # as lines
        worth = [{**asdict(one), "times": one.times} for one in self.found.worth]
        return {**record, "worth": worth, "columns": dict(self.columns), "commands": list(self.commands())}

    def table_rows(self) -> list[Record]:
        return measure_rows(self.found.judges)


@dataclass(frozen=True, kw_only=True)
class JudgeLabels(JudgedResult):
    """How well judges agree with labels of outputs, where nobody knows who gave them."""

    schema: ClassVar[str] = "humeval_power/judge_labels/1"

    judges: tuple[JudgeQuality, ...]
    confidence: float

    def answer(self) -> Document:
        first = self.judges[0]
        named = f"{first.level or ''} alpha".strip()
        how = (
            ("correlation", first.correlation),
            (named, first.alpha),
            ("AC1", first.ac1),
            ("kappa", first.kappa),
        )
        known = ((name, value) for name, value in how if value is not None and not math.isnan(value.value))
        said = [f"{name} {measured_words(replace(value, reason=''))}" for name, value in known] or [
            "nothing that varies"
        ]
        who = "The judge" if len(self.judges) == 1 else shortened(first.name)
        sections = _beside_people(self.judges, self)
        return Document(
            "How well the judge agrees with people",
            lead=f"{who} agrees with the labels of {counted(first.n, 'output')} by {'; '.join(said)}.",
            sections=(*sections, Section("How to read it", (Paragraph(_NO_CEILING),))),
        )

    @property
    def signature(self) -> str:
        return signature(
            model="labels", judges=len(self.judges), n=self.judges[0].n, confidence=self.confidence
        )

    def numbers(self) -> Record:
        return {"judges": [asdict(one) for one in self.judges], "cluster": self.cluster}

    def table_rows(self) -> list[Record]:
        return measure_rows(self.judges)


_NO_CEILING = (
    "Labels of one person are noisy, and nobody can agree with them better than they agree with each other. How "
    "well that is needs a column of workers and outputs that several rated: the judge then stands beside people."
)


def measure_rows(judges: tuple[JudgeQuality, ...]) -> list[Record]:
    """A row for each judge and measure."""
    return [
        {"judge": one.name, "kind": one.kind, "n": one.n, "measure": name, **asdict(value)}
        for one in judges
        for name, value in measures(one)
    ]


def measures(one: JudgeQuality) -> Iterator[tuple[str, Measured]]:
    """Every measure of a judge that there is, by its key in tables."""
    yield "correlation", one.correlation
    if one.classes is not None:
        yield "sensitivity", one.classes.sensitivity
        yield "specificity", one.classes.specificity
        yield "corrected rate", one.classes.rate
    for name, value in (("kappa", one.kappa), ("ac1", one.ac1), ("alpha", one.alpha)):
        if value is not None:
            yield name, value


def _beside_people(shown: Sequence[JudgeQuality], of: CheckedFile | JudgeLabels) -> Iterator[Section]:
    """A section for each judge; where there are several they have their names."""
    for one in shown:
        who = "The judge" if len(of.judges) == 1 else shortened(one.name)
        yield Section(f"{who} beside people", (Facts(tuple(_facts(one, of.confidence))),))


def _facts(one: JudgeQuality, confidence: float) -> Iterator[Fact]:
    yield "Outputs", f"{one.n:,} with a label and a score; {one.kind} scores of {one.n_scored:,}"
    yield "Correlation", measured_words(one.correlation)
    if one.classes is not None:
        both, missed, false, neither = one.classes.counts
        yield "Sensitivity", f"{measured_words(one.classes.sensitivity)}, {both} of {both + missed}"
        yield "Specificity", f"{measured_words(one.classes.specificity)}, {neither} of {neither + false}"
        said = f"; the judge says yes to {percent(one.classes.judged)}" if one.classes.n_judged else ""
        yield "Corrected rate", measured_words(one.classes.rate) + said
    if one.kappa is not None:
        weighted = "kappa" if one.level == "nominal" else "weighted kappa"
        yield weighted[0].upper() + weighted[1:], measured_words(one.kappa)
    if one.ac1 is not None:
        yield "AC1", measured_words(one.ac1)
    if one.alpha is not None:
        yield f"Alpha, {one.level}", measured_words(one.alpha)
    if math.isfinite(one.run_reliability):
        yield "Runs", f"correlate {decimals(one.run_reliability, 3)} with each other over outputs"
    yield "Intervals", f"{level_of(confidence)}, about other outputs, this judge and these people"


def measured_words(one: Measured) -> str:
    """'0.812 (0.71 to 0.88)', or what there is, with the reason."""
    reach = "" if math.isnan(one.low) else f" ({decimals(one.low, 3)} to {decimals(one.high, 3)})"
    why = f"; {one.reason}" if one.reason and not math.isnan(one.value) else ""
    if math.isnan(one.value):
        return f"not told: {one.reason}" if not reach else f"somewhere in{reach}: {one.reason}"
    return f"{decimals(one.value, 3)}{reach}{why}"


def _labels(needed: int | None, *, is_sought: bool) -> str:
    return "-" if not is_sought else "none" if needed is None else f"{needed:,}"


def columns_said(named: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[tuple[str, str], ...]:
    """The columns of each role in words; roles without a column are left out."""
    return tuple((role, listing(columns)) for role, columns in named if any(columns))
