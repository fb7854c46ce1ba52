"""How kernels are compiled: without the lock of the interpreter, once, and kept on disk.

Numba is imported when a kernel is first called, and not before: what runs without kernels starts without Numba, and
the source of a kernel can be run by Python (`py_func`) where Numba is never needed.

Numba keeps compiled code beside the source, else in the user's cache folder. Where neither can be written, as
in a read-only container without a home, a folder of the user's own among the temporary files serves.
"""

from __future__ import annotations

import gc
import os
import stat
import tempfile
from collections.abc import Callable
from functools import cache, cached_property, update_wrapper
from pathlib import Path
from typing import Any, NamedTuple

from humeval_power.kernels.compile_events import announce
from humeval_power.kernels.once import OncePerMachine

PACKAGE = __name__.rpartition(".")[0]


class Kernel:
    """A function that is compiled on its first call with arguments of some types."""

    def __init__(self, function: Callable[..., Any], is_inner: bool) -> None:
        self.py_func = function
        self._is_inner = is_inner
        update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        """Run the compiled function."""
        return self.compiled(*arguments)

    def __reduce__(self) -> str:
        """Pickled by name, as functions are."""
        return self.py_func.__qualname__

    @cached_property
    def compiled(self) -> Any:
        """Numba's own object. That of a function for Python is kept, that of an inner one as a part of those."""
        njit = _compiler().njit
        if self._is_inner:
            from humeval_power.kernels.linked import LinkedCompiler

            wrappers = {"no_cfunc_wrapper": True, "no_cpython_wrapper": True}
            return njit(self.py_func, nogil=True, pipeline_class=LinkedCompiler, **wrappers)
        return _kept_once(njit(self.py_func, cache=True, nogil=True, no_cfunc_wrapper=True))

    @property
    def _numba_type_(self) -> Any:
        """What Numba asks of a value that compiled code names: kernels call kernels."""
        return self.compiled._numba_type_


def kernel(function: Callable[..., Any]) -> Kernel:
    """Compile a function that Python calls."""
    return Kernel(function, is_inner=False)


def inner(function: Callable[..., Any]) -> Kernel:
    """Compile a function that only kernels call: it has no entry for Python, and is kept as a part of them.

    Called from Python it would end the process: a test that needs one wraps it in a kernel of its own.
    """
    return Kernel(function, is_inner=True)


def _kept_once(compiled: Any) -> Any:
    """The kernel, which for the same types only one of many processes at once compiles."""
    from numba.core.compiler_lock import global_compiler_lock

    function, compile_for = compiled.py_func, compiled.compile
    compiled._cache = OncePerMachine(compiled._cache, f"{function.__module__}.{function.__name__}")

    # Numba's event of the end comes before the kernel is kept, and tells the wrong of success and failure.
    def compile_and_finish(signature: Any) -> Any:
        with global_compiler_lock:
            collects = gc.isenabled()
            gc.disable()  # a compiler makes many objects and few cycles: looking for them costs a fifth of its time
            try:
                return compile_for(signature)
            finally:
                if collects:
                    gc.enable()
                compiled._cache.finished(signature)

    compiled.compile = compile_and_finish
    return compiled


def is_ready(kernel: Kernel) -> bool:
    """Whether a kernel needs no compiling: it is loaded, or it is kept and its source is no newer."""
    source = Path(kernel.py_func.__code__.co_filename)
    index = f"{source.stem}.{kernel.py_func.__name__}-{kernel.py_func.__code__.co_firstlineno}.*.nbi"
    changed = source.stat().st_mtime
    kept = Path(kernel.compiled.stats.cache_path).glob(index)
    return bool(kernel.compiled.signatures) or any(path.stat().st_mtime >= changed for path in kept)


def temporary_cache() -> Path | None:
    """The folder of compiled kernels if it is a temporary one, else None."""
    return _compiler().temporary


class _Compiler(NamedTuple):
    """Numba's decorator, and the folder of compiled code where that is a temporary one."""

    njit: Any
    temporary: Path | None


@cache
def _compiler() -> _Compiler:
    """Numba, told where to keep what it compiles and whom to tell of it."""
    import numba
    from numba.core import config, event

    class Compilations(event.Listener):
        def on_start(self, happening: event.Event) -> None:
            function = happening.data["dispatcher"].py_func
            if function.__module__.startswith(PACKAGE):
                announce(function.__name__)

        def on_end(self, happening: event.Event) -> None:
            """Numba asks for it; a kernel that is compiled needs no word."""

    def sample() -> None:
        """Never called: shows where Numba would keep it."""

    njit: Any = numba.njit  # its stub does not know all options
    temporary = None
    try:
        njit(sample, cache=True)
    except RuntimeError:  # "cannot cache function: no locator available"
        temporary = _own_folder()
        os.environ["NUMBA_CACHE_DIR"] = str(temporary)
        config.reload_config()  # type: ignore[no-untyped-call]
    event.register("numba:compile", Compilations())  # type: ignore[no-untyped-call]
    return _Compiler(njit, temporary)


def _own_folder() -> Path:
    """A folder among the temporary files that nobody else can write: compiled code is loaded from it."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir(), f"humeval-power-kernels-{user}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        if stat.S_ISDIR(status.st_mode) and status.st_uid == user and not status.st_mode & 0o077:
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="humeval-power-kernels-"))
