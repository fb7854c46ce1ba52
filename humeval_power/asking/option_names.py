"""Names of options: those that the user typed, where the library says another; and new ones of old options."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence

import click

from humeval_power.asking.command_groups import without_group

# Library names that differ from the option by more than a dash or "n_" in front.
_OTHERS = {
    "n_simulations": "--simulations",
    "n_resamples": "--resamples",
    "n_swaps": "--swaps",
    "n_flips": "--flips",
    "n_jobs": "--jobs",
    "resamples": "--resamples",
    "swaps": "--swaps",
    "simulations": "--simulations",
}

# What messages call the value of an option, where that is not the option's own name.
_CALLED = {
    "--n": "(?:judgements?|items?|test set|sentences?|segments?|scores|study)",
    "--baseline-accuracy": "(?:baselines?|accurac(?:y|ies))",
    "--effect": "(?:effects?|differences?)",
    "--shift": "(?:effects?|differences?)",
    "--mean": "(?:A's means?|means?|difference)",
    "--sd": "(?:SDs?|standard deviations?)",
    "--sd-difference": "(?:SDs?|standard deviations?)",
    "--tie-share": "(?:share of )?ties",
    "--margin": "(?:margins?|equivalence)",
    "--highest": "(?:highest|largest) (?:size|n)",
}

# Options that have another name since their old one says something else in other commands.
_REPORT = {"--analysis": "--findings", "--power": "--power-file", "--config": "--answers"}
_RUNS = {"--baseline": "--mean-accuracy", "--from": "--pilot"}
_SIDES = {"--direction": "--alternative"}
_DIFFERENCES = {"--sd": "--sd-difference"}
_QUESTIONS = ("power", "mde", "size", "surface")


def _of(group: str, names: Mapping[str, str], *others: str) -> dict[str, Mapping[str, str]]:
    """The same names for the questions of a group, and others of its commands."""
    return {f"{group} {name}": names for name in (*_QUESTIONS, *others)}


RENAMED: dict[str, Mapping[str, str]] = {
    "report": _REPORT,
    "report check": _REPORT,
    "release": {"--key": "--secret-text"},
    "start": {"--sd": "--sd-difference"},
    "rank battles": {"--ties": "--tie-model", "--test": "--correction"},
    "rank scores": {"--test": "--correction"},
    "agreement report": {"--raters": "--rater-columns"},
    "agreement plan": {"--agreement": "--expected-agreement", "--raters": "--rater-counts"},
    "judge check": {"--labels": "--label-origin"},
    "judge plan": {"--extra": "--max-extra"},
    "compare primer-table": {"--hurt": "--hurt-share"},
    "assessment decompose": {"--correlation": "--correlations"},
    "mcp": {"--seconds": "--timeout"},
    "accuracy test": {"--labels": "--gold"},
    "accuracy estimate": {"--labels": "--gold"},
    "power": {"--precision": "--half-width"},
    "surface": {"--precision": "--half-width"},
    "plan": {"--confidence": "--assurance", "--question": "--research-question"},
    "assign": {"--question": "--rating-question"},
    "import": {"--system": "--system-name"},
    "resample": {"--by": "--unit", "--ratings": "--ratings-per-system", "--test": "--tests"},
    "looks pool": {"--rating": "--score"},
    **_of("compare", {**_SIDES, **_DIFFERENCES}),
    **_of("rank", _DIFFERENCES),
    "compare scores": {"--power-target": "--power", **_SIDES},
    "compare prospective": {"--mean": "--effect", **_SIDES, **_DIFFERENCES},
    "runs budget": {"--total": "--budget", **_RUNS},
    "looks preference": {"--ties": "--tie-rule"},
    **_of("preference", {"--ties": "--tie-rule"}),
    **_of("accuracy", {"--baseline": "--baseline-accuracy"}, "bounds"),
    **_of("runs", _RUNS),
    **_of("corpus", {"--preset": "--bleu-preset"}),
    **_of(
        "contingency", {"--agreement": "--label-agreement", "--correlation": "--correctness-correlation"}
    ),
}


def new_name(command: str, option: str) -> str | None:
    """What an option of a command is called now, without dashes; None where it was not renamed."""
    new = RENAMED.get(command, {}).get(f"--{option}")
    return None if new is None else new.removeprefix("--")


def renamed(error: click.UsageError) -> click.UsageError:
    """The error; of an option that had the name before, one that says what it is called now."""
    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        return error
    words = without_group(error.ctx.command_path.split()[1:])
    new = new_name(" ".join(words), error.option_name.removeprefix("--"))
    return (
        error if new is None else click.UsageError(f"{error.option_name} is now called --{new}.", error.ctx)
    )


def as_typed(message: str, command: click.Command | None, words: Sequence[str]) -> str:
    """The message with the options of `command` in place of the library's names.

    A message that names no option gets in front those that were typed and of which it speaks: its subject
    is called as they are, or it has their words and their value. Else it gets the one whose value it quotes.
    """
    if command is None:
        return message
    names = {option.name: _long(option) for option in command.params if isinstance(option, click.Option)}
    for name, option in names.items():
        if name is None or not option:
            continue
        if "_" in name:
            message = re.sub(rf"(?<![\w'\".-]){name}(?![\w'\"-])", option, message)
        else:
            message = re.sub(rf"(?<![\w'\"-])n_{name}(?![\w'\"-])", option, message)
            message = re.sub(rf"^(The )?{name} must\b", f"{option} must", message, flags=re.IGNORECASE)
    for name, option in _OTHERS.items():
        if option in names.values() and "_" in name:
            message = re.sub(rf"(?<![\w'\".-]){name}(?![\w'\"-])", option, message)
    if "--" in message:
        return message
    typed = list(_typed(words, set(names.values())))
    spoken = [option for option, value in typed if _speaks_of(message, option, value)]
    quoted = {option for option, value in typed if _quotes(message, value)}
    meant = list(dict.fromkeys(spoken)) or (list(quoted) if len(quoted) == 1 else [])
    return f"{', '.join(meant)}: {message}" if meant else message


def _long(option: click.Option) -> str:
    return next((word for word in option.opts if word.startswith("--")), "")


def _typed(words: Sequence[str], options: set[str]) -> Iterator[tuple[str, str]]:
    for place, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option not in options:
            continue
        if equals:
            yield option, value
        elif place + 1 < len(words):
            yield option, words[place + 1]


def _speaks_of(message: str, option: str, value: str) -> bool:
    """Whether the subject of the message is what the option says, or its words are there with its value."""
    name = _CALLED.get(option) or option.removeprefix("--").removesuffix("-raw").replace("-", "[ -]")
    if re.match(rf"(?:an? |the )?(?:number of |true )?{name}\b(?!['\".])", message, re.IGNORECASE):
        return True
    words = re.search(rf"(?<![\w'\"-]){name}(?![\w'\"-])", message, re.IGNORECASE)
    return words is not None and any(
        re.search(rf"(?<![\w.,+-])\+?{re.escape(form)}(?![\w]|[.,]\d)", message) for form in _forms(value)
    )


def _forms(value: str) -> set[str]:
    """How a message may show a value: as typed, or as numbers are printed."""
    forms = {value}
    with contextlib.suppress(ValueError, OverflowError):
        number = float(value)
        forms |= {str(number), f"{number:g}", f"{number:,g}"}
        if number.is_integer():
            forms |= {f"{number:.0f}", f"{number:,.0f}"}
    with contextlib.suppress(ValueError):
        forms.add(":".join(f"{float(piece):g}" for piece in value.split(":")))
    return forms - {""}


def _quotes(message: str, value: str) -> bool:
    """Whether the message says 'got VALUE' or 'of VALUE', as typed or as a number is printed."""
    return any(
        re.search(rf"\b(?:got|of) ['\"]?{re.escape(form)}['\"]?(?![\w])", message) for form in _forms(value)
    )
