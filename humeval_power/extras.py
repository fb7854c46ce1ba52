"""Packages that only some of this needs: the extras of the installation, and the error where one is missing."""

from __future__ import annotations

from importlib.util import find_spec

from humeval_power.errors import EngineMissingError

# By the name in `pip install 'humeval-power[NAME]'`: what is imported of it.
EXTRAS = {
    "cluster": ("cryptography", "dask", "dask_jobqueue", "distributed"),
    "excel": ("openpyxl",),
    "inspect": ("inspect_ai",),
    "logs": ("zstandard",),
    "mcp": ("mcp",),
    "mt": ("sacrebleu",),
    "page": ("h11", "python_multipart", "starlette", "uvicorn"),
}


def require_extra(name: str, *, wanted_for: str, remark: str = "") -> None:
    """Refuse to go on where a package of an extra is not installed. It imports none of them.

    Parameters
    ----------
    name : the extra, such as "mt".
    wanted_for : what needs it, as the start of a sentence.
    remark : what else must be said, at the end.

    Raises
    ------
    EngineMissingError
        What is missing, and how to install it.
    """
    missing = [package for package in EXTRAS[name] if find_spec(package) is None]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        text = f"{wanted_for} needs {_listed(missing)}, which {verb} not installed:"
        raise EngineMissingError(f"{text} pip install 'humeval-power[{name}]'{remark}.")


def _listed(names: list[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
