"""Commands: what is missing is named at once, help is short or all; of a study, a file says what is not typed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humeval_power.asking.config import with_config
from humeval_power.asking.options import (
    UNSET,
    DeclaredOption,
    FieldArgument,
    FieldOption,
    is_further,
    made_of,
    option_of,
)
from humeval_power.asking.output import STUDY_FILE, caught, note, remark, replace_file, say
from humeval_power.asking.study_file import ABOUT, WRITERS, read_study, updated
from humeval_power.errors import HumevalPowerError, InputError, Problem
from humeval_power.fields import STRINGS, flag, of_answer, shortened, text, typed_list
from humeval_power.study import FIELDS, FILE_NAME, SECTIONS, put_aside
from humeval_power.study_text import plain

if TYPE_CHECKING:
    from humeval_power.asking.calls import ProgramSource, TypedValues
    from humeval_power.asking.form import Form

_NEEDS = "__humeval_power_needs__"
_FULL = "humeval_power.help_all"
_UNREAD = "humeval_power.unread"  # the option because of which a study file was not read
_OPTIONS, _ANSWER = "Options", "The answer"  # sections of help
_DEFAULTS = (click.core.ParameterSource.DEFAULT, click.core.ParameterSource.DEFAULT_MAP)
WORDS_READ = "humeval_power.words_read"  # those of a command with what the study file says
HERE = object()  # where the result was written
_BESIDE_PLAN = ("files", "columns", "form")  # sections that a plan leaves open
_ELSEWHERE = {"output", "code", "as_json", "format"}  # where an answer goes to another place
_NO_FOLDER = "what is uploaded needs a folder of its own."
_A_FOLDER = 'Name the table in one, such as "field/assignment.csv"; or give -o FOLDER.'
Seeks = Callable[[Mapping[str, Any], Mapping[str, Any]], tuple[str, ...]]
Adapt = Callable[[dict[str, Any], Mapping[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that several options can say: any of `options` will do, `said` is what to ask for.

    `unless` names values of options with which nothing has to be said; `met` looks at all that was.
    """

    said: str
    options: tuple[str, ...]
    unless: Mapping[str, Sequence[object]] = field(default_factory=dict)
    met: Callable[[Mapping[str, object]], bool] | None = None

    def is_met(self, given: Mapping[str, object]) -> bool:
        """Whether one of the options was given, or none has to be."""
        if any(option in given for option in self.options):
            return True
        if self.met is not None and self.met(given):
            return True
        return any(given.get(option) in values for option, values in self.unless.items())


def needs(
    said: str,
    options: Iterable[str],
    *,
    unless: Mapping[str, Sequence[object]] | None = None,
    met: Callable[[Mapping[str, object]], bool] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: the command needs any of these options (by the names of their values)."""

    def marked(function: Callable[..., Any]) -> Callable[..., Any]:
        setattr(
            function,
            _NEEDS,
            (Need(said, tuple(options), unless or {}, met), *getattr(function, _NEEDS, ())),
        )
        return function

    return marked


def was_typed(ctx: click.Context, name: str) -> bool:
    """Whether somebody gave this option, or a study file did."""
    return ctx.get_parameter_source(name) not in (None, *_DEFAULTS)


class Command(click.Command):
    """A command that names all missing options together, those that `needs` asks for too; help is short, or all.

    program : writes the program that gives the same, from what was typed.
    no_program : or why there is none.
    form : its page, where it has one.
    always : options that every command of its kind has.
    """

    program: Callable[[Any, Any], None] | None = None
    form: Form | None = None
    always: tuple[click.Parameter, ...] = ()

    def __init__(
        self,
        *args: Any,
        program: Callable[[Any, Any], None] | None = None,
        no_program: str = "",
        **named: Any,
    ) -> None:
        super().__init__(*args, **named)
        self.program, self.no_program = program or self.program, no_program

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Those of the command, those of all of its kind, then --help-all, then --help."""
        *own, last = super().get_params(ctx)
        return [*own, *self.always, _HELP_ALL, last]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does, with what the file of --config says; where something is missing, look for everything
        else that is."""
        if not ctx.resilient_parsing:
            self._refuse_pieces(ctx, args)
        if any(one.name == "write_config" for one in self.params):
            args = with_config(ctx, args)
        typed = list(args)
        try:
            rest = super().parse_args(ctx, args)
        except click.MissingParameter as error:
            missing, beside = (
                self._missing(ctx, typed),
                self.make_parser(ctx).parse_args(args=list(typed))[1],
            )
            if len(missing) < 2 and not beside:
                raise _in_own_words(error, ctx) from None
            raise _missing_error(missing, ctx, beside) from error
        if not ctx.resilient_parsing:
            missing = self._missing(ctx, typed)
            if missing:
                raise _missing_error(missing, ctx)
        return rest

    def _refuse_pieces(self, ctx: click.Context, args: list[str]) -> None:
        """Refuse a list of names that is typed in pieces: the last piece alone would count."""
        order = self.make_parser(ctx).parse_args(args=list(args))[2]
        for one in dict.fromkeys(order):
            if not isinstance(one, DeclaredOption) or one.multiple:
                continue
            are_names = STRINGS in one.about.kind.json.get("anyOf", ())
            if are_names and order.count(one) > 1:
                name = _name(one, ctx)
                raise click.UsageError(
                    f"{name} is given {order.count(one)} times, and is one list: {name} {one.make_metavar(ctx)}."
                )

    def _missing(self, ctx: click.Context, typed: list[str]) -> list[str]:
        values, _, _ = self.make_parser(ctx).parse_args(args=list(typed))
        missing: list[str] = []
        said: dict[str, object] = {}
        for parameter in self.get_params(ctx):
            value, source = parameter.consume_value(ctx, values)
            absent = parameter.value_is_missing(value) or value is None
            if parameter.required and absent:
                missing.append(_name(parameter, ctx))
            if not absent and source not in _DEFAULTS:
                said[str(parameter.name)] = value
        needs: tuple[Need, ...] = getattr(self.callback, _NEEDS, ())
        return missing + [need.said for need in needs if not need.is_met(said)]

    def place_of(self, one: click.Parameter, ctx: click.Context) -> tuple[str, bool]:
        """The section of the help in which an option stands, and whether it is one of the main ones."""
        about = one.about if isinstance(one, DeclaredOption) else None
        is_last = one is self.get_help_option(ctx) or (about is not None and about.section == "answer")
        return _ANSWER if is_last else _OPTIONS, not is_further(one)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options by section: the main ones and those that are required, or all."""
        rows: dict[str, list[tuple[str, str]]] = {
            title: [] for title in (_OPTIONS, *(group.title for group in SECTIONS.values()), _ANSWER)
        }
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx)
            if record is None or not record[1]:  # an argument, of which the help tells
                continue
            title, is_main = self.place_of(one, ctx)
            if is_main or one.required or ctx.meta.get(_FULL):
                rows[title].append(record)
        for title, values in rows.items():
            if values:
                with formatter.section(title):
                    formatter.write_dl(values)


def _help_all(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        ctx.meta[_FULL] = True
        say(ctx.get_help())
        ctx.exit()


_HELP_ALL = made_of(
    option_of(
        "help_all", of_answer(flag(), "Show all options."), callback=_help_all, exposed=False, eager=True
    )
)


class MissingError(click.MissingParameter):
    """A file that no argument and no study file names, or an option that was left out."""

    def format_message(self) -> str:
        """What to do, in the words of the terminal."""
        return self.message


def _in_own_words(error: click.MissingParameter, ctx: click.Context) -> click.MissingParameter:
    one = error.param
    if not isinstance(one, FieldArgument | DeclaredOption):
        return error
    what = "" if isinstance(one, FieldArgument) else f" {one.about.full_help}"
    return MissingError(f"Give {_name(one, ctx)}.{what}{_may_say_it(ctx)}", ctx, one)


def _may_say_it(ctx: click.Context) -> str:
    """The way to what is missing, where a study file lies there and was not read."""
    unread = ctx.meta.get(_UNREAD)
    return (
        f" Or take what {FILE_NAME} says, with {unread} in its place: --study {FILE_NAME}."
        if unread
        else ""
    )


def _name(parameter: click.Parameter, ctx: click.Context) -> str:
    if isinstance(parameter, FieldArgument):
        section = FIELDS[parameter.field].section
        return f"{parameter.make_metavar(ctx)}, or say {parameter.field} in [{section}] of a study file"
    if isinstance(parameter, click.Argument):
        return parameter.make_metavar(ctx)
    return max(parameter.opts, key=len)


def _missing_error(missing: list[str], ctx: click.Context, beside: Sequence[str] = ()) -> click.UsageError:
    """beside : words that belong to no option: files, as a rule, whose options were left out."""
    said = f"Give {missing[0]}." if len(missing) == 1 else f"These are missing: {'; '.join(missing)}."
    said += _may_say_it(ctx)
    if beside:
        named = ", ".join(shortened(Path(one).name) for one in beside[:3])
        said += f" Name each file by its option; none names {named}."
    return click.UsageError(said, ctx)


@dataclass(frozen=True, slots=True)
class Use:
    """What a command takes from a study file.

    seeks : fields that it finds out, and so leaves aside; of what is said and typed where that decides.
    skips : fields that mean nothing to it.
    adapts : says the study in the fields of this command.
    writes : the field that names where its result is written, where no -o says so.
    unless : an option with which it is written nowhere but to -o.
    beside_plan : fields that a plan does not say, in sections that it does.
    updates : what its result changes in the study file, once it is written.
    """

    seeks: tuple[str, ...] | Seeks = ()
    skips: tuple[str, ...] = ()
    adapts: Adapt | None = None
    writes: str = ""
    unless: str = ""
    beside_plan: tuple[str, ...] = ()
    updates: Callable[[Any], dict[str, Any]] | None = None


@dataclass(frozen=True)
class StudyInUse:
    """The study file that a command reads: what it takes, what was typed in the place of it, what it left aside.

    places : what each option that came from the file is called there.
    unwritten : the field that names where the result goes, where neither it nor what was typed does.
    files : by the path of each file that it names and that the command takes, the field and its place.
    fields : all that the study says with what was typed, for the record.
    """

    path: str
    typed: tuple[str, ...]
    left: tuple[str, ...]
    unwritten: str = ""
    places: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    updates: Callable[[Any], dict[str, Any]] | None = None

    def update(self, result: Any, path: str) -> None:
        """Say in the study file what the result that was written there decides; where it was changed since it was
        read, a remark says what to write."""
        if self.updates is None or not self.path.lower().endswith(".toml"):
            return
        folder = Path(self.path).parent
        said = {
            name: os.path.relpath(path, folder) if value is HERE else value
            for name, value in self.updates(result).items()
        }
        try:
            new = updated(self.path, self.text, said)
            if new is not None:
                replace_file(self.path, new)
        except (HumevalPowerError, OSError) as error:  # the result is written: its answer stands
            remark(str(error))
            return
        if new is not None:
            fields = [f"{name} = {value}" for name, value in said.items() if value is not None]
            note(f"{self.path} says now: {', '.join(fields)}.")

    @property
    def notice(self) -> str:
        """The first line of an answer."""
        text = f"Study: {self.path}."
        if self.typed:
            text += f" Typed in its place: {', '.join(self.typed)}."
        if self.left:
            text += f" Not taken from it: {', '.join(self.left)}."
        if self.unwritten:
            text += (
                f" It names no file in [files] {self.unwritten}, so that nothing is written: -o PATH does."
            )
        return text


def study_in_use(ctx: click.Context | None = None) -> StudyInUse | None:
    """The study file that the command that runs has read."""
    ctx = ctx or click.get_current_context(silent=True)
    kept = None if ctx is None else ctx.meta.get(STUDY_FILE)
    return kept if isinstance(kept, StudyInUse) else None


def in_words_of_file(message: str, ctx: click.Context | None = None) -> str:
    """A message that names options, with the places in the study file of those that came from there."""
    source = study_in_use(ctx)
    if source is None:
        return message

    def called(match: re.Match[str]) -> str:
        return match[0] if match["line"] else source.places.get(match["option"], match[0])

    missing = re.match(r"There is no file '(?P<path>[^']+)'\.", message)
    if missing and missing["path"] in source.files:
        name, place = source.files[missing["path"]]
        writer = f" 'humeval-power {WRITERS[name]}' writes it." if name in WRITERS else ""
        return f"{place}: there is no file '{missing['path']}'.{writer}{message[missing.end() :]}"
    option = r"(?P<quote>'?)(?P<option>--[a-z][a-z-]*[a-z])(?P=quote)(?![\w-])"
    return re.sub(rf"(?P<line>(?<!\w)'[a-z][^']* --[^']*')|{option}", called, message)


class StudyCommand(Command):
    """A command whose options are fields of the study; study.toml says what nobody types."""

    always = tuple(
        made_of(option_of(name, one, exposed=False))
        for name, one in {
            "study_file": of_answer(
                text("FILE"),
                f"Take what is not typed from this study file. [./{FILE_NAME}, where no field of it is typed]",
                option="study",
                further=True,
            ),
            "no_study": of_answer(flag(), f"Do not read ./{FILE_NAME}.", further=True),
        }.items()
    )

    def __init__(self, *args: Any, use: Use | None = None, **named: Any) -> None:
        super().__init__(*args, **named)
        self.use = use or Use()
        if self.program is None and not self.no_program:
            self.program = _write_call

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put what the study file says and nobody typed in front of the words that were typed."""
        if ctx.resilient_parsing or {"-h", "--help", "--help-all"} & set(args):
            return super().parse_args(ctx, args)
        words, source, unread = self._with_study(ctx, list(args))
        if not {"-q", "--quiet"} & set(args):
            if source is not None and source.path:
                note(source.notice)
            elif unread:
                note(f"{FILE_NAME} is not read, since {unread} was typed; --study {FILE_NAME} reads it.")
        ctx.meta[WORDS_READ] = tuple(words)
        ctx.meta[_UNREAD] = unread
        return super().parse_args(ctx, words)

    def _with_study(self, ctx: click.Context, args: list[str]) -> tuple[list[str], StudyInUse | None, str]:
        """The words with those of the study file, that file, and the option because of which ./study.toml is not
        read."""
        parsed, rest, _ = self.make_parser(ctx).parse_args(args=list(args))
        typed = {name: value for name, value in parsed.items() if value not in (None, (), UNSET)}
        options = {one.field: one for one in self.params if isinstance(one, FieldOption | FieldArgument)}
        path, args = self._path(typed, rest, args)
        none = (None, path, (path,))
        given = {name: one for name, one in options.items() if typed.get(str(one.name)) not in none}
        file = ABOUT.get()
        may_be_here = file is None and path is None and "no_study" not in typed and caught() is None
        if may_be_here and Path(FILE_NAME).is_file():
            fields = [one for one in given.values() if isinstance(one, FieldOption)]
            if fields:
                return args, None, _long(fields[0])
            path = FILE_NAME
        if file is None and path is None:
            return args, None, ""
        file = file or read_study(path or FILE_NAME)
        taken = self._fitting(file.values, set(given), typed, options)
        words = [word for name, value in taken.items() for word in _words(options[name], value)]
        source = StudyInUse(
            file.path,
            # what stands in the place of what the file says: the same, or an alternative
            typed=tuple(
                _long(one)
                for name, one in given.items()
                if len(put_aside(file.values, {name})) < len(file.values)
            ),
            left=tuple(
                name
                for name in self._sought(file.values, typed)
                if name in file.values and name not in given
            ),
            unwritten=""
            if self.use.writes in file.values or typed.keys() & {*_ELSEWHERE, self.use.unless}
            else self.use.writes,
            places={_long(options[name]): file.places.get(name, name) for name in taken},
            files={
                str(each): (name, file.places.get(name, name))
                for name, value in file.values.items()
                if FIELDS[name].kind.is_file and value in taken.values()
                for each in (value if isinstance(value, list) else [value])
            },
            text=file.text,
            updates=self.use.updates,
            fields={
                **{name: plain(value) for name, value in put_aside(file.values, set(given)).items()},
                **_typed_fields(given, typed),
            },
        )
        ctx.meta[STUDY_FILE] = source
        return [*words, *self._place_of_result(file.values, typed, file.path), *args], source, ""

    def _sought(self, said: Mapping[str, Any], typed: Mapping[str, Any]) -> tuple[str, ...]:
        return self.use.seeks(said, typed) if callable(self.use.seeks) else self.use.seeks

    def _fitting(
        self, said: Mapping[str, Any], given: set[str], typed: Mapping[str, Any], options: Collection[str]
    ) -> dict[str, Any]:
        """What the file says and this command takes: nothing that was typed, is sought, or that a plan fixes."""
        aside = {*self._sought(said, typed), *self.use.skips}
        fitting = {name: value for name, value in put_aside(said, given).items() if name not in aside}
        if self.use.adapts is not None:
            fitting = self.use.adapts(fitting, typed)
        if "plan" in options and ("plan" in given or "plan" in fitting):
            fitting = {
                name: value
                for name, value in fitting.items()
                if FIELDS[name].section in _BESIDE_PLAN or name in self.use.beside_plan
            }
        return {name: value for name, value in fitting.items() if name in options and name not in given}

    def _place_of_result(self, said: Mapping[str, Any], typed: Mapping[str, Any], path: str) -> list[str]:
        """The words that say where the result goes, where the study says it and nothing lies there yet."""
        value = said.get(self.use.writes)
        if value is None or ABOUT.get() is not None or {"output", "code", self.use.unless} & typed.keys():
            return []
        if not value:
            return []
        place = str(value if isinstance(value, str) else value[0])
        if not Path(place).exists() and ".." in Path(os.path.relpath(place, Path(path).parent)).parts:
            rule = "lies outside the folder of the study, where nothing is written."
            raise InputError([Problem(rule, "Name a file below it, or give -o.", place=place)])
        if self.use.writes == "assignment" and (typed.get("platforms") or said.get("upload")):
            place = str(Path(place).parent)
            if place == ".":
                raise InputError([Problem(_NO_FOLDER, _A_FOLDER, place="[files] assignment")])
        if Path(place).exists() and typed.get("force") is None:
            note(f"{place} is there, and stays as it is; --force writes it anew.")
            return []
        return [f"--output={place}"]

    def _path(
        self, typed: Mapping[str, Any], rest: Sequence[str], args: list[str]
    ) -> tuple[str | None, list[str]]:
        """The study file that was typed, and the words without it."""
        named = typed.get("study_file")
        places: list[str] = [*rest]
        for one in self.params:
            if isinstance(one, click.Argument):
                value = typed.get(str(one.name))
                places += value if isinstance(value, tuple | list) else [value] if value is not None else []
        paths = [each for each in places if str(each).lower().endswith(".toml")]
        if named is not None:
            paths = [str(named), *(each for each in paths if is_study(each))]
        if paths and typed.get("no_study") is not None:
            raise click.UsageError("Give a study or --no-study, not both.")
        if len(paths) > 1:
            raise click.UsageError(f"One study at a time: got {', '.join(map(shortened, paths))}.")
        if named is not None or not paths:
            return None if named is None else str(named), args
        args.remove(paths[0])
        return paths[0], args

    def place_of(self, one: click.Parameter, ctx: click.Context) -> tuple[str, bool]:
        """A field of the study stands in its section."""
        if isinstance(one, FieldOption):
            return SECTIONS[FIELDS[one.field].section].title, FIELDS[one.field].main
        return super().place_of(one, ctx)


def _long(one: click.Parameter) -> str:
    return max(one.opts, key=len) if isinstance(one, click.Option) else one.human_readable_name.rstrip(".")


def _write_call(typed: TypedValues, source: ProgramSource) -> None:
    """Write the study and the call that asks the same of it."""
    from humeval_power.asking.program import study_call

    study_call(typed, source)


def _typed_fields(given: Mapping[str, click.Parameter], typed: Mapping[str, Any]) -> dict[str, Any]:
    """What was typed, as a study holds it."""
    fields: dict[str, Any] = {}
    for name, one in given.items():
        value = typed[str(one.name)]
        kind = FIELDS[name].kind
        try:
            fields[name] = plain(kind.read(value)) if kind.is_number else plain(value)
        except ValueError:  # told when the option is read
            fields[name] = value
    return fields


def _words(one: click.Parameter, value: Any) -> Iterator[str]:
    """What to type for the value of a field."""
    if isinstance(one, click.Argument):
        for path in [value] if isinstance(value, str) else value:
            yield f"./{path}" if path.startswith("-") else path
        return
    if isinstance(one, click.Option) and one.is_flag:
        if value or one.secondary_opts:
            yield _long(one) if value else max(one.secondary_opts, key=len)
        return
    each = value if one.multiple and not isinstance(value, str) else [value]
    for part in each:
        yield f"{_long(one)}={typed_list(part)}"


def is_study(path: str) -> bool:
    """Whether a file of TOML is a study, and not the answers of a report."""
    from humeval_power.files.file_bytes import read_text, toml_values

    try:
        document = toml_values(read_text(path), place=path)
    except InputError:
        return False
    return str(document.get("schema", "")).startswith("humeval_power/study/")
