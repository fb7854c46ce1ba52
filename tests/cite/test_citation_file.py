"""CITATION.cff says what `humeval-power more cite` says."""

import re
import tomllib

from cli import run
from places import ROOT

TEXT = (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def said(field: str) -> str:
    """A field of the first level."""
    (found,) = re.findall(rf'^{field}: "?(.*?)"?$', TEXT, re.MULTILINE)
    return str(found)


def test_the_version_is_that_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert said("version") == project["version"]
    assert said("license") == project["license"]


def test_title_and_authors_are_those_of_the_entry() -> None:
    entry = run("cite").stdout
    assert said("title") in entry
    assert "The humeval_power authors" in TEXT
    assert "{The humeval\\_power authors}" in entry
