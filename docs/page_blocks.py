"""Run the code blocks of a page, in order, and renew what they print.

```python runs in one namespace for each page; what it prints stands in the ```text block right below.
```console: each line `$ COMMAND` runs, and what it prints stands under it. A command goes on after a backslash.
```sh: each line runs; what it prints is not shown.
A line `...` in what is shown stands for any lines. A command that fails must show its `Error:`.

Blocks of other kinds (text, toml, r, ...) show files, formulas and other programs: they are not run.

Comments, which readers do not see, stand in the pages:
`<!-- setup` starts Python that makes the files which a page speaks of, up to `-->`;
`<!-- slow -->` in the line above a block leaves it to the slow tests; `<!-- slow setup` goes with such blocks;
`<!-- file NAME -->` above a block that is not run writes it as the file NAME, for the commands that follow;
`<!-- slow page -->`, alone, leaves the whole page to them;
`<!-- with NAME -->` above a block gives it a real table that is not shipped; it is run where that table is.
"""

from __future__ import annotations

import contextlib
import datetime
import difflib
import doctest
import io
import os
import re
import secrets
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from click.testing import CliRunner

from humeval_power.doors.terminal.main import main as humeval_power

ROOT = Path(__file__).resolve().parent.parent
REAL_TABLES = Path(os.environ.get("HUMEVAL_SHARED", ROOT.parent / "shared")) / "data"
PART = re.compile(
    r"^<!-- (?P<slow_setup>slow )?setup\n(?P<setup>.*?)^-->$"
    r"|^(?P<tags>(?:<!-- (?:slow|(?:with|file) [\w.-]+) -->\n)*)```(?P<kind>[\w-]*)\n(?P<code>.*?)^```$"
    r"(?:\n\n```text\n(?P<shown>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
SEEN_BY_EXAMPLES = ("data", "examples")  # folders of the project that stand in the scratch folder
OF_A_SHELL = re.compile(r"[|<>;&*?`$~]")
SAME_SECRETS = "import secrets\nsecrets.token_bytes = bytes\n"  # codes and seals of a page stay the same
DAY = "2026-11-27"  # of every session that is shown
DONE = (0, 3)  # 3: the target was missed, which is an answer
RUN = ("python", "console", "sh", "bash")


def renewed(page: str, *, slow: bool = False) -> str:
    """The page with the outputs that its blocks have now, where those shown are stale.

    Blocks marked as slow are left as they are unless `slow`.
    """
    if "<!-- slow page -->" in page and not slow:
        return page
    namespace: dict[str, object] = {"__name__": "__main__"}

    def part(found: re.Match[str]) -> str:
        tags = found["tags"] or ""
        is_slow = "<!-- slow -->" in tags or found["slow_setup"] is not None
        if (is_slow and not slow) or not all(_linked(name) for name in re.findall(r"with ([\w.-]+)", tags)):
            return found[0]
        if found["setup"] is not None:
            exec(compile(found["setup"], "<setup>", "exec"), namespace)
            return found[0]
        return _block(found, namespace)

    with _scratch_folder():
        return PART.sub(part, page)


def _block(found: re.Match[str], namespace: dict[str, object]) -> str:
    """One block, run if it is of a kind that is run, as it should be."""
    kind, code, before = found["kind"], found["code"], found["tags"]
    if kind == "python":
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "<example>", "exec"), namespace)
        output = _kept(found["shown"] or "", printed.getvalue())
        return f"{before}```python\n{code}```" + (f"\n\n```text\n{output}```" if output else "")
    if kind == "console":
        after = found[0].removeprefix(f"{before}```console\n{code}```")
        return f"{before}```console\n{_session(code)}```{after}"
    if kind in RUN:
        for typed in re.findall(r"(?:[^\n]*\\\n)*[^\n]+\n", code):
            if shlex.split(typed.replace("\\\n", " "), comments=True):
                output_of(typed)
    elif name := re.search(r"file ([\w.-]+)", before or ""):
        Path(name[1]).write_text(code, encoding="utf-8")
    return found[0]


def _linked(name: str) -> bool:
    """Whether the real table of that name is here; it then lies in the scratch folder."""
    table = REAL_TABLES / name
    if table.is_file() and not Path(name).exists():
        Path(name).symlink_to(table)
    return table.is_file()


def _session(console: str) -> str:
    """Run the commands of a console block."""
    parts = []
    for entry in re.split(r"^(?=\$ )", console, flags=re.MULTILINE)[1:]:
        found = re.match(r"\$ ((?:[^\n]*\\\n)*[^\n]*\n)(.*)", entry, re.DOTALL)
        assert found is not None
        typed, shown = found.groups()
        blank = "\n" if shown.endswith("\n\n") else ""
        output = output_of(typed, may_fail=bool(re.search("^Error: ", shown, re.MULTILINE)))
        parts.append(f"$ {typed}{_kept(shown.removesuffix(blank), output)}{blank}")
    return "".join(parts)


def _kept(shown: str, printed: str) -> str:
    """What is shown if it is right, else what was printed."""
    if _agrees(shown, printed):
        return shown
    left_out = _elided(shown.splitlines(), printed.splitlines())
    return left_out if left_out and _agrees(left_out, printed) else printed


def _agrees(shown: str, printed: str) -> bool:
    return doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS)


def _elided(shown: list[str], printed: list[str]) -> str:
    """What is printed, without the lines for which `...` stood in what was shown; '' where they are not found."""
    parts: list[list[str]] = [[]]
    for line in shown:
        if line.strip() == "...":
            parts.append([])
        else:
            parts[-1].append(line)
    if len(parts) == 1:
        return ""
    kept: list[str] = []
    place = 0
    for number, part in enumerate(parts):
        if number:
            kept.append("...")
        if part:
            text = [line for line in part if line]  # blank lines are everywhere
            first = place if number == 0 else _closest((text or [""])[0], printed, place)
            last = len(printed) - 1
            if number < len(parts) - 1 and first >= 0:
                last = _closest((text or [""])[-1], printed, first)
                last += (part[::-1].index(text[-1]) if text else 0) if last >= 0 else 0
            if first < 0 or last < 0:
                return ""
            kept += printed[first : last + 1]
            place = last + 1
    return "\n".join(kept) + "\n"


def _closest(line: str, printed: list[str], after: int) -> int:
    """The place of the printed line most like this one; -1 where none is."""
    likeness = [
        difflib.SequenceMatcher(None, line, other, autojunk=False).ratio() for other in printed[after:]
    ]
    best = max(likeness, default=0.0)
    return after + likeness.index(best) if best > 0.6 else -1


def output_of(typed: str, *, may_fail: bool = False) -> str:
    """What a line prints on standard output in a terminal of 80 columns; its error if it has to fail."""
    line = typed.replace("\\\n", " ").strip()
    words = shlex.split(line, comments=True)
    if words[0] == "humeval-power" and not OF_A_SHELL.search(re.sub(r"'[^']*'|\"[^\"]*\"|#.*", "", line)):
        result = CliRunner().invoke(humeval_power, words[1:], prog_name="humeval-power")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        code, output, error = result.exit_code, result.stdout, result.stderr
    else:
        done = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True)
        code, output, error = done.returncode, done.stdout, done.stderr
    if (code not in DONE and not may_fail) or (may_fail and not error):
        raise SystemExit(f"{line}\nended with {code}:\n{error or output}")
    return (output + error if may_fail else output).replace(datetime.date.today().isoformat(), DAY)


@contextlib.contextmanager
def _scratch_folder() -> Iterator[None]:
    """A folder where nothing lies but `data/` and `examples/`, with settings and programs of its own."""
    with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as stack:
        here = Path(scratch) / "here"
        here.mkdir()
        for name in SEEN_BY_EXAMPLES:
            (here / name).symlink_to(ROOT / name)
        programs = Path(scratch) / "bin"
        programs.mkdir()
        program = programs / "humeval-power"
        program.write_text(
            f"#!{sys.executable}\n{SAME_SECRETS}from humeval_power.doors.terminal.main import main\nmain()\n"
        )
        program.chmod(0o755)
        stack.callback(setattr, secrets, "token_bytes", secrets.token_bytes)
        exec(SAME_SECRETS, {})
        (programs / "python").symlink_to(sys.executable)
        path = os.pathsep.join((str(programs), os.environ.get("PATH", "")))
        found = os.environ.get("PYTHONPATH")
        modules = os.pathsep.join((str(ROOT), found) if found else (str(ROOT),))
        before = dict(os.environ)
        stack.callback(_restore, before)
        os.environ |= {
            "PATH": path,
            "PYTHONPATH": modules,
            "COLUMNS": "80",
            "XDG_CONFIG_HOME": f"{scratch}/settings",
        }
        stack.enter_context(contextlib.chdir(here))
        yield


def _restore(before: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(before)
