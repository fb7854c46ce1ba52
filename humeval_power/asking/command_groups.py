"""Commands below another in the terminal: other comparisons below `compare`, what fewer need below `more`."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence

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
