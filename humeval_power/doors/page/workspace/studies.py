"""The studies below the chosen folder: each a folder with study.toml, read, begun, named and saved."""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import secrets
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from threading import Lock
from typing import Any

from humeval_power.asking.study_file import StudyFile, parsed_study, with_values
from humeval_power.choices import DEFAULT_CRITERION, DEFAULT_QUESTION_TEXT
from humeval_power.doors.page.serving.chosen_folder import Folder
from humeval_power.errors import InputError, Problem
from humeval_power.fields import Kind, parts_of, typed_list
from humeval_power.files.file_bytes import toml_lines, toml_path
from humeval_power.files.file_sets import write_files
from humeval_power.safe_text import toml_text
from humeval_power.study import FIELDS, FILE_NAME, put_aside
from humeval_power.study_text import study_text, toml_value

DRAFT = "draft"
ASK = "ask-"  # before the place of a criterion, in the name of the field of its question
_DRAFT = re.compile(rf"{DRAFT}(-\d+)?")
_LONGEST_NAME = 60
_LARGEST = 1_000_000  # bytes of a study file
MOST_FILES = 500  # in a folder that a study names
REPORTS_FOLDER = "reports"
MAPPING = "mapping.toml"  # how the exports of a study are read
TEXTS = "texts-as-read.csv"  # the texts to rate, where the page was told what their columns are
SEED = "seed.txt"  # of the order of an assignment; who knows it can tell the systems apart
_LARGEST_SEED = 10**9
SECRET_ENDING = ".secret"  # of the file that seals the ledger of looks, beside it
# Where commands write what belongs to a study, as `start` names it too.
WRITTEN: Mapping[str, Any] = {
    "plan": "plan",
    "assignment": ["field/assignment.csv"],
    "key": "key.csv",
    "ratings": "ratings.csv",
    "rehearsal": "rehearsal.csv",
    "findings": "analysis",
    "answers": "answers.toml",
}
CHOSEN: Mapping[str, Any] = {"pool": "chosen.csv"}  # of studies that choose their items alone


@dataclass(frozen=True)
class OpenedStudy:
    """A study as it was read.

    name : the path of its folder below the chosen one; "" for that itself.
    """

    name: str
    folder: Path
    file: StudyFile

    @property
    def version(self) -> str:
        """Names the text that was read."""
        return version_of(self.file.text)

    @property
    def title(self) -> str:
        """What the study is called."""
        return self.name or self.folder.name

    @property
    def seed(self) -> str:
        """The seed of the order of its assignment; "" where none is kept."""
        place = self.folder / SEED
        if place.is_symlink() or not place.is_file():
            return ""
        with place.open(encoding="utf-8", errors="replace") as file:
            text = file.read(20).strip()
        return text if text.isdecimal() and text.isascii() and int(text) <= _LARGEST_SEED else ""

    @property
    def is_draft(self) -> bool:
        """Whether nobody has given it a name."""
        return bool(_DRAFT.fullmatch(posixpath.basename(self.name)))

    def has(self, *names: str) -> bool:
        """Whether the study says one of these fields."""
        return any(name in self.file.values for name in names)

    def is_there(self, name: str) -> bool:
        """Whether all that a field names is there, and is not empty; of assignments the first, as a later stage is
        named before it is written."""
        named = [self.folder / each for each in paths_of(self.file.values.get(name, ()))]
        if name == "assignment":
            named = named[:1]
        return bool(named) and all(
            any(path.iterdir()) if path.is_dir() else path.is_file() for path in named
        )

    def link(self, stage: str) -> str:
        """The path of a stage of it."""
        from urllib.parse import quote

        return quote(f"/study/{self.name}/{stage}" if self.name else f"/study/{stage}")


class ChangedError(InputError):
    """A study that was changed since it was read.

    now : the study as it is. mine : what was to be saved, as it was typed.
    """

    status = 409

    def __init__(self, now: OpenedStudy, mine: Mapping[str, str]) -> None:
        super().__init__(
            f"{FILE_NAME} was changed since this page was opened, in another tab or in an editor. "
            "Nothing was saved."
        )
        self.now, self.mine = now, mine


class WrongFieldsError(InputError):
    """Values that fields of a study cannot hold; `wrong` says why, by their names."""

    def __init__(self, wrong: Mapping[str, str]) -> None:
        super().__init__(
            [Problem(why, "", place=FIELDS[name].label or name) for name, why in wrong.items()]
        )
        self.wrong = wrong


class Studies:
    """The studies below a folder."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._lock = Lock()

    def names(self) -> tuple[str, ...]:
        """Where there are studies."""
        return tuple(map(posixpath.dirname, self.folder.named(FILE_NAME)))

    def open(self, name: str) -> OpenedStudy:
        """Read a study.
        Raises InputError: there is none of this name within the folder, or its file has something wrong."""
        path = self.folder.resolve(posixpath.join(name, FILE_NAME))
        return OpenedStudy(name, path.parent, parsed_study(FILE_NAME, _text_of(path, "a study")))

    def begin(self, name: str, values: Mapping[str, Any], files: Mapping[str, bytes]) -> str:
        """Make the folder of a study, with its file and others; its name, a draft's where none is given.
        Raises InputError: a name that is none, or is taken."""
        with self._lock:
            if name.strip():
                named = _checked(name)
            else:
                free = (one for one in _numbered(DRAFT) if not os.path.lexists(self.folder.path / one))
                named = next(free, "")
            if not named:
                raise InputError("There are too many drafts. Give some of them a name.")
            place = self.folder.target(named)
            text = study_text({**WRITTEN, **values})
            contents: dict[Path, str | bytes] = {place / FILE_NAME: text}
            contents |= {place / file: content for file, content in files.items()}
            write_files(contents, force=False)
        return named

    def rename(self, name: str, to: str) -> str:
        """Give a study another name, in the folder in which it lies.
        Raises InputError: a name that is none, or is taken; or the chosen folder itself."""
        with self._lock:
            study = self.open(name)
            if not name:
                raise InputError("This study is the folder that the page was opened for: rename that.")
            new = posixpath.join(posixpath.dirname(name), _checked(to))
            try:
                os.rename(study.folder, self.folder.target(new))
            except OSError as error:
                raise InputError(f"The folder cannot be renamed: {error.strerror}.") from None
        return new

    def save(self, name: str, version: str, typed: Mapping[str, str]) -> OpenedStudy:
        """Write what was typed in the fields of a study; what is as it was stays, and what is empty goes.
        Raises ChangedError: the file is no longer of this version; WrongFieldsError: values that fields cannot
        hold; InputError: a study that cannot be so."""
        with self._lock:
            now = self.open(name)
            changes = changed(now, typed)
            if not changes:
                return now
            if now.version != version:
                raise ChangedError(now, changes)
            made = self.edited(now, changes)
            write_files({now.folder / FILE_NAME: made.file.text}, force=True)
        return made

    def edited(self, study: OpenedStudy, typed: Mapping[str, str]) -> OpenedStudy:
        """The study as it would be with what was typed; nothing is written.
        Raises WrongFieldsError, InputError: as of `save`."""
        changes = changed(study, typed)
        if not changes:
            return study
        values: dict[str, Any] = {}
        wrong: dict[str, str] = {}
        for name, text in changes.items():
            try:
                values[name] = _value(FIELDS[name].kind, text)
            except ValueError as error:
                wrong[name] = str(error)
            if values.get(name) is not None and FIELDS[name].kind.is_file:
                for each in paths_of(values[name]):
                    is_within = (
                        self.folder.is_file if name in {**WRITTEN, **CHOSEN} else self.folder.resolve
                    )
                    try:
                        is_within(beside(study.name, each))
                    except InputError as error:
                        wrong[name] = str(error)
        if wrong:
            raise WrongFieldsError(wrong)
        new = {name for name, value in values.items() if value is not None}
        kept = put_aside(study.file.values, new)
        gone = dict.fromkeys(name for name in study.file.values if name not in kept and name not in values)
        text_now = with_values(study.file.text, {**gone, **values})
        if text_now is None:
            raise InputError(f"{FILE_NAME} is written so that the page cannot change it. Edit it yourself.")
        return OpenedStudy(study.name, study.folder, parsed_study(FILE_NAME, text_now))

    def files_of(self, study: OpenedStudy, without: Collection[str] = ()) -> dict[str, Path]:
        """The files that a study names and that are there, by their paths below the chosen folder; all of them lie
        within it.
        Raises InputError: one that leads outside."""
        files: dict[str, Path] = {}
        for name, value in study.file.values.items():
            if name in without or not FIELDS[name].kind.is_file:
                continue
            for each in paths_of(value):
                named = beside(study.name, each)
                around = [named, *self.folder.below(named, MOST_FILES)]
                if name == "plan":  # its ledger of looks lies beside it
                    around += self.folder.siblings(named)
                for path in around:
                    if self.folder.is_file(path):
                        files[path] = self.folder.resolve(path)
        return files

    def answered(self, study: OpenedStudy, said: Mapping[str, Sequence[str]]) -> tuple[str, str]:
        """The file of answers and its text with these in it, by their keys; what is empty goes.
        Raises InputError: a file that cannot be read, or a key that is none."""
        path = as_typed(study.file.values.get("answers")) or WRITTEN["answers"]
        named = beside(study.name, path)
        try:
            text = self.folder.resolve(named).read_text("utf-8") if self.folder.is_file(named) else ""
            for key, values in said.items():
                texts = [value.strip() for value in values if value.strip()]
                text = with_answer(text, key, texts if len(texts) > 1 else "".join(texts))
        except (
            ValueError,
            AttributeError,
            TypeError,
        ) as error:  # no TOML or UTF-8, a table where a text is
            raise InputError(f"{path} cannot be changed by the page: {error}. Edit it yourself.") from None
        return path, text

    def keep_answers(self, name: str, said: Mapping[str, Sequence[str]]) -> None:
        """Write these into the file of answers as it is now, and its name into the study."""
        with self._lock:
            study = self.open(name)
            path, text = self.answered(study, said)
            files = {self._place(beside(name, path)): text}
            if not study.has("answers"):
                files[study.folder / FILE_NAME] = self.edited(study, {"answers": path}).file.text
            write_files(files, force=True)

    def mapping_of(self, study: OpenedStudy) -> str:
        """How the exports of a study are read, as it is written in its folder; "" where nothing says it.
        Raises InputError: a file that leads outside, or is no text of this size."""
        named = beside(study.name, MAPPING)
        return _text_of(self.folder.resolve(named), "a mapping") if self.folder.is_file(named) else ""

    def save_mapping(
        self, name: str, version: str, seen: str, mapping: str, typed: Mapping[str, str]
    ) -> OpenedStudy:
        """Write how the exports of a study are read, and what of that its file says; without a mapping it goes.
        Raises ChangedError: the study or the mapping are no longer of this version, or were not as they were
        `seen`; WrongFieldsError, InputError: as of `save`."""
        with self._lock:
            now = self.open(name)
            if version_of(self.mapping_of(now)) != seen or (changed(now, typed) and now.version != version):
                raise ChangedError(now, changed(now, typed))
            made = self.edited(now, typed)
            place = self._place(beside(name, MAPPING))
            if not mapping:
                place.unlink(missing_ok=True)
            files: dict[Path, str | bytes] = {place: mapping} if mapping else {}
            if made is not now:
                files[now.folder / FILE_NAME] = made.file.text
            if files:
                write_files(files, force=True)
        return made

    def keep_seed(self, study: OpenedStudy) -> None:
        """Draw the seed of the order of an assignment, where none is kept, and keep it for this user alone.
        Raises InputError: another file has its name."""
        if study.seed:
            return
        place = study.folder / SEED
        if os.path.lexists(place):
            raise InputError(f"{SEED} in the folder of the study holds no seed. Give it another name.")
        write_files({place: f"{new_seed()}\n"}, force=False, private=[place])

    def free_name(self, study: OpenedStudy, name: str) -> str:
        """A name for a new file in the folder of a study, like this one."""
        return next(each for each in _numbered(name) if not os.path.lexists(study.folder / each))

    def name_for(self, study: OpenedStudy, name: str, content: bytes) -> str:
        """What a file of this content is called in the folder of a study, where it is there; else a free name like
        this one."""
        for free in _numbered(name):
            place = study.folder / free
            if not os.path.lexists(place) or (place.is_file() and place.read_bytes() == content):
                return free
        raise InputError(f"There are too many files called {name!r}.")

    def keep(self, study: OpenedStudy, name: str, content: bytes) -> str:
        """Put a file into the folder of a study; its name there, another where that one has other content."""
        named = self.name_for(study, name, content)
        if not os.path.lexists(study.folder / named):
            write_files({study.folder / named: content}, force=False)
        return named

    def _place(self, named: str) -> Path:
        """Where a file of this name lies, or will."""
        return self.folder.resolve(named) if self.folder.is_file(named) else self.folder.target(named)


def _text_of(path: Path, what: str) -> str:
    content = path.read_bytes()
    if len(content) > _LARGEST:
        raise InputError(f"{path.name} is larger than {what} can be.")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path.name} is no text in UTF-8. Save it as UTF-8.") from None


def _numbered(name: str) -> Iterator[str]:
    """The name itself, then others like it: ratings.csv, ratings-2.csv, ..."""
    stem, dot, ending = name.partition(".")
    yield name
    yield from (f"{stem}-{number}{dot}{ending}" for number in range(2, 1000))


def new_seed() -> int:
    """A seed that nobody guesses."""
    return secrets.randbelow(_LARGEST_SEED)


def shown_value(study: OpenedStudy, name: str) -> str:
    """The value of a field as the page shows it: no file that is only to be written."""
    if name in WRITTEN and not study.is_there(name):
        return ""
    return as_typed(study.file.values.get(name))


def typed_of(study: OpenedStudy, sent: Mapping[str, str]) -> dict[str, str]:
    """What a form says of fields; those that it shows as empty stay as they are."""
    typed = {
        name: text
        for name, text in sent.items()
        if name in FIELDS and (text.strip() or shown_value(study, name) or not study.has(name))
    }
    asked = [(criterion, sent.get(f"{ASK}{place}")) for place, criterion in enumerate(criteria_of(study))]
    if any(text is not None for _, text in asked):
        words = {name: " ".join((text or "").split()) for name, text in asked}
        lines = [f"{name}={text or usual_question(name)}" for name, text in words.items()]
        if not any(words.values()):
            lines = []
        if lines != list(study.file.values.get("questions", ())):
            typed["questions"] = "\n".join(lines)
    return typed


def criteria_of(study: OpenedStudy) -> tuple[str, ...]:
    """The criteria that workers are asked about; one without a name where the study has none."""
    values = study.file.values
    named = values.get("criteria") or [values.get("criterion") or DEFAULT_CRITERION]
    return tuple(map(str, named))


def question_about(study: OpenedStudy, criterion: str) -> str:
    """What workers are asked about a criterion, where somebody has worded it."""
    pairs = (str(one).partition("=") for one in study.file.values.get("questions", ()))
    return next((text for name, _, text in pairs if name == criterion), "")


def usual_question(criterion: str) -> str:
    """What they are asked where nobody has worded it."""
    return DEFAULT_QUESTION_TEXT + ("" if criterion == DEFAULT_CRITERION else f" ({criterion})")


def changed(study: OpenedStudy, typed: Mapping[str, str]) -> dict[str, str]:
    """What was typed and is not what the study says."""
    return {
        name: text.strip()
        for name, text in typed.items()
        if name in FIELDS and text.strip() != as_typed(study.file.values.get(name))
    }


def with_answer(text: str, key: str, value: str | list[str]) -> str:
    """The text of a file of answers with one more answer, or another; an empty one goes. Other lines stay, where
    the answer had a line of its own."""
    path = toml_path(key) if "\n" not in key else ()
    if not path:
        raise InputError(f"There is no answer called {key!r}.")
    wanted = tomllib.loads(text)
    at = wanted.setdefault("report", {})
    for name in path[:-1]:
        at = at.setdefault(name, {})
    at.pop(path[-1], None)
    if value:
        at[path[-1]] = value
    line, lines = f"{key} = {toml_value(value)}", text.split("\n")
    known = toml_lines(text)
    place, table = known.get(("report", *path)), known.get(("report",))
    if place is not None:
        indent = lines[place - 1][: -len(lines[place - 1].lstrip())]
        lines[place - 1 : place] = (
            [f"{indent}{_own_key(lines[place - 1])} = {toml_value(value)}"] if value else []
        )
    elif table is not None and lines[table - 1].lstrip().startswith("["):
        lines[table:table] = [line]
    else:
        lines = [*filter(None, ["\n".join(lines).rstrip()]), "[report]", line, ""]
    new = "\n".join(lines)
    try:
        if tomllib.loads(new) == wanted:
            return new
    except tomllib.TOMLDecodeError:  # a value of several lines
        pass
    return "\n".join(_tables(wanted)).strip() + "\n"


def _own_key(line: str) -> str:
    """The key of a line of TOML as it is written there."""
    return line[: line.index("=", len(line) - len(line.lstrip()))].strip()


def _tables(table: Mapping[str, Any], *above: str) -> Iterator[str]:
    """The lines of a table of TOML, then of those below it."""
    if above:
        yield f"\n[{'.'.join(toml_text(name, key=True) for name in above)}]"
    for name, value in table.items():
        if not isinstance(value, Mapping):
            yield f"{toml_text(name, key=True)} = {toml_value(value)}"
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _tables(value, *above, name)


def as_typed(value: Any) -> str:
    """A value of a study file as one would type it in its field."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, Mapping):
        return ",".join(f"{name}={as_typed(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(typed_list([as_typed(one)]) for one in value)
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def paths_of(value: Any) -> Sequence[str]:
    """The paths that a value of a field of files holds."""
    return [value] if isinstance(value, str) else list(value)


def beside(name: str, path: str) -> str:
    """A path that a study names, from the chosen folder."""
    return posixpath.normpath(posixpath.join(name, path))


def _value(kind: Kind, text: str) -> Any:
    """A value for the file out of what was typed; None forgets the field. Raises ValueError: it cannot be one."""
    if not text:
        return None
    if kind.flag is not None:
        return text not in ("0", "false")
    if kind.many:
        apart = kind.is_file or bool(kind.choices)
        parts = [part for part in (parts_of(text) if apart else text.split("\n")) if part]
        kind.read(parts)
        return parts
    read = kind.read(text)
    if isinstance(read, tuple) and all(isinstance(each, str) for each in read):
        return list(read)
    return read if kind.is_number else text


def _checked(name: str) -> str:
    """A name for the folder of a study. Raises InputError: one that no folder should have."""
    name = name.strip()
    if (
        not name.isprintable()
        or len(name) > _LONGEST_NAME
        or re.search(r'[/\\:*?"<>|]', name)
        or name.startswith((".", "~", "-"))
        or name.endswith(".")
        or not name
    ):
        raise InputError(
            f"{name[:60]!r} cannot be the name of a study. Take letters, digits, blanks and - or _, at most "
            f"{_LONGEST_NAME} of them."
        )
    return name


def version_of(text: str) -> str:
    """Names a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
