"""Functions that only kernels call, compiled as far as the kernels need: to code that is optimised with theirs.

Numba optimises each function with all that it calls, and makes machine code of it: a function that four kernels
call through six others is optimised eleven times over, ten of them for nothing. Here it is linked as it is into
what calls it, and machine code is made of kernels alone. Numba comes with this module: it is imported where it
is needed. Where a version of Numba has other names for these steps, functions are compiled as Numba does it.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class _LinkedLibrary(JITCodeLibrary):
    """The code of one function and of what it calls, for linking."""

    def _optimize_final_module(self) -> None:
        """The kernel's own passes do it."""

    def _finalize_final_module(self) -> None:
        """Put nothing of this code into the process but the places of environments, to which Numba writes."""
        module = self._final_module
        places = [value.name for value in module.global_variables if value.name.startswith("_ZN08NumbaEnv")]
        lines = [f'target triple = "{module.triple}"', f'target datalayout = "{module.data_layout}"']
        lines += [f'@"{place}" = common global i64 0' for place in places]
        self._final_module = llvm.parse_assembly("\n".join(lines))
        self._final_module.name = module.name
        super()._finalize_final_module()  # type: ignore[no-untyped-call]
        self._final_module = module


class LinkedCompiler(Compiler):
    """Numba's compiler, which leaves a function to the kernels that call it."""

    def define_pipelines(self) -> Any:
        """Numba's own steps, into a library for linking."""
        state = self.state
        if state.library is None:
            name, codegen = state.func_id.func_qualname, state.targetctx.codegen()
            state.library = _LinkedLibrary(codegen, name)  # type: ignore[no-untyped-call]
        return super().define_pipelines()  # type: ignore[no-untyped-call]
