"""The folder `.NAME.partial` beside an output: what an unfinished run has finished, until the output is there."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from humeval_power.errors import HumevalPowerError, InputError
from humeval_power.interfaces.writing.block_store import BlockStore, DamagedStoreError
from humeval_power.interfaces.writing.disk import (
    BusyError,
    move,
    remove_tree,
    rights_of,
    sync_directory,
    take,
    write_new,
)
from humeval_power.interfaces.writing.layout import STAGING
from humeval_power.interfaces.writing.question import Question
from humeval_power.reporting.numbers import time_taken
from humeval_power.sweep.packing import DamagedError, pack, unpack

PATIENCE = 2.0  # seconds of work that are not worth a folder
QUESTION, BLOCKS = "question.json", "blocks.sqlite"
_OURS = {QUESTION, f"{QUESTION}.new", BLOCKS, f"{BLOCKS}-journal"}
_MOST_CHANGES = 3  # that are told
Say = Callable[[str], None]


class UnfinishedWorkError(InputError):
    """What lies where unfinished work is kept cannot be gone on with; it is left as it is."""


def partial_of(output: Path) -> Path:
    """The folder that belongs to an output."""
    name = f".{output.name}.partial"
    return output.parent / (f".{output.name}.work.partial" if name == STAGING else name)


class PartialFolder:
    """A store of finished blocks, in a folder that comes to be after two seconds of work.

    Nothing is looked at before the first block is asked for: the files that the question depends on have been
    read by then, and a command that has no blocks never sees the folder.

    Parameters
    ----------
    output : the file or folder that will have the answer.
    question : is called once, at the first block.
    tell : what is said while nothing is wrong; `warn`: what must be told in any case.
    """

    def __init__(self, output: Path, question: Callable[[], Question], *, tell: Say, warn: Say) -> None:
        self.output, self.path = output, partial_of(output)
        self._ask, self._tell, self._warn = question, tell, warn
        self._began = time.monotonic()
        self._question: Question | None = None
        self._waiting: dict[str, bytes] = {}
        self._store: BlockStore | None = None
        self._held: int | None = None
        self._is_kept = True

    def get(self, key: str) -> Any | None:
        """The result of a block that was finished before.

        Raises
        ------
        UnfinishedWorkError
            The folder holds the work on another question, or is damaged, or no such folder.
        BusyError
            Another process works in it.
        """
        self._look()
        try:
            content = None if self._store is None else self._store.get(key)
            return None if content is None else unpack(content)
        except (DamagedStoreError, DamagedError):
            raise self._damaged() from None

    def put(self, key: str, result: Any) -> None:
        """Keep a result; raises as `get`."""
        self._look()
        if not self._is_kept:
            return
        try:
            content = pack(result)
        except DamagedError:
            return
        if self._store is None:
            self._waiting[key] = content
            if time.monotonic() - self._began > PATIENCE:
                self._make()
        else:
            self._keeping(lambda store: store.put(key, content))

    def save(self) -> bool:
        """Have on the disk what is finished; whether anything is kept there."""
        if self._store is not None and self._is_kept:
            self._keeping(BlockStore.save)
        return self._store is not None

    @property
    def seconds(self) -> float:
        """How long all runs together have worked for what is kept."""
        return 0.0 if self._store is None else self._store.seconds

    def close(self) -> None:
        """Let go of the folder, which stays."""
        if self._store is not None:
            self._store.close()
            self._store = None
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def remove(self) -> None:
        """The answer is there: the folder goes. Without its question it counts for nothing already."""
        if self._store is not None:
            self._store.close()
            self._store = None
            self._clear()
        self.close()

    def _keeping(self, save: Callable[[BlockStore], None]) -> None:
        """Save, or say that no more can be saved; the run goes on."""
        assert self._store is not None
        try:
            save(self._store)
        except (OSError, DamagedStoreError) as error:
            self._is_kept = False
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self._warn(f"WARNING: finished work cannot be kept in {self.path} any more: {reason}.")

    def _look(self) -> None:
        """At the first block: is there a folder, and is it ours?"""
        if self._question is not None:
            return
        self._question = self._ask()
        if os.path.lexists(self.path) and self._open(self._question):
            self._tell(
                f"Going on where an earlier run was stopped: {time_taken(self.seconds)} of work in {self.path}."
            )

    def _open(self, question: Question) -> bool:
        """Take the folder that is there; False where nothing in it counts any more."""
        self._held = self._taken()
        if self._held is None:
            return False
        if not (self.path / QUESTION).exists():
            self._refuse_strangers()
            self._clear()
            self.close()
            return False
        try:
            self._adopt(question)
        except BaseException:
            self.close()
            raise
        return True

    def _adopt(self, question: Question) -> None:
        """Go on with what is in the folder, if it answers the same question."""
        try:
            before = Question.of_json((self.path / QUESTION).read_bytes())
        except ValueError:
            raise self._damaged() from None
        self._refuse_other(question, before)
        try:
            self._store = BlockStore(self.path / BLOCKS)
        except DamagedStoreError:
            raise self._damaged() from None

    def _taken(self) -> int | None:
        """The folder held by this process alone; None if it went away meanwhile."""
        try:
            found = os.lstat(self.path)
        except FileNotFoundError:
            return None
        if not stat.S_ISDIR(found.st_mode):
            raise UnfinishedWorkError(
                f"{self.path} is in the way: unfinished work is kept in a folder of this name. Remove it, or "
                "choose another --output."
            )
        if found.st_uid not in (os.geteuid(), self.path.absolute().parent.stat().st_uid):
            raise UnfinishedWorkError(f"{self.path} belongs to somebody else. Choose another --output.")
        if not os.access(self.path, os.R_OK | os.W_OK | os.X_OK):
            raise UnfinishedWorkError(
                f"{self.path} holds unfinished work and cannot be read and written. Change its rights, or choose "
                "another --output."
            )
        handle = take(self.path)
        if handle is None:
            raise BusyError(
                f"Another process is at work in {self.path} on the same output. Wait until it has ended, or choose "
                "another --output."
            )
        if not os.path.isdir(self.path):
            os.close(handle)
            return None
        return handle

    def _refuse_other(self, question: Question, before: Question) -> None:
        changes = list(question.changes(before))
        if changes:
            raise UnfinishedWorkError(
                f"{self.path} holds unfinished work on another question: {_some(changes)}. Choose another "
                "--output, remove the folder, or go on with it by typing its own line again. It was begun with: "
                f"{before.typed}"
            )
        versions = list(question.other_versions(before))
        if versions:
            raise UnfinishedWorkError(
                f"{self.path} holds unfinished work of other versions: {_some(versions)}. The two do not go "
                "together. Go on with the versions of before, choose another --output, or remove the folder."
            )

    def _make(self) -> None:
        """Make the folder with all that is finished so far; the question, which makes it count, comes last."""
        assert self._question is not None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            while self._held is None:
                with suppress(FileExistsError):
                    self.path.mkdir()
                self._held = self._taken()
            is_begun = (self.path / QUESTION).exists()  # by another run, meanwhile, that was stopped
            if is_begun:
                self._adopt(self._question)
            else:
                self._refuse_strangers()
                for name in _OURS:
                    (self.path / name).unlink(missing_ok=True)
                self._store = BlockStore(self.path / BLOCKS)
            assert self._store is not None
            for key, content in self._waiting.items():
                self._store.put(key, content)
            self._store.save()
            self._waiting.clear()
            if not is_begun:
                new = self.path / f"{QUESTION}.new"
                write_new(new, self._question.to_json().encode(), rights=rights_of(new))
                move(new, self.path / QUESTION)
                sync_directory(self.path)
        except (OSError, DamagedStoreError) as error:
            self._is_kept = False
            self._waiting.clear()
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self._warn(
                f"WARNING: finished work cannot be kept in {self.path}: {reason}. A kill would lose it."
            )

    def _refuse_strangers(self) -> None:
        others = sorted(set(os.listdir(self.path)) - _OURS)
        if others:
            raise UnfinishedWorkError(
                f"{self.path} is in the way: it holds {_some(others)}, and is for unfinished work alone. Move it, "
                "or choose another --output."
            )

    def _clear(self) -> None:
        with suppress(FileNotFoundError):
            (self.path / QUESTION).unlink()
        with suppress(FileNotFoundError):
            remove_tree(self.path)

    def _damaged(self) -> HumevalPowerError:
        return UnfinishedWorkError(
            f"{self.path} holds unfinished work that is damaged, or of another version. Remove the folder to "
            "begin anew, or choose another --output."
        )


def _some(texts: list[str]) -> str:
    more = len(texts) - _MOST_CHANGES
    return "; ".join(islice(texts, _MOST_CHANGES)) + (f"; and {more} more" if more > 0 else "")
