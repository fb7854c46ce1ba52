"""Help, names and pages: what is promised in words exists, and is said in the same words everywhere."""

import importlib
import re
from pathlib import Path

import click
from cases import each_case
from click.testing import CliRunner
from places import ROOT

from humeval_power.asking.command_groups import BELOW, FOLDED, in_terminal, without_group
from humeval_power.doors.terminal.main import COMMANDS, main, module_of

PAGES = [
    ROOT / "README.md",
    *sorted(path for part in ("", "guides", "how-to") for path in (ROOT / "docs" / part).glob("*.md")),
]


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
        is_required = isinstance(parameter, click.Option) and parameter.required
        assert not is_required or parameter.opts[0] in result.stdout, parameter.name


@each_case("name", COMMANDS | FOLDED)
def test_the_list_of_commands_says_what_each_is_for(name: str) -> None:
    assert (COMMANDS | FOLDED)[name][1].endswith((".", "?"))


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


@each_case("words", LEAVES)
def test_what_writes_can_be_forced_and_is_quiet_on_request(words: str) -> None:
    spelled = {each for one in LEAVES[words].params for each in one.opts}
    assert "-o" not in spelled or {"--force", "-q"} <= spelled


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
