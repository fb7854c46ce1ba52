"""Eight numbers side by side in compiled code: the last axis of an array, one processor instruction for all.

A compiler does not make these of plain loops over an axis so short, since it cannot know that arrays do not
overlap. Every operation is that of each number alone, so that none depends on what stands beside it. Numba comes
with this module: it is imported where it is needed.
"""

# ruff: noqa: ARG001 (Numba calls these functions with all that it knows)

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic, models, overload, register_model

LANES = 8
_DOUBLE = ir.DoubleType()
_VECTOR = ir.VectorType(_DOUBLE, LANES)


class _Lanes(types.Type):
    """Eight numbers of double precision."""

    def __init__(self) -> None:
        super().__init__(name=f"lanes of {LANES}")


_LANES = _Lanes()


@register_model(_Lanes)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)  # type: ignore[no-untyped-call]


def _compiled(function: Callable[..., Any]) -> Any:
    """What writes the code of a call, from the types of its arguments."""
    return intrinsic(function)


def _place(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """Where the lanes of array[index] begin, in an array whose rows follow each other without gaps."""
    given = context.make_array(kind)(context, builder, array)
    sizes = cgutils.unpack_tuple(builder, given.shape, kind.ndim)  # type: ignore[no-untyped-call]
    number = index[0]
    for size, further in zip(sizes[1:-1], index[1:], strict=True):
        number = builder.add(builder.mul(number, size), further)
    number = builder.mul(number, ir.Constant(number.type, LANES))
    return builder.bitcast(builder.gep(given.data, [number]), _VECTOR.as_pointer())


def _is_lane_array(array: Any, index: Any) -> bool:
    whole = isinstance(array, types.Array) and array.layout == "C" and array.dtype == types.float64
    return whole and isinstance(index, types.UniTuple) and len(index) == array.ndim - 1


@_compiled
def get(typing: Any, array: Any, index: Any) -> Any:
    """The lanes of array[index], index a tuple of numbers that are not negative."""
    if not _is_lane_array(array, index):
        return None

    def code(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        places = cgutils.unpack_tuple(builder, given[1], len(index))  # type: ignore[no-untyped-call]
        lanes = builder.load(_place(context, builder, array, given[0], places))
        lanes.align = _ALIGNED
        return lanes

    return _LANES(array, index), code


@_compiled
def put(typing: Any, array: Any, index: Any, lanes: Any) -> Any:
    """Write array[index]."""
    if not _is_lane_array(array, index) or lanes is not _LANES:
        return None

    def code(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        places = cgutils.unpack_tuple(builder, given[1], len(index))  # type: ignore[no-untyped-call]
        written = builder.store(given[2], _place(context, builder, array, given[0], places))
        written.align = _ALIGNED
        return context.get_dummy_value()

    return types.void(array, index, lanes), code


_ALIGNED = 8  # bytes: NumPy promises no more
# but where compiled code makes an array, eight numbers should not lie in two lines of a cache
cpu_target.target_context.get_preferred_array_alignment = lambda _: 8 * LANES


@_compiled
def every(typing: Any, number: Any) -> Any:
    """The same number in all lanes."""

    def code(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        one = builder.insert_element(
            ir.Constant(_VECTOR, ir.Undefined), given[0], ir.Constant(ir.IntType(32), 0)
        )
        places = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return builder.shuffle_vector(one, one, places)

    return _LANES(types.float64), code


def _called(name: str, n: int) -> Any:
    """An intrinsic function of the compiler, of n lanes."""

    def code(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        kind = ir.FunctionType(_VECTOR, [_VECTOR] * n)
        insert: Any = cgutils.get_or_insert_function  # which has no types
        return builder.call(insert(builder.module, kind, f"{name}.v{LANES}f64"), given)

    return code


@_compiled
def fma(typing: Any, left: Any, right: Any, rest: Any) -> Any:
    """left right + rest, rounded once where the processor can."""
    return _LANES(_LANES, _LANES, _LANES), _called("llvm.fmuladd", 3)


@_compiled
def lesser(typing: Any, left: Any, right: Any) -> Any:
    """The lesser of two; of a number and none, the number."""
    return _LANES(_LANES, _LANES), _called("llvm.minnum", 2)


def _operator(sign: Callable[..., Any], name: str) -> None:
    @_compiled
    def compute(typing: Any, left: Any, right: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            return getattr(builder, name)(*given)

        return _LANES(_LANES, _LANES), code

    @overload(sign, strict=False)
    def known(left: Any, right: Any) -> Any:
        if left is _LANES and right is _LANES:
            return lambda left, right: compute(left, right)
        return None


for _sign, _name in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _operator(_sign, _name)
