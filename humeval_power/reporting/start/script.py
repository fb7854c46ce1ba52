"""The commands as a script for a shell: what is done already is not done again, and what is missing is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from humeval_power.reporting.start.steps import Step
from humeval_power.safe_text import shell_word, terminal_text

# What a script of commands begins with: to miss a target is no fault of a command, but nothing is built on it.
GOES_ON = """\
# A command that misses its target, such as a plan for which the money is too short, says why and ends with 3.
# What rests on its files is not done then, and this script ends with 3 too. To go on in spite of it: --anyway
anyway=${1:-} out='' missed=''
made() { out=${1%/}; [ -e "$out" ] || { rm -f "$out.missed"; return 1; }; out=''; }
run() {
  printf '\\n$ humeval-power %s\\n' "$*"
  humeval-power "$@" || {
    code=$?; [ $code -eq 3 ] || exit $code
    missed="humeval-power $*"; [ -z "$out" ] || printf '%s\\n' "$missed" > "$out.missed"
  }
  out=''
}
rests_on() {
  [ "$anyway" = --anyway ] || [ ! -e "$1.missed" ] || {
    missed=$(cat "$1.missed"); finish "What comes next rests on it."
  }
}
finish() {
  [ -n "$missed" ] || exit 0
  printf '\\nEnds with 3: the target was missed by: %s\\n' "$missed${1:+
$1 Read above or in its files why; to go on: bash $0 --anyway}" >&2
  exit 3
}
"""
_CAN_MISS = ("plan", "size", "judge")

_HEAD = """\
#!/usr/bin/env bash
# {title}
# Written by 'humeval-power start'. Run it in the folder of your files: bash {name}
# What is there already is left alone, so run it again when more has come in. Remove a file to make it anew.
set -euo pipefail

{goes_on}waits() {{ printf '\\nWaiting for %s: %s\\n' "$1" "$2"; finish; }}"""


def script(title: str, steps: Sequence[Step], *, name: str = "start.sh") -> str:
    """A script of bash that runs the commands, each that writes only where its output is not there yet.

    It stops before a command that reads what one wrote that missed its target.
    """
    parts = [_HEAD.format(title=_comment(title), name=name, goes_on=GOES_ON)]
    waited: set[str] = set()
    promised: list[str] = []
    for place, step in enumerate(steps, 1):
        parts.append("\n".join(_lines(place, step, waited, promised)))
        promised += [step.output] if step.command[0] in _CAN_MISS and step.output else []
    return "\n\n".join([*parts, "finish"]) + "\n"


def _lines(place: int, step: Step, waited: set[str], promised: Sequence[str]) -> Iterator[str]:
    yield f"# {place}. {_comment(step.why)}"
    for file in step.needs if step.phase == "later" else ():
        if file not in waited:
            waited.add(file)
            yield f"[ -e {shell_word(file)} ] || waits {shell_word(file)} {shell_word(step.why)}"
    yield from (f"rests_on {shell_word(file)}" for file in promised if file in step.words)
    command = "run" + step.shown.removeprefix("humeval-power")
    writes = step.output or next((str(dict(step.options)[name]) for name in step.beside), "")
    yield f"made {shell_word(writes)} || {command}" if writes else command


def _comment(text: str) -> str:
    return terminal_text(text).replace("\n", " ")
