"""The site's Python reference: what stands after a name is its description, and its type that of the signature."""

import importlib.util

import griffe
import pytest
from places import ROOT

SOURCE = '''
def size(n_items: int, theta: list[float], *, seed: int = 1) -> int:
    """The size.

    Parameters
    ----------
    n_items : of the study; one that is
        large takes long.
    theta : shape (t,)
        Relative to the residual.
    seed, ... : of the draws: any number.

    Raises
    ------
    ValueError
        Where theta : text like this is no entry.
    """
'''


@pytest.fixture(scope="module")
def described() -> griffe.Object:
    place = ROOT / "docs" / "docstrings.py"
    found = importlib.util.spec_from_file_location("docstrings", place)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    extensions = griffe.Extensions(module.NamesAndWhatTheyAre())
    with griffe.temporary_visited_package(
        "shown", {"__init__.py": SOURCE}, extensions=extensions, docstring_parser="numpy"
    ) as package:
        return package["size"]


def test_what_stands_after_a_name_describes_it(described: griffe.Object) -> None:
    assert described.docstring is not None
    parameters = next(part for part in described.docstring.parsed if part.kind.value == "parameters")
    assert [(each.name, str(each.annotation), each.description) for each in parameters.value] == [
        ("n_items", "int", "of the study; one that is\nlarge takes long."),
        ("theta", "list[float]", "shape (t,).\nRelative to the residual."),
        ("seed", "int", "of the draws: any number."),
    ]


def test_other_sections_stay_as_they_are(described: griffe.Object) -> None:
    assert described.docstring is not None
    raised = next(part for part in described.docstring.parsed if part.kind.value == "raises")
    assert [each.description for each in raised.value] == ["Where theta : text like this is no entry."]
