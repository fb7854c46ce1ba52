"""Help, names and pages: what is promised in words exists, and is said in the same words everywhere."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from typing import Any

import click
import pytest
from cases import each_case
from click.testing import CliRunner
from places import ROOT

from humeval_power.asking.command_groups import BELOW, FOLDED, in_terminal, without_group
from humeval_power.doors.terminal.main import COMMANDS, main, module_of

PAGES = [
    ROOT / "README.md",
    *sorted(path for part in ("", "guides", "how-to") for path in (ROOT / "docs" / part).glob("*.md")),
]
SHARED_OPTIONS = (
    "--seed",
    "--simulations",
    "--jobs",
    "--alpha",
    "--df",
    "--estimator",
    "--systems",
    "--scale",
    "--json",
    "--output",
    "--force",
    "--quiet",
)
# Same name, another sense, and said so in the help: names to write, a scale to write, any number of systems.
OTHER_SENSE = {
    ("assign", "--systems"),
    ("plan", "--systems"),
    ("simulate", "--scale"),
    ("assessment test", "--systems"),
}
# These are said alike by the commands that also have the other option: those that read ratings, or test them.
ONLY_WITH = {"--systems": "--rating", "--scale": "--rating", "--alpha": "--df"}


def leaves() -> dict[str, click.Command]:
    """Every command that does something, by its words: 'power', 'accuracy power', ..."""
    found = {}
    for name in COMMANDS | FOLDED:
        command: click.Command = importlib.import_module(module_of(name)).command
        if not isinstance(command, click.Group) or command.invoke_without_command:
            found[name] = command
        if isinstance(command, click.Group):
            context = click.Context(command)
            before = " ".join([name, *(p.make_metavar(context) for p in command.params if is_needed(p))])
            for word in command.list_commands(context):
                if word in BELOW.get(name, {}):
                    continue
                below = command.get_command(context, word)
                assert below is not None
                found[f"{before} {word}"] = below
    return found


def is_needed(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Argument) and parameter.required


LEAVES = leaves()


def option(words: str, spelling: str) -> click.Option | None:
    for parameter in LEAVES[words].params:
        if isinstance(parameter, click.Option) and spelling in parameter.opts:
            return parameter
    return None


@each_case("words", LEAVES)
def test_every_command_has_help_with_a_sentence_and_explained_options(words: str) -> None:
    typed = in_terminal(words.split())
    result = CliRunner().invoke(main, [*typed, "--help"], prog_name="humeval-power")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"Usage: humeval-power {' '.join(typed)} ")
    assert LEAVES[words].help
    assert max(map(len, result.stdout.splitlines())) <= 80
    for parameter in LEAVES[words].params:
        assert not isinstance(parameter, click.Option) or parameter.hidden or parameter.help, parameter.name


@each_case("name", COMMANDS | FOLDED)
def test_the_list_of_commands_says_what_each_is_for(name: str) -> None:
    assert (COMMANDS | FOLDED)[name][1].endswith((".", "?"))


@each_case("spelling", SHARED_OPTIONS)
def test_options_that_mean_the_same_are_said_the_same(spelling: str) -> None:
    kept = {
        name: found
        for name in LEAVES
        if (found := option(name, spelling)) is not None
        and (name, spelling) not in OTHER_SENSE
        and option(name, ONLY_WITH.get(spelling, spelling)) is not None
    }
    if spelling == "--output":
        kept = {
            name: found for name, found in kept.items() if "its ending says what: .md" in str(found.help)
        }
    assert len(kept) >= 2
    said = {(tuple(found.opts), found.help, str(found.default), str(found.type)) for found in kept.values()}
    assert len(said) == 1, {name: found.help for name, found in kept.items()}


# A column of a table, or beside lists of texts a file of lines.
FILE_OR_ELSE = {"--cluster", "--system-a", "--system-b"}


def test_an_option_that_names_a_file_does_so_in_every_command():
    metavars: dict[str, set[bool]] = {}
    for command in LEAVES.values():
        for one in command.params:
            if isinstance(one, click.Option):
                is_file = one.metavar in ("FILE", "PATH")
                metavars.setdefault(max(one.opts, key=len), set()).add(is_file)
    assert {name for name, kinds in metavars.items() if len(kinds) > 1} == FILE_OR_ELSE


@each_case("words", [words for words in LEAVES if option(words, "-o") is not None])
def test_what_writes_can_be_forced_and_is_quiet_on_request(words: str) -> None:
    assert option(words, "--force") is not None
    assert option(words, "-q") is not None


@each_case("page", PAGES, ids=lambda page: page.name)
def test_commands_and_options_in_the_pages_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    for line in re.findall(r"humeval-power +((?:[a-z]+ |--)[^\n`]*)", text):
        words = line.partition(" | ")[0].split()
        if words[0].startswith("-"):
            continue
        assert words[0] in COMMANDS, line
        words = list(without_group(words))
        for word in words[1:]:
            if re.fullmatch(r"--?[a-z][a-z-]*", word):
                commands = [LEAVES[typed] for typed in LEAVES if is_typed(typed.split(), words)]
                known = any(
                    word in (*p.opts, *p.secondary_opts)
                    for found in commands
                    for p in found.get_params(click.Context(found))
                )
                assert known, line


def is_typed(command: list[str], words: list[str]) -> bool:
    """Whether a line starts with this command; capitals stand for whatever was typed there."""
    return len(words) >= len(command) and all(
        name.isupper() or name == word for name, word in zip(command, words, strict=False)
    )


@each_case("page", PAGES, ids=lambda page: page.name)
def test_links_between_the_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text(encoding="utf-8")):
        name, _, anchor = target.partition("#")
        linked = page.parent / name if name else page
        assert linked.exists(), target
        if anchor:
            titles = re.findall(r"^#+ (.+)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in [re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles]


def test_every_command_has_its_page_in_the_reference() -> None:
    pages = {path.stem for path in (ROOT / "docs" / "commands").glob("*.md")} - {"README"}
    assert pages == COMMANDS.keys() | FOLDED.keys()


def names_in(document: object) -> set[str]:
    """Every field name of a JSON document, but not names that a user chooses or parameters."""
    if isinstance(document, list):
        return set().union(*map(names_in, document))
    if not isinstance(document, dict):
        return set()
    found = set()
    for name, value in document.items():
        found.add(name)
        if name not in ("settings", "versions", "standard_errors", "intervals", "boundary_rates"):
            found |= names_in(value)
    return found


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "data/pilot.csv", "--json"),
        ("fit", "data/pilot.csv", "--json"),
        ("power", "--preset", "high", "--workers", "5", "--items", "20", "--effect", "0.1", "--json"),
        ("mde", "--preset", "high", "--workers", "5", "--items", "20", "--json"),
        ("size", "--preset", "low", "--find", "workers", "--items", "50", "--effect", "0.2", "--json"),
        ("surface", "--preset", "high", "--workers", "5", "--items", "20", "--effect", "0.1", "--json"),
        ("calibrate", "--preset", "high", "--workers", "5", "--items", "20", "--json"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_every_field_of_a_document_is_described(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    drawn = () if arguments[0] == "check" else ("--simulations", "50")
    result = CliRunner().invoke(main, [*arguments, *drawn])
    assert result.exit_code == 0, result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    page = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    assert f"`{document['schema']}`" in page
    described = set(re.findall(r"[a-z][a-z_0-9]*", " ".join(re.findall(r"`[^`\n]+`", page))))
    assert names_in(document) - described == set()
