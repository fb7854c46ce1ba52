"""How kernels are compiled: without the lock of the interpreter, once, and kept on disk.

Numba keeps compiled code beside the source, else in the user's cache folder. Where neither can be written, as
in a read-only container without a home, a folder of the user's own among the temporary files serves.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import config, event

from humeval_power.kernels.compile_events import announce
from humeval_power.kernels.once import OncePerMachine

_njit: Any = numba.njit  # its stub does not know all options
PACKAGE = __name__.rpartition(".")[0]


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that Python calls, on its first call with arguments of these types."""
    return _kept_once(_njit(cache=True, nogil=True, no_cfunc_wrapper=True)(function))


def inner(function: Callable[..., Any]) -> Any:
    """Compile a function that only kernels call: it needs no entry for Python, and is kept with them.

    Called from Python it would end the process: a test that needs one wraps it in a kernel of its own.
    """
    options = {"no_cfunc_wrapper": True, "no_cpython_wrapper": True}
    return _kept_once(_njit(cache=True, nogil=True, **options)(function))


def _kept_once(compiled: Any) -> Any:
    """The kernel, which for the same types only one of many processes at once compiles."""
    function, compile_for = compiled.py_func, compiled.compile
    compiled._cache = OncePerMachine(compiled._cache, f"{function.__module__}.{function.__name__}")

    # Numba's event of the end comes before the kernel is kept, and tells the wrong of success and failure.
    def compile_and_finish(signature: Any) -> Any:
        try:
            return compile_for(signature)
        finally:
            compiled._cache.finished(signature)

    compiled.compile = compile_and_finish
    return compiled


def is_loaded(compiled: Any) -> bool:
    """Whether a kernel can run in this process at once."""
    return bool(compiled.signatures)


def is_ready(compiled: Any) -> bool:
    """Whether a kernel needs no compiling: it is loaded, or it is kept and its source is no newer."""
    source = Path(compiled.py_func.__code__.co_filename)
    index = f"{source.stem}.{compiled.py_func.__name__}-{compiled.py_func.__code__.co_firstlineno}.*.nbi"
    changed = source.stat().st_mtime
    kept = Path(compiled.stats.cache_path).glob(index)
    return is_loaded(compiled) or any(path.stat().st_mtime >= changed for path in kept)


def temporary_cache() -> Path | None:
    """The folder of compiled kernels if it is a temporary one, else None."""
    return _temporary


def _can_be_kept() -> bool:
    """Whether Numba finds a place of its own for compiled code."""
    try:
        _njit(cache=True)(_sample)
    except RuntimeError:  # "cannot cache function: no locator available"
        return False
    return True


def _sample() -> None:
    """Never called: shows where Numba would keep it."""


def _own_folder() -> Path:
    """A folder among the temporary files that nobody else can write: compiled code is loaded from it."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir(), f"humeval-power-kernels-{user}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if stat.S_ISDIR(found.st_mode) and found.st_uid == user and not found.st_mode & 0o077:
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="humeval-power-kernels-"))


class _Compilations(event.Listener):
    def on_start(self, happening: event.Event) -> None:
        function = happening.data["dispatcher"].py_func
        if function.__module__.startswith(PACKAGE):
            announce(function.__name__)

    def on_end(self, happening: event.Event) -> None:
        """Numba asks for it; a kernel that is compiled needs no word."""


_temporary: Path | None = None
if not _can_be_kept():
    _temporary = _own_folder()
    os.environ["NUMBA_CACHE_DIR"] = str(_temporary)
    config.reload_config()  # type: ignore[no-untyped-call]
event.register("numba:compile", _Compilations())  # type: ignore[no-untyped-call]
