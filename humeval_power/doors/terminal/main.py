"""The command `humeval-power`: commands are imported when they are used, so that help is quick."""

from __future__ import annotations

import gc
import importlib
import io
import os
import sys
from collections.abc import Callable, Sequence
from errno import ENAMETOOLONG
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType
from typing import Any

import click

from humeval_power.asking.command_groups import FOLDED, as_typed, in_terminal, renamed
from humeval_power.asking.output import (
    STUDY_FILE,
    WORDS,
    caught,
    compiled_kernels,
    finish_stopped_runs,
    say,
)
from humeval_power.errors import HumevalPowerError, InputError, StudyFileError, options_in_errors
from humeval_power.safe_text import WIDTH, wrapped

# section: {name of the command: (its module in this package, what --help says)}
SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "Not sure where to begin": {
        "start": ("studies.start.ask", "Six questions, and the commands that follow from your answers."),
    },
    "Look at ratings": {
        "import": ("studies.field.ask_import", "Bring a platform's export into a table of ratings."),
        "check": ("studies.fit.ask_check", "What is in a table, and what is wrong with it?"),
        "fit": ("studies.fit.ask", "Estimate the effect and the variances from a table."),
        "agreement": (
            "comparisons.agreement.ask",
            "Do raters agree, would others, and how many does it take?",
        ),
    },
    "Plan a rating study": {
        "power": ("studies.power.ask", "How often would a study of this size find an effect?"),
        "mde": ("studies.power.ask_mde", "The smallest effect that a study of this size finds."),
        "size": ("studies.power.ask_size", "The fewest workers, items or ratings that reach a power."),
        "surface": ("studies.power.ask_surface", "Power over many sizes and effects, with a figure."),
        "plan": ("studies.plan.ask", "The cheapest design that finds an effect, or the best for a budget."),
        "looks": ("studies.looks.ask", "Stop early: boundaries, and what a study with looks does."),
        "assign": ("studies.plan.ask_assign", "Say who rates what when, as a table to carry out."),
        "simulate": (
            "studies.field.ask_simulate",
            "Draw the ratings of a study, or rehearse a planned one.",
        ),
    },
    "While and after collecting": {
        "collect": (
            "studies.field.ask_collect",
            "Who has done what, what is missing, which spares to call?",
        ),
        "monitor": ("studies.monitor.ask", "May we stop? A planned look at the ratings so far."),
        "analyze": (
            "studies.analyze.ask",
            "Decide a finished study by its plan, and say what differs from it.",
        ),
        "report": (
            "studies.report.ask",
            "Write what a paper should report: checklists, forms, paragraphs.",
        ),
        "release": ("studies.release.ask", "Write an anonymised bundle of a study, to publish."),
    },
    "Other comparisons": {
        "compare": (
            "comparisons.scores.ask",
            "Scores of systems on the same items; accuracy, preference, corpus, contingency, runs.",
        ),
        "rank": (
            "comparisons.rank.ask",
            "Leaderboards: rank intervals, groups, battles with ties; their power.",
        ),
        "judge": ("comparisons.judge.ask", "How many human ratings an automatic judge saves."),
        "more": (
            "doors.terminal.more",
            "What fewer need: direct assessment, resampling, a library of pilots.",
        ),
    },
    "In your browser, and for assistants": {
        "page": ("doors.terminal.page", "Open a local web page for all of this."),
        "mcp": ("doors.mcp.command", "Tools for assistants, by the Model Context Protocol."),
    },
}
# The click command is called `command` in its module.
COMMANDS: dict[str, tuple[str, str]] = {
    name: place for part in SECTIONS.values() for name, place in part.items()
}
_NOTHING_KEPT = "Interrupted; no file was left half-written."
INTERRUPTED = 130  # what shells expect after Ctrl-C: 128 + SIGINT


def module_of(name: str) -> str:
    """The module of a command."""
    module, _ = (COMMANDS | FOLDED)[name]
    return f"humeval_power.{module}"


class LazyGroup(click.Group):
    """A group whose commands are named in COMMANDS; errors of the package end as a message."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The names of the commands, in the order in which people need them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the command, also by the name that a folded one had before; None where there is none."""
        if cmd_name not in COMMANDS and cmd_name not in FOLDED:
            return None
        command: click.Command = importlib.import_module(module_of(cmd_name)).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; before it runs, what a killed run has left where it leads is completed."""
        # for the commands of a terminal: a process that is not ours loads and collects as it wants
        gc.set_threshold(*_NEW_OBJECTS)
        if _Postponing not in sys.meta_path:
            sys.meta_path.insert(0, _Postponing)
        resolved = super().resolve_command(ctx, args)
        if args[0] in FOLDED and caught() is None and not {"-q", "--quiet"} & set(args):
            where = " ".join(in_terminal(args[:1]))
            say(f"'{args[0]}' stands under '{where.split()[0]}' now: humeval-power {where}", err=True)
        if not {"-h", "--help"} & set(args):
            finish_stopped_runs(args[1:])
        return resolved

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002
        formatter: click.HelpFormatter,
    ) -> None:
        """List the commands by what they are for, without importing them."""
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, text) for name, (_, text) in commands.items()], col_max=12)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Read the options before the command; an error about them is safe to print."""
        try:
            for word in args:
                if any("\ud800" <= character <= "\udfff" for character in word):
                    raise click.UsageError(
                        f"Not UTF-8 text: {word!r}. Type it, or rename the file, in UTF-8."
                    )
            words = list(args)  # parsing takes them out
            context = super().make_context(info_name, args, parent, **extra)
        except click.exceptions.NoArgsIsHelpError:
            raise  # it shows the help
        except click.UsageError as error:
            raise _worded(error) from None
        context.meta[WORDS] = words  # for messages
        return context

    @options_in_errors()
    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what goes wrong is told in words, and never as a traceback."""
        if caught() is not None:
            return super().invoke(ctx)
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # what its encoding lacks is printed as a code
                stream.reconfigure(errors="backslashreplace")
        words: list[str] = ctx.meta[WORDS]
        try:
            return super().invoke(ctx)
        except HumevalPowerError as error:
            of_file = isinstance(error, StudyFileError)
            _tell(error, str if of_file else lambda text: self._named(ctx, words, text))
            ctx.exit(error.exit_code)
        except click.exceptions.NoArgsIsHelpError:
            raise  # it shows the help
        except click.UsageError as error:
            raise _worded(renamed(error), lambda text: self._named(ctx, words, text)) from None
        except KeyboardInterrupt as stopped:
            say("\n" + wrapped(str(stopped) or _NOTHING_KEPT), err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            raise  # click ends quietly where the reader of the output is gone, as in "| head"
        except OSError as error:
            where = f"{error.filename!r}: " if error.filename else ""
            _tell(HumevalPowerError(f"{where}{error.strerror or error}."))
            # a name that no file can have is a wrong argument; all else is the machine's doing
            ctx.exit(InputError.exit_code if error.errno == ENAMETOOLONG else HumevalPowerError.exit_code)
        except MemoryError:
            _tell(HumevalPowerError(_NO_MEMORY))
            ctx.exit(HumevalPowerError.exit_code)

    def _named(self, ctx: click.Context, words: list[str], text: str) -> str:
        """A message in the words that were typed, or that stand in the study file."""
        named = as_typed(text, self._chosen(ctx, words), words)
        if ctx.meta.get(STUDY_FILE) is None:
            return named
        from humeval_power.asking.command import in_words_of_file

        return in_words_of_file(named, ctx)

    def _chosen(self, ctx: click.Context, words: list[str]) -> click.Command | None:
        """The command that was asked for, below as many groups as there are."""
        command: click.Command | None = self
        for word in words:
            if isinstance(command, click.Group):
                command = command.get_command(ctx, word) or (None if command is self else command)
        return None if isinstance(command, click.Group) else command


# SciPy copies all names of NumPy, and so loads its compiler of Fortran and its test tools: half of its own start.
_POSTPONED = {"numpy.f2py", "numpy.testing"}
# Modules and their classes are objects that stay: looking through them for garbage is a tenth of a start.
_NEW_OBJECTS = (50_000, 20, 100)  # after which the collector looks at the youngest, the young, and all


class _Postponing:
    """Finds these modules as Python does, to be loaded at the first use."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's specification, None for all others."""
        spec = PathFinder.find_spec(name, path, target) if name in _POSTPONED else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


def _worded(error: click.UsageError, named: Callable[[str], str] = str) -> click.UsageError:
    """The error wrapped to the screen, and without anything that a terminal would obey."""
    text = wrapped(f"Error: {named(error.format_message())}", indent="  ").removeprefix("Error: ")
    return click.UsageError(text, error.ctx)


_NO_MEMORY = "the memory is not enough for this. Take fewer or smaller studies, or fewer --jobs."


_MOST_PROBLEMS = 100  # that are shown: of more a reader mends these first


def _tell(error: HumevalPowerError, named: Callable[[str], str] = str) -> None:
    """Print an error, each problem of the input as an item of its own."""
    every = error.problems if isinstance(error, InputError) else ()
    problems = [named(str(problem)) for problem in every[:_MOST_PROBLEMS]]
    click.secho("Error:", fg="red", bold=True, nl=False, err=True)
    if len(problems) > 1:
        say(" the input has problems.", err=True)
        for problem in problems:
            say(wrapped(problem, bullet="- "), err=True)
        if more := len(every) - len(problems):
            say(f"- and {more:,} more.", err=True)
    else:
        say(wrapped(f"Error: {named(str(error))}", indent="  ").removeprefix("Error:"), err=True)


def _show(ctx: click.Context, option: click.Parameter, wanted: bool) -> None:
    """Print what an option of the program itself asks for, and end."""
    if wanted:
        say(_version() if option.name == "version" else _versions())
        ctx.exit()


def _version() -> str:
    from importlib import metadata

    from humeval_power.doors.terminal.commit import commit

    made = commit()
    return f"humeval-power {metadata.version('humeval-power')}{f' ({made})' if made else ''}"


def _versions() -> str:
    import platform
    import shutil
    from importlib import metadata

    lines = [("python", platform.python_version()), ("platform", platform.platform())]
    for package in ("humeval-power", *_REPORTED):
        try:
            lines.append((package, metadata.version(package)))
        except metadata.PackageNotFoundError:
            lines.append((package, "not installed"))
    lines.append(("Rscript", shutil.which("Rscript") or "not found"))
    return "\n".join(f"{name:<14} {value}" for name, value in lines)


_REPORTED = (
    "numpy",
    "scipy",
    "pandas",
    "numba",
    "matplotlib",
    "statsmodels",
    "pyarrow",
    "openpyxl",
    "sacrebleu",
    "click",
    "rich",
    "pymer4",
)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDTH},
    epilog="Start with: humeval-power start",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show,
    help="Show the version and the commit that it was made from, and exit.",
)
@click.option(
    "--show-versions",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show,
    help="Show the versions of everything that results depend on, and exit.",
)
@click.pass_context
def main(ctx: click.Context) -> None:
    """Power analysis, planning and reporting for human evaluations.

    From a table of ratings (worker, item, system, rating) to the parameters of
    its variation, the power of the next study, and a reporting checklist.
    """
    if os.environ.get("NO_COLOR"):
        ctx.color = False
    ctx.with_resource(compiled_kernels())


if __name__ == "__main__":
    main()
