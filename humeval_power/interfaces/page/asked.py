"""What a link asks: a command and its options, one to one with the words that one would type.

A link is `/compare/scores?files=a.csv~0123456789abcdef&test=t`. A flag is `paired=1`, the other side of a pair
of flags `paired=0`; what is repeatable repeats. A file is the name and the digest of an upload, or a path in the
folder that the page was opened in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from urllib.parse import urlencode

import click

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.asking.calls import ELSEWHERE
from humeval_power.interfaces.asking.options import names_file, takes_column_or_file, takes_files

Options = tuple[tuple[str, str], ...]
MOST_LETTERS = 2_000  # of one value
# Where something is written or computed, what is changed of a file that is there, and in which form a result is
# printed: the page's own business.
NEVER = frozenset(
    (*ELSEWHERE, "json", "amend", "template", "dry-run", "write-config", "help", "version"),
)
# Options that name a file to write, by their commands: the page asks whether it is wanted, and names it.
WRITES: dict[tuple[tuple[str, ...], str], str] = {(("assign",), "key"): "key.csv"}
_UPLOAD = re.compile(r"(?P<name>.+)~(?P<digest>[0-9a-f]{16})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Asked:
    """A command and what is set of its options, by their names in links."""

    command: tuple[str, ...]
    options: Options = ()

    @property
    def link(self) -> str:
        """The link of this state."""
        query = urlencode(self.options)
        return "/" + "/".join(self.command) + (f"?{query}" if query else "")

    def values(self, name: str) -> tuple[str, ...]:
        """All values of an option."""
        return tuple(value for option, value in self.options if option == name)

    def with_options(self, **others: str) -> Asked:
        """The same with other values of some options, whose dashes are underscores here."""
        set_now = {name.replace("_", "-"): value for name, value in others.items()}
        kept = tuple((name, value) for name, value in self.options if name not in set_now)
        return replace(self, options=(*kept, *((name, value) for name, value in set_now.items() if value)))


def link_name(option: click.Parameter) -> str:
    """The name of an option or an argument in links."""
    if isinstance(option, click.Argument):
        return str(option.name).replace("_", "-")
    return max(option.opts, key=len).lstrip("-")


def may_read_files(command: tuple[str, ...], option: click.Parameter) -> bool:
    """Whether a page asks for a file as the value of this option, or may."""
    return (takes_files(option) and (command, link_name(option)) not in WRITES) or takes_column_or_file(
        option
    )


def reads_file(command: tuple[str, ...], option: click.Parameter, value: str) -> bool:
    """Whether this value of an option names a file."""
    return names_file(option, value) and (command, link_name(option)) not in WRITES


@cache
def command_of(path: tuple[str, ...]) -> click.Command:
    """The command of these words.

    Raises
    ------
    KeyError
        There is none.
    """
    from humeval_power.interfaces.cli.main import main

    found: click.Command | None = main
    for word in path:
        found = found.get_command(click.Context(found), word) if isinstance(found, click.Group) else None
    if found is None or (isinstance(found, click.Group) and not found.invoke_without_command):
        raise KeyError(path)
    return found


@cache
def offered(path: tuple[str, ...], hides: tuple[str, ...] = ()) -> dict[str, click.Parameter]:
    """The options of a command that a page may set, by their names in links."""
    return {
        link_name(option): option
        for option in command_of(path).params
        if link_name(option) not in NEVER
        and link_name(option) not in hides
        and not getattr(option, "hidden", False)
    }


def asked_of(path: tuple[str, ...], query: Sequence[tuple[str, str]], hides: tuple[str, ...] = ()) -> Asked:
    """What the query of a link asks; empty values are left out.

    Raises
    ------
    InputError
        Options that the command does not have or that no page may set, and values of impossible length: all of
        them at once.
    """
    known = offered(path, hides)
    sides = {side.lstrip("-"): name for name, option in known.items() for side in option.secondary_opts}
    options, wrong = [], []
    for name, value in query:
        if len(value) > MOST_LETTERS:
            wrong.append(Problem(f"--{name}: more than {MOST_LETTERS:,} letters.", "Shorten it."))
        elif name in sides:
            options.append((sides[name], "0"))
        elif name not in known:
            rule = f"The page of '{' '.join(path)}' has no option {name[:60]!r}."
            wrong.append(Problem(rule, "Take it out of the link."))
        elif value.strip():
            options.append((name, value.strip()))
    if wrong:
        raise InputError(wrong)
    return Asked(path, tuple(options))


Named = Callable[[str], str]  # the name under which a command finds a file, of its value in a link


def words_of(asked: Asked, hides: tuple[str, ...] = (), named: Named = str) -> tuple[str, ...]:
    """The words that one would type after the name of the program.

    A value cannot become an option, whatever it is: one that begins with a dash is joined to its option, and
    arguments of that kind stand behind a double dash.
    """
    known = offered(asked.command, hides)
    words: list[str] = []
    arguments: list[str] = []
    for name, value in asked.options:
        option = known[name]
        text = named(value) if reads_file(asked.command, option, value) else value
        if (asked.command, name) in WRITES:
            words += [f"--{name}", WRITES[asked.command, name]] if value != "0" else []
        elif isinstance(option, click.Argument):
            arguments.append(text)
        else:
            words += _typed(option, text)
    guard = ["--"] if any(word.startswith("-") for word in arguments) else []
    return (
        *asked.command,
        *(arguments if not guard else ()),
        *words,
        *guard,
        *(arguments if guard else ()),
    )


def _typed(option: click.Parameter, text: str) -> Iterator[str]:
    long = max(option.opts, key=len)
    if isinstance(option, click.Option) and option.is_flag:
        if text == "0" and option.secondary_opts:
            yield max(option.secondary_opts, key=len)
        elif text != "0":
            yield long
    elif text.startswith("-"):
        yield f"{long}={text}"
    else:
        yield long
        yield text


def upload_of(value: str) -> tuple[str, str] | None:
    """The name and the digest of the upload that a value names; None where it names none."""
    found = _UPLOAD.fullmatch(value)
    return None if found is None else (found["name"], found["digest"])


def file_names(asked: Asked, hides: tuple[str, ...] = ()) -> dict[str, str]:
    """The values that name files, each once, with the name under which the command finds the file of each."""
    known = offered(asked.command, hides)
    names: dict[str, str] = {}
    for option, value in asked.options:
        if reads_file(asked.command, known[option], value) and value not in names:
            upload = upload_of(value)
            name = value if upload is None else upload[0]
            while name in names.values():
                name = f"again-{name}"
            names[value] = name
    return names
