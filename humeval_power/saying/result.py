"""What every command and every call of the library gives back: it can say itself, be kept, be computed with."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from humeval_power.saying.document import Document, Fact

if TYPE_CHECKING:
    import pandas as pd


# The JSON documents of the package as plain values: their schemas, and what all of them hold.

ANALYSIS_SCHEMA = "humeval_power/analysis/1"
ANALYSES_SCHEMA = "humeval_power/analyses/1"
PARAMETERS_SCHEMA = "humeval_power/parameters/1"
MDE_SCHEMA = "humeval_power/mde/1"
SIZE_SCHEMA = "humeval_power/size/1"
POWER_SCHEMA = "humeval_power/power/1"
SURFACE_SCHEMA = "humeval_power/surface/1"
IMPORT_SCHEMA = "humeval_power/import/1"
COLLECT_STATUS_SCHEMA = "humeval_power/collect_status/1"
WITHDRAWAL_SCHEMA = "humeval_power/withdrawal/1"
PLAN_FILE = "plan.json"  # in the folder that `plan -o` writes
LOOKS_FILE = "looks.json"  # in the folder that `looks -o` writes

Record = dict[str, object]
_VERSIONED = ("humeval-power", "numpy", "scipy", "pandas", "numba")


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that numbers depend on."""
    return dict(_versions())


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    """The same, read once: finding a package's version takes a millisecond."""
    import platform
    from importlib import metadata

    packages = ((package, metadata.version(package)) for package in _VERSIONED)
    return ("python", platform.python_version()), *packages


def json_ready(value: object) -> object:
    """The same value without NaN and infinities, which JSON does not know: they become None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): json_ready(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [json_ready(part) for part in value]
    return value


@dataclass(frozen=True, slots=True)
class Source:
    """Something that was read: its name and the digest of its bytes, None where none was taken."""

    name: str
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Provenance:
    """How a result came about: the command as typed, the seed if anything was drawn, what was read; the study that
    was asked about, where a study file said some of it."""

    command: str = ""
    seed: int | None = None
    sources: tuple[Source, ...] = ()
    study: Mapping[str, Any] | None = None


NO_POWER = "Too many of the simulated studies could not be analysed."
UNKNOWN = Provenance()  # of a result that nobody has asked yet where it came from


@dataclass(frozen=True, kw_only=True)
class Result(ABC):
    """A frozen record with one way out.

    Subclasses are frozen dataclasses; they name their `schema`, such as "humeval_power/power/2", and say what is
    in their `body` and in their `content`. Users ask for the `document` and the `record`, which are these two with
    how it came about.

    `endings` are those of files that hold an `artefact` of this kind of result, such as ratings in .csv, and
    not the document, the record, the table or the picture. `printed_as` is the one of them that a terminal
    shows in the place of the document; none for most. `files_alone` says that a folder of it holds its own files
    and nothing else: others will see them.
    """

    schema: ClassVar[str]
    endings: ClassVar[tuple[str, ...]] = ()
    printed_as: ClassVar[str] = ""
    files_alone: ClassVar[bool] = False
    provenance: Provenance = UNKNOWN

    @abstractmethod
    def body(self) -> Document:
        """What the result says, without its provenance."""

    @abstractmethod
    def content(self) -> Record:
        """What the record holds, without its envelope, in plain values."""

    def document(self) -> Document:
        """What the result says, and where its numbers come from."""
        body = self.body()
        return replace(body, provenance=(*body.provenance, *_facts(self.provenance)))

    def record(self) -> Record:
        """The result as plain values for JSON: schema, content, then how it came about."""
        return enveloped(self.schema, self.content(), self.provenance)

    def table_rows(self) -> Sequence[Record]:
        """The rows of the table: one for each entry of `rows`, or one of what is a single value."""
        content = self.content()
        rows = content.get("rows")
        if isinstance(rows, list):
            return rows
        return [
            {
                name: value
                for name, value in content.items()
                if not isinstance(value, Mapping | list | tuple)
            }
        ]

    def to_frame(self) -> pd.DataFrame:
        """The result as a table."""
        import pandas as pd

        return pd.DataFrame(self.table_rows())

    def artefact(self, ending: str) -> str | bytes:
        """What a file of one of `endings` holds."""
        raise NotImplementedError(ending)

    def files(self) -> Mapping[str, str | bytes]:
        """Further files of a folder that holds the whole result, by name."""
        return {}

    @property
    def missed(self) -> str:
        """Why what was asked for cannot be had, in one sentence; empty where it can. Commands then end with 3."""
        return ""

    @property
    def target_missed(self) -> bool:
        """Whether what was asked for cannot be had."""
        return bool(self.missed)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is said on standard error, beside the result."""
        return ()

    def with_command(self, command: str, sources: tuple[Source, ...]) -> Self:
        """The same result with the command that was typed and the files that it read."""
        known = replace(self.provenance, command=command, sources=sources)
        return cast(Self, replace(cast(Any, self), provenance=known))

    def of_study(self, study: Mapping[str, Any]) -> Self:
        """The same result with the study that was asked about; one that hides its command hides that too."""
        if not self.provenance.command:
            return self
        return cast(Self, replace(cast(Any, self), provenance=replace(self.provenance, study=study)))

    def __str__(self) -> str:
        from humeval_power.saying.render import as_terminal

        return as_terminal(self.document())

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from humeval_power.saying.render import as_notebook

        return as_notebook(self.document())


def _facts(provenance: Provenance) -> tuple[Fact, ...]:
    """Where a result comes from, for readers."""
    read = [
        (source.name, "read" if source.sha256 is None else f"SHA-256 {source.sha256}")
        for source in provenance.sources
    ]
    seed = [] if provenance.seed is None else [("Seed", str(provenance.seed))]
    command = [("Command", provenance.command)] if provenance.command else []
    made = ", ".join(f"{name} {number}" for name, number in versions().items())
    return (*read, *seed, *command, ("Versions", made))


def enveloped(schema: str, content: Record, provenance: Provenance) -> Record:
    """A record in the one envelope: what it is, what it says, how it came about."""
    seed: Record = {} if provenance.seed is None else {"seed": provenance.seed}
    return {
        "schema": schema,
        **content,
        **seed,
        "sources": [{"name": source.name, "sha256": source.sha256} for source in provenance.sources],
        "versions": versions(),
        "command": provenance.command,
        **({} if provenance.study is None else {"study": dict(provenance.study)}),
    }


# The entries of a signature: a line of `name:value` parts that says what was tested.


def named(name: str, value: object) -> list[str]:
    """The entry `name:value` in a list, which is empty where there is no value."""
    return [] if value is None else [f"{name}:{value}"]


def short(value: float | None) -> str:
    """'3' for 3.0, '.05' for 0.05 and '' for None; reading it gives the very number."""
    if value is None:
        return ""
    return str(int(value)) if value == int(value) else re.sub(r"^(-?)0\.", r"\1.", repr(float(value)))


NAME = "humeval_power"


DIGITS = 12  # of a hash: enough to tell any two tables apart that are not made to look alike


def cluster_entry(name: str | None, n_clusters: int | None) -> list[str]:
    """The entry `cluster:passage:40`: by which column, and how many; a name keeps letters, digits, - and _."""
    if name is None or n_clusters is None:
        return []
    return [f"cluster:{re.sub(r'[^A-Za-z0-9_-]+', '_', name)}:{n_clusters}"]
