"""An anonymised bundle of a study, to publish."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from humeval_power.studies.release.bundle import ReleaseResult
    from humeval_power.studies.release.rows import ReleaseRows


def release(
    rows: ReleaseRows,
    *,
    key: str,
    pseudonymise: Collection[str] = (),
    documents: Mapping[str, bytes] | None = None,
    licence: str | None = None,
    checked: Collection[str] = (),
    strict: bool = False,
) -> ReleaseResult:
    """Give workers pseudonyms and rows an order that only the key can undo; write nothing.

    Parameters
    ----------
    rows : as `release_rows` takes them from a table.
    key : the secret that pseudonyms and order are made with; the same key gives the same ones.
    pseudonymise : 'item', 'system' or both, besides the workers.
    documents : other files of the bundle by name. Records lose the digests of what they were made from, and
        get pseudonyms where their notices name workers.
    licence : as the authors say; None leaves it open.
    checked : columns and files in which what looks like an id was found to be fine; 'names' for names of
        columns and files.
    strict : whether a warning means that the bundle is not to be written.

    Returns
    -------
    ReleaseResult
        `files` are the bundle, by name; `remarks` what to look at before it is published.

    Raises
    ------
    InputError
        A document with the name of a file of the bundle, one that is a ledger or a secret, or an empty key.
    """
    from humeval_power.studies.release.bundle import ReleaseResult, release_bundle

    bundle = release_bundle(
        rows, key=key, pseudonymise=pseudonymise, documents=documents, licence=licence, checked=checked
    )
    return ReleaseResult(rows=rows, bundle=bundle, strict=strict)
