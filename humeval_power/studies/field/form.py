"""What workers are shown and asked, before it is brought into the shape of a platform."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from humeval_power.checking.cells import Codes
from humeval_power.checking.columns import listing
from humeval_power.checking.outputs import Outputs
from humeval_power.checking.rehearsed import is_rehearsed, rehearsed_worker
from humeval_power.checking.suspects import TableSize
from humeval_power.choices import (
    DEFAULT_CRITERION,
    DEFAULT_INSTRUCTIONS,
    DEFAULT_QUESTION_TEXT,
    DEFAULT_TITLE,
    TITLES,
    UploaderName,
)
from humeval_power.costs import CostModel
from humeval_power.errors import InputError, Problem
from humeval_power.safe_text import table_csv
from humeval_power.saying.document import Document, Fact, Facts, Section
from humeval_power.saying.numbers import counted
from humeval_power.saying.result import UNKNOWN, WITHDRAWAL_SCHEMA, Provenance, Record, Result
from humeval_power.scales import RatingScale
from humeval_power.studies.plan.assignment import AssignmentPlan, blinding_codes
from humeval_power.studies.plan.session_order import CHECK

MOST_BUTTONS = 11  # points of a scale that workers choose from; beyond, they move a slider
Kind = Literal["rating", "repeat", "check"]
Content = str | bytes


@dataclass(frozen=True, slots=True)
class Question:
    """A criterion and the words in which it is asked; `labels` name points of the scale, such as {1: "bad"}."""

    criterion: str
    text: str
    labels: Mapping[int, str]

    def choice(self, point: int) -> str:
        """What a point says where workers choose it: its number, and its label if it has one."""
        label = self.labels.get(point)
        return str(point) if label is None else f"{point}: {label}"


@dataclass(frozen=True, slots=True)
class FormRow:
    """One thing that a worker is shown: the row of the assignment, and its text.

    `code` is all that a platform gets of item and system; a check has one of its own, and `right` is the point that
    it asks for. `source` is what stands above the text (the article, the question), '' where there is nothing.
    """

    slot: str
    batch: int
    order: int
    kind: Kind
    code: str
    text: str
    source: str = ""
    right: int | None = None

    @property
    def key(self) -> str:
        """What tells this place of the study from every other: a repeat has the code of what it repeats."""
        return f"{self.slot}-{self.order:03d}-{self.code}"


@dataclass(frozen=True, slots=True)
class CheckText:
    """An attention check: what it says, and the point of the scale that it asks for."""

    text: str
    right: int
    source: str = ""


@dataclass(frozen=True)
class RatingForm:
    """A study as its workers see it. The scale has whole points; nothing in it names a system. `costs` is what the
    plan pays for the work, None where nobody has said it.

    Raises
    ------
    InputError
        A scale whose points are no whole numbers, two questions of one criterion, labels or right answers that are
        no point of the scale: all at once.
    """

    title: str
    instructions: str
    questions: tuple[Question, ...]
    scale: RatingScale
    shown: tuple[FormRow, ...]
    costs: CostModel | None = None

    def __post_init__(self) -> None:
        problems = [*_scale_problems(self.scale), *_question_problems(self.questions, self.points)]
        points = self.points
        questions = dict.fromkeys((one.text, one.right) for one in self.shown if one.right is not None)
        wrong = [(text, right) for text, right in questions if right not in points]
        problems += [
            Problem(
                f"the check {text!r} asks for {right}, which is no point of the scale {self.scale}.", ""
            )
            for text, right in wrong
        ]
        if problems:
            raise InputError(problems)

    @property
    def is_slider(self) -> bool:
        """Whether workers move a slider: the scale is continuous, or has too many points for buttons."""
        return needs_slider(self.scale)

    @property
    def points(self) -> range:
        """The points of the scale, lowest first."""
        return range(round(self.scale.low), round(self.scale.high) + 1)

    @property
    def slots(self) -> tuple[str, ...]:
        """The worker slots, in their order."""
        return tuple(dict.fromkeys(one.slot for one in self.shown))

    def reward(self, outputs: int) -> Decimal | None:
        """What the plan pays a worker for so many outputs, to the next cent; None where nobody has said it."""
        return None if self.costs is None else self.costs.reward(outputs)

    def of_slot(self, slot: str) -> Sequence[FormRow]:
        """What one worker is shown, in order."""
        return self._by_slot[slot]

    @cached_property
    def _by_slot(self) -> Mapping[str, Sequence[FormRow]]:
        row: dict[str, list[FormRow]] = {slot: [] for slot in self.slots}
        for one in sorted(self.shown, key=lambda one: one.order):
            row[one.slot].append(one)
        return row


@dataclass(frozen=True, slots=True)
class Uploader:
    """A platform's files out of a form: their content by name, a README that says what to do with each among them,
    and where the platform gives answers back a mapping.toml for `import`. `sliders` says whether it can show a
    slider. `remarks` are to be said at once, beside the files."""

    name: UploaderName
    write: Callable[[RatingForm], Mapping[str, Content]]
    sliders: bool = False
    remarks: Callable[[RatingForm], Sequence[str]] = lambda _form: ()

    @property
    def title(self) -> str:
        """What people call it."""
        return TITLES[self.name]


def needs_slider(scale: RatingScale) -> bool:
    """Whether a scale is continuous, or has too many points for buttons."""
    return scale.points is None or scale.points > MOST_BUTTONS


def _scale_problems(scale: RatingScale) -> Iterator[Problem]:
    whole = float(scale.low).is_integer() and float(scale.high).is_integer()
    if not whole or scale.points not in (None, round(scale.width) + 1):
        rule = f"Workers choose whole numbers; the scale is {scale}."
        yield Problem(rule, "Take one such as 1:5, or 0:100 for a slider.")


def _question_problems(questions: Sequence[Question], points: Sequence[int]) -> Iterator[Problem]:
    if not questions:
        yield Problem("A form asks a question at least; there is none.", "")
    names = [one.criterion for one in questions]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1 or not name.strip()):
        yield Problem(f"The criterion {name!r} {'is blank' if not name.strip() else 'is asked twice'}.", "")
    unknown = [str(point) for one in questions for point in one.labels if point not in points]
    if unknown:
        rule = f"There are labels of {listing(list(dict.fromkeys(unknown)))}; the points of the scale are"
        yield Problem(f"{rule} {points[0]} to {points[-1]}.", "")


# The names of workers in what is shown and written: pseudonyms by a secret, their ids, or none.


@dataclass(frozen=True, slots=True)
class Names:
    """How workers are named: by pseudonyms where there is a `secret`, else by their ids, or not at all.

    Ids of platforms are personal data. Pseudonyms, as in a table that was imported, stay where all names are such.
    """

    secret: str | None = field(default=None, repr=False)
    hidden: bool = False

    def of(self, workers: pd.Series) -> pd.Series:
        """What each worker is called; '' stays ''."""
        if self.hidden:
            return workers.map(lambda _: "")
        if self.secret is None or all(map(is_pseudonym, (name for name in workers.unique() if name))):
            return workers
        made = pseudonyms((name for name in workers.unique() if name), key=self.secret, kind="worker")
        return workers.map(lambda name: made.get(name, ""))


BY_ID = Names()
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")  # of an id in the name of a file


def with_pseudonyms(frame: pd.DataFrame, secret: str) -> pd.DataFrame:
    """A table with a pseudonym for each worker: the same secret always gives the same ones. Names of files that a
    worker's id is part of have the pseudonym in its place."""
    workers = frame["worker"].astype(str)
    named = frame.assign(worker=Names(secret).of(workers))
    if "source" not in frame:
        return named
    pairs = zip(frame["source"].astype(str), workers, named["worker"], strict=True)
    files = {source: source for source in frame["source"].astype(str)}
    for source, worker, name in dict.fromkeys(pairs):
        for form in {worker, _UNSAFE.sub("_", worker)} - {""}:
            files[source] = re.sub(rf"(?<![^\W_]){re.escape(form)}(?![^\W_])", name, files[source])
    return named.assign(source=[files[source] for source in frame["source"].astype(str)])


# The form of an assignment: the texts of its rows, and attention checks with their right answers.

_STREAM = 7  # of random numbers, beside those of the assignment
DEFAULT_QUESTION = Question(DEFAULT_CRITERION, DEFAULT_QUESTION_TEXT, {})


def questions_of(
    criteria: Sequence[str], questions: Sequence[Question], labels: Mapping[int, str]
) -> tuple[Question, ...]:
    """What is asked of a study with these criteria (none: it has one without a name); a question that nobody has
    worded is worded by its criterion.

    Raises InputError: questions of other criteria than the study has, or of some of them alone.
    """
    if questions:
        names = [one.criterion for one in questions]
        if criteria and set(names) != set(criteria):
            rule = f"Questions are asked of {', '.join(names)}; the plan has the criteria {', '.join(criteria)}."
            raise InputError([Problem(rule, "Ask one question of each.")])
        return tuple(questions)
    usual = [Question(name, f"{DEFAULT_QUESTION.text} ({name})", labels) for name in criteria]
    return tuple(usual) or (replace(DEFAULT_QUESTION, labels=labels),)


@dataclass(frozen=True, slots=True)
class Asked:
    """What workers are told and asked, and what they are paid, where that is known. `checks` are attention checks;
    without any they are written.

    Raises
    ------
    InputError
        What `RatingForm` refuses, and checks that ask for what is no point of the scale: all at once.
    """

    scale: RatingScale
    title: str = DEFAULT_TITLE
    instructions: str = DEFAULT_INSTRUCTIONS
    questions: tuple[Question, ...] = (DEFAULT_QUESTION,)
    checks: tuple[CheckText, ...] = ()
    costs: CostModel | None = None

    def __post_init__(self) -> None:
        self.form([FormRow("", 1, 1, "check", "", one.text, one.source, one.right) for one in self.checks])

    def form(self, shown: Sequence[FormRow]) -> RatingForm:
        """The form that shows these."""
        content = (self.title, self.instructions, self.questions, self.scale)
        return RatingForm(*content, tuple(shown), self.costs)


def form_of(plan: AssignmentPlan, rows: pd.DataFrame, outputs: Outputs, form: Asked) -> RatingForm:
    """The form of the rows of an assignment: what is shown stands in the order of the rows.

    Checks are dealt at random by the seed of the assignment: a worker meets all before one comes again. Each has a
    code of its own, as outputs have.

    plan : a blind one: it has the bits of the codes.
    rows : as the plan's table has them, with the names of items and systems.
    """
    checks = form.checks or written_checks(form.form(()))
    assert plan.bits is not None
    names = [("attention check", str(number)) for number in range(len(checks))]
    codes = blinding_codes(names, bits=plan.bits, others=plan.codes)
    dealt = _dealt(plan, len(checks))
    shown = []
    columns = ("worker_slot", "batch", "order", "kind", "code", "item", "system")
    planned = rows["replaces" if "replaces" in rows else "worker_slot"]  # a spare sees the same checks
    for slot, *values in zip(planned.tolist(), *(rows[name].tolist() for name in columns), strict=True):
        number = dealt.get((slot, values[columns.index("order")]))
        shown.append(
            _output(values, outputs) if number is None else _check(values, checks[number], codes[number])
        )
    return form.form(shown)


def written_checks(form: RatingForm) -> tuple[CheckText, ...]:
    """Checks that ask for a point each; of a slider for its ends, which a hand can reach."""
    points = (form.points[0], form.points[-1]) if form.is_slider else form.points
    every = " for every question" if len(form.questions) > 1 else ""
    do = "please answer" if form.is_slider else "please choose"  # not all platforms have a slider
    return tuple(CheckText(f"This is an attention check: {do} {point}{every}.", point) for point in points)


def rows_shown(rows: pd.DataFrame, form: RatingForm) -> pd.DataFrame:
    """The rows with the codes of checks, and in a column `right` the point that each asks for."""
    right = [None if one.right is None else str(one.right) for one in form.shown]
    return rows.assign(
        code=[one.code for one in form.shown], right=pd.Series(right, dtype=object, index=rows.index)
    )


def _output(values: Sequence[Any], outputs: Outputs) -> FormRow:
    slot, batch, order, kind, code, item, system = values
    assert kind in ("rating", "repeat")
    text, source = outputs.texts[item, system], outputs.sources.get(item, "")
    return FormRow(
        slot, int(batch), int(order), "repeat" if kind == "repeat" else "rating", code, text, source
    )


def _check(values: Sequence[Any], check: CheckText, code: str) -> FormRow:
    slot, batch, order, *_ = values
    return FormRow(slot, int(batch), int(order), "check", code, check.text, check.source, check.right)


def _dealt(plan: AssignmentPlan, n_checks: int) -> Mapping[tuple[str, int], int]:
    """Which check is shown at a slot and order: each slot goes through all of them in an order of its own."""
    counts: dict[tuple[str, int], int] = {}
    places = np.flatnonzero(plan.kind == CHECK)
    for worker in np.unique(plan.worker[places]).tolist():
        rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(_STREAM, worker)))
        mine = plan.order[places[plan.worker[places] == worker]]
        rounds = [rng.permutation(n_checks) for _ in range(-(-len(mine) // n_checks))]
        for order, number in zip(np.sort(mine).tolist(), np.concatenate(rounds).tolist(), strict=False):
            counts[plan.slots[worker], order] = number
    return counts


# Participants who withdrew: what goes, what stays, and what the ledger of looks was told.

_DIGITS = 12


@dataclass(frozen=True, kw_only=True)
class WithdrawalResult(Result):
    """A table without the participants who withdrew.

    table : all rows of the others, as they were.
    gone, left : what goes with them, and what is left.
    n_planned : the workers that the plan asks for; None without a plan.
    ledger : the ledger of looks that was told; None where no look had seen anything of theirs.
    n_seen : of the ratings that go, those that looks saw.
    """

    schema: ClassVar[str] = WITHDRAWAL_SCHEMA
    endings: ClassVar[tuple[str, ...]] = (".csv",)

    table: pd.DataFrame
    gone: TableSize
    left: TableSize
    n_planned: int | None = None
    ledger: str | None = None
    n_seen: int = 0
    provenance: Provenance = UNKNOWN

    def seen(self, ledger: str, n_seen: int) -> WithdrawalResult:
        """The same with what the ledger of looks was told."""
        return replace(self, ledger=ledger if n_seen else None, n_seen=n_seen)

    def body(self) -> Document:
        """What goes and what is left, beside what was planned."""
        planned = "" if self.n_planned is None else f", where {self.n_planned:,} were planned"
        return Document(
            f"{counted(self.gone.n_workers, 'participant')} withdrew",
            lead=f"{counted(self.gone.n_rows, 'row')} of theirs {'is' if self.gone.n_rows == 1 else 'are'} gone; "
            f"{counted(self.left.n_rows, 'row')} of {counted(self.left.n_workers, 'worker')} "
            f"{'is' if self.left.n_rows == 1 else 'are'} left{planned}.",
            sections=(Section("", (Facts(tuple(self._facts())),)),),
        )

    def _facts(self) -> Iterator[Fact]:
        if self.ledger is None:
            yield "Looks", "none has seen ratings of theirs"
        else:
            yield (
                "Looks",
                f"had seen {counted(self.n_seen, 'rating')} of theirs; {self.ledger} says that they are gone",
            )

    def content(self) -> Record:
        """Counts; nothing of a participant."""
        return {
            "n_withdrawn": self.gone.n_workers,
            "n_rows_gone": self.gone.n_rows,
            "n_rows": self.left.n_rows,
            "n_workers": self.left.n_workers,
            "n_planned": self.n_planned,
            "ledger": self.ledger,
            "n_seen": self.n_seen,
        }

    def to_frame(self) -> pd.DataFrame:
        """The table without them."""
        return self.table.reset_index(drop=True)

    def artefact(self, ending: str) -> str:
        """The table without them as CSV."""
        assert ending in self.endings
        return table_csv(self.to_frame(), digits=_DIGITS)

    def files(self) -> dict[str, str]:
        """The table without them."""
        return {"ratings.csv": self.artefact(".csv")}


# Keyed pseudonyms, a keyed order of rows, and the look of ids that name a person on a platform.

DIGITS = 16  # hexadecimal: two of a million names share a pseudonym with a chance of 3 in 10^8
_BLOCK = 64  # bytes that SHA-256 takes at a time
_INNER, _OUTER = (bytes(byte ^ pad for byte in range(256)) for pad in (0x36, 0x5C))  # of RFC 2104
SHORT_KEY = 16  # characters below which all keys, or all likely ones, can be tried
_MTURK = re.compile(r"A[A-Z0-9]{12,14}")
_PROLIFIC = re.compile(r"[0-9a-f]{24}", re.IGNORECASE)
_EMAIL = re.compile(r"[^\s@<>,;:\"']+@[^\s@<>,;:\"']+\.[^\W\d_]{2,}")
_PSEUDONYM = re.compile(rf"({re.escape(rehearsed_worker(''))})?w[0-9a-f]{{{DIGITS}}}")
_WORD = re.compile(r"[A-Za-z0-9]+")


def pseudonyms(names: Iterable[str], *, key: str, kind: str) -> dict[str, str]:
    """A pseudonym for each name: the same key, kind and name always give the same one.

    It is the start of HMAC-SHA256 of kind and name: without the key, trying known ids tells nothing.
    `kind` ('worker', 'item') gives the same id different pseudonyms in different columns. Workers of a rehearsal
    stay known as such.
    """
    return {name: _marked(name, f"{kind[0]}{_digest(key, f'{kind}:{name}')[:DIGITS]}") for name in names}


def is_pseudonym(name: str) -> bool:
    """Whether a worker's name looks like one of these pseudonyms."""
    return _PSEUDONYM.fullmatch(name) is not None


def _marked(name: str, pseudonym: str) -> str:
    return rehearsed_worker(pseudonym) if is_rehearsed([name]) else pseudonym


def keyed_order(n_rows: int, *, key: str) -> Codes:
    """A permutation of the rows (n_rows,) that the key determines and that nobody can undo without it: they are
    sorted by the digests of their numbers."""
    # HMAC-SHA256 of many short messages: the two halves of the key are taken in once
    secret = _bytes(key)
    secret = hashlib.sha256(secret).digest() if len(secret) > _BLOCK else secret
    inner, outer = (hashlib.sha256(secret.ljust(_BLOCK, b"\0").translate(pad)) for pad in (_INNER, _OUTER))
    order = []
    for row in range(n_rows):
        message, signed = inner.copy(), outer.copy()
        message.update(b"row:%d" % row)
        signed.update(message.digest())
        order.append(signed.digest())
    digests = b"".join(order)
    words = np.frombuffer(digests, dtype=">u8").reshape(n_rows, 4)
    return np.lexsort(words.T[::-1]).astype(np.int64)


def platform_of(text: str) -> str | None:
    """What kind of personal id stands in a text: an MTurk or Prolific id, an e-mail address, or None."""
    if _EMAIL.search(text):
        return "an e-mail address"
    for word in _WORD.findall(text):
        if _PROLIFIC.fullmatch(word):
            return "a Prolific id"
        # Inside a longer text a word in capitals is more likely a word than an id.
        if _MTURK.fullmatch(word) and (word == text.strip() or any(letter.isdigit() for letter in word)):
            return "an MTurk id"
    return None


def personal_ids(texts: Sequence[str]) -> dict[str, list[str]]:
    """The texts that hold a personal id, by the kind of id."""
    by_kind: dict[str, list[str]] = {}
    for text in texts:
        kind = platform_of(text)
        if kind is not None:
            by_kind.setdefault(kind, []).append(text)
    return by_kind


def _digest(key: str, message: str) -> str:
    return hmac.digest(_bytes(key), _bytes(message), "sha256").hex()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
