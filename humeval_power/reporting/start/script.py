"""The commands as a script for a shell: what is done already is not done again, and what is missing is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from humeval_power.reporting.start.steps import Step
from humeval_power.safe_text import shell_word, terminal_text

_HEAD = """\
#!/usr/bin/env bash
# {title}
# Written by 'humeval-power start'. Run it in the folder of your files: bash {name}
# What is there already is left alone, so run it again when more has come in. Remove a file to make it anew.
set -euo pipefail

# A study that cannot be had within its limits ends with 3: what stands in the way was said.
run() {{ printf '\\n$ humeval-power %s\\n' "$*"; humeval-power "$@" || [ $? -eq 3 ]; }}
waits() {{ printf '\\nWaiting for %s: %s\\n' "$1" "$2"; exit 0; }}
"""


def script(title: str, steps: Sequence[Step], *, name: str = "start.sh") -> str:
    """A script of bash that runs the commands, each that writes only where its output is not there yet."""
    parts = [_HEAD.format(title=_comment(title), name=name)]
    waited: set[str] = set()
    for place, step in enumerate(steps, 1):
        parts.append("\n".join(_lines(place, step, waited)))
    return "\n\n".join(parts) + "\n"


def _lines(place: int, step: Step, waited: set[str]) -> Iterator[str]:
    yield f"# {place}. {_comment(step.why)}"
    for file in step.needs if step.phase == "later" else ():
        if file not in waited:
            waited.add(file)
            yield f"[ -e {shell_word(file)} ] || waits {shell_word(file)} {shell_word(step.why)}"
    command = "run" + step.shown.removeprefix("humeval-power")
    writes = step.output or next((str(dict(step.options)[name]) for name in step.beside), "")
    yield f"[ -e {shell_word(writes)} ] || {command}" if writes else command


def _comment(text: str) -> str:
    return terminal_text(text).replace("\n", " ")
