"""What is wrong, in the names that the user typed: `--workers`, where the library says `n_workers`."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence

import click

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


def as_typed(message: str, command: click.Command | None, words: Sequence[str]) -> str:
    """The message with the options of `command` in place of the library's names.

    A message that names no option, but quotes the value of just one that was typed, gets it in front.
    """
    if command is None:
        return message
    names = {option.name: _long(option) for option in command.params if isinstance(option, click.Option)}
    for name, option in names.items():
        if name is None or not option:
            continue
        if "_" in name:
            message = re.sub(rf"(?<![\w'\"-]){name}(?![\w'\"-])", option, message)
        else:
            message = re.sub(rf"(?<![\w'\"-])n_{name}(?![\w'\"-])", option, message)
            message = re.sub(rf"^(The )?{name} must\b", f"{option} must", message, flags=re.IGNORECASE)
    for name, option in _OTHERS.items():
        if option in names.values() and "_" in name:
            message = re.sub(rf"(?<![\w'\"-]){name}(?![\w'\"-])", option, message)
    if "--" in message:
        return message
    quoted = {option for option, value in _typed(words, set(names.values())) if _quotes(message, value)}
    return f"{quoted.pop()}: {message}" if len(quoted) == 1 else message


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


def _quotes(message: str, value: str) -> bool:
    """Whether the message says 'got VALUE' or 'of VALUE', as typed or as a number is printed."""
    forms = {value}
    with contextlib.suppress(ValueError, OverflowError):
        number = float(value)
        forms |= {str(number), f"{number:g}", f"{number:,g}", f"{number:,.0f}"}
    with contextlib.suppress(ValueError):
        forms.add(":".join(f"{float(piece):g}" for piece in value.split(":")))
    return any(
        re.search(rf"\b(?:got|of) ['\"]?{re.escape(form)}['\"]?(?![\w])", message) for form in forms if form
    )
