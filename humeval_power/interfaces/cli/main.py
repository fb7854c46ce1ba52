"""The command `humeval-power`: commands are imported when they are used, so that help is quick."""

from __future__ import annotations

import importlib
import os
from typing import Any

import click

from humeval_power.errors import HumevalPowerError, InputError
from humeval_power.interfaces.cli.output import WIDTH, wrapped

# name: (module with a click command named `command`, what --help says about it)
COMMANDS: dict[str, tuple[str, str]] = {
    "check": (
        "humeval_power.interfaces.cli.check",
        "What is in a table, and what is wrong with it?",
    ),
    "fit": ("humeval_power.interfaces.cli.fit", "Estimate the effect and the variances from a table."),
    "simulate": ("humeval_power.interfaces.cli.simulate", "Draw the ratings of a study from parameters."),
    "power": ("humeval_power.interfaces.cli.power", "How often would a study of this size find an effect?"),
    "mde": ("humeval_power.interfaces.cli.mde", "The smallest effect that a study of this size finds."),
    "size": (
        "humeval_power.interfaces.cli.size",
        "The fewest workers, items or ratings that reach a power.",
    ),
    "plan": (
        "humeval_power.interfaces.cli.plan",
        "The cheapest design that finds an effect, or the best for a budget.",
    ),
    "assign": ("humeval_power.interfaces.cli.assign", "Say who rates what when, as a table to carry out."),
    "surface": (
        "humeval_power.interfaces.cli.surface",
        "Power over many sizes and effects, with a figure.",
    ),
    "calibrate": (
        "humeval_power.interfaces.cli.calibrate",
        "How often do tests find an effect where there is none?",
    ),
    "analyze": (
        "humeval_power.interfaces.cli.analyze",
        "Decide a finished study by its plan, and say what differs from it.",
    ),
    "report": ("humeval_power.interfaces.cli.report", "Write the checklist of what a paper should report."),
    "release": (
        "humeval_power.interfaces.cli.release",
        "Write an anonymised bundle of a study, to publish.",
    ),
    "parameters": (
        "humeval_power.interfaces.cli.parameters",
        "Look up what is known of the variation in other studies.",
    ),
}
INTERRUPTED = 130  # what shells expect after Ctrl-C: 128 + SIGINT


class LazyGroup(click.Group):
    """A group whose commands are named in COMMANDS; errors of the package end as a message."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The names of the commands, in the order in which people need them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the command, or None where there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name][0]).command
        return command

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002
        formatter: click.HelpFormatter,
    ) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what goes wrong is told in words, and never as a traceback."""
        try:
            return super().invoke(ctx)
        except HumevalPowerError as error:
            _tell(error)
            ctx.exit(error.exit_code)
        except KeyboardInterrupt:
            click.echo("\nInterrupted; no file was left half-written.", err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            raise  # click ends quietly where the reader of the output is gone, as in "| head"
        except OSError as error:
            where = f"{error.filename!r}: " if error.filename else ""
            _tell(HumevalPowerError(f"{where}{error.strerror or error}."))
            ctx.exit(HumevalPowerError.exit_code)


def _tell(error: HumevalPowerError) -> None:
    """Print an error, each problem of the input as an item of its own."""
    label = click.style("Error:", fg="red", bold=True)
    problems = [str(problem) for problem in error.problems] if isinstance(error, InputError) else []
    if len(problems) > 1:
        click.echo(f"{label} the input has problems.", err=True)
        for problem in problems:
            click.echo(wrapped(problem, bullet="- "), err=True)
    else:
        click.echo(wrapped(f"Error: {error}", indent="  ").replace("Error:", label, 1), err=True)


def _show_versions(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if not wanted:
        return
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
    for name, value in lines:
        click.echo(f"{name:<14} {value}")
    ctx.exit()


_REPORTED = (
    "numpy",
    "scipy",
    "pandas",
    "numba",
    "matplotlib",
    "statsmodels",
    "pyarrow",
    "openpyxl",
    "click",
    "rich",
    "pymer4",
)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDTH},
    epilog="Start with: humeval-power check FILE",
)
@click.version_option(package_name="humeval-power", message="%(prog)s %(version)s")
@click.option(
    "--show-versions",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_versions,
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


if __name__ == "__main__":
    main()
