"""Who sees what when: the rows of an assignment, their key, and the work of replacements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from humeval_power.designs import Codes, Design
from humeval_power.errors import DesignError
from humeval_power.planning.plan.blinding import study_mark
from humeval_power.planning.plan.session_order import CHECK, KINDS, NOTHING, RATING

if TYPE_CHECKING:
    import pandas as pd

ASSIGNMENT_COLUMNS = ("worker_slot", "batch", "order", "item", "place", "system", "code", "kind")
KEY_COLUMNS = ("code", "item", "system")
SECRET_COLUMNS = ("secret", "study")


@dataclass(frozen=True, slots=True, eq=False)
class AssignmentPlan:
    """Who sees what when: one row for each text shown or check, sorted by worker slot and order.

    Arrays of shape (n_rows,): `worker`, `item` and `system` are the codes of the design (item and system
    are -1 for a check), `batch` and `order` count from 1 within the worker, `kind` indexes KINDS.
    `slots`, `items`, `systems` are names; `codes` holds the blinding code of each output, at index
    n_systems * item + system. `look`, if there are looks, is the one that needs the row. `replacements` are the
    names of spare slots: nobody's work until a worker drops out, then a copy of that worker's work
    (`replacement_table`). `bits` are what the codes of a blind table are made of, for the key alone; None where the
    systems stand beside the codes. `is_planned` says that a plan fixes who rates what.
    """

    design: Design
    seed: int
    worker: Codes
    batch: Codes
    order: Codes
    item: Codes
    system: Codes
    kind: Codes
    slots: tuple[str, ...]
    items: tuple[str, ...]
    systems: tuple[str, ...]
    codes: tuple[str, ...]
    replacements: tuple[str, ...]
    look: Codes | None = None
    bits: bytes | None = None
    is_planned: bool = False

    def loads(self, kind: int | None = None) -> Codes:
        """Rows of each worker slot, of one kind or of all, shape (n_workers,)."""
        mine = self.worker if kind is None else self.worker[self.kind == kind]
        return np.bincount(mine, minlength=len(self.slots))

    @property
    def n_batches(self) -> Codes:
        """Batches of each worker slot, shape (n_workers,)."""
        most = np.zeros(len(self.slots), dtype=np.int64)
        np.maximum.at(most, self.worker, self.batch)
        return most

    @property
    def place(self) -> NDArray[np.object_]:
        """Which of a worker's outputs of an item a row shows: 1 the first, 2 the second, ..., as the order
        column of a table of ratings has it; blank for repeats and checks. Shape (n_rows,)."""
        place = np.full(len(self.item), "", dtype=object)
        rated = np.flatnonzero(self.kind == RATING)
        sitting = self.worker[rated] * np.int64(self.design.n_items) + self.item[rated]
        rows = np.lexsort((self.order[rated], sitting))
        begins = np.searchsorted(sitting[rows], sitting[rows])
        place[rated[rows]] = (np.arange(len(rows)) - begins + 1).tolist()
        return place

    def to_frame(self) -> pd.DataFrame:
        """The table with the columns ASSIGNMENT_COLUMNS, `document` before the item where items come out of
        documents, and `look` where there are looks; a check has no item, system and code."""
        import pandas as pd

        output = np.where(self.item == NOTHING, NOTHING, len(self.systems) * self.item + self.system)
        columns = (
            _named(self.slots, self.worker),
            self.batch,
            self.order,
            _named(self.items, self.item),
            self.place,
            _named(self.systems, self.system),
            _named(self.codes, output),
            _named(KINDS, self.kind),
        )
        table = pd.DataFrame(dict(zip(ASSIGNMENT_COLUMNS, columns, strict=True)))
        of_item = self.design.document_of_item
        if of_item is not None:
            document = np.where(self.item == NOTHING, NOTHING, of_item[self.item])
            names = numbered("d", self.design.n_documents)
            table.insert(ASSIGNMENT_COLUMNS.index("item"), "document", _named(names, document))
        return table if self.look is None else table.assign(look=self.look)

    def key(self) -> pd.DataFrame:
        """What the codes stand for, the coordinator's secret: columns KEY_COLUMNS, one row an output; of a blind
        table also SECRET_COLUMNS, the bits of the codes and the mark of the study, the same in all rows."""
        import pandas as pd

        rated = self.kind != CHECK
        shown = np.unique((len(self.systems) * self.item + self.system)[rated])
        item, system = np.divmod(shown, len(self.systems))
        columns = (_named(self.codes, shown), _named(self.items, item), _named(self.systems, system))
        key = pd.DataFrame(dict(zip(KEY_COLUMNS, columns, strict=True)))
        if self.bits is None:
            return key
        return key.assign(secret=self.bits.hex(), study=study_mark(self.bits, self))


def replacement_table(plan: AssignmentPlan, spare: str, slot: str, *, first_batch: int = 1) -> pd.DataFrame:
    """The work of `spare` when it takes over `slot`: the columns of the plan, and `replaces`.

    It is a copy of what the slot was to see, in the same order, so that the study keeps its design and
    its balance: all of it where the ratings of the worker who dropped out are discarded, or from
    `first_batch` on where the batches before are kept.

    Raises
    ------
    DesignError
        A spare or slot that the plan does not have, or a batch that the slot does not have.
    """
    if spare not in plan.replacements:
        have = f"has {', '.join(plan.replacements)}" if plan.replacements else "has none"
        raise DesignError(f"{spare!r} is no replacement slot; the plan {have} (replacement_slots).")
    if slot not in plan.slots:
        raise DesignError(f"{slot!r} is no worker slot; the plan has {plan.slots[0]} to {plan.slots[-1]}.")
    n_batches = int(plan.n_batches[plan.slots.index(slot)])
    if not 1 <= first_batch <= n_batches:
        raise DesignError(f"Slot {slot} has the batches 1 to {n_batches}; got {first_batch}.")
    table = plan.to_frame()
    taken = table[(table["worker_slot"] == slot) & (table["batch"] >= first_batch)]
    return taken.assign(worker_slot=spare, replaces=slot).reset_index(drop=True)


def _named(names: Sequence[str], codes: Codes) -> NDArray[np.object_]:
    return np.array([*names, ""], dtype=object)[codes]  # NOTHING is the last, without a name


def numbered(letter: str, count: int) -> tuple[str, ...]:
    """Names such as w01, w02, ..., of equal length."""
    width = max(2, len(str(count)))
    return tuple(f"{letter}{number:0{width}d}" for number in range(1, count + 1))
