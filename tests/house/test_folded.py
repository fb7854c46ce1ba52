"""Commands that stand below `compare` and `more`: both lines run, and only the new one is shown."""

import json

import click
from click.testing import CliRunner, Result

from humeval_power.asking.command_groups import FOLDED, in_terminal, without_group
from humeval_power.doors.terminal.main import COMMANDS, main

POWER = "accuracy power --n 500 --effect 0.03 --agreement 0.9 --method analytic --json"


def typed(line: str) -> Result:
    return CliRunner().invoke(main, line.split())


def test_help_lists_at_most_24_names() -> None:
    assert len(COMMANDS) <= 24
    context = click.Context(main)
    assert main.list_commands(context) == list(COMMANDS)


def test_the_line_of_before_runs_says_where_it_stands_and_records_the_new_one() -> None:
    before, now = typed(POWER), typed(f"compare {POWER}")
    assert before.exit_code == now.exit_code == 0
    assert "'accuracy' stands under 'compare' now: humeval-power compare accuracy" in before.stderr
    assert "stands under" not in now.stderr
    one, other = json.loads(before.stdout), json.loads(now.stdout)
    assert one["command"] == other["command"] == f"humeval-power compare {POWER}"
    assert {**one, "created": ""} == {**other, "created": ""}


def test_quiet_says_nothing_and_a_wrong_option_speaks_of_the_new_line() -> None:
    assert "stands under" not in typed(f"{POWER} --quiet").stderr
    wrong = typed("compare accuracy power --baseline 0.9")
    assert wrong.exit_code == 2
    assert "--baseline is now called --baseline-accuracy" in wrong.stderr


def test_words_go_into_their_group_and_out_of_it() -> None:
    for name in FOLDED:
        words = [name, "power"]
        assert without_group(in_terminal(words)) == tuple(words)
    for words in (["compare", "scores"], ["power", "study.toml"], ["compare"], []):
        assert in_terminal(words) == words
        assert without_group(words) == tuple(words)
    assert without_group(["more", "accuracy"]) == ("more", "accuracy")
