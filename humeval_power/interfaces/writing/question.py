"""What a run was asked, so that a later one can tell whether it asks the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

SCHEMA = "humeval_power/question/1"


@dataclass(frozen=True, slots=True)
class Question:
    """A command and all that its answer depends on.

    Attributes
    ----------
    command : its name; `typed` is the line as it was typed, for print alone.
    options : what was said, by option: not where the answer goes, nor where it is computed.
    files : the SHA-256 of each file that was read, by its name.
    versions : of the programs that the digits depend on.
    """

    command: str
    typed: str
    options: dict[str, str]
    files: dict[str, str]
    versions: dict[str, str]

    def to_json(self) -> str:
        """The question as a document."""
        return json.dumps({"schema": SCHEMA, **asdict(self)}, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def of_json(cls, content: bytes) -> Question:
        """The question that was written.

        Raises
        ------
        ValueError
            No such document, or one of another version.
        """
        try:
            values = json.loads(content)
            if values.pop("schema") != SCHEMA:
                raise ValueError("another version")
            for name in ("options", "files", "versions"):
                values[name] = {str(key): str(value) for key, value in values[name].items()}
            return cls(**values)
        except (TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ValueError(str(error)) from None

    def changes(self, before: Question) -> Iterator[str]:
        """In words, what is asked otherwise than before; not the versions."""
        if self.command != before.command:
            yield f"it is of {before.command!r}"
            return
        for name in dict.fromkeys([*before.options, *self.options]):
            now, was = self.options.get(name), before.options.get(name)
            if now != was:
                yield f"{name} {_was(was)} and {_is(now)}"
        for name in dict.fromkeys([*before.files, *self.files]):
            if self.files.get(name) != before.files.get(name):
                read = "is not read now" if name not in self.files else "has other content"
                yield f"{name} {'was not read' if name not in before.files else read}"

    def other_versions(self, before: Question) -> Iterator[str]:
        """In words, which versions are others than before."""
        for name in dict.fromkeys([*before.versions, *self.versions]):
            now, was = self.versions.get(name, "none"), before.versions.get(name, "none")
            if now != was:
                yield f"{name} was {was} and is {now}"


def _was(value: str | None) -> str:
    return "was not given" if value is None else f"was {value}"


def _is(value: str | None) -> str:
    return "is not given now" if value is None else f"is {value} now"
