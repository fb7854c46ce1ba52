"""Every kind of record says what it is, by which versions, how it was asked, from which files and which seed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from every_command import COMMANDS, command_words

NO_RECORD = (
    "simulate",
    "rehearse",
)  # prints ratings, not what is said of them
DRAWN = ("n_simulations", "n_resamples", "n_draws", "n_flips_drawn")


def _parts(record: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(record, dict):
        for key, value in record.items():
            yield key, value
            yield from _parts(value)
    elif isinstance(record, list):
        for value in record:
            yield from _parts(value)


# Their commands and files would say what raters must not know.
BLIND = ("assign blind", "assign upload", "assign plan")


@pytest.fixture(params=[name for name in COMMANDS if name not in NO_RECORD])
def asked(request: pytest.FixtureRequest, every_command: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return request.param, every_command[request.param]["record"]


def test_a_record_is_of_a_kind_and_a_version(asked: tuple[str, dict[str, Any]]) -> None:
    name, record = asked
    assert re.fullmatch(r"humeval_power/[a-z_]+/[1-9]\d*", record["schema"])
    assert {"python", "humeval-power", "numpy", "scipy"} <= set(record["versions"])
    assert record["command"].startswith("" if name in BLIND else "humeval-power")


def test_a_record_names_the_files_that_were_read_with_their_digests(
    asked: tuple[str, dict[str, Any]],
) -> None:
    name, record = asked
    words = command_words(COMMANDS[name])
    outputs = {words[place + 1] for place, word in enumerate(words) if word in ("-o", "--output", "--key")}
    read = {word for word in words if re.search(r"\.(csv|txt|json)$", word)} - outputs
    sources = {source["name"]: source["sha256"] for source in record["sources"]}
    assert name in BLIND or read <= set(sources)
    if record["schema"].startswith("humeval_power/report"):
        assert set(sources.values()) == {
            None
        }  # a report is published: nothing can be tried out on a digest
    else:
        assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in sources.values())


def test_a_record_holds_a_seed_if_and_only_if_something_was_drawn(
    asked: tuple[str, dict[str, Any]],
) -> None:
    name, record = asked
    drawn = any(key in DRAWN and value for key, value in _parts(record))
    if "--method analytic" in COMMANDS[name]:
        assert not drawn
    if drawn:
        assert isinstance(record["seed"], int)
