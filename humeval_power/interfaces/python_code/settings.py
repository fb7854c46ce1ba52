"""Where parameters come from, as calls: files, presets and typed values; and the scale that goes with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from humeval_power.errors import InputError
from humeval_power.interfaces.formats.json_text import read_json
from humeval_power.interfaces.formats.study.presets import preset_name
from humeval_power.interfaces.python_code.expressions import Call, Code, Value, call
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.typed import GapError, Typed
from humeval_power.parameters import PRESETS, Parameters
from humeval_power.reporting.records import ANALYSES_SCHEMA, ANALYSIS_SCHEMA
from humeval_power.scales import RatingScale


@dataclass(frozen=True, slots=True)
class Setting:
    """One source of parameters: its name, the calls for its parameters and for all that it says, and what the file
    has, where it is one."""

    name: str
    parameters: Value
    assumed: Value
    record: Mapping[str, Any]

    @property
    def family(self) -> str:
        """As what its ratings arise: 'gaussian' where they are numbers."""
        latent = self.record.get("parameters", {}).get("latent")
        if not latent:
            return "gaussian"
        return "binary" if len(latent.get("thresholds", ())) == 1 else "ordinal"

    @property
    def link(self) -> str:
        """That of ratings in categories."""
        return str((self.record.get("parameters", {}).get("latent") or {}).get("link", "probit"))

    @property
    def has_scale(self) -> bool:
        """Whether it says the scale of the study itself."""
        return bool(self.record.get("scale")) and not self.record.get("library")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a study is planned from, and the expression of its scale; None where there is no scale."""

    entries: tuple[Setting, ...]
    scale: Code | None

    @property
    def only(self) -> Setting:
        """The single one of a command that takes one."""
        if len(self.entries) != 1:
            raise GapError("several sets of parameters where one is needed")
        return self.entries[0]

    @property
    def by_name(self) -> dict[str, Value]:
        """The parameters by their name."""
        return {entry.name: entry.parameters for entry in self.entries}


def scale_of(typed: Typed) -> Call | None:
    """The scale that was typed."""
    text, lower = typed["scale"], typed["lower_is_better"]
    if text is None:
        return None
    return call("hp.RatingScale.parse", text, higher_is_better=False if lower else None)


def settings_of(typed: Typed, source: Source) -> Settings:
    """The parameters that --parameters, --preset and --values name, in this order.

    Raises
    ------
    GapError
        A file that cannot be looked into, or that is the analysis of several systems.
    """
    allow = True if typed.given("allow_not_identified") else None
    paths = typed["parameters"]
    names = [f"assumed_{place}" for place in range(1, len(paths) + 1)] if len(paths) > 1 else ["assumed"]
    files = [_of_file(path, allow, source, name) for path, name in zip(paths, names, strict=False)]
    scale = typed["scale"] if isinstance(typed["scale"], str) else None
    named = [preset_name(name, RatingScale.parse(scale) if scale else None) for name in typed["preset"]]
    presets = [of_preset(name, allow) for name in named]
    values = typed["values"]
    entries = (*files, *presets, *([_of_values(values)] if values is not None else []))
    return Settings(entries, _scale(typed, files, source))


def _scale(typed: Typed, files: Sequence[Setting], source: Source) -> Code | None:
    """The scale that was typed, else that of the only file of the study's own."""
    found = scale_of(typed)
    if found is not None:
        return source.let("scale", found)
    if len(files) == 1 and files[0].has_scale:
        return Code(f"{files[0].assumed}.scale")
    return None


def look_into(path: str) -> Mapping[str, Any]:
    """What a file of parameters holds, unchecked.

    Raises
    ------
    GapError
        A file that is not there or no JSON.
    """
    try:
        found = read_json(path)
    except InputError as error:
        raise GapError(str(error)) from error
    return found if isinstance(found, dict) else {}


def is_analysis(record: Mapping[str, Any]) -> bool:
    """Whether it is the record of an analysis of several systems."""
    return record.get("schema") in (ANALYSIS_SCHEMA, ANALYSES_SCHEMA)


def _of_file(path: str, allow: bool | None, source: Source, called: str) -> Setting:
    record = look_into(path)
    if is_analysis(record):
        raise GapError(f"{path}: an analysis of several systems")
    read = call("hp.models.read_assumed", path, allow_not_identified=allow)
    name = source.let(called, read)
    return Setting(Path(path).stem, Code(f"{name}.parameters"), name, record)


def of_preset(name: str, allow: bool | None = None) -> Setting:
    """A published setting, or an entry of the library."""
    entry = call("hp.library_entry", name, allow_not_identified=allow if name not in PRESETS else None)
    plain = call("hp.preset", name)
    return Setting(name, entry.attribute("parameters") if entry.named else plain, entry, {})


def _of_values(values: Parameters) -> Setting:
    stated: dict[str, Value] = {}
    for field in fields(Parameters):
        value, usual = getattr(values, field.name), field.default
        if value != usual and field.name != "coding":
            stated[field.name] = value
    parameters = call("hp.Parameters", **stated)
    return Setting("typed", parameters, parameters, {})
