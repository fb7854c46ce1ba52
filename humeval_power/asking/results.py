"""One way out of a command: options in, one result, printed or written by the ending of `-o`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humeval_power.asking.config import CONFIG, WRITES_CONFIG, note_config
from humeval_power.asking.options import Function, decorated, option_of
from humeval_power.asking.output import (
    FIGURES,
    FORMAT_OF,
    INDEX,
    QUIET,
    RECORD,
    STUDY_FILE,
    WORD,
    Beside,
    BesideFile,
    Content,
    Format,
    answer_of,
    caught,
    compiled_kernels,
    file_of,
    folder_of,
    is_quiet,
    note,
    printed,
    refuse_inputs,
    refuse_one_place,
    refuse_to_overwrite,
    refuse_to_renew,
    remark,
    say,
    show,
    typed_files,
    write_set,
)
from humeval_power.asking.run import EXIT_TARGET_MISSED, Run, command_as_typed, computing, kept_work
from humeval_power.asking.study_file import ABOUT
from humeval_power.asking.vocabulary import OUTPUT_HELP
from humeval_power.errors import InputError
from humeval_power.fields import Field, flag, of_answer, text, word

if TYPE_CHECKING:
    from humeval_power.saying.result import Result

PYTHON = ".py"
PROGRAMS = (".r",)  # endings of files that hold a program which a result has
_MOST_NAMES = 20  # of files that were written, on standard error


@dataclass(frozen=True, slots=True)
class Out:
    """Where a result goes, and in which form; `code` is the ending of the program that is asked for instead."""

    format: Format
    path: str | None
    force: bool
    details: bool
    own_endings: tuple[str, ...] = ()
    beside: tuple[BesideFile, ...] = ()
    code: str = ""

    @property
    def is_folder(self) -> bool:
        """Whether the path names a folder: it ends with a slash, or has no ending.
        Raises InputError: an ending that is not known."""
        path = self.path or ""
        ending = Path(path).suffix.lower()
        if path.endswith("/") or not ending:
            return True
        known = tuple(dict.fromkeys([*self.own_endings, *FORMAT_OF, WORD, *FIGURES]))
        if ending not in known and ending != self.code:
            raise InputError(
                f"-o {path}: no file of this ending is written. Take one of {', '.join(known)}; or a folder, "
                f"such as {Path(path).stem}/, for all of it."
            )
        return False

    def check(self) -> None:
        """Refuse, before long work, what cannot be written."""
        if self.path in (None, "-") and not (self.beside or self.code):
            return
        refuse_one_place(self.beside, self.path)
        if self.code:
            self._check_code()
        refuse_to_renew(self.beside, force=self.force)
        written: list[str | Path] = [file.path for file in self.beside if not (file.keeps or file.is_there)]
        is_file = False
        if self.path is not None and self.path != "-":
            is_file = not self.is_folder
            place = Path(self.path)
            written += [place] if is_file else [place / INDEX, place / RECORD]
        refuse_to_overwrite(written, force=self.force)
        if is_file and Path(self.path or "").suffix.lower() == WORD:
            from humeval_power.asking.pandoc import require_pandoc

            require_pandoc()

    def _check_code(self) -> None:
        if self.path not in (None, "-") and Path(self.path or "").suffix.lower() != self.code:
            raise InputError(
                f"-o {self.path}: what --code asks for is written to a file ending {self.code.upper()}."
            )
        if self.format != "terminal":
            raise InputError(
                f"--code prints a program, and {self.format} is asked for too: take one of them."
            )

    def deliver(self, result: Result) -> None:
        """Print or write the result, or hand it over to the program that runs the command."""
        from humeval_power.files.documents.reading import to_json

        for said in result.remarks:
            note(said)
        elsewhere = caught()
        if elsewhere is not None:
            elsewhere.found(result)
            if self.path is None:
                return
        beside = {Path(file.path): file.content(result) for file in self.beside if not file.is_there}
        if self.path is None or self.path == "-":
            code = self.code and result.artefact(self.code)
            text = str(code) or printed(result, self.format, details=self.details)
            exact = bool(code) or self.format == "csv"
            if beside:
                write_set(beside, force=self.force, first=lambda: show(text, exact=exact))
            else:
                show(text, exact=exact)
            answer_is_shown = not code and self.format not in ("csv", "json") and not result.printed_as
        else:
            self._write(result, self.path, beside)
            if self.format == "json":
                say(to_json(result.record()), nl=False)
            answer_is_shown = False
        if not answer_is_shown and elsewhere is None and not is_quiet():
            read_by_programs = self.path in (None, "-") or self.format == "json"
            say(answer_of(result), err=read_by_programs)
        for file in self.beside:
            note(f"{'Used' if file.is_there else 'Written'}: {file.path}")

    def deliver_program(self) -> None:
        """Print or write the program in Python that gives the same as the command that runs."""
        from humeval_power.asking.program import program_of

        program = program_of(click.get_current_context())
        if self.path is None or self.path == "-":
            show(program, exact=True)
        else:
            write_set({Path(self.path): program}, force=self.force)
            note(f"Written: {self.path}")

    def _write(self, result: Result, path: str, beside: Mapping[Path, Content]) -> None:
        if self.is_folder:
            files = folder_of(result)
            place = Path(path)
            refuse_inputs(place / name for name in files)
            write_set({**{place / name: files[name] for name in files}, **beside}, force=self.force)
            by = caught()
            if by is None:
                note(f"Written to {path}: {_names(files)}")
            elif by.keeps_study:  # others say themselves where their files are
                note(f"Written: {path}")
            lying = (one.relative_to(place).as_posix() for one in place.rglob("*") if one.is_file())
            if result.files_alone and (others := sorted(name for name in lying if name not in files)):
                remark(f"WARNING: {path} also holds {_names(others)}, which this run did not write.")
        else:
            content = file_of(result, Path(path).suffix.lower(), Path(path).stem)
            write_set({Path(path): content, **beside}, force=self.force)
            note(f"Written: {path}")


def with_result(
    *,
    endings: tuple[str, ...] = (),
    writes: bool = True,
    beside: Beside | None = None,
    codes: Mapping[str, str] | None = None,
    configured: bool = False,
) -> Callable[[Function], Function]:
    """Add --json, --format, --details, --code, --output, --force and --quiet to a command that returns a result.

    endings : those of files that its result makes of its own, as `Result.endings`; said here, so that --help and
        wrong options need not import the result.
    writes : without it the result is printed only: what the command writes is its own, and has a fixed content.
    beside : options of the command that name a file each, and what that holds of the result; such files are
        written with the result or not at all.
    codes : programs that a result holds beside that in Python, by the name of their language: the endings of
        their files. --code prints one instead of the result.
    configured : the command takes --config and --write-config, what it is asked in a file.

    What is returned is printed or written, with the command line and the digests of the files that were
    read in its record. With --output, what cannot be written is refused before the command runs, and the
    work of a long command is kept beside it until it is there. The command ends with 3 where the result's
    target was missed.
    """
    beside = {**(beside or {}), **(WRITES_CONFIG if configured else {})}
    fields = {
        "as_json": _JSON,
        "format": _FORMAT,
        "details": _DETAILS,
        "code": of_answer(
            word((*(codes or {}), "python")),
            "Print a program that gives the same from the same files, instead of the result.",
            further=True,
        ),
        **({"output": _output(endings), "force": FORCE} if writes else {}),
        **(CONFIG if configured else {}),
    }
    options = [
        *(option_of(name, one) for name, one in fields.items()),
        option_of(
            "quiet", _QUIET, callback=lambda ctx, _, quiet: ctx.meta.update({QUIET: quiet}), exposed=False
        ),
    ]

    def decorate(command: Function) -> Function:
        @wraps(command)
        def run(*args: Any, **values: Any) -> None:
            for name in CONFIG if configured else ():
                values.pop(name)
            out = _out_of(values, endings, writes=writes, beside=beside, codes=codes)
            out.check()
            if out.code == PYTHON:
                out.deliver_program()
                return
            from humeval_power.files.file_bytes import noting_files
            from humeval_power.saying.progress import lines_to, silent

            context = click.get_current_context()
            how = values.get("run")
            dry = how if isinstance(how, Run) and how.is_dry else None  # a text is a column of runs
            with noting_files() as files, kept_work(out.path, files, elsewhere=beside) as kept:
                with ExitStack() as around:
                    around.enter_context(compiled_kernels())
                    around.enter_context(silent() if context.meta.get(QUIET, False) else lines_to(note))
                    if kept is not None:
                        around.enter_context(computing(kept))
                    if configured:
                        note_config(context)
                    if dry is None:
                        result = command(*args, **values)
                    else:
                        result = _costs_of(lambda: command(*args, **values), dry)
                source = context.meta.get(STUDY_FILE)
                complete = result.with_command(command_as_typed(), tuple(files.values()))
                if source is not None:
                    complete = complete.of_study(source.fields)
                if dry is not None:
                    replace(out, path=None, beside=()).deliver(complete)
                    return
                out.deliver(complete)
                if kept is not None:
                    kept.remove()
                by = caught()
                if source is not None and out.path not in (None, "-") and (by is None or by.keeps_study):
                    source.update(complete, out.path)
            if result.missed:
                if caught() is None:
                    note(f"Ends with {EXIT_TARGET_MISSED}: {result.missed}")
                sys.exit(EXIT_TARGET_MISSED)

        return decorated(run, options)

    return decorate


def _costs_of(compute: Callable[[], Result], how: Run) -> Result:
    """What a command will cost; of one that simulates nothing what it finds."""
    from humeval_power.saying.progress import SweepCost
    from humeval_power.sweep.dispatch import CostWorkedOut

    try:
        result = compute()
    except CostWorkedOut as costs:
        return SweepCost(cost=costs.cost, slots=how.slots)
    note("Nothing of this is computed in blocks: here is the answer itself, which is not written.")
    return result


def _names(files: Collection[str]) -> str:
    """The names of files; of many the first, and how many more there are."""
    shown = list(files)[:_MOST_NAMES]
    more = len(files) - len(shown)
    return ", ".join(shown) + (f", and {more:,} more" if more else "")


def details_wanted() -> bool:
    """Whether the command that runs will show sections of details, so that they are worth computing."""
    typed = dict(click.get_current_context().params)
    out = _out_of(typed, own_endings=(), writes="output" in typed)
    if out.path is None or out.path == "-":
        return out.details if out.format == "terminal" else out.format in ("markdown", "html", "latex")
    return out.path.endswith("/") or Path(out.path).suffix.lower() not in (".csv", ".json", *PROGRAMS)


def record_wanted() -> bool:
    """Whether the command that runs will write or print a record, which keeps what details show; a call
    of Python can be asked for it."""
    if ABOUT.get() is not None:
        return True
    typed = dict(click.get_current_context().params)
    out = _out_of(typed, own_endings=(), writes="output" in typed)
    path = out.path if out.path not in (None, "-") else None
    return out.format == "json" or (path is not None and Path(path).suffix.lower() in ("", ".json"))


def code_wanted() -> bool:
    """Whether the command that runs will print or write a program that repeats its result."""
    typed = click.get_current_context().params
    return bool(typed.get("code")) or Path(typed.get("output") or "").suffix.lower() in PROGRAMS


def _out_of(
    values: dict[str, Any],
    own_endings: tuple[str, ...],
    *,
    writes: bool,
    beside: Beside | None = None,
    codes: Mapping[str, str] | None = None,
) -> Out:
    """Where a result goes, taken out of the values of a command's options."""
    as_json, form, details = (values.pop(name) for name in ("as_json", "format", "details"))
    output, force = (values.pop("output"), values.pop("force")) if writes else (None, False)
    files = typed_files(beside, click.get_current_context().params) if beside else ()
    code = {"python": PYTHON, **(codes or {})}.get(values.pop("code") or "", "")
    return Out("json" if as_json else form, output, force, details, own_endings, files, code)


_JSON = of_answer(flag(), "Print JSON, for programs.", usual=False, option="json")
_FORMAT = of_answer(word(Format), "What is printed.", usual="terminal", further=True)
_DETAILS = of_answer(flag(), "Print the sections of details too.", usual=False, further=True)
FORCE = of_answer(flag(), "Overwrite what is there.", usual=False, further=True)
_QUIET = of_answer(flag(), "Print the result and errors only.", usual=False, also="-q")


def _output(endings: tuple[str, ...]) -> Field:
    own = f"{', '.join(endings)}: what the command makes; " if endings else ""
    return of_answer(
        text("PATH"),
        OUTPUT_HELP,
        note=f"; its ending says what: {own}.md, .html, .tex, .docx, .csv, .json, .png ...; without an ending a "
        "folder with all of it.",
        also="-o",
    )
