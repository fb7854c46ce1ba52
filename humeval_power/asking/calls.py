"""Calls that answer a command: a `Caller` makes them at once, a `ProgramSource` writes them as a program."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn, cast

import click

from humeval_power.asking.expressions import Call, Code, Value, flat, written
from humeval_power.choices import DEFAULT_SEED
from humeval_power.errors import InputError

if TYPE_CHECKING:
    from humeval_power.asking.run import Run

# Where a result goes, how it is shown, and where it is computed: the result itself is the same.
ELSEWHERE = frozenset(
    "as_json format details output force code jobs on quiet config write_config".split()  # noqa: SIM905
)
_NOT_TYPED = (click.core.ParameterSource.DEFAULT, click.core.ParameterSource.DEFAULT_MAP)
_BUILT_IN = {"iter": iter, "len": len, "next": next}
_NAMED = re.compile(r'(?P<name>hp(\.\w+)+)(\["(?P<key>[\w-]+)"\])?')


class GapError(InputError):
    """No public call says what an option says, so that there is no program."""


class TypedValues:
    """The values of a command's options and arguments; what is looked at counts as said by the program."""

    def __init__(self, context: click.Context) -> None:
        self._context = context
        self._values: dict[str, Any] = dict(context.params)
        self._typed = frozenset(
            str(parameter.name) for parameter in context.command.params if _differs(context, parameter)
        )
        self._said: set[str] = set()

    @property
    def context(self) -> click.Context:
        """The command that was typed, parsed."""
        return self._context

    def __getitem__(self, name: str) -> Any:
        """The value, typed or not."""
        self._said.add(name)
        return self._values.get(name)

    def __contains__(self, name: str) -> bool:
        """Whether the command has such an option."""
        return name in self._values

    def given(self, name: str) -> Any:
        """The value where it was typed and differs from the default, else None."""
        self._said.add(name)
        return self._values[name] if name in self._typed else None

    def was_stated(self, name: str) -> bool:
        """Whether an option was typed, be it as its default is."""
        return self._context.get_parameter_source(name) not in _NOT_TYPED

    def stand_in(self, name: str, value: Any) -> None:
        """Take another value for that of an option: one of its list, or a variable of the program."""
        self._values[name] = value
        self._said.add(name)

    def allow(self, *names: str) -> None:
        """Options that change nothing in the result of a command that succeeds."""
        self._said.update(names)

    def refuse(self, names: Iterable[str], why: str) -> None:
        """There is no program where one of these was typed. Raises GapError: with the option and the reason."""
        for name in names:
            if name in self._typed:
                raise GapError(f"{name}: {why}")

    def check(self) -> None:
        """See that the program says all that was typed. Raises GapError: an option that it does not say."""
        left = sorted(self._typed - self._said - ELSEWHERE)
        if left:
            raise GapError(f"{', '.join(left)}: no program says it.")


def _differs(context: click.Context, parameter: click.Parameter) -> bool:
    """Whether an option was typed, and says something else than its default does."""
    name = str(parameter.name)
    if context.get_parameter_source(name) in _NOT_TYPED or name not in context.params:
        return False
    value = context.params[name]
    if parameter.required:
        return True
    usual = parameter.process_value(context, parameter.get_default(context))
    return bool(value != usual) if parameter.callback is None or usual is not None else value is not None


class Caller:
    """Makes each call; what it gives stands for itself."""

    def __init__(self, run: Run | None = None) -> None:
        self.how = run
        self.result: Any = None

    def let(self, name: str, value: Value) -> Any:
        """What a call gives."""
        result = evaluated(value)
        if name == "result":
            self.result = result
        return result

    def unpack(self, names: str, value: Value) -> Any:  # noqa: ARG002
        """What a call that gives several things gives."""
        return evaluated(value)

    def attribute(self, of: Any, name: str) -> Any:
        """An attribute of what a call gives."""
        return getattr(evaluated(of), name)

    def run(self, given: TypedValues) -> dict[str, Value]:
        """How much is simulated, from which seed and by how many cores, as arguments."""
        assert self.how is not None
        return {"n_simulations": given["simulations"], "seed": self.how.seed, "n_jobs": self.how.n_jobs}

    @property
    def slots(self) -> int:
        """How many cores compute."""
        assert self.how is not None
        return self.how.slots

    def no_program(self, why: str) -> None:
        """Nothing: the command itself runs."""


def evaluated(value: Any) -> Any:
    """What an expression gives."""
    if isinstance(value, Code):
        return _public(value.text)
    if isinstance(value, Call):
        called: Any = (
            getattr(evaluated(value.on), value.function)
            if value.on is not None
            else _BUILT_IN.get(value.function) or _public(value.function)
        )
        spread = {} if value.spread is None else evaluated(value.spread)
        named = {name: evaluated(one) for name, one in value.named.items()}
        return called(*map(evaluated, value.given), **named, **spread)
    if isinstance(value, list):
        return [one for each in value for one in _entries(each)]
    if isinstance(value, dict):
        return {name: evaluated(one) for name, one in value.items()}
    return value


def _entries(value: Any) -> Iterable[Any]:
    """What an entry of a list stands for: itself, or with a star in front all that a public name holds."""
    if isinstance(value, Code) and value.text.startswith("*"):
        return cast(Iterable[Any], _public(value.text.removeprefix("*")))
    return (evaluated(value),)


def _public(text: str) -> Any:
    """A public name, such as hp.accuracy.test, or an entry of one, such as hp.accuracy.PRIORS["glue"]."""
    import humeval_power

    match = _NAMED.fullmatch(text)
    if match is None:
        _unreadable(text)
    at: Any = humeval_power
    for name in match["name"].split(".")[1:]:
        at = getattr(at, name)
    return at if match["key"] is None else at[match["key"]]


def _unreadable(text: str) -> NoReturn:
    raise TypeError(f"{text!r} is no public name; only a program can say it.")


class ProgramSource:
    """The statements of a program; the last one prints what was assigned to `result`."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def let(self, name: str, value: Value) -> Code:
        """Assign a value to a name, which stands for it from here on."""
        self._lines.append(f"{name} = {written(value, before=len(name) + 3)}")
        return Code(name)

    def unpack(self, names: str, value: Value) -> Any:
        """Assign what a call gives to several names, with commas between them."""
        self.let(names, value)
        return tuple(Code(name.strip()) for name in names.split(","))

    def attribute(self, of: Code | Call, name: str) -> Code:
        """An attribute of what a name stands for, or a call gives."""
        return Code(f"{flat(of)}.{name}")

    def run(self, given: TypedValues) -> dict[str, Value]:
        """How much is simulated, as arguments."""
        given.refuse(["dry_run"], "prints what a simulation costs, and no result")
        seed = given["seed"]
        return {"n_simulations": given["simulations"], "seed": None if seed == DEFAULT_SEED else seed}

    def no_program(self, why: str) -> None:
        """Say that no program gives this. Raises GapError: with the reason."""
        raise GapError(why)

    def text_of(self, name: str, *lines: str) -> Code:
        """Assign what is written over several lines."""
        self._lines.append(f"{name} = " + "\n".join(lines))
        return Code(name)

    def define(self, name: str, arguments: str, value: Value) -> Code:
        """Define a function that returns a value."""
        body = written(value, indent=4, before=7)
        self._lines.append(f"\n\ndef {name}({arguments}):\n    return {body}\n\n")
        return Code(name)

    def text(self) -> str:
        """The program."""
        body = "\n".join(self._lines).replace("\n\n\n\n\n", "\n\n\n")
        head = "import datetime\n\n" if "datetime.date(" in body else ""
        return f"{head}import humeval_power as hp\n\n{body.lstrip()}\nprint(result)\n"
