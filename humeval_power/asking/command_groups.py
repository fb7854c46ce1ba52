"""Commands below another in the terminal: other comparisons below `compare`, what fewer need below `more`.

Names of options: those that the user typed, where the library says another; and new ones of old options.
"""

from __future__ import annotations

import contextlib
import importlib
import re
from collections.abc import Iterator, Mapping, Sequence

import click

# group: {name of the command: (its module in this package, what --help says)}
BELOW: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "compare": {
        "accuracy": (
            "comparisons.accuracy.ask",
            "Two classifiers on one test set: McNemar's tests and their power.",
        ),
        "preference": (
            "comparisons.preference.ask",
            "Which of two outputs is better: sign tests and their power.",
        ),
        "corpus": (
            "comparisons.corpus.ask",
            "BLEU and other corpus metrics: randomisation test and power.",
        ),
        "contingency": (
            "comparisons.contingency.ask",
            "F1, precision, recall and MCC: randomisation test and power.",
        ),
        "runs": (
            "comparisons.runs.ask",
            "Scores of repeated generations, prompts or seeds: test and plan.",
        ),
    },
    "more": {
        "items": (
            "studies.items.ask",
            "Which items of a pool to rate, drawn by what a metric says of all.",
        ),
        "assessment": (
            "comparisons.assessment.ask",
            "Direct assessment without worker effects (Wei et al. 2022).",
        ),
        "resample": ("comparisons.resample.ask", "Power by resampling ratings that you have."),
        "survey": ("comparisons.survey.ask", "How large and how well reported were published comparisons?"),
        "scenario": ("comparisons.scenario.ask", "Power of your own generator and test, module:function."),
        "calibrate": (
            "studies.power.ask_calibrate",
            "How often do tests find an effect where there is none?",
        ),
        "parameters": (
            "studies.power.ask_parameters",
            "Look up what is known of the variation in other studies.",
        ),
        "cite": ("studies.cite.ask", "Print what to cite as BibTeX: this program and your methods."),
        "warm-up": (
            "doors.terminal.warm_up",
            "Compile the numerical kernels now, not at the first answer.",
        ),
        "completion": (
            "doors.terminal.completion",
            "Print what makes your shell complete commands and options.",
        ),
    },
}
FOLDED = {name: place for below in BELOW.values() for name, place in below.items()}
_GROUP = {name: group for group, below in BELOW.items() for name in below}


def in_terminal(words: Sequence[str]) -> list[str]:
    """The words of a command as they are typed: with the group that it stands in."""
    return [*([_GROUP[words[0]]] if words and words[0] in _GROUP else []), *words]


def without_group(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a command without the group that it stands in."""
    is_folded = len(words) > 1 and _GROUP.get(words[1]) == words[0]
    return tuple(words[1:] if is_folded else words)


class CommandGroup(click.Group):
    """A group whose help says of each command the whole sentence, over as many lines as it takes."""

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002
        formatter: click.HelpFormatter,
    ) -> None:
        """List its commands, in the order in which they were declared."""
        if self.commands:
            with formatter.section("Commands"):
                formatter.write_dl(
                    [(name, one.get_short_help_str(200)) for name, one in self.commands.items()]
                )


class OpenGroup(CommandGroup):
    """A group with commands of its own, and with those of BELOW, which are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The names of the commands, in the order in which people need them."""
        return [*self.commands, *BELOW[str(self.name)]]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Its own command, or the one below it, imported; None where there is none of that name."""
        below = BELOW[str(self.name)]
        if cmd_name not in below:
            return super().get_command(ctx, cmd_name)
        command: click.Command = importlib.import_module(f"humeval_power.{below[cmd_name][0]}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List its own commands, and those below it without importing them."""
        super().format_commands(ctx, formatter)
        below = BELOW[str(self.name)]
        with formatter.section("Other comparisons" if self.commands else "Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in below.items()], col_max=12)


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
