"""Write docs/commands/ from the help of every command, and run the examples of the pages.

    python docs/generate.py            write docs/commands/ and the output blocks of the pages anew
    python docs/generate.py --check    change nothing; end with 1 and a diff where something is stale

In the pages of EXAMPLES two kinds of block are run, in a scratch directory that sees `data/`:
```python, in one namespace for each page, and ```console, whose lines `$ humeval-power ...` are commands.
What Python prints stands in the ```text block right below; what a command prints on standard output
stands under it. A line `...` stands for any lines.
"""

from __future__ import annotations

import contextlib
import difflib
import doctest
import io
import re
import shlex
import sys
import tempfile
from pathlib import Path

import click
from click.testing import CliRunner

from humeval_power.interfaces.cli.main import COMMANDS
from humeval_power.interfaces.cli.main import main as humeval_power

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = (
    *("README.md", "docs/tour.md", "docs/python.md", "docs/formula.md", "docs/structure.md"),
    *(
        str(page.relative_to(ROOT))
        for folder in ("guides", "how-to")
        for page in sorted((ROOT / "docs" / folder).glob("*.md"))
    ),
)
BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?|```console\n(.*?)```\n", re.DOTALL)
COMMAND_PAGES = ROOT / "docs" / "commands"
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
    listed = "\n".join(f"- [{name}]({name}.md): {_summary(name)}" for name in COMMANDS)
    pages = {
        COMMAND_PAGES / "README.md": f"{INTRODUCTION}\n{listed}\n\n```text\n{command_line('--help')}```\n"
    }
    for name in COMMANDS:
        parts = [f"# {name}\n\n```text\n{command_line(name, '--help')}```\n"]
        parts += [
            f"## {name} {below}\n\n```text\n{command_line(name, below, '--help')}```\n"
            for below in subcommands(name)
        ]
        pages[COMMAND_PAGES / f"{name}.md"] = "\n".join(parts)
    return pages


def _summary(name: str) -> str:
    """The first sentence of a command's help."""
    command = humeval_power.get_command(click.Context(humeval_power), name)
    assert command is not None
    return command.get_short_help_str(limit=200)


def subcommands(name: str) -> list[str]:
    """The commands of a group; none of a plain command."""
    context = click.Context(humeval_power)
    found = humeval_power.get_command(context, name)
    return found.list_commands(context) if isinstance(found, click.Group) else []


def page_with_outputs(page: str) -> str:
    """The page with the outputs that its examples have now, where those shown are stale."""
    namespace: dict[str, object] = {"__name__": "__example__"}

    def renewed(block: re.Match[str]) -> str:
        code, shown, console = block.groups()
        if console is not None:
            return f"```console\n{_session(console)}```\n"
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "<example>", "exec"), namespace)
        output = _kept(shown or "", printed.getvalue())
        return f"```python\n{code}```\n" + (f"\n```text\n{output}```\n" if output else "")

    return BLOCK.sub(renewed, page)


def _session(console: str) -> str:
    """Run the commands of a console block; a command goes on after a backslash."""
    renewed = []
    for entry in re.split(r"^(?=\$ )", console, flags=re.MULTILINE)[1:]:
        found = re.match(r"\$ ((?:[^\n]*\\\n)*[^\n]*\n)(.*)", entry, re.DOTALL)
        assert found is not None
        typed, shown = found.groups()
        arguments = shlex.split(typed.replace("\\\n", " "))
        if arguments[0] != "humeval-power":
            raise SystemExit(f"Only humeval-power can be run in a console block, not {arguments[0]}.")
        blank = "\n" if shown.endswith("\n\n") else ""
        output = command_line(*arguments[1:])
        renewed.append(f"$ {typed}{_kept(shown.removesuffix(blank), output)}{blank}")
    return "".join(renewed)


def _kept(shown: str, printed: str) -> str:
    """What is shown if it is right, else what was printed."""
    same = doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS)
    return shown if same else printed


def pages() -> dict[Path, str]:
    """Every generated page, and every page with examples, as it should be."""
    texts = {ROOT / name: (ROOT / name).read_text(encoding="utf-8") for name in EXAMPLES}
    return {
        **reference(),
        **{path: _in_a_scratch_folder(text) for path, text in texts.items()},
    }


def _in_a_scratch_folder(page: str) -> str:
    """The page with its outputs, run where nothing lies but `data/`."""
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "data").symlink_to(ROOT / "data")
        with contextlib.chdir(scratch):
            return page_with_outputs(page)


def main() -> int:
    """Write or check; the exit code."""
    check = "--check" in sys.argv[1:]
    stale = False
    known = pages()
    for path in set(COMMAND_PAGES.glob("*.md")) - set(known):
        stale = True
        print(f"No command: {path.relative_to(ROOT)}")
        if not check:
            path.unlink()
    for path, text in known.items():
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
