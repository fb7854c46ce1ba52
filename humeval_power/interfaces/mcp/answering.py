"""What a tool says: the answer of its command first, what must be read with it, and its record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from humeval_power.interfaces.page import answers
from humeval_power.interfaces.page.answers import Answer, Tell, Work
from humeval_power.reporting.document import READ_FIRST, Document
from humeval_power.reporting.records import json_ready
from humeval_power.reporting.result import Result

MOST_LETTERS = 20_000  # of a record: an assistant reads all that it is given


def answer(work: Work, told: Tell) -> Answer:
    """Run a command for an assistant: its first lines as the text, its record as JSON."""
    return answers.answer(work, told, shows=_shown)


def _shown(_path: tuple[str, ...], result: Result) -> Answer:
    document = result.document()
    return Answer(0, document.title, text=_first_lines(document), record=_record(result.record()))


def _first_lines(document: Document) -> str:
    said = [document.title, document.lead]
    said += [f"{READ_FIRST}: {caveat}" for caveat in document.caveats]
    said += [f"{label}: {value}" for label, value in document.headline]
    return "\n".join(line for line in said if line)


def _record(record: Mapping[str, Any]) -> str:
    """A record as JSON; where it is long without its longest parts, which are named."""
    parts = {name: json.dumps(json_ready(value), ensure_ascii=False) for name, value in record.items()}
    left: list[str] = []
    while sum(map(len, parts.values())) > MOST_LETTERS:
        left.append(max(parts, key=lambda name: len(parts[name])))
        del parts[left[-1]]
    if left:
        parts["left_out"] = json.dumps(left)
    return f"{{{', '.join(f'{json.dumps(name)}: {value}' for name, value in parts.items())}}}"
