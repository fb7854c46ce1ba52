"""A line that says in a paper how systems were compared by per-item scores, and that can be read back.

    humeval_power|v:0.1.0|model:paired|coding:b-a|q:mean|test:t|alpha:.05|two|n:96|draws:10000|seed:1|data:sha256:ab12

n: items, or evaluation units; null: the null difference where it is not 0; two, one and less: the direction;
corr and k: the correction for many pairs, and the systems; cluster: the column of the items' clusters and their
number; draws and seed: of the resampling.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields

from humeval_power.errors import InputError
from humeval_power.inference.clustered import Direction
from humeval_power.reporting.signature import DIGITS, NAME, named, short

_SIDES: dict[str, Direction] = {"two": "two-sided", "one": "greater", "less": "less"}
_HASH = re.compile(r"sha256:([0-9a-f]{1,64})")


@dataclass(frozen=True, slots=True)
class CompareSignature:
    """What the line says; the hash is cut to its first digits."""

    question: str
    test: str
    alpha: float
    alternative: Direction
    n_items: int
    null: float = 0.0
    version: str | None = None
    correction: str | None = None
    n_systems: int | None = None
    n_resamples: int | None = None
    seed: int | None = None
    data_sha256: str | None = None
    cluster: str | None = None

    def __post_init__(self) -> None:
        if self.data_sha256 is not None:
            object.__setattr__(self, "data_sha256", self.data_sha256[:DIGITS] or None)

    def __str__(self) -> str:
        side = next(word for word, meant in _SIDES.items() if meant == self.alternative)
        entries = [
            NAME,
            *named("v", self.version),
            "model:paired",
            "coding:b-a",
            f"q:{self.question}",
            f"test:{self.test}",
            *([f"null:{short(self.null)}"] if self.null else []),
            f"alpha:{short(self.alpha)}",
            side,
            f"n:{self.n_items}",
            *named("cluster", self.cluster),
            *named("k", self.n_systems),
            *named("corr", self.correction),
            *named("draws", self.n_resamples),
            *named("seed", self.seed),
            *named("data", None if self.data_sha256 is None else f"sha256:{self.data_sha256}"),
        ]
        return "|".join(entries)


def parse_compare_signature(text: str) -> CompareSignature:
    """The signature of a line, also with blanks around it.

    Raises
    ------
    InputError
        A line that is not one, or an entry that is not known, twice there or impossible.
    """
    name, *entries = text.strip().split("|")
    found: dict[str, str] = {}
    for entry in entries:
        key, _, value = ("side", "", entry) if entry in _SIDES else entry.partition(":")
        if key not in _KNOWN or not value or key in found:
            raise InputError(f"{entry!r} is no entry of a signature, or is there twice.")
        found[key] = value
    if name != NAME or found.get("model") != "paired" or found.get("coding") != "b-a":
        raise InputError(f"A signature of paired scores starts with {NAME}| and has model:paired.")
    try:
        return _signature(found)
    except (KeyError, ValueError) as error:
        raise InputError(f"The signature cannot be read: {error}.") from None


_KNOWN = {
    "v": "version",
    "model": "",
    "coding": "",
    "q": "question",
    "test": "test",
    "null": "null",
    "alpha": "alpha",
    "side": "alternative",
    "n": "n_items",
    "cluster": "cluster",
    "k": "n_systems",
    "corr": "correction",
    "draws": "n_resamples",
    "seed": "seed",
    "data": "data_sha256",
}


def _signature(found: dict[str, str]) -> CompareSignature:
    digest = found.get("data")
    matched = _HASH.fullmatch(digest) if digest else None
    if digest and matched is None:
        raise ValueError(f"{digest!r} is not a SHA-256")
    values: dict[str, object] = {}
    kinds = {field.name: str(field.type) for field in fields(CompareSignature)}
    for key, text in found.items():
        name = _KNOWN[key]
        if name:
            values[name] = _typed(text, kinds[name])
    values["alternative"] = _SIDES[found["side"]]
    values["data_sha256"] = matched[1] if matched else None
    missing = {"question", "test", "alpha", "n_items"} - set(values)
    if missing:
        raise ValueError(f"it lacks {', '.join(sorted(missing))}")
    return CompareSignature(**values)  # type: ignore[arg-type]


def _typed(text: str, kind: str) -> object:
    if kind.startswith("int"):
        return int(text)
    return float(text) if kind.startswith("float") else text
