"""`humeval-power more scenario`: the questions about a scenario of your own, named by module and function."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humeval_power.asking.command_groups import CommandGroup
from humeval_power.asking.vocabulary import ALPHA, SIZE_OF_SAMPLE, TRUE_EFFECT
from humeval_power.comparisons.questions import Given, Questions
from humeval_power.errors import HumevalPowerError, InputError
from humeval_power.fields import BETWEEN, own, real
from humeval_power.studies.power.wording import Wording

if TYPE_CHECKING:
    from humeval_power.scenarios.contract import Scenario

_HELP = "-h", "--help"


class _Spec(CommandGroup):
    """A group whose first argument names the scenario; without a question the question is 'power'."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put in 'power' where an option follows the name at once."""
        if len(args) > 1 and args[1].startswith("-") and not set(args) & set(_HELP):
            args = [args[0], "power", *args[1:]]
        return super().parse_args(ctx, args)


@click.group("scenario", cls=_Spec)
@click.argument("spec", metavar="MODULE:FUNCTION")
@click.pass_context
def command(ctx: click.Context, spec: str) -> None:
    """Ask about a scenario of your own: a function that draws data, and one that tests.

    MODULE:FUNCTION names a function without arguments that returns a
    FunctionScenario, or one of (n, effect) that returns any scenario; MODULE is
    importable from here or a file (study.py:make). It is Python code and runs
    with your rights. Without a question, the question is 'power'.
    """
    ctx.obj = spec


def _load(spec: str) -> Any:
    return _loaded(spec, str(Path.cwd()))


@lru_cache(maxsize=16)
def _loaded(spec: str, folder: str) -> Any:
    name, _, attribute = spec.rpartition(":")
    if not name or not attribute.isidentifier():
        raise InputError(f"Name a scenario as MODULE:FUNCTION, such as study:make; got {spec!r}.")
    try:
        if name.endswith(".py"):
            module = _from_file(Path(name))
        else:
            sys.path.insert(0, folder)
            try:
                module = importlib.import_module(name)
            finally:
                sys.path.pop(0)
    except ModuleNotFoundError as error:
        raise InputError(f"There is no module {error.name!r}, which {spec!r} needs.") from None
    except InputError:
        raise
    except Exception as error:
        raise HumevalPowerError(f"{name} cannot be imported: {type(error).__name__}: {error}") from error
    made = getattr(module, attribute, None)
    if made is None:
        raise InputError(f"{name} has no {attribute!r}.")
    return made


def _from_file(path: Path) -> Any:
    if not path.is_file():
        raise InputError(f"There is no file {str(path)!r}.")
    made = importlib.util.spec_from_file_location(path.stem, path)
    assert made is not None
    assert made.loader is not None
    module = importlib.util.module_from_spec(made)
    sys.modules[path.stem] = module
    made.loader.exec_module(module)
    return module


def _scenario(n: int, effect: float, given: Given) -> Scenario:
    spec = str(click.get_current_context().obj)
    scenario = _made(spec, _load(spec), n, effect)
    alpha = given["alpha"]
    if alpha is None:
        return scenario
    from humeval_power.comparisons.scenario.functions import FunctionScenario

    if not isinstance(scenario, FunctionScenario):
        raise InputError(f"{spec} has an alpha of its own; leave --alpha out.")
    return replace(scenario, alpha=alpha)


def _made(spec: str, made: Any, n: int, effect: float) -> Scenario:
    from humeval_power.comparisons.scenario.functions import FunctionScenario

    if isinstance(made, FunctionScenario):
        return replace(made, n=n, effect=effect)
    if not callable(made):
        raise InputError(f"{spec} is a {type(made).__name__}, neither a FunctionScenario nor a function.")
    try:
        scenario = made() if _takes_nothing(made) else made(n, effect)
    except HumevalPowerError:
        raise
    except Exception as error:
        raise HumevalPowerError(f"{spec} failed: {type(error).__name__}: {error}") from error
    if isinstance(scenario, FunctionScenario):
        return replace(scenario, n=n, effect=effect)
    if not all(hasattr(scenario, name) for name in ("draw", "true_effect", "alpha", "with_effect")):
        raise InputError(f"{spec} returned a {type(scenario).__name__}, which is no scenario.")
    if _takes_nothing(made):
        raise InputError(
            f"{spec} takes no arguments and returned a {type(scenario).__name__}, whose size only you can set: "
            "make it a function of (n, effect)."
        )
    return scenario  # type: ignore[no-any-return]  # looked at above


def _takes_nothing(function: Any) -> bool:
    import inspect

    parameters = inspect.signature(function).parameters
    required = [
        parameter
        for parameter in parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    return not required and list(parameters)[:2] != ["n", "effect"]


def _largest(given: Given) -> float:
    if given["largest"] is not None:
        return float(given["largest"])
    from humeval_power.comparisons.scenario.functions import FunctionScenario

    made = _load(str(click.get_current_context().obj))
    scenario = made() if callable(made) and _takes_nothing(made) else made
    return scenario.largest if isinstance(scenario, FunctionScenario) else 1.0


def _words(scenario: Scenario) -> list[str]:
    spec = str(click.get_current_context().obj)
    size = getattr(scenario, "n", None)
    of = "" if size is None else f", n = {size:,}"
    return [f"{spec}{of}, alpha {scenario.alpha:g}"]


QUESTIONS = Questions(
    "scenario",
    Wording("scenario", _words),
    n=replace(SIZE_OF_SAMPLE, note=", as the scenario counts it."),
    effect=replace(TRUE_EFFECT, note=", or another effect, in the scenario's units."),
    fields={
        "alpha": own(BETWEEN, ALPHA.help, note="[the scenario's]"),
        "largest": own(real(), "Where the search for an effect ends. [the scenario's]"),
    },
    build=_scenario,
    largest_effect=_largest,
    no_program="asks a function of your own; hp.power, hp.size and the others take its scenario.",
)
for each in QUESTIONS.commands():
    command.add_command(each)
