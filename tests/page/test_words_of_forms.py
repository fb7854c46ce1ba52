"""Forms speak in the words of the page: no option of the terminal, and what holds where nothing is chosen."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

pytest.importorskip("starlette")

from humeval_power.interfaces.page.asked import Asked
from humeval_power.interfaces.page.fields import Field, field_groups
from humeval_power.interfaces.page.forms import FORMS


def fields() -> Iterator[tuple[str, Field]]:
    for path, form in FORMS.items():
        for group in field_groups(form, Asked(path), ()):
            for one in group.fields:
                yield f"{' '.join(path)}: {one.name}", one


def test_no_field_names_an_option_of_the_terminal() -> None:
    said = {
        where: found
        for where, one in fields()
        if (found := re.findall(r"--[a-z][a-z-]+", " ".join((one.label, one.help, one.nothing))))
    }
    assert not said


def test_a_choice_says_what_holds_where_nothing_is_chosen() -> None:
    choices = {where: one for where, one in fields() if one.kind == "choice"}
    assert len(choices) > 200
    assert not [where for where, one in choices.items() if not one.nothing]
    assert choices["power: paired"].nothing == "as usual: The same workers"
    assert choices["accuracy power: overlap"].nothing == "as usual: halfway of what is possible"
    assert choices["compare scores: question"].nothing == "choose one"
