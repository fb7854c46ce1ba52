"""Every command's JSON is what it was, and every record says what it is and how it came about."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from cases import each_case, every_case
from every_command import COMMANDS, GOLDEN, SLOW, command_words, differences, run_all


@pytest.fixture(scope="module")
def every_command(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The exit code and the record of every quick command line of `every_command.COMMANDS`, run once."""
    return run_all(tmp_path_factory.mktemp("commands"), without=SLOW)


@pytest.fixture(scope="module")
def golden() -> dict[str, Any]:
    return json.loads(GOLDEN.read_text())


QUICK = [name for name in COMMANDS if name not in SLOW]


@each_case("name", QUICK)
def test_a_quick_command_still_gives_the_numbers_that_it_gave(name, every_command, golden):
    _compare(every_command[name], golden[name])


@pytest.mark.long
@pytest.mark.slow
def test_every_command_still_gives_the_numbers_that_it_gave(tmp_path, golden):
    now = run_all(tmp_path)
    with every_case() as cases:
        for name in COMMANDS:
            with cases.case(name):
                _compare(now[name], golden[name])
                if name in SLOW:
                    test_a_record_is_of_a_kind_and_a_version.one_case(name, now)
                    test_a_record_names_the_files_that_were_read_with_their_digests.one_case(name, now)
                    test_a_record_holds_a_seed_if_and_only_if_something_was_drawn.one_case(name, now)


def _compare(now: dict[str, Any], golden: dict[str, Any]) -> None:
    assert now["exit"] == golden["exit"]
    found = list(differences(golden["record"], now["record"]))
    assert not found, "\n".join(found[:20])


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


RECORDED = [name for name in QUICK if name not in NO_RECORD]
# Their commands and files would say what raters must not know.
BLIND = ("assign blind", "assign upload", "assign plan")


@each_case("name", RECORDED)
def test_a_record_is_of_a_kind_and_a_version(name: str, every_command: dict[str, Any]) -> None:
    record = every_command[name]["record"]
    assert re.fullmatch(r"humeval_power/[a-z_]+/[1-9]\d*", record["schema"])
    assert {"python", "humeval-power", "numpy", "scipy"} <= set(record["versions"])
    assert record["command"].startswith("" if name in BLIND else "humeval-power")


@each_case("name", RECORDED)
def test_a_record_names_the_files_that_were_read_with_their_digests(
    name: str, every_command: dict[str, Any]
) -> None:
    record = every_command[name]["record"]
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


@each_case("name", RECORDED)
def test_a_record_holds_a_seed_if_and_only_if_something_was_drawn(
    name: str, every_command: dict[str, Any]
) -> None:
    record = every_command[name]["record"]
    drawn = any(key in DRAWN and value for key, value in _parts(record))
    if "--method analytic" in COMMANDS[name]:
        assert not drawn
    if drawn:
        assert isinstance(record["seed"], int)
