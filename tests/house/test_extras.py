"""The core needs the core's packages only; where one of an extra is missing, the message names the extra."""

import ast
import io
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import openpyxl
import pytest
from cli import run
from places import ROOT

from humeval_power.errors import EngineMissingError
from humeval_power.extras import EXTRAS
from humeval_power.studies.release.warnings import document_texts

PACKAGE = ROOT / "humeval_power"
OF_THE_CORE = {"llvmlite", "markupsafe", "pydantic_core"}  # Numba's, Jinja's and Pydantic's own
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def distributions(requirements: list[str]) -> set[str]:
    """Their names as modules are called."""
    return {re.split(r"[\[<>=! ]", each)[0].replace("-", "_") for each in requirements}


CORE = (
    distributions(PROJECT["dependencies"]) | OF_THE_CORE | {"humeval_power"} | set(sys.stdlib_module_names)
)
R_ENGINES = {"pymer4", "rpy2"}  # asked for by the engine that needs it, whose own message says how


def imported(tree: ast.AST) -> Iterator[str]:
    """The first part of each name that is imported at or below a node."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name.split(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.split(".")[0]


def at_once(tree: ast.Module) -> Iterator[str]:
    """What the module imports when it is imported itself."""
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from imported(node)


@cache
def modules() -> list[tuple[Path, ast.Module]]:
    """The modules whose lines may name a package that is not the core's: others need no parsing."""
    naming = re.compile(r"^\s*(?:from (\w+)[\w.]* import|import (\w+))", re.MULTILINE)
    texts = [(path, path.read_text()) for path in sorted(PACKAGE.rglob("*.py"))]
    return [
        (path, ast.parse(text)) for path, text in texts if {a or b for a, b in naming.findall(text)} - CORE
    ]


def workbook() -> bytes:
    book, content = openpyxl.Workbook(), io.BytesIO()
    book.active.append(["worker", "item", "system", "rating"])
    book.active.append(["w1", "i1", "A", 3])
    book.save(content)
    return content.getvalue()


def said(*words: object) -> str:
    done = run(*words, code=EngineMissingError.exit_code)
    return " ".join(done.output.split())


def without(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)


def test_the_extras_are_those_that_can_be_installed() -> None:
    offered = PROJECT["optional-dependencies"]
    assert {name: distributions(offered[name]) for name in EXTRAS} == {
        name: set(packages) for name, packages in EXTRAS.items()
    }
    # Inspect is large: .ci/run installs its newest release beside the rest.
    assert set(offered["dev"][0].removeprefix("humeval-power[").rstrip("]").split(",")) >= set(EXTRAS) - {
        "inspect"
    }


def test_nothing_is_imported_that_no_dependency_brings() -> None:
    others = {each for packages in EXTRAS.values() for each in packages} | R_ENGINES
    found = {(path.name, name) for path, tree in modules() for name in imported(tree) if name not in CORE}
    assert {name for _, name in found} <= others, found


def test_no_package_of_an_extra_is_loaded_with_a_module_that_the_core_loads() -> None:
    extra = {each for packages in EXTRAS.values() for each in packages} | R_ENGINES
    found = {
        (path.relative_to(PACKAGE).as_posix(), name)
        for path, tree in modules()
        if not path.is_relative_to(
            PACKAGE / "doors" / "page"  # which the command loads after it has asked
        )
        and path.relative_to(PACKAGE).as_posix() not in ("doors/mcp/server.py", "doors/inspect_hooks.py")
        for name in at_once(tree)
        if name in extra
    }
    assert found == set()


def test_reading_a_workbook_without_openpyxl_names_the_extra(tmp_path, monkeypatch) -> None:
    (tmp_path / "ratings.xlsx").write_bytes(workbook())
    without(monkeypatch, "openpyxl")
    told = said("check", tmp_path / "ratings.xlsx")
    assert "ratings.xlsx, an Excel workbook, needs openpyxl, which is not installed" in told
    assert "pip install 'humeval-power[excel]'" in told


def test_a_workbook_that_cannot_be_searched_is_not_released(monkeypatch) -> None:
    content = workbook()
    without(monkeypatch, "openpyxl")
    with pytest.raises(EngineMissingError, match=r"pip install 'humeval-power\[excel\]'"):
        document_texts("book.xlsx", content)


@pytest.mark.parametrize(("metric", "name"), [("bleu", "BLEU"), ("chrf++", "chrF++")])
@pytest.mark.parametrize("command", ["test", "estimate"])
def test_a_metric_of_texts_without_sacrebleu_names_the_extra(
    tmp_path, monkeypatch, command, metric, name
) -> None:
    texts = [tmp_path / f"{each}.txt" for each in "abr"]
    for path in texts:
        path.write_text("one line\nand another\n")
    without(monkeypatch, "sacrebleu")
    a, b, r = texts
    told = said("corpus", command, "--system-a", a, "--system-b", b, "--reference", r, "--metric", metric)
    assert f"Counting what {name} is made of needs sacrebleu, which is not installed" in told
    assert "pip install 'humeval-power[mt]'" in told


def test_planning_of_a_corpus_metric_needs_no_extra(monkeypatch) -> None:
    without(monkeypatch, "sacrebleu")
    done = run("corpus", "power", "--n", 200, "--effect", 2, "--simulations", 50, "--seed", 1)
    assert "Simulated power" in done.output


def test_the_page_without_its_packages_names_the_extra(monkeypatch) -> None:
    for package in ("starlette", "uvicorn"):
        without(monkeypatch, package)
    told = said("page", "--no-browser")
    assert "The page needs starlette and uvicorn, which are not installed" in told
    assert "pip install 'humeval-power[page]'" in told
