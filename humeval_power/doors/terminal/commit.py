"""The commit that the installed package was made from, for `--version`."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path

DIGITS = 9
PACKAGE = Path(__file__).parents[2]


def commit() -> str | None:
    """The first digits of the commit: of the build, of what pip fetched, or of the checkout; None for none."""
    built = PACKAGE / "commit.txt"
    of_build = built.read_text(encoding="ascii").strip() if built.is_file() else None
    commit_here = of_build or _of_pip() or _of_checkout(PACKAGE.parent)
    return commit_here[:DIGITS] if commit_here else None


def _of_pip() -> str | None:
    """What pip writes down of a package that it fetched from a repository (PEP 610)."""
    try:
        text = metadata.distribution("humeval-power").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return None
    commit = json.loads(text).get("vcs_info", {}).get("commit_id") if text else None
    return None if commit is None else str(commit)


def _of_checkout(root: Path) -> str | None:
    """The commit that a checkout of this project is at."""
    folder = root / ".git"
    if folder.is_file():  # a worktree names its folder
        folder = root / folder.read_text(encoding="utf-8").strip().removeprefix("gitdir: ")
    if not (root / "pyproject.toml").is_file() or not folder.is_dir():
        return None
    head = (folder / "HEAD").read_text(encoding="utf-8").strip()
    if not head.startswith("ref: "):
        return head
    name = head.removeprefix("ref: ")
    if (folder / "commondir").is_file():  # where a worktree finds its branches
        folder /= (folder / "commondir").read_text(encoding="utf-8").strip()
    if (folder / name).is_file():
        return (folder / name).read_text(encoding="ascii").strip()
    packed = folder / "packed-refs"
    lines = packed.read_text(encoding="utf-8").splitlines() if packed.is_file() else []
    return next((line.split()[0] for line in lines if line.endswith(f" {name}")), None)
