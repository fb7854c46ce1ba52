"""Every command says what it said when tests/golden/net/ was written: `python tests/net.py --diff` tells more."""

import random
from pathlib import Path

import net
import pytest
from every_command import SLOW

SAMPLE = random.Random(31).sample(list(net.ALL), 6)


def test_a_sample_of_the_commands_says_what_it_said(tmp_path: Path) -> None:
    found = list(net.texts_apart(net.net(tmp_path, SAMPLE, SLOW), SLOW))  # records: test_every_command.py
    assert not found, "\n".join(found)


@pytest.mark.long
@pytest.mark.slow
def test_every_command_says_what_it_said(tmp_path: Path) -> None:
    found = list(net.apart(tmp_path))
    assert not found, "\n".join(found)


def test_a_wrong_line_ends_with_2_for_every_command() -> None:
    assert [name for name in net.ALL if "\nexit 2\n" not in net.kept(name)["wrong"]] == []


def test_a_difference_is_told_by_command_section_and_line() -> None:
    now = net.kept("warm-up")
    assert list(net.texts_apart({"warm-up": now}, SLOW)) == []
    changed = now | {"wrong": now["wrong"].replace("exit 2", "exit 0")}
    assert list(net.texts_apart({"warm-up": changed}, SLOW)) == ["warm-up: wrong\n  -exit 2\n  +exit 0"]


def test_what_was_only_renamed_is_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(net, "RENAMED", {"--jobs": "--cores", "power": "share_found"})
    now = {heading: text.replace("--jobs", "--cores") for heading, text in net.kept("warm-up").items()}
    assert list(net.texts_apart({"warm-up": now}, SLOW)) == []
    assert net.renamed({"rows": [{"power": 0.8}]}) == {"rows": [{"share_found": 0.8}]}
