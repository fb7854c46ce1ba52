"""The secret of a study: what its digests of ratings are made with, in a file that stays with the authors.

Ratings are few words from short lists, so that a plain digest of one is undone by trying them all.
Without the secret there is nothing to try. The file lies beside the ledger and not in it: the ledger may be
shown, the secret may not.
"""

from __future__ import annotations

import hmac
import re
import secrets
import stat
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from humeval_power.errors import HumevalPowerError, InputError, Problem
from humeval_power.interfaces.writing.file_sets import write_files
from humeval_power.reporting.monitor.result import SECRET_NAME

SECRET_SCHEMA = f"{SECRET_NAME}1"
_FORM = re.compile(rf"{re.escape(SECRET_SCHEMA)}[ \t]+([0-9a-f]{{64}})")
_LARGEST = 4096  # bytes of a file that can still be a secret
_FINGERPRINT = 16  # hex digits that tell secrets apart


@dataclass(frozen=True, slots=True)
class StudySecret:
    """A key of 256 bits, which no message shows."""

    key: bytes = field(repr=False)

    @property
    def fingerprint(self) -> str:
        """What names this secret without telling anything of it."""
        return self.digest("fingerprint")[:_FINGERPRINT]

    def digest(self, message: str) -> str:
        """HMAC-SHA256 of a text, in hexadecimal."""
        return hmac.new(self.key, message.encode("utf-8", "surrogatepass"), sha256).hexdigest()


def secret_path(ledger: str, secret: str | None) -> str:
    """The file with the secret: as typed, or beside the ledger."""
    place = Path(ledger)
    return secret or str(place.with_suffix(".secret") if place.name else place / ".secret")


def read_secret(path: str | Path) -> StudySecret | None:
    """The secret in a file; None where there is no file.

    Raises
    ------
    InputError
        A file that cannot be read, or that holds no secret.
    """
    place = Path(path)
    try:
        if not stat.S_ISREG(place.stat().st_mode):
            raise _refuse(path, "is not a file.", "Name the file with the study's secret: --secret FILE.")
        with place.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _refuse(path, f"cannot be read: {error.strerror}.", "") from None
    found = _FORM.fullmatch(content.decode("utf-8", "replace").removeprefix("\ufeff").strip())
    if found is None:
        rule = f"is no secret: it must be one line, '{SECRET_SCHEMA}' and 64 hexadecimal digits."
        raise _refuse(path, rule, "Name another --secret; one is made where there is no file.")
    return StudySecret(bytes.fromhex(found[1]))


def kept_secret(path: str | Path) -> StudySecret:
    """The secret in a file; made, and on the disk as a whole when this returns, where there is none.

    It is never taken away again: another study may have begun to use it.
    """
    return read_secret(path) or _make(Path(path))


def readable_by_others(path: str | Path) -> bool:
    """Whether the file can be read by others than its owner."""
    try:
        return bool(Path(path).stat().st_mode & 0o044)
    except OSError:
        return False


def _make(path: Path) -> StudySecret:
    """A new secret, or another's, made at the same time. What a killed run leaves, the next one clears away."""
    secret = StudySecret(secrets.token_bytes(32))
    try:
        write_files({path: f"{SECRET_SCHEMA} {secret.key.hex()}\n"}, force=False, private={path})
    except HumevalPowerError as error:
        other = read_secret(path)
        if other is not None:
            return other
        remedy = "Name a place that can be written: --secret FILE."
        raise _refuse(path, f"cannot be written: {error}", remedy) from None
    return secret


def _refuse(path: str | Path, rule: str, remedy: str) -> InputError:
    return InputError([Problem(rule, remedy, place=str(path))])
