"""Read the fee rules of platforms from a TOML file: the one that comes along, or the user's own."""

from __future__ import annotations

from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path

from humeval_power.errors import InputError, Problem
from humeval_power.fees import PlatformFee
from humeval_power.interfaces.formats.toml_text import read_toml

FEES_SCHEMA = "humeval_power/platform_fees/1"
_NAME = "platform_fees.toml"
_REMEDY = "Copy data/platform_fees.toml of the package and edit the copy."


def default_fee_file() -> Path:
    """The file that comes with the package: beside this module where it is installed, in `data/` of the
    repository where it is developed."""
    beside = Path(__file__).with_name(_NAME)
    return beside if beside.exists() else Path(__file__).resolve().parents[3] / "data" / _NAME


def read_fees(path: str | Path | None = None) -> dict[str, PlatformFee]:
    """The fee rules of a file by name, in the order of the file.

    Raises
    ------
    InputError
        A file that is missing or not TOML, or every problem of its rules at once.
    """
    source = Path(path) if path is not None else default_fee_file()
    tables = _tables(source)
    problems, fees = [], {}
    schema = tables.pop("schema", None)
    if schema != FEES_SCHEMA:
        shown = "no schema" if schema is None else f"the schema {schema!r}"
        problems.append(Problem(f"has {shown}; {FEES_SCHEMA!r} is needed.", _REMEDY, place=str(source)))
    if not tables:
        problems.append(Problem("has no fee rule.", _REMEDY, place=str(source)))
    for name, values in tables.items():
        if not isinstance(values, dict):
            rule = f"{name!r} must be a table of one platform's rule, [{name}]."
            problems.append(Problem(rule, _REMEDY, place=str(source)))
            continue
        try:
            fees[name] = PlatformFee.from_dict({"name": name, **values})
        except InputError as error:
            place = f"{source}, [{name}]"
            problems += [
                Problem(p.rule, p.remedy, place, column=p.column, value=p.value, has_value=p.has_value)
                for p in error.problems
            ]
    if problems:
        raise InputError(problems)
    return fees


def read_fee(name: str, path: str | Path | None = None) -> PlatformFee:
    """The fee rule of one platform.

    Raises
    ------
    InputError
        As `read_fees`, or a name that the file does not have.
    """
    fees = read_fees(path)
    if name not in fees:
        close = get_close_matches(name, fees, n=1)
        remedy = f"Do you mean {close[0]!r}?" if close else f"The file has {', '.join(fees)}."
        place = str(path) if path is not None else None
        raise InputError([Problem(f"there is no fee rule {name!r}.", remedy, place=place)])
    return fees[name]


def _tables(source: Path) -> dict[str, object]:
    return read_toml(source, hint=_REMEDY, parse_float=Decimal)
