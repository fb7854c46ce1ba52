"""Functions that only kernels call, compiled as far as the kernels need: to code that is optimised with theirs.

Numba optimises each function with all that it calls, and makes machine code of it: a function that four kernels
call through six others is optimised eleven times over, ten of them for nothing. Here it is linked as it is into
what calls it, and machine code is made of kernels alone. So are Numba's own functions (`np.empty`, sums of
arrays) that a kernel is the first to call. Numba comes with this module: it is imported where it
is needed. Where a version of Numba has other names for these steps, functions are compiled as Numba does it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding as llvm
from numba.core import config
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import cpu_target

_LONG = 32  # functions of a kernel, above which its loops are not unrolled


class _LinkedLibrary(JITCodeLibrary):
    """The code of one function and of what it calls, for linking."""

    def _is_called_by_python(self) -> bool:
        """Whether the code has an entry for Python, or was kept as machine code."""
        entries = (f for f in self._final_module.functions if f.name.startswith("_ZN7cpython"))
        kept = self._object_caching_enabled and self._compiled_object is not None
        return kept or any(f.linkage == llvm.Linkage.external and not f.is_declaration for f in entries)

    def _optimize_final_module(self) -> None:
        """The kernel's own passes do it."""
        if self._is_called_by_python():
            super()._optimize_final_module()  # type: ignore[no-untyped-call]

    def _finalize_final_module(self) -> None:
        """Put nothing of this code into the process but the places of environments, to which Numba writes."""
        if self._is_called_by_python():
            super()._finalize_final_module()  # type: ignore[no-untyped-call]
            return
        module = self._final_module
        places = [value.name for value in module.global_variables if value.name.startswith("_ZN08NumbaEnv")]
        lines = [f'target triple = "{module.triple}"', f'target datalayout = "{module.data_layout}"']
        lines += [f'@"{place}" = common global i64 0' for place in places]
        self._final_module = llvm.parse_assembly("\n".join(lines))
        self._final_module.name = module.name
        super()._finalize_final_module()  # type: ignore[no-untyped-call]
        self._final_module = module


class _KernelLibrary(JITCodeLibrary):
    """The machine code of a kernel with all that it calls."""

    def _optimize_final_module(self) -> None:
        """Numba's own passes, but for the longest kernels: in these, loops that are unrolled and a first round of
        cheaper passes cost a quarter of the time and make nothing faster."""
        module = self._final_module
        is_long = sum(not function.is_declaration for function in module.functions) > _LONG
        if not is_long or not hasattr(self._codegen, "_pass_builder"):  # Numba before 0.62 has other passes
            super()._optimize_final_module()  # type: ignore[no-untyped-call]
            return
        level: Any = config.OPT  # type: ignore[attr-defined]
        options = llvm.create_pipeline_tuning_options(int(level))
        options.loop_vectorization, options.slp_vectorization = True, False
        options.loop_unrolling = False
        builder = llvm.create_pass_builder(self._codegen._tm, options)
        passes = builder.getModulePassManager()
        passes.add_refprune_pass()
        passes.run(module, builder)


class LinkedCompiler(Compiler):
    """Numba's compiler, which leaves a function to the kernels that call it."""

    library: type[JITCodeLibrary] = _LinkedLibrary

    def define_pipelines(self) -> Any:
        """Numba's own steps, into a library for linking."""
        state = self.state
        if state.library is None:
            name, codegen = state.func_id.func_qualname, state.targetctx.codegen()
            state.library = self.library(codegen, name)
            state.library.enable_object_caching()
        return super().define_pipelines()  # type: ignore[no-untyped-call]


class KernelCompiler(LinkedCompiler):
    """Numba's compiler for a function that Python calls: to machine code, which can be kept."""

    library = _KernelLibrary


@contextmanager
def linking() -> Iterator[None]:
    """Within the block, leave what has no entry for Python to what calls it, Numba's own functions too. Who
    enters holds Numba's lock of compilers."""
    codegen: Any = cpu_target.target_context.codegen()
    before = codegen._library_class
    codegen._library_class = _LinkedLibrary
    try:
        yield
    finally:
        codegen._library_class = before
