"""The files of a release: the table, the documents beside it and the key, read; the bundle, written."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path

from humeval_power.asking.calls import TypedValues
from humeval_power.asking.output import note, refuse_to_overwrite, write_set
from humeval_power.checking.cells import MISSING_CODES
from humeval_power.checking.columns import Role
from humeval_power.errors import InputError
from humeval_power.files.documents.reading import read_parameters
from humeval_power.files.file_bytes import read_bytes, read_text
from humeval_power.files.tables import read_rating_table
from humeval_power.scales import RatingScale
from humeval_power.studies.monitor.files import SECRET_SCHEMA
from humeval_power.studies.plan.files import read_plan
from humeval_power.studies.release.bundle import Bundle
from humeval_power.studies.release.rows import ReleaseRows, release_rows


def rows_of(given: TypedValues) -> ReleaseRows:
    """The rows and columns of a table that may be published."""
    table = read_rating_table(given["ratings"])
    named: dict[Role, str | None] = {
        "worker": given["worker"],
        "item": given["item"],
        "system": given["system"],
        "rating": given["rating"],
        "criterion": given["criterion_column"],
    }
    return release_rows(
        table.frame,
        named=named,
        keep=given["keep"],
        criterion=given["criterion"],
        systems=given["systems"],
        scale=None if given["scale"] is None else RatingScale.parse(given["scale"]),
        lower_is_better=given["lower_is_better"],
        missing=(*MISSING_CODES, *given["missing"]),
        rejected_rows=given["rejected_rows"],
        source=table.source,
    )


def documents_of(parameters: str | None, plan: str | None, include: Sequence[str]) -> dict[str, bytes]:
    """The bytes of the files to add, by the name that they get; parameters and plan are checked first."""
    paths: list[tuple[str, str]] = []
    if parameters is not None:
        read_parameters(parameters, allow_not_identified=True)
        paths.append(("parameters.json", parameters))
    if plan is not None:
        read_plan(plan)
        paths.append(("plan.json", plan))
    paths += [(Path(path).name, path) for path in include]
    documents: dict[str, bytes] = {}
    for name, path in paths:
        if name.casefold() in {other.casefold() for other in documents}:
            raise InputError(f"Two files of the bundle would be called {name!r}; rename one.")
        if Path(path).is_dir():
            raise InputError(f"{path} is a directory; include its files one by one.")
        documents[name] = read_bytes(path)
    return documents


def key_path(key_file: str | None, output: str) -> Path:
    """Where the key is, or will be: never in the bundle."""
    path = Path(key_file) if key_file is not None else Path(f"{output.rstrip('/')}.key")
    if path.resolve().is_relative_to(Path(output).resolve()):
        raise InputError(f"The key {path} would lie in the bundle; choose another --secret.")
    return path


def secret_of(path: Path | None) -> str:
    """The secret of a key file, or a new one where there is no file. A file that this program made says what it
    is, so that no bundle takes it in."""
    if path is None or not path.exists():
        return secrets.token_hex(32)
    return read_text(path).removeprefix(SECRET_SCHEMA).strip()


def write_bundle(
    directory: Path, bundle: Bundle, *, force: bool, secret: str, secret_file: Path | None
) -> None:
    """Write the bundle with its new key: both or none, and nothing unfinished in the directory."""
    if directory.is_dir() and any(directory.iterdir()) and not force:
        raise InputError(f"{directory} is not empty. Choose another --output, or add --force.")
    refuse_to_overwrite([directory / name for name in bundle.files], force=force)
    others = sorted(path.name for path in directory.glob("*") if path.name not in bundle.files)
    if others:
        note(f"WARNING: {directory} also holds {', '.join(others)}, which is no part of the bundle.")
    files: dict[Path, str | bytes] = {directory / name: bundle.files[name] for name in bundle.files}
    private = [] if secret_file is None else [secret_file]
    files |= dict.fromkeys(private, f"{SECRET_SCHEMA} {secret}\n")
    write_set(files, force=force, private=private, published=directory)
