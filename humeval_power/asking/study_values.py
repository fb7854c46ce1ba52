"""What a command takes of a study: which of its fields, and their values in one place."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import click

from humeval_power.asking.command import was_typed
from humeval_power.asking.options import FieldArgument, FieldOption
from humeval_power.asking.vocabulary import ALL_PAIRS, PRESET
from humeval_power.fields import Field
from humeval_power.study import FIELDS, SECTIONS, exclusive, option_of

NO_FIELDS: Mapping[str, Field] = {}


class StudyValues:
    """The value of each field, by its name as an attribute: as it was said, else the usual one, else None.

    typed : the fields that somebody said, in the terminal or in a study file.
    """

    def __init__(
        self,
        values: Mapping[str, Any],
        typed: Collection[str] | None = None,
        options: Mapping[str, str] | None = None,
    ) -> None:
        self._values = dict(values)
        self.typed = tuple(values if typed is None else typed)
        self._options = options or {}

    @classmethod
    def of(cls, ctx: click.Context) -> StudyValues:
        """Those of the command that runs. Raises click.UsageError: fields that exclude each other."""
        values: dict[str, Any] = {}
        usual: dict[str, Any] = {}
        options: dict[str, str] = {}
        for one in ctx.command.params:
            if isinstance(one, FieldOption | FieldArgument):
                name = str(one.name)
                said = was_typed(ctx, name) and ctx.params[name] is not None
                (values if said else usual)[one.field] = ctx.params[name]
                if isinstance(one, FieldOption):
                    options[one.field] = max(one.opts, key=len)
        if ctx.params.get("all_pairs"):
            if values.get("comparisons") == "baseline" or "baseline" in values:
                raise click.UsageError("Give --all-pairs or --baseline, not both.")
            values["comparisons"], options["comparisons"] = "all-pairs", "--all-pairs"
        for why in exclusive(values):
            raise click.UsageError(_in_options(why, options))
        return cls({**usual, **values}, values, options)

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("_values", ()):
            return self._values[name]
        if name in FIELDS:
            return FIELDS[name].usual
        raise AttributeError(name)

    def with_(self, **others: Any) -> StudyValues:
        """The same with other values."""
        typed = dict.fromkeys((*self.typed, *others))
        return StudyValues({**self._values, **others}, typed, self._options)

    def without(self, *names: str) -> StudyValues:
        """The same as if nobody had said these fields."""
        values = {name: value for name, value in self._values.items() if name not in names}
        return StudyValues(values, [name for name in self.typed if name not in names], self._options)

    def says(self, *names: str) -> bool:
        """Whether one of these fields was said."""
        return any(name in self.typed for name in names)

    def option(self, name: str) -> str:
        """What the field is called in the terminal."""
        return self._options.get(name) or option_of(name)

    def options_of(self, names: Collection[str]) -> list[str]:
        """The options of those of these fields that were said."""
        return [self.option(name) for name in self.typed if name in names]

    def refuse(self, names: Iterable[str], why: str) -> None:
        """Refuse a field that was said where it says nothing.
        Raises click.UsageError: the first of them, and why."""
        for name in names:
            if name in self.typed:
                raise click.UsageError(f"{self.option(name)} {why}")

    @property
    def pair(self) -> tuple[str, str] | None:
        """The two systems that were named; None for more of them, or none."""
        names = self.systems
        return None if names is None or len(names) != 2 else (names[0], names[1])


def study_fields(
    *names: str, but: Collection[str] = (), instead: Mapping[str, Field] = NO_FIELDS, **differing: Field
) -> dict[str, Field]:
    """The fields of the study that a command takes, in the order of the study.

    names : of fields, or of sections of the study, which stand for all of their fields.
    but : fields of these sections that mean nothing to the command.
    instead, differing : fields that are others in this command, which has them too.
    """
    wanted = {
        field
        for name in names
        for field, one in FIELDS.items()
        if (one.section == name if name in SECTIONS else field == name)
    }
    instead = {**instead, **differing}
    wanted = (wanted | instead.keys()) - set(but)
    instead = {"preset": PRESET, **instead}
    fields = {name: instead.get(name, one) for name, one in FIELDS.items() if name in wanted}
    return {**fields, "all_pairs": ALL_PAIRS} if "comparisons" in fields else fields


def _in_options(message: str, options: Mapping[str, str]) -> str:
    """A rule of the study in the options of the command."""
    for name, option in options.items():
        message = message.replace(f"{option_of(name)} ", f"{option} ")
    return message
