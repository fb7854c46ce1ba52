"""The mapping of a log that no harness here wrote: a TOML file that says where in a record each thing stands."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from humeval_power.errors import InputError
from humeval_power.interfaces.formats.toml_text import read_toml
from humeval_power.reporting.schemas.sections import Section
from humeval_power.reporting.schemas.validation_problems import problems_of

LOG_MAPPING = "humeval_power/log_mapping/1"
_HINT = 'It holds schema = "humeval_power/log_mapping/1", item, system and a table [scores].'
Numbers = dict[str, Annotated[float, Field(strict=False)]]


@dataclass(frozen=True, slots=True)
class LogMapping:
    """Where things stand: a name of a column or field, or names with dots between them for objects in objects.

    records : the list of the samples, where it is inside of a document; '' for the document itself.
    scores : by the name of each metric. words : numbers for scores in words.
    fields : what is kept beside, such as clusters, by the names of their columns.
    system_name : of all samples, where no field says it; the file's name otherwise.
    """

    item: str
    scores: dict[str, str]
    system: str = ""
    system_name: str = ""
    records: str = ""
    run: str = ""
    task: str = ""
    label: str = ""
    prediction: str = ""
    fields: dict[str, str] | None = None
    words: dict[str, float] | None = None


class LogMappingDocument(Section):
    """What may stand in the file."""

    schema_: Literal["humeval_power/log_mapping/1"] = Field(alias="schema")
    item: str
    scores: Annotated[dict[str, str], Field(min_length=1)]
    system: str = ""
    system_name: str = ""
    records: str = ""
    run: str = ""
    task: str = ""
    label: str = ""
    prediction: str = ""
    fields: dict[str, str] = Field(default_factory=dict)
    words: Numbers = Field(default_factory=dict)

    def record(self) -> LogMapping:
        return LogMapping(**self.model_dump(exclude={"schema_"}))


def is_log_mapping(path: str | Path) -> bool:
    """Whether a TOML file says that it maps a log, and not an export of ratings.

    Raises
    ------
    InputError
        A file that is no TOML.
    """
    return str(read_toml(path, hint=_HINT).get("schema", "")).startswith("humeval_power/log_mapping")


def read_log_mapping(path: str | Path) -> LogMapping:
    """The mapping in a TOML file.

    Raises
    ------
    InputError
        A file that is no such mapping: every problem at once.
    """
    try:
        document = LogMappingDocument.model_validate(read_toml(path, hint=_HINT))
    except ValidationError as error:
        raise InputError(problems_of(error, str(path), kind=LogMappingDocument)) from None
    return document.record()
