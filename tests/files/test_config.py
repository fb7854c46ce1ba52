"""Configuration files: what is written is read again, and what is wrong in them is said."""

import json
import os
import re
import tomllib
from pathlib import Path

import cli
import click
import pytest
from every_command import COMMANDS, command_words, prepared

from humeval_power.asking import program
from humeval_power.asking.config import CONFIG, config_text

ITEMS = "item,A,B\n" + "".join(f"{i},{i % 3},{(i * 7) % 5}\n" for i in range(20))
ASKED = ("--question", "mean", "--power-by", "formula", "--alpha", "0.01", "--systems", "B,A")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores.csv").write_text(ITEMS)
    return tmp_path


def found(*words):
    return json.loads(cli.run("compare", "scores", *words, "--json").stdout)


def config(folder, text, name="asked.toml"):
    (folder / name).write_text(text)
    return name


def refused(*words):
    return " ".join(cli.run("compare", "scores", *words, code=2).stderr.split())


def test_what_was_asked_is_written_and_gives_the_same_again(folder):
    first = found("scores.csv", *ASKED, "--write-config", "kept/asked.toml")
    assert tomllib.loads((folder / "kept/asked.toml").read_text())["files"] == ["../scores.csv"]
    again = found("--config", "kept/asked.toml")
    apart = ("command", "sources")
    assert {k: v for k, v in again.items() if k not in apart} == {
        k: v for k, v in first.items() if k not in apart
    }
    assert [one["name"] for one in again["sources"]] == ["asked.toml", "scores.csv"]


def test_what_is_typed_goes_before_the_file(folder):
    config(folder, 'files = "none.csv"\nquestion = "mean"\nalpha = 0.01\npower_by = "formula"\nmargin = 2')
    record = found("--config", "asked.toml", "scores.csv", "--alpha", "0.1", "--question=better")
    assert record["settings"]["alpha"] == 0.1
    assert record["question"] == "better"
    assert record["equivalence"]["margin"] == 2


def test_lists_flags_and_options_that_repeat_are_read(folder):
    rows = "".join(f"{i},{s},{i % 3},{(i * 5) % 7}\n" for i in range(12) for s in ("A", "B", "C"))
    (folder / "long.csv").write_text("item,system,bleu,ter\n" + rows)
    config(
        folder,
        'files = ["long.csv"]\nscore = ["bleu"]\nsystems = ["A", "C"]\nquestion = "better"\n'
        'power-sizes = [20, 40]\ndrop-missing = true\nsimulations = 20\npower-by = "normal"\n',
    )
    record = found("--config", "asked.toml")
    assert (record["metric"], record["systems"]) == ("bleu", ["A", "C"])
    typed = found("--config", "asked.toml", "--score", "ter")  # in place of all that stands there
    assert (typed["metric"], typed["systems"]) == ("ter", ["A", "C"])


def test_the_written_file_can_be_read_by_others_and_says_what_each_option_is(folder):
    found("scores.csv", *ASKED, "--write-config", "asked.toml")
    text = (folder / "asked.toml").read_text()
    values = tomllib.loads(text)
    assert values == {
        "schema": "humeval_power/config/1",
        "command": "compare scores",
        "files": ["scores.csv"],
        "question": "mean",
        "power-by": "formula",
        "alpha": 0.01,
        "systems": ["B", "A"],
    }
    assert "# Difference to test against.\n# null = 0.0\n" in text
    assert "# margin =\n" in text
    assert not re.search("^(# )?(output|force|json|jobs|config) =", text, re.MULTILINE)


def test_names_that_need_quoting_come_back(folder):
    name = 'q"uo\\te\x7f é.csv'
    (folder / name).write_text(ITEMS)
    first = found(name, *ASKED, "--write-config", "asked.toml")
    assert found("--config", "asked.toml")["test"] == first["test"]


def test_all_that_is_wrong_is_said_at_once_with_its_line(folder):
    config(
        folder,
        'files = []\nalpha = 3\nquestin = "mean"\nquestion = "mode"\nunit-size = "two"\n'
        'drop-missing = 1\nsystems = ["a"]\nnull = inf\nscore = [1979-05-27]\ntest = ["t"]\n[margin]\n',
    )
    said = refused("--config", "asked.toml")
    for row in range(1, 12):
        assert f"asked.toml, row {row}, field" in said
    assert "Do you mean 'question'?" in said


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('files = "q.csv', "is not TOML"),
        ('schema = "humeval_power/compare_config/1"', "must be 'humeval_power/config/1'"),
        ('command = "accuracy test"', "must be 'compare scores'"),
        ('files = "-"', "cannot be standard input"),
        ('files = ["a\\u0000b"]', "must be names of files"),
        ('question = "mean"', "Missing argument 'FILE"),
        ('files = "gone.csv"\nquestion = "mean"', "There is no file 'gone.csv'"),
        ('files = "scores.csv"', "Say what is asked"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(folder, text, why):
    assert why in refused("--config", config(folder, text))


def test_an_old_name_of_an_option_is_refused_with_the_new_one(folder):
    config(folder, "n = 200\neffect = 0.02\nagreement = 0.9\ncorrelation = 0.5")
    told = " ".join(cli.run("contingency", "power", "--config", "asked.toml", code=2).stderr.split())
    assert "row 3, field 'agreement'" in told
    assert "It is now called 'label-agreement'." in told
    assert "It is now called 'correctness-correlation'." in told


def test_escape_sequences_in_a_file_do_not_reach_the_terminal(folder):
    config(folder, 'files = "scores.csv"\n"al\\u001b[31m" = "\\u001b[2J"')
    assert "\x1b" not in cli.run("compare", "scores", "--config", "asked.toml", code=2).stderr


def test_a_configuration_is_not_written_over_what_is_read_or_without_force(folder):
    assert "reads it" in refused("scores.csv", *ASKED, "--write-config", "scores.csv", "--force")
    config(folder, "kept")
    assert "asked.toml" in refused("scores.csv", *ASKED, "--write-config", "asked.toml")
    assert (folder / "asked.toml").read_text() == "kept"
    found("scores.csv", *ASKED, "--write-config", "asked.toml", "--force")
    assert "reads it" in refused("--config", "asked.toml", "--write-config", "asked.toml", "--force")


def test_standard_input_is_not_written_into_a_configuration(folder):
    said = cli.run("compare", "scores", "-", *ASKED, "--write-config", "x.toml", stdin=ITEMS, code=2).stderr
    assert "standard input is read once" in " ".join(said.split())
    assert not (folder / "x.toml").exists()


def test_a_file_whose_name_looks_like_an_option_is_a_file(folder):
    (folder / "--help").write_text(ITEMS)
    config(folder, 'files = "--help"\nquestion = "mean"\npower-by = "formula"')
    assert found("--config", "asked.toml")["question"] == "mean"


def test_the_program_in_python_knows_what_the_file_says(folder):
    config(folder, 'files = "scores.csv"\nquestion = "mean"\nalpha = 0.01')
    code = cli.run("compare", "scores", "--config", "asked.toml", "--code", "python").stdout
    assert 'question="mean", alpha=0.01' in code


def test_what_any_command_was_asked_comes_back_from_another_folder(tmp_path):
    seen = set()
    with prepared(tmp_path):
        Path("kept").mkdir()
        for line in COMMANDS.values():
            words = [*command_words(line), "--write-config", "kept/asked.toml"]
            try:
                first = cli.context_of(words)
            except click.NoSuchOption:
                continue
            path = program.path_of(first)
            Path("kept/asked.toml").write_text(config_text(first))
            group = words[: words.index(path[-1]) + 1]  # of a scenario with its function
            again = cli.context_of([*group, "--config", "kept/asked.toml"])
            assert _asked(again) == _asked(first), line
            seen.add(path[0])
    assert {"looks", "compare", "rank", "accuracy", "runs", "corpus", "judge", "scenario"} <= seen


def _asked(context):
    """What was asked, files by where they lie."""
    return {
        name: [os.path.normpath(one) if isinstance(one, str) else one for one in _each(value)]
        for name, value in context.params.items()
        if name not in (*CONFIG, "as_json", "output")
    }


def _each(value):
    return value if isinstance(value, tuple | list) else [value]
