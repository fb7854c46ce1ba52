"""Of many processes that need a kernel at once one compiles it; those that need it for other types do not wait."""

import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

import pytest
from numba.core.errors import TypingError

from humeval_power.kernels import once
from humeval_power.kernels.kernel import kernel
from humeval_power.kernels.once import OncePerMachine

pytest.importorskip("fcntl", reason="Without fcntl there are no such locks.")

NAME = "module.kernel"
HOLD = """
import fcntl, os, sys
handle = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
fcntl.lockf(handle, fcntl.LOCK_EX | (fcntl.LOCK_NB if sys.argv[3] == "try" else 0), 1, int(sys.argv[2]))
print("held", flush=True)
sys.stdin.read()
"""


class Kept:
    """A cache in memory, which notes what happens while it is written."""

    def __init__(self) -> None:
        self.kernels: dict[str, str] = {}
        self.while_saving = lambda: None

    def load_overload(self, signature: str, _target: Any) -> str | None:
        return self.kernels.get(signature)

    def save_overload(self, signature: str, compiled: str) -> None:
        self.while_saving()
        self.kernels[signature] = compiled


@pytest.fixture
def lock_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(once, "_open", {})
    once._handle()
    (path,) = tmp_path.iterdir()
    return path


def another(path: Path, words: str, how: str = "wait") -> subprocess.Popen[str]:
    """Another process, which takes the byte of these words."""
    place = str(zlib.crc32(words.encode()))
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), place, how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def is_free(path: Path, words: str) -> bool:
    return another(path, words, "try").communicate()[0] == "held\n"


def test_who_needs_other_types_does_not_wait(lock_file: Path) -> None:
    with another(lock_file, f"{NAME}(one)") as compiling:
        assert compiling.stdout is not None
        assert compiling.stdout.readline() == "held\n"
        cache = OncePerMachine(Kept(), NAME)
        assert cache.load_overload("(two)", None) is None  # it would wait for ever
        compiling.communicate()
    assert not is_free(lock_file, f"{NAME}(two)")
    cache.save_overload("(two)", "compiled")
    cache.finished("(two)")
    assert is_free(lock_file, f"{NAME}(two)")


def test_who_needs_the_same_types_waits_and_finds_what_the_other_has_kept(lock_file: Path) -> None:
    kept = Kept()
    with another(lock_file, f"{NAME}(one)") as compiling:
        assert compiling.stdout is not None
        assert compiling.stdout.readline() == "held\n"
        looked: list[str] = []

        def look(signature: str, _target: Any) -> str | None:
            looked.append(signature)
            if len(looked) == 1:  # nothing is kept yet; then the other one keeps it, and ends
                kept.kernels["(one)"] = "of the other"
                compiling.communicate()
                return None
            return kept.kernels.get(signature)

        kept.load_overload = look  # type: ignore[method-assign]
        cache = OncePerMachine(kept, NAME)
        assert cache.load_overload("(one)", None) == "of the other"
    assert len(looked) == 2
    cache.finished("(one)")
    assert is_free(lock_file, f"{NAME}(one)")


def test_the_index_of_all_types_is_written_by_one_at_a_time(lock_file: Path) -> None:
    kept, seen = Kept(), []
    kept.while_saving = lambda: seen.append(is_free(lock_file, NAME))  # type: ignore[assignment, return-value]
    cache = OncePerMachine(kept, NAME)
    cache.save_overload("(one)", "compiled")
    assert seen == [False]
    assert is_free(lock_file, NAME)


@pytest.fixture
def locks(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """What is locked, released and saved from now on, in order."""
    seen: list[tuple[str, int]] = []
    lock, release, save = once._lock, once.release, OncePerMachine.save_overload

    def saved(cache: OncePerMachine, signature: Any, compiled: Any) -> None:
        seen.append(("save", cache._place(signature)))
        save(cache, signature, compiled)

    monkeypatch.setattr(once, "_lock", lambda place: (seen.append(("lock", place)), lock(place))[1])
    monkeypatch.setattr(once, "release", lambda place: (seen.append(("release", place)), release(place))[1])
    monkeypatch.setattr(OncePerMachine, "save_overload", saved)
    return seen


@pytest.mark.usefixtures("lock_file")
def test_a_kernel_is_kept_before_the_others_may_look(locks: list[tuple[str, int]]) -> None:
    @kernel
    def doubled(x):
        return 2 * x

    doubled.compiled._cache._cache.flush()  # of a run before
    assert doubled(21) == 42
    place = locks[0][1]
    assert [what for what, where in locks if where == place] == ["lock", "save", "release"]


@pytest.mark.usefixtures("lock_file")
def test_a_kernel_that_numba_refuses_leaves_no_lock(locks: list[tuple[str, int]]) -> None:
    @kernel
    def refused(x):
        return x.nothing

    with pytest.raises(TypingError):
        refused(1)
    assert [what for what, _ in locks] == ["lock", "release"]
    assert len({place for _, place in locks}) == 1


@pytest.mark.usefixtures("lock_file")
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_what_is_damaged_is_compiled_again(ending: str) -> None:
    def made() -> Any:
        @kernel
        def tripled(x):
            return 3 * x

        return tripled

    first = made()
    for old in Path(first.compiled.stats.cache_path).glob("*.tripled-*"):
        old.unlink()  # of a run before, when the function may have stood on another line
    assert first(14) == 42
    (kept,) = Path(first.compiled.stats.cache_path).glob(f"*.tripled-*.{ending}")
    whole = kept.read_bytes()
    kept.write_bytes(whole[: len(whole) // 2])
    second = made()
    assert second(14) == 42
    assert second.compiled.stats.cache_misses
    assert kept.stat().st_size > 0.9 * len(whole)  # names in it are numbered as the process goes
    third = made()
    assert third(14) == 42
    assert third.compiled.stats.cache_hits


@pytest.mark.usefixtures("lock_file")
def test_on_a_full_disk_a_kernel_is_not_kept_and_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    @kernel
    def quadrupled(x):
        return 4 * x

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    quadrupled.compiled._cache._cache.flush()  # of a run before
    monkeypatch.setattr(quadrupled.compiled._cache._cache, "save_overload", full)
    assert quadrupled(10) == 40


def test_one_that_was_stopped_is_not_waited_for_for_ever(
    lock_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(once, "_PATIENCE", 0.2)
    with another(lock_file, f"{NAME}(one)") as stopped:
        assert stopped.stdout is not None
        assert stopped.stdout.readline() == "held\n"
        cache = OncePerMachine(Kept(), NAME)
        assert cache.load_overload("(one)", None) is None  # and compiles for itself
        cache.save_overload("(one)", "compiled")
        cache.finished("(one)")
        stopped.communicate()
