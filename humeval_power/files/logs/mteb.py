"""Results of MTEB: MODEL/REVISION/TASK.json beside model_meta.json, as version 1.12.41 wrote them for its board.

Two files of the public board were seen; those of other versions are read where they have the same keys.

A file has the `main_score` of each subset of a task, and of no single item: a subset is an item here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from humeval_power.checking.columns import listing
from humeval_power.checking.logs.log import Log, LogSample
from humeval_power.errors import refusal
from humeval_power.files.logs.score_rows import Harness, RawLog, number_of, text_of

META, METRIC, SPLIT = "model_meta.json", "main_score", "test"
_KEYS = (b'"mteb_version"', b'"scores"', b'"main_score"')


def _known_by(raw: RawLog) -> str | None:
    if not raw.head.startswith(b"{") or not all(key in raw.head for key in _KEYS):
        return None
    return "it has mteb_version, and scores with a main_score"


def _read(raw: RawLog) -> Iterator[Log]:
    record: Any = raw.json
    scores = record.get("scores")
    splits = scores if isinstance(scores, dict) else {}
    if not splits:
        raise refusal("has no scores.", "Is the file complete?", raw.source)
    split = SPLIT if SPLIT in splits else next(iter(splits))
    others = [str(name) for name in splits if name != split]
    notices = [f"Of several splits {split} is read, and not {listing(others)}."] if others else []
    subsets = [one for one in splits[split] if isinstance(one, dict)]
    samples = tuple(
        LogSample(
            text_of(one.get("hf_subset")) or "default", {METRIC: number_of(one.get(METRIC))}, row=place
        )
        for place, one in enumerate(subsets, 1)
    )
    task = text_of(record.get("task_name")) or raw.path.stem
    yield Log(
        _system(raw),
        task,
        samples,
        notices=tuple(notices),
    )


def _system(raw: RawLog) -> str:
    """The model by model_meta.json, else the name of the folder above that of the revision."""
    if raw.path.with_name(META).is_file():
        meta: Any = raw.beside(META).json
        if isinstance(meta, dict) and (name := text_of(meta.get("name"))):
            return name
    return raw.path.resolve().parent.parent.name.replace("__", "/")


MTEB = Harness(
    "mteb",
    _known_by,
    _read,
    files="`MODEL/REVISION/TASK.json`, with `model_meta.json`: the `main_score` of each task, of the split `test`",
    written_by="`mteb run`",
    item="subset of the task",
    proved="two files of the public board, of 1.12.41",
)
