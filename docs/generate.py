"""Write docs/commands/ from the help of every command, and run the code blocks of all pages.

    python docs/generate.py            write docs/commands/ and what the blocks of the pages print anew
    python docs/generate.py --check    change nothing; end with 1 and a diff where something is stale
    python docs/generate.py --slow     also the blocks marked as slow
    python docs/generate.py docs/tour.md docs/commands/rank.md       these pages alone

How blocks are written and run: docs/page_blocks.py.
"""

from __future__ import annotations

import difflib
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import page_blocks
from click.testing import CliRunner

from humeval_power.asking.command import Command
from humeval_power.asking.command_groups import BELOW, FOLDED, in_terminal
from humeval_power.checking.columns import listing
from humeval_power.doors.terminal.main import COMMANDS
from humeval_power.doors.terminal.main import main as humeval_power
from humeval_power.files.logs.reading import HARNESSES

ROOT = Path(__file__).resolve().parent.parent
MADE = re.compile(r"docs/(commands|papers|notebooks|reference|how-to/logs\.md)")  # by programs of their own
COMMAND_PAGES = ROOT / "docs" / "commands"
LOGS_PAGE = ROOT / "docs" / "how-to" / "logs.md"
HAVE_LOGS = """# I have logs

Which program wrote them? Its log, or a folder with the logs of several systems, goes where a command takes a table
of scores. Whose log a file is, is told from its content: `--from` is needed for none. This page is made from the
declarations of the readers by `python docs/generate.py`.

| I want to | Command |
|---|---|
| compare two systems | `humeval-power compare scores LOGS` ([compare](../compare.md)) |
| know who is right more often | `humeval-power compare accuracy test LOGS` ([accuracy](../accuracy.md)) |
| put many systems in order | `humeval-power rank scores LOGS` ([leaderboards](../rank.md)) |
| take runs, epochs and prompts into account | `humeval-power compare runs test LOGS` ([runs](../runs.md)) |
| let a pull request pass or not | `humeval-power compare gate BASELINE CANDIDATE` ([a gate](../github-action.md)) |
| see what was read, and keep it as a table | `humeval-power import LOGS -o scores.csv` |

What becomes metrics, runs, tasks and clusters, and what is refused: [logs of harnesses](../logs.md).

{tools}

A version with a date is one whose own files, written by a real run, gave the means that the program reports;
continuous integration reads what newer releases write (`make check-tools`). The others are read as their sources or
their documentation say: look at the means that `import` prints (without `-o`) before you trust a table. For any
other program: [a mapping](../logs.md#other-logs-a-mapping). Ratings of people, from Pearmut (proved with 1.1.6, on
the same day), Potato (2.12.1) and other annotation tools: [import](../import.md). Texts with their references, as
sacreBLEU takes them, are compared by scores of the whole test set: [corpus](../corpus.md).
"""
NAMING = (
    "put those of each system in a folder of its name, or say it by "
    "`humeval-power import --system-name base=first.csv --system-name tuned=second.csv -o scores.csv`."
)
INTRODUCTION = """# Commands

Made from the commands' own help by `python docs/generate.py`. The result goes to standard output, everything
else to standard error. Exit codes: 0 done, 1 failed, 2 the input or an option is wrong, 3 a target was missed
(no size will do; with `--strict`, a fit that did not converge or too many that failed), 130 interrupted.
"""


def command_line(*arguments: str) -> str:
    """What a command prints on standard output in a terminal of 80 columns."""
    result = CliRunner().invoke(humeval_power, arguments, prog_name="humeval-power")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if result.exit_code not in (0, 3):
        raise SystemExit(f"humeval-power {shlex.join(arguments)}:\n{result.stderr}")
    return result.stdout


def reference() -> dict[Path, str]:
    """A page for each command, with those below it, and an index."""
    names = (*COMMANDS, *FOLDED)
    listed = "\n".join(f"- [{_shown(name)}]({name}.md): {_summary(name)}" for name in names)
    pages = {
        COMMAND_PAGES / "README.md": f"{INTRODUCTION}\n{listed}\n\n```text\n{command_line('--help')}```\n"
    }
    for name in names:
        parts = [f"# {_shown(name)}\n\n```text\n{full_help(name)}```\n"]
        parts += [
            f"## {_shown(name, below)}\n\n```text\n{full_help(name, below)}```\n"
            for below in subcommands(name)
        ]
        pages[COMMAND_PAGES / f"{name}.md"] = "\n".join(parts)
    return pages


def logs_page() -> str:
    """The page of the tools whose logs are read."""
    rows = [
        f"| **{one.title}** (`{one.name}`) | {one.written_by} | {one.files} | {one.item} | {one.proved} |"
        for one in HARNESSES
    ]
    rows += [
        f"\nFiles of {listing([one.title for one in HARNESSES if not one.names_system])} name no system: {NAMING}"
    ]
    head = "| Tool | Its log is written by | What is read | Item; run | Last proved with |\n|---|---|---|---|---|\n"
    return HAVE_LOGS.format(tools=head + "\n".join(rows))


def full_help(*words: str) -> str:
    """The help of a command with all of its options; `--help` is short."""
    context = click.Context(humeval_power)
    asked: click.Command | None = humeval_power
    typed = list(in_terminal(words))
    for word in words:
        assert isinstance(asked, click.Group)
        first = asked.params[0] if asked.params else None
        if isinstance(first, click.Argument) and first.required:  # it is typed before what is below
            typed.insert(-1, first.make_metavar(context))
        asked = asked.get_command(context, word)
    return command_line(*typed, "--help-all" if isinstance(asked, Command) else "--help")


def _shown(*words: str) -> str:
    """A command as it is typed."""
    return " ".join(in_terminal(words))


def _summary(name: str) -> str:
    """The first sentence of a command's help."""
    command = humeval_power.get_command(click.Context(humeval_power), name)
    assert command is not None
    return command.get_short_help_str(limit=200)


def subcommands(name: str) -> list[str]:
    """The commands of a group that have no page of their own; none of a plain command."""
    context = click.Context(humeval_power)
    found = humeval_power.get_command(context, name)
    below = found.list_commands(context) if isinstance(found, click.Group) else []
    return [word for word in below if word not in BELOW.get(name, ())]


def examples() -> list[Path]:
    """The pages whose blocks are run: all that are written by hand."""
    names = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))
    return [ROOT / name for name in ("README.md", *names) if not MADE.match(name)]


def pages(asked: list[str], *, slow: bool) -> Iterator[tuple[Path, str]]:
    """Every generated page, and every page with blocks, as it should be; those asked for, if any are."""
    made = (
        {}
        if asked and not any(MADE.match(name) for name in asked)
        else {**reference(), LOGS_PAGE: logs_page()}
    )
    for path, text in made.items():
        if not asked or str(path.relative_to(ROOT)) in asked:
            yield path, text
    for path in examples():
        name = str(path.relative_to(ROOT))
        if asked and name not in asked:
            continue
        try:
            yield path, page_blocks.renewed(path.read_text(encoding="utf-8"), slow=slow)
        except (Exception, SystemExit) as failed:
            raise SystemExit(f"{name}: {type(failed).__name__}: {failed}") from failed


def main() -> int:
    """Write or check; the exit code."""
    check = "--check" in sys.argv[1:]
    asked = [word for word in sys.argv[1:] if not word.startswith("--")]
    stale = False
    gone = set(COMMAND_PAGES.glob("*.md")) - {
        COMMAND_PAGES / f"{name}.md" for name in (*COMMANDS, *FOLDED, "README")
    }
    for path in gone:
        stale = True
        print(f"No command: {path.relative_to(ROOT)}")
        if not check:
            path.unlink()
    for path, text in pages(asked, slow="--slow" in sys.argv[1:]):
        present = path.read_text(encoding="utf-8") if path.exists() else ""
        if text == present:
            continue
        stale = True
        name = str(path.relative_to(ROOT))
        if check:
            lines = difflib.unified_diff(present.splitlines(), text.splitlines(), name, "now", lineterm="")
            print("\n".join(lines))
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"Written: {name}")
    if check and stale:
        print("\nStale. Run: python docs/generate.py", file=sys.stderr)
    return int(check and stale)


if __name__ == "__main__":
    sys.exit(main())
