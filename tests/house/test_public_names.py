"""The names of `import humeval_power`: each is there, described, and costs nothing until it is used."""

from __future__ import annotations

import ast
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import humeval_power

HEAVY = ("numpy", "pandas", "numba", "scipy", "matplotlib", "sacrebleu", "click", "pydantic")
DESCRIBED = [name for name in humeval_power.__all__ if callable(getattr(humeval_power, name))]
_SECTION = re.compile(r"^(Parameters|Returns|Raises|Yields|Attributes)\n(-+)\n", re.MULTILINE)
_ENTRY = re.compile(r"^(\w+(?:, \w+)*) ?:", re.MULTILINE)


def in_a_fresh_interpreter(code: str) -> object:
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(ended.stdout)


def test_importing_the_package_loads_none_of_its_modules_and_no_heavy_package():
    loaded = in_a_fresh_interpreter(
        "import json, sys, humeval_power\nprint(json.dumps([name for name in sys.modules if '.' in name "
        f"and name.startswith('humeval_power.') or name in {HEAVY!r}]))"
    )
    assert loaded == []


def test_one_name_loads_only_what_it_needs():
    loaded = in_a_fresh_interpreter(
        "import json, sys, humeval_power\nhumeval_power.InputError\n"
        f"print(json.dumps([name for name in sys.modules if name in {HEAVY!r}]))"
    )
    assert loaded == []


def test_every_public_name_exists_where_the_package_says():
    for name in humeval_power.__all__:
        value = getattr(humeval_power, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert value.__name__ == name
            assert value.__module__ == f"humeval_power.{humeval_power._MODULE_OF[name]}"


def test_type_checkers_are_told_the_same_names_as_users():
    source = Path(humeval_power.__file__).read_text(encoding="utf-8")
    told = {
        (found.module, alias.asname)
        for block in ast.parse(source).body
        if isinstance(block, ast.If)
        for found in block.body
        if isinstance(found, ast.ImportFrom)
        for alias in found.names
    }
    assert told == {(f"humeval_power.{module}", name) for name, module in humeval_power._MODULE_OF.items()}


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = humeval_power.nothing


@pytest.mark.parametrize("name", DESCRIBED)
def test_a_public_name_has_a_docstring_of_its_own(name):
    described = inspect.getdoc(getattr(humeval_power, name)) or ""
    assert not described.startswith(f"{name}("), "the docstring that dataclasses make up"
    assert described.split("\n\n")[0].rstrip().endswith((".", ":")), described[:80]


@pytest.mark.parametrize("name", DESCRIBED)
def test_sections_of_a_docstring_are_those_of_numpy_and_name_real_arguments(name):
    value = getattr(humeval_power, name)
    described = inspect.getdoc(value) or ""
    parts = _SECTION.split(described)
    for title, line, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        assert len(line) == len(title)
        if title == "Parameters":
            said = {one for entry in _ENTRY.findall(text) for one in entry.split(", ")}
            assert said
            assert said <= set(inspect.signature(value).parameters)
