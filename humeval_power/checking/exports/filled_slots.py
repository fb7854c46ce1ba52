"""Which slots were filled by whom: several by one worker, one by several, or none that can be told."""

from __future__ import annotations

import pandas as pd

from humeval_power.checking.exports.assigned import Assigned
from humeval_power.checking.exports.matching import Matched


def slot_notices(answers: pd.DataFrame, matched: Matched, assigned: Assigned) -> list[str]:
    """Workers in several slots, slots with several workers, and workers whose slot cannot be told."""
    fits = matched.of("fits")
    worker = answers["worker"].astype(str).to_numpy(dtype=object)
    who = pd.DataFrame({"worker": worker[fits], "slot": matched.slot[fits]}).drop_duplicates()
    notices = []
    if matched.guessed:
        notices.append("Slots are told by the codes that a worker answered: the exports do not say them.")
    unknown = int((who["slot"] == "").sum())
    if unknown:
        notices.append(
            f"WARNING: which slot was filled cannot be told of {unknown:,} of {who['worker'].nunique():,} workers: "
            "several slots were given what they answered. Repeats are told by the order of the rows."
        )
    known = who[who["slot"] != ""]
    several = known.groupby("worker", sort=False)["slot"].agg(list)
    several = several[several.map(len) > 1]
    if len(several):
        named = " and ".join(several.iloc[0][:3])
        one = "One worker" if len(several) == 1 else f"{len(several):,} workers"
        notices.append(f"WARNING: {one} filled more than one slot, such as {named}.")
    shared = known["slot"].value_counts()
    shared = shared[shared > 1]
    if len(shared):
        first = next(slot for slot in assigned.slots if slot in shared.index)
        slots = "One slot was" if len(shared) == 1 else f"{len(shared):,} slots were"
        notices.append(f"WARNING: {slots} filled by more than one worker, such as {first}.")
    return notices
