"""What a worker does with the blocks of a task: one after the other, each with its own outcome."""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from humeval_power.blas import one_blas_thread
from humeval_power.errors import HumevalPowerError
from humeval_power.sweep.blocks import Block
from humeval_power.sweep.parcels import AnyArray, Parcel
from humeval_power.sweep.versions import Versions, check_versions, versions_here


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one block, or what went wrong: an error of this package, or any other one in words."""

    seconds: float
    result: Any = None
    refusal: HumevalPowerError | None = None
    failure: str = ""


def compute_parcel(parcel: Parcel, arrays: Mapping[str, AnyArray], wanted: Versions) -> list[Outcome]:
    """The outcomes of a parcel's blocks, as `compute_blocks` has them.

    Raises
    ------
    OtherVersionsError
        This process is of other versions than the one that sent the parcel.
    """
    check_versions(wanted, versions_here())
    return compute_blocks(parcel.blocks(arrays))


def compute_blocks(blocks: Sequence[Block]) -> list[Outcome]:
    """The outcomes of blocks in order, each by one thread; a refusal is the last."""
    outcomes: list[Outcome] = []
    with one_blas_thread():
        for block in blocks:
            outcomes.append(_outcome(block))
            if outcomes[-1].refusal is not None:
                break
    return outcomes


def _outcome(block: Block) -> Outcome:
    began = time.perf_counter()
    try:
        result = block.run(1)
    except HumevalPowerError as error:  # the question's own: another try ends in the same way
        return Outcome(time.perf_counter() - began, refusal=error)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        words = f"{type(error).__name__}: {error} (line {last.lineno} of {last.filename})"
        return Outcome(time.perf_counter() - began, failure=words)
    return Outcome(time.perf_counter() - began, result=result)
