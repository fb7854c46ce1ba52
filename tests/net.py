"""What every command says, before something moves: its answers, its programs, its errors, its form.

`python tests/net.py --diff [COMMAND]` says in words what differs between this tree and tests/golden/net/;
`python tests/net.py` writes that anew: after a change that was meant, in a commit of its own with the reason.
Records stand in every_command.json, the whole help in docs/commands/ (`docs/generate.py`). What was only renamed is
named in RENAMED.
"""

import dataclasses
import datetime
import difflib
import functools
import hashlib
import json
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import click
import every_command
from cli import run
from every_command import COMMANDS, OWN, QUICK, SETTING, SLOW, command_words, prepared
from option_tree import leaves

from humeval_power.asking.command import StudyCommand
from humeval_power.doors.page.requests import FORMS, CommandRequest, offered
from humeval_power.doors.page.views import PageField, field_groups
from humeval_power.saying import result as records

NET = Path(__file__).parent / "golden" / "net"
# What several forms say alike of a field stands here once; in the forms it is its name alone.
FIELDS = NET.with_name("fields.txt")
# The old name of what is only renamed to the new one: keys of records as they are, options with their dashes.
RENAMED: dict[str, str] = {}

# Numbers of records, relative; those of the lines that iterate to a tolerance of their own as on other machines.
EXACT = 1e-9
ITERATED = ("preference test panel", "preference power panel")

_TOO_SMALL = {
    "compare size": "--effect 0.0001 --sd-difference 0.2",
    "runs size": "{ANSWERS} --runs 3 --effect 0.0001",
    "accuracy size": "--effect 0.001 --agreement 0.9",
    "preference size": "--effect 0.01",
    "rank size": "--effect 0.001 --n-systems 4",
    "corpus size": "--effect 0.01",
    "contingency size": "{CLASSES} --effect 0.001",
    "assessment size": "--effect 0.1",
}
# Lines that end with 3, and those of commands that leave no record: only their text and their program are kept.
MORE = {
    **{f"{name} none": f"{name} --highest 50 {rest} {QUICK}" for name, rest in _TOO_SMALL.items()},
    "scenario size none": f"scenario {{OWN}} size --highest 50 --effect 0.001 {QUICK}",
    "fails": f"power --shares .01,.99 --values sd_item_intercept=0.01 --workers 3 --items 4 --effect 0 {QUICK}",
    "size none": f"size {SETTING} --find items --workers 3 --effect 0.001 {QUICK}",
    "size systems none": f"size {SETTING} --find items --workers 3 --n-systems 3 --effect 0.001 {QUICK}",
    "plan none": f"plan {SETTING} --effect 0.02 --items 20:40:20 --max-workers 6 --cost-per-rating 0.1 {QUICK}",
    "judge plan none": f"judge plan {SETTING} --effect 0.001 --max-extra 9 --correlation 0.8 --cost-per-rating 0.1 "
    "--cost-per-score 0.01 --max-workers 6 --max-ratings-per-item 1 --simulations 5",
    "report open": "report parameters.json --strict --no-memory",
    "report check open": "report check parameters.json --strict --no-memory",
    "release warned": "release pilot.csv --scale 1:5 --strict -o bundle",
    "release": "release pilot.csv --scale 1:5",
    "show": "parameters show pplm-fluency-rerank",
    "add": "parameters add parameters.json --name mine --library library.json",
    "remember": "report remember",
    "withdraw": "collect withdraw pilot.csv --withdrawn withdrawn.txt",
    "seal": f"looks scores --n 120 --effect 0.2 --looks 2 {QUICK} -o looks.json",
    "monitor": "monitor scores.csv --plan looks.json",
}
LINES = COMMANDS | MORE
ALL = dict(leaves())


def leaf_of(line: str) -> str:
    """The command of a line."""
    words = " ".join(line.replace("{OWN} ", "").split()[:2])
    return words if words in ALL else words.split()[0]


def needed(names: Iterable[str]) -> set[str]:
    """The lines, and those before them that write what they read."""
    found, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            files = {word for word in command_words(LINES[name]) if "." in word}
            waiting += [other for other, line in LINES.items() if files.intersection(_WRITES.findall(line))]
    return found


_WRITES = re.compile(r" (?:-o|--key) (\S+)")
Sections = dict[str, dict[str, str]]  # of each command, by their headings


def net(folder: Path, wanted: Collection[str] = (), without: Collection[str] = ()) -> Sections:
    """Everything that is kept of the commands as text, but for the lines `without`."""
    kinds = _first_of_each_kind()
    # Masked before lines are wrapped, which depends on their length.
    versions = mock.patch.object(records, "_versions", return_value=(("humeval-power", "VERSION"),))
    with prepared(folder), _as_anywhere(folder), versions:
        Path("withdrawn.txt").write_text("w01\n")
        found: Sections = {name: _first_sight(name, ALL[name]) for name in wanted or ALL}
        names = [name for name, line in LINES.items() if leaf_of(line) in found and name not in without]
        ran = needed(names)
        for name, line in LINES.items():
            text = _told(*command_words(line)) if name in ran else ""
            if name not in names:
                continue
            here = found[leaf_of(line)]
            here[name] = f"$ {line}\n{text}"
            words = command_words(_WRITES.sub("", line))
            if any(option.name == "code" for option in ALL[leaf_of(line)].params):
                here[f"{name}, program"] = _told(*words, "--code", "python")
            if name in kinds:
                here[f"{name}, Markdown"] = _beyond(text, _told(*words, "--format", "markdown"))
                here[f"{name}, HTML"] = _skeleton(_told(*words, "--format", "html"))
    return found


def _first_sight(name: str, command: click.Command) -> dict[str, str]:
    """Short help, a wrong line and the form: what needs no file."""
    words = name.replace("scenario ", f"scenario {OWN} ").split()
    command._help_option = None  # click keeps that of the context that was asked first
    wrong, form = _wrong_words(command), tuple(name.split())
    short = {"short help": _options(_told(*words, "--help"))} if isinstance(command, StudyCommand) else {}
    return {
        **short,
        "wrong": f"$ {' '.join(wrong)}\n{_USAGE.sub('', _told(*words, *wrong))}",
        **({"form": "\n".join([*_form(form), ""])} if form in FORMS else {}),
    }


_USAGE = re.compile(r"^Usage: .*?for help\.\n\n", re.DOTALL | re.MULTILINE)  # it stands in --help


def _wrong_words(command: click.Command) -> list[str]:
    """An unknown value of the first parameter that is no text, or else an option that there is not."""
    texts = click.types.StringParamType | click.Path | click.types.BoolParamType
    for option in command.params:
        if not isinstance(option.type, texts) and option.name not in ("format", "code"):
            return [*([max(option.opts, key=len)] if isinstance(option, click.Option) else []), "unknown"]
    return ["--unknown"]


def _form(words: tuple[str, ...]) -> Iterator[str]:
    """The fields of a form, one a line, in their groups."""
    form = FORMS[words]
    options = offered(words, form.hides)
    try:
        groups = field_groups(form, CommandRequest(words, form.start), ())
    except KeyError as missing:
        yield f"The form names an option that there is not: {missing}"
        return
    for group in groups:
        yield f"{group.title}{' (folded)' if group.folded else ''}: {' | '.join(group.one_of)}".rstrip(": ")
        for field in group.fields:
            if field.help == getattr(options[field.name], "help", ""):
                field = dataclasses.replace(field, help="")  # it stands in --help
            facts = [(each, getattr(field, each.name)) for each in dataclasses.fields(PageField)[1:]]
            said = (f"{each.name} {value}" for each, value in facts if value != each.default)
            yield f"  --{field.name}: {'; '.join(said)}"


def _first_of_each_kind() -> set[str]:
    """One line for each kind of result."""
    lines = [*json.loads(every_command.GOLDEN.read_text()).items()][::-1]
    kinds = {kept["record"].get("schema"): name for name, kept in lines if name not in SLOW}
    return {name for kind, name in kinds.items() if kind}


def _as_anywhere(folder: Path) -> Any:
    """80 columns, and no settings of one's own."""
    return mock.patch.dict(os.environ, {"COLUMNS": "80", "XDG_CONFIG_HOME": str(folder / "settings")})


# What changes with the machine and the day.
_MASKS = {
    r"Compiling the numerical kernels[^.]*\.[^.]*compiles all of them\.\n": "",
    r"\b[0-9a-f]{64}\b|\b[0-9a-f]{16}(?=\.\.\.)": "DIGEST",
    datetime.date.today().isoformat(): "YYYY-MM-DD",
}


def _told(*words: str) -> str:
    """The exit code of a command and all that it prints, but for what changes with the machine and the day."""
    try:
        result = run(*words, code=None)
    except AssertionError as error:
        return f"traceback {error.__cause__!r}\n"
    text = result.output
    for changing, mask in _MASKS.items():
        text = re.sub(changing, mask, text)
    return f"exit {result.exit_code}\n{text.rstrip()}\n"


def _options(short_help: str) -> str:
    """Which options a short help shows, and a digest of it: docs/commands/ has their text."""
    return f"{' '.join(re.findall(r'^  (?:-., )?(--[a-z-]+)', short_help, re.MULTILINE))}\n{_digest(short_help)}"


def _beyond(text: str, markdown: str) -> str:
    """What Markdown says that the text on the terminal does not, and a digest of all that it says."""

    def words(said: str) -> str:
        return " ".join(re.findall(r"[\w.,%]+", said))

    on_terminal = words(text)
    lines = markdown.splitlines()
    more = [line for line in lines if not all(words(cell) in on_terminal for cell in line.split("|"))]
    return "\n".join([*more, _digest(markdown)])


def _digest(text: str) -> str:
    return f"text {hashlib.sha256(text.encode()).hexdigest()[:16]}, {len(text.split())} words\n"


def _skeleton(page: str) -> str:
    """Of a page how many there are of each element, and a digest of its text: those above show it."""
    body = re.sub(r"<(style|script|svg)\b.*?</\1>", "", page, flags=re.DOTALL)
    counts = Counter(re.findall(r"<([a-z0-9]+)", body))
    text = " ".join(re.sub(r"<[^>]*>", " ", body).split())
    elements = ", ".join(f"{name} {counts[name]}" for name in sorted(counts))
    return f"{elements}\n{_digest(text)}"


def renamed(before: Any) -> Any:
    """What was kept, with the names of now."""
    if isinstance(before, dict):
        return {RENAMED.get(key, key): renamed(value) for key, value in before.items()}
    if isinstance(before, list):
        return [renamed(value) for value in before]
    if isinstance(before, str):
        for old, new in RENAMED.items():
            if old.startswith("--"):
                before = re.sub(rf"(?<![\w-]){old}(?![\w-])", new, before)
    return before


def _file(name: str) -> Path:
    return NET / f"{name.replace(' ', '-')}.txt"


def kept(name: str) -> dict[str, str]:
    """The sections of a command as they were."""
    text = _file(name).read_text(encoding="utf-8") if _file(name).exists() else ""
    parts = re.split(r"^==== (.*)\n", text, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    if "form" in sections:
        sections["form"] = _NAMES.sub(_in_full, sections["form"])
    return sections


_NAMES = re.compile(r"^  --[\w-]+(?: --[\w-]+)*\n", re.MULTILINE)


def _in_full(names: re.Match[str]) -> str:
    """The lines of fields of which a form keeps the names."""
    return "".join(f"  {name}: {_fields()[name]}\n" for name in names[0].split())


@functools.cache
def _fields() -> dict[str, str]:
    """What is said of the fields of several forms, by their names."""
    said = (line.partition(": ") for line in FIELDS.read_text(encoding="utf-8").splitlines())
    return {name: text for name, _, text in said}


def _by_name(form: str, shared: Collection[str]) -> str:
    """A form in which neighbours that others say alike are a line of names."""
    lines: list[str] = []
    for line in form.splitlines():
        name = f"  {line.split(':')[0].strip()}"
        if line not in shared:
            lines.append(line)
        elif lines and _NAMES.fullmatch(f"{lines[-1]}\n"):
            lines[-1] += name[1:]
        else:
            lines.append(name)
    return "\n".join([*lines, ""])


def write(found: Sections) -> None:
    """Keep what the commands say now, and nothing of commands that are gone."""
    NET.mkdir(exist_ok=True)
    for path in NET.glob("*.txt"):
        path.unlink()
    forms = "".join(sections.get("form", "") for sections in found.values()).splitlines()
    counts = Counter(line for line in forms if line.startswith("  --"))
    # Of what is said otherwise elsewhere, that which most forms say.
    usual = {line.split(":")[0]: line for line, n in reversed(counts.most_common()) if n > 1}
    FIELDS.write_text("".join(f"{line.strip()}\n" for _, line in sorted(usual.items())), encoding="utf-8")
    _fields.cache_clear()
    for name, sections in found.items():
        if "form" in sections:
            sections = sections | {"form": _by_name(sections["form"], usual.values())}
        text = "".join(f"==== {heading}\n{text}" for heading, text in sections.items())
        _file(name).write_text(text, encoding="utf-8")


def texts_apart(found: Sections, without: Collection[str] = ()) -> Iterator[str]:
    """What the commands say otherwise than they did: command, section, and the lines - before and + now."""
    for name, now in found.items():
        before = renamed(kept(name))
        for heading in dict.fromkeys([*before, *now]):
            if heading.partition(",")[0] not in without and before.get(heading) != now.get(heading):
                sides = (each.get(heading, "").splitlines() for each in (before, now))
                lines = list(difflib.unified_diff(*sides, n=0, lineterm=""))[2:]
                shown = [one for one in lines if not one.startswith("@@")]
                yield "\n  ".join([f"{name}: {heading}", *shown])


def records_apart(folder: Path, wanted: Collection[str], without: Collection[str]) -> Iterator[str]:
    """Which keys of records are not what they were: line, key, before, now."""
    here = {name for name, line in COMMANDS.items() if leaf_of(line) in (wanted or ALL)}.difference(without)
    with _as_anywhere(folder):
        now = every_command.run_all(folder, without=set(COMMANDS) - needed(here))
    before = json.loads(every_command.GOLDEN.read_text())
    for name in filter(here.__contains__, COMMANDS):
        near = every_command.OTHER_MACHINES if name in ITERATED else EXACT
        for said in every_command.differences(renamed(before.get(name)), now[name], rel_tol=near):
            yield f"{name}: {said.removeprefix('.')}"


def apart(folder: Path, wanted: Collection[str] = (), without: Collection[str] = ()) -> Iterator[str]:
    """All that differs between what is kept and what these commands say, `without` some lines."""
    for part in ("text", "json"):
        (folder / part).mkdir()
    yield from texts_apart(net(folder / "text", wanted, without), without)
    if not wanted:
        gone = {path.stem for path in NET.glob("*.txt")} - {_file(name).stem for name in ALL}
        yield from (f"{name}: there is no such command now" for name in sorted(gone))
    yield from records_apart(folder / "json", wanted, without)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        if "--diff" not in sys.argv:
            sys.exit(write(net(Path(place))))
        told = []
        for each in apart(Path(place), [" ".join(sys.argv[2:])] if sys.argv[2:] else []):
            print(each, flush=True)
            told.append(each)
        sys.exit(f"{len(told)} differences." if told else 0)
