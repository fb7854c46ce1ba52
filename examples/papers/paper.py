"""The pages that set what a paper printed beside what this package computes: their numbers, verdicts and ledger.

A script of a paper says what was printed and what is found now, section by section, and ends with `finish`:

    paper = Paper("wei2022", "Wei, Kocmi and Federmann (2022)", source="...")
    paper.section("Table 3", "Data efficiency", "What the section says, in Markdown.")
    paper.number("WMT21, rho = 1", compared("1.30", data_efficiency(gamma, 1.0)))
    paper.grid("data", {"WMT21": {"rho = 1": compared("1.30", 1.2993), "rho = .5": compared("1.06", 1.0621)}})
    paper.picture(figure, "figure-2", "What it shows.")
    paper.finish()

Run as `python examples/papers/NAME.py`, it prints the page; with --write it makes docs/papers/NAME.md, its
pictures and its ledger, docs/papers/NAME.csv; with --check it changes nothing. It ends with 1, and writes nothing,
where a number differs without a reason, or where one that held in the ledger no longer does (--accept takes that).
A section of data that are not passed on (`data`) says so. Where they are not at hand (`keep`) it stays as it was
last computed, byte for byte, which is told where it is made, and fails nothing.

Verdicts: `equal` (ours, rounded, is what was printed), `within` (no further away than the error of their or our own
simulation, which is said), `differs` (for the reason that stands beside it).
"""

from __future__ import annotations

import argparse
import csv
import io
import math
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from humeval_power.saying.figure_style import NO_DATE, house_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HERE = Path(__file__).resolve().parent
PAGES = HERE.parents[1] / "docs" / "papers"
LEDGER = ("place", "what", "paper", "here", "difference", "verdict", "reason")
HELD = ("equal", "within")
NOT_HERE = "not computed here"  # told of a section that stands as it was last computed
NOT_PASSED_ON = "its data are not passed on"  # of a number, in the ledger
WANTED = "**Computed where its data are at hand; elsewhere the last result stands.**"  # of a section, on the page
_PRINTED = re.compile(r"(?P<sign>[<>]?)\s*(?P<number>[-+\u2212]?(?:\d[\d,]*)?\.?\d*)\s*%?")


@dataclass(frozen=True)
class TestedDifference:
    """A number of a paper as it was printed, what is found here, and how they agree."""

    printed: str
    here: str
    difference: str
    verdict: str
    reason: str


def compared(
    printed: str, ours: float | str, *, within: float | None = None, because: str = "", reason: str = ""
) -> TestedDifference:
    """What was printed beside what is found.

    `printed` is quoted as it stands, such as "5.38", "68.8 %", ".80", "1,358" or "< .001"; `ours` is in its units,
    or a word to be compared with a word. `within` is how far both may be apart for the cause `because` (the error
    of a simulation, a reading off a picture); `reason` is why they differ where they do.
    """
    if within is not None and not because:
        raise ValueError(f"{printed}: a tolerance needs its cause")
    if isinstance(ours, str):
        return TestedDifference(printed, ours, "", "equal" if ours == printed else "differs", reason)
    sign, value, decimals = _parsed(printed)
    apart = float(ours) - value
    if sign:
        held = ours < value if sign == "<" else ours > value
    else:
        held = abs(apart) <= 0.5 * 10.0**-decimals * (1 + 1e-9)
    close = within is not None and abs(apart) <= within
    verdict = "equal" if held else "within" if close else "differs"
    kept = "" if held else because if close else reason
    shown = _shown(float(ours), decimals + 1)
    return TestedDifference(printed, shown, "" if sign else _shown(apart, decimals + 1, "+"), verdict, kept)


def _parsed(printed: str) -> tuple[str, float, int]:
    """The sign of an inequality, the number, and its decimals."""
    found = _PRINTED.fullmatch(printed.strip())
    if found is None or not re.search(r"\d", found["number"]):
        raise ValueError(f"{printed!r} is no printed number")
    number = Decimal(found["number"].replace(",", "").replace("\u2212", "-"))
    return found["sign"], float(number), max(0, -int(number.as_tuple().exponent))


def _shown(value: float, decimals: int, sign: str = "") -> str:
    """One digit more than was printed, none more where there is nothing behind it."""
    if not math.isfinite(value):
        return "none"
    value = round(value, 9) + 0.0  # the sign of a zero would be that of the rounding
    return f"{value:{sign},.{max(0, decimals - 1) if value == round(value) else decimals}f}"


@dataclass(frozen=True)
class Data:
    """Data that may be computed with but not passed on: their name, and where they can be had."""

    file: str
    source: str

    def path(self) -> Path | None:
        """The file, in `data` of the folder that HUMEVAL_SHARED names; None where it is not."""
        folder = os.environ.get("HUMEVAL_SHARED")
        path = Path(folder) / "data" / self.file if folder else None
        return path if path is not None and path.exists() else None

    @property
    def wanted(self) -> str:
        """What to do for it, in a sentence or two."""
        return (
            f"`{self.file}` is looked for in `data` of the folder that HUMEVAL_SHARED names. {self.source}"
        )


@dataclass
class Paper:
    """One page: what a paper says, part by part, beside what is computed here."""

    key: str
    title: str
    source: str
    introduction: str = ""
    _place: str = ""
    _parts: list[str] = field(default_factory=list)
    _listed: list[tuple[str, TestedDifference]] = field(default_factory=list)
    _ledger: dict[tuple[str, str], TestedDifference] = field(default_factory=dict)
    _skipped: list[tuple[str, str]] = field(default_factory=list)
    _data: dict[str, Data] = field(default_factory=dict)
    _kept: dict[str, Data] = field(default_factory=dict)
    _pictures: list[tuple[Figure | Path, str]] = field(default_factory=list)

    def section(self, place: str, heading: str, text: str = "", *, data: Data | None = None) -> None:
        """Begin what belongs to a place of the paper: a table, a figure, a section; `data` are needed for it."""
        self._close()
        self._place = place
        self._parts.append(f"## {place}: {heading}")
        if data is not None:
            self._data[place] = data
            self.text(f"{WANTED} {data.wanted}")
        self.text(text)

    def text(self, text: str) -> None:
        """Sentences, in Markdown, that stand where they are said."""
        self._close()
        if text.strip():
            self._parts.append(text.strip())

    def command(self, *lines: str) -> None:
        """Commands that give the numbers of this section."""
        self.text("```text\n" + "\n".join(f"$ {line}" for line in lines) + "\n```")

    def number(self, what: str, found: TestedDifference) -> None:
        """One number; those that follow each other stand in one table."""
        self._keep(what, found)
        self._listed.append((what, found))

    def grid(self, rows_are: str, rows: Mapping[str, Mapping[str, TestedDifference | None]]) -> None:
        """A table of the paper as it stands: here (there) in each cell, None where the paper has no number."""
        self._close()
        columns = list(dict.fromkeys(column for cells in rows.values() for column in cells))
        notes: dict[str, str] = {}
        lines = [[rows_are, *columns]]
        for row, cells in rows.items():
            line = [row]
            for column in columns:
                found = cells.get(column)
                if found is None:
                    line.append("")
                    continue
                self._keep(f"{row}, {column}", found)
                line.append(f"{found.here} ({found.printed}){_mark(found, notes)}")
            lines.append(line)
        self._parts.append(_table(lines) + _notes(notes))

    def picture(self, figure: Figure | Path, name: str, caption: str) -> None:
        """A Matplotlib figure, or a PNG that a command wrote, kept as images/KEY-NAME.png."""
        self._close()
        target = f"images/{self.key}-{name}.png"
        self._pictures.append((figure, target))
        self._parts.append(f"![{caption}]({target})\n\n*{caption}*")

    def skip(self, place: str, reason: str) -> None:
        """Something in the paper that cannot be computed, or not by anybody else, and why."""
        self._skipped.append((place, reason))

    def keep(self, place: str, data: Data) -> None:
        """Let the section of a place stand as it was last computed, since its data are not here."""
        self._close()
        self._kept[place] = self._data[place] = data
        self._parts.append(f"## {place}: ")  # the page of before has the rest

    def finish(self) -> NoReturn:
        """Print the page, or write it, and end with 1 where something holds no longer."""
        parser = argparse.ArgumentParser(description=f"{self.title}: its numbers beside ours.")
        mode = parser.add_mutually_exclusive_group()
        mode.add_argument(
            "--write", action="store_true", help="write the page, its pictures and the ledger"
        )
        mode.add_argument("--check", action="store_true", help="print nothing but what holds no longer")
        parser.add_argument("--accept", action="store_true", help="take numbers that hold no longer")
        parser.add_argument("--folder", type=Path, default=PAGES, help="where the pages are")
        chosen = parser.parse_args()
        ledger = chosen.folder / f"{self.key}.csv"
        self._recall(chosen.folder / f"{self.key}.md", ledger)
        page = self.page()
        wrong = self._unexplained() + ([] if chosen.accept else self._lost(ledger))
        if not chosen.check:
            print(page)
        for data in dict.fromkeys(self._kept.values()):
            places = ", ".join(place for place, its in self._kept.items() if its == data)
            print(f"{places}: {NOT_HERE}. {data.wanted}")
        if wrong:
            sys.exit("\n".join([f"{self.title}: {len(wrong)} numbers do not hold:", *wrong]))
        if chosen.write:
            self._write(chosen.folder, page, ledger)
        sys.exit(0)

    def page(self) -> str:
        """The whole page, in Markdown."""
        self._close()
        verdicts = [found.verdict for found in self._ledger.values()]
        wanting = sum(place in self._data for place, _ in self._ledger)
        head = [
            f"# {self.title}",
            self.introduction.strip(),
            f"{self.source}",
            f"{len(verdicts):,} numbers were computed again"
            + (f", {wanting:,} of them from data that are not passed on. " if wanting else ". ")
            + f"Equal as printed: {verdicts.count('equal'):,}; "
            f"within the error that is said: {verdicts.count('within'):,}; different, for a reason that is given: "
            f"{verdicts.count('differs'):,}. In tables, what the paper prints stands in parentheses. "
            f"Made by `python examples/papers/{self.key}.py --write`; "
            f"the same as a table: [{self.key}.csv]({self.key}.csv).",
        ]
        left = "## Not computed here\n\n" + "\n".join(f"- **{a}**: {b}" for a, b in self._skipped)
        return (
            "\n\n".join(part for part in (*head, *self._parts, left if self._skipped else "") if part)
            + "\n"
        )

    def _keep(self, what: str, found: TestedDifference) -> None:
        key = (self._place, what)
        if key in self._ledger:
            raise ValueError(f"{self._place}: {what!r} is there twice")
        self._ledger[key] = found

    def _close(self) -> None:
        """Put the numbers that were listed into a table."""
        if not self._listed:
            return
        notes: dict[str, str] = {}
        lines = [["", "paper", "here", "difference"]]
        lines += [
            [what, found.printed, found.here + _mark(found, notes), found.difference]
            for what, found in self._listed
        ]
        self._listed = []
        self._parts.append(_table(lines) + _notes(notes))

    def _unexplained(self) -> list[str]:
        return [
            f"  {place}, {what}: the paper has {found.printed}, found is {found.here}, and no reason is given"
            for (place, what), found in self._ledger.items()
            if found.verdict == "differs" and not found.reason
        ]

    def _recall(self, page: Path, ledger: Path) -> None:
        """Take what is kept from the page and the ledger of before; what was never computed is skipped."""
        sections = re.split(r"\n(?=## )", page.read_text("utf-8")) if page.exists() else []
        for place, data in self._kept.items():
            head = f"## {place}: "
            before = next((each for each in sections if each.startswith(head)), None)
            at = self._parts.index(head)
            if before is None:
                self._parts[at : at + 1] = []
                self.skip(place, data.wanted)
                continue
            heading, *blocks = before.strip().split("\n\n")
            blocks = [each for each in blocks if not each.startswith(WANTED)]
            self._parts[at] = "\n\n".join([heading, f"{WANTED} {data.wanted}", *blocks])
        recalled = _read(ledger)
        for (place, what), found in recalled.items():
            if place in self._kept:
                reasons = [each for each in found.reason.split("; ") if each != NOT_PASSED_ON]
                self._ledger[place, what] = replace(found, reason="; ".join(reasons))
        if self._kept:  # in the order in which all were computed
            self._ledger = {
                key: self._ledger[key] for key in recalled if key in self._ledger
            } | self._ledger

    def _lost(self, ledger: Path) -> list[str]:
        """Numbers that held when the ledger was written, and are gone or differ."""
        wrong = []
        for (place, what), before in _read(ledger).items():
            found = self._ledger.get((place, what))
            if before.verdict in HELD and (found is None or found.verdict not in HELD):
                now = "nothing" if found is None else found.here
                wrong.append(f"  {place}, {what}: held ({before.here}), now {now} is found")
        return wrong

    def _write(self, folder: Path, page: str, ledger: Path) -> None:
        (folder / "images").mkdir(parents=True, exist_ok=True)
        for old in (folder / "images").glob(f"{self.key}-*.png"):
            if f"(images/{old.name})" not in page:
                old.unlink()
        for figure, target in self._pictures:
            if isinstance(figure, Path):
                (folder / target).write_bytes(figure.read_bytes())
            else:
                # a figure with a layout of its own fits already; cutting it would cut its legend
                box = None if figure.get_layout_engine() else "tight"
                with house_style():  # whatever a matplotlibrc says
                    figure.savefig(folder / target, dpi=110, bbox_inches=box, metadata=NO_DATE["png"])
        table = io.StringIO()
        rows = csv.writer(table, lineterminator="\n")
        rows.writerow(LEDGER)
        for (place, what), one in self._ledger.items():
            reasons = [one.reason] if one.reason else []
            reason = "; ".join([*reasons, NOT_PASSED_ON] if place in self._data else reasons)
            rows.writerow([place, what, one.printed, one.here, one.difference, one.verdict, reason])
        ledger.write_text(table.getvalue(), encoding="utf-8")
        (folder / f"{self.key}.md").write_text(page, encoding="utf-8")


def published(name: str) -> list[dict[str, str]]:
    """The rows of a table as a paper prints it: a file of examples/papers/published."""
    with (HERE / "published" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def repository(name: str) -> Path:
    """A table of the public repository of Card et al. (2020); its README says where it is from."""
    return HERE / "card2020_repository" / name


def _read(ledger: Path) -> dict[tuple[str, str], TestedDifference]:
    """The numbers of a ledger by place and name; none where there is no ledger yet."""
    if not ledger.exists():
        return {}
    with ledger.open(encoding="utf-8", newline="") as file:
        return {
            (row["place"], row["what"]): TestedDifference(
                row["paper"], row["here"], row["difference"], row["verdict"], row["reason"]
            )
            for row in csv.DictReader(file)
        }


def _mark(found: TestedDifference, notes: dict[str, str]) -> str:
    """A letter for a reason, the same for the same reason."""
    if not found.reason:
        return ""
    return f" {notes.setdefault(found.reason, _letters(len(notes)))}"


def _letters(number: int) -> str:
    return chr(97 + number) if number < 26 else _letters(number // 26 - 1) + _letters(number % 26)


def _notes(notes: Mapping[str, str]) -> str:
    return "".join(f"\n\n{letter}: {reason}" for reason, letter in notes.items())


def _table(lines: list[list[str]]) -> str:
    """A Markdown table whose columns are aligned in the terminal too."""
    lines = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    widths = [max(3, *map(len, column)) for column in zip(*lines, strict=True)]

    def row(cells: list[str]) -> str:
        first, *others = cells
        padded = [first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(others, widths[1:], strict=True))]
        return f"| {' | '.join(padded)} |"

    rule = "|".join(["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])])
    return "\n".join([row(lines[0]), f"|{rule}|", *map(row, lines[1:])])
