"""The names of `import humeval_power`: each is there, described, and costs nothing until it is used."""

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest
from cases import each_case

import humeval_power as hp

_SECTION = re.compile(r"^(Parameters|Returns|Raises|Yields|Attributes)\n(-+)\n", re.MULTILINE)
_ENTRY = re.compile(r"^(\w+(?:, \w+)*) ?:", re.MULTILINE)


NAMESPACES = [name for name in hp.__all__ if inspect.ismodule(getattr(hp, name))]
PUBLIC = {name: getattr(hp, name) for name in hp.__all__ if name not in NAMESPACES} | {
    f"{space}.{name}": getattr(getattr(hp, space), name)
    for space in NAMESPACES
    for name in getattr(hp, space).__all__
}


def test_the_door_is_small_and_the_rest_lies_in_namespaces_by_subject():
    assert len(hp.__all__) - len(NAMESPACES) <= 50
    assert {"accuracy", "compare", "looks", "models", "figures"} <= set(NAMESPACES)


@each_case("name", PUBLIC)
def test_every_public_name_is_what_it_is_called(name):
    value = PUBLIC[name]
    if inspect.isclass(value) or inspect.isfunction(value):
        assert value.__name__ == name.rpartition(".")[2]
        assert value.__module__.startswith("humeval_power.")


@each_case("space", NAMESPACES)
def test_a_namespace_is_the_module_of_its_name(space):
    assert getattr(hp, space) is importlib.import_module(f"humeval_power.{space}")


def test_names_are_imported_from_a_namespace():
    from humeval_power.looks import boundaries

    assert boundaries is hp.looks.boundaries


def test_the_package_says_that_it_is_typed():
    assert (Path(hp.__file__).parent / "py.typed").exists()


@each_case("name", [name for name, value in PUBLIC.items() if inspect.isfunction(value)])
def test_the_examples_in_a_docstring_run(name):
    value = PUBLIC[name]
    examples = doctest.DocTestFinder(recurse=False).find(
        value, name, globs={**vars(inspect.getmodule(value))}
    )
    for example in examples:
        assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example).failed == 0


@each_case("name", [name for name, value in PUBLIC.items() if inspect.isclass(value)])
def test_the_examples_of_a_record_run(name):
    value = PUBLIC[name]
    examples = doctest.DocTestFinder(recurse=False).find(
        value, name, globs={**vars(inspect.getmodule(value))}
    )
    for example in examples:
        assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example).failed == 0


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = hp.nothing


@each_case("name", [name for name, value in PUBLIC.items() if callable(value)])
def test_a_public_name_has_a_docstring_of_its_own(name):
    described = inspect.getdoc(PUBLIC[name]) or ""
    assert not described.startswith(f"{name.rpartition('.')[2]}("), "the docstring that dataclasses make up"
    assert described.split("\n\n")[0].rstrip().endswith((".", ":", "?")), described[:80]


@each_case("name", [name for name, value in PUBLIC.items() if callable(value)])
def test_sections_of_a_docstring_are_those_of_numpy_and_name_real_arguments(name):
    value = PUBLIC[name]
    described = inspect.getdoc(value) or ""
    parts = _SECTION.split(described)
    for title, line, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        assert len(line) == len(title)
        if title == "Parameters":
            said = {one for entry in _ENTRY.findall(text) for one in entry.split(", ")}
            assert said
            assert said <= set(inspect.signature(value).parameters)
