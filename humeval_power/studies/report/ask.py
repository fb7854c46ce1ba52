"""`humeval-power report`: checklists, forms and paragraphs, filled from what is known; what of them is open."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, cast

import click

from humeval_power.asking.calls import TypedValues
from humeval_power.asking.command_groups import CommandGroup
from humeval_power.asking.declared import Calls, Declaration, Fields, Page, Part
from humeval_power.asking.expressions import call
from humeval_power.asking.output import Kept, note, refuse_to_overwrite, replace_file
from humeval_power.asking.vocabulary import PARAMETERS_FILE, PLAN_FILE, STRICT_HELP
from humeval_power.errors import InputError
from humeval_power.fields import flag, own, text, word
from humeval_power.studies.plan.ask_held import plan_path
from humeval_power.studies.report.calls import CHECKED_FORMS, DEFAULT_FORM, FORMS, Form
from humeval_power.studies.report.sources import (
    Sources,
    kept_answers,
    memory_path,
    own_answers,
    read_config,
    read_criteria,
    read_memory,
    record_of,
    same_file,
    sources_of,
    telling_file,
)
from humeval_power.study import FIELDS

_FILES = own(text("[FILE]...", many=True), "")
_SOURCES: Fields = {  # as `Sources` names them
    "parameters": PARAMETERS_FILE,
    "analysis": own(
        text("PATH"),
        FIELDS["findings"].help,
        "Analysis",
        page_help="The record of an analysis: record.json or analysis.json.",
        option="findings",
    ),
    "surface": own(text("PATH"), "What 'surface' wrote.", "Power over many designs"),
    "power": own(
        text("PATH"),
        "What 'power' wrote.",
        "Power",
        page_help="The record of an answer of power.",
        option="power-file",
    ),
    "plan": PLAN_FILE,
    "imported": own(
        text("PATH"),
        "What 'import' wrote.",
        "Import",
        page_help="The record of an import: how rows were lost.",
    ),
    "ratings": own(
        text("FILE"),
        FIELDS["ratings"].help,
        "Ratings",
        note="For pictures of them.",
        page_help="The table that was analysed, for pictures of it.",
    ),
    "config": own(
        text("FILE"),
        FIELDS["answers"].help,
        "Your own answers",
        page_help="A TOML file with a table [report].",
        option="answers",
    ),
    "criterion": own(
        text("NAME"),
        FIELDS["criterion"].help,
        "Criterion",
        page_help="Of an analysis of several criteria, one. [all]",
    ),
}
_READ_AS = {"analysis": record_of, "power": record_of, "imported": record_of, "plan": plan_path}
_FORM = own(
    word(FORMS),
    "The page of the study; Card et al.'s recommendations; the HEDS 3.0 datasheet; ARR's checklist; a "
    "preregistration; methods and results for the paper; parameters to plan the next study from. "
    f"[{DEFAULT_FORM}; of a template all]",
    "Form",
    words={
        "study": "page of the study",
        "card2020": "recommendations of Card et al. (2020)",
        "heds": "HEDS 3.0 datasheet",
        "arr": "ARR responsible NLP checklist",
        "aspredicted": "AsPredicted preregistration",
        "osf": "OSF preregistration",
        "paper": "methods and results for the paper",
        "parameters": "parameters to plan the next study from",
    },
)
_STRICT = own(flag(), STRICT_HELP, note=": fields are open.", usual=False)
_NO_MEMORY = own(flag(), "Leave out answers that 'report remember' keeps.", usual=False)
_NOTHING = "Give at least one FILE, such as analysis.json or plan.json."
_NOT_ANALYSED = (
    "has ratings and no result yet: make one with 'analyze RATINGS -o analysis.json', and give both; or write the "
    "answers that only you know with --template answers.toml."
)
_WITHOUT_MEMORY: tuple[Form, ...] = ("paper", "parameters")


def _report(given: TypedValues, calls: Calls) -> None:
    sources, form, into = sources_of(given), given["form"], given["into"]
    if sources.heds is not None:
        raise InputError(f"{sources.heds} is a file of the HEDS form: give it as --into, with --form heds.")
    if given["template"] is not None:
        if into is not None:
            raise click.UsageError(
                "--into merges into a file of the HEDS form: leave it out with --template."
            )
        _template(sources, given, calls)
        return
    if not sources.documents and sources.config is None:
        raise click.UsageError(
            _NOTHING if sources.ratings is None else f"{sources.ratings} {_NOT_ANALYSED}"
        )
    from humeval_power.files.file_bytes import read_object

    if not sources.documents:
        note("No file holds a plan or a result: the forms are filled from your answers alone.")
    chosen = form or DEFAULT_FORM
    memory = read_memory(wanted=not given["no_memory"] and chosen not in _WITHOUT_MEMORY)
    answers: Any = own_answers(sources.config, memory=memory)
    with telling_file(sources.config):
        documents: Any = read_criteria(sources)
        saved = None if into is None else read_object(into)
        expression = call(
            "hp.report", *documents, form=chosen, answers=answers, into=saved, strict=given["strict"]
        )
        calls.let("result", expression)


def _template(sources: Sources, given: TypedValues, calls: Calls) -> None:
    """What is still open; the answers of the file that is written anew come before those of another."""
    form, path = given["form"], given["template"]
    if form is not None and form not in CHECKED_FORMS:
        raise click.UsageError(
            f"--template is for --form {', '.join(CHECKED_FORMS)}, or for all without --form."
        )
    from humeval_power.studies.report.config import NO_CONFIG

    answers: Any = kept_answers(path) or NO_CONFIG
    if sources.config is not None and not same_file(sources.config, path):
        answers = answers.completed_by(read_config(sources.config))
    documents: Any = read_criteria(sources)
    memory: Any = read_memory(wanted=not given["no_memory"])
    said = {"answers": answers, "memory": memory, "strict": given["strict"]}
    calls.let("result", call("hp.documents.answers_template", *documents, form=form, **said))


class FilesOrCommand(CommandGroup):
    """A command of its own that takes files; a first word that names one of its commands runs that."""

    allow_interspersed_args = True

    def __init__(self, *, no_program: str, **named: Any) -> None:
        super().__init__(invoke_without_command=True, subcommand_metavar="", **named)
        self.no_program = no_program

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The context of the command that the first word names, else of this one."""
        inner = self.commands.get(args[0]) if args else None
        if inner is None:
            return super().make_context(info_name, args, parent, **extra)
        return inner.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Options and files, as a command that is no group parses them."""
        rest = click.Command.parse_args(self, ctx, args)
        late = next((word for word in ctx.params.get("files", ()) if word in self.commands), None)
        if late is not None:
            raise click.UsageError(f"Put {late!r} first, and its options behind it: report {late} ...", ctx)
        return rest

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command itself."""
        return click.Command.invoke(self, ctx)


DECLARED = Declaration(
    ("report",),
    """Show a study on one page, or fill a checklist, form or paragraph.

    FILE is what 'fit', 'analyze', 'plan', 'power --json' or 'surface -o'
    wrote, the ratings, or your own answers in TOML, told by what is in it; or
    the folder of the study, which has them as analysis.json, plan.json and
    ratings.csv. -o FOLDER/ has the page with all forms; -o heds.json is the
    file of the HEDS web form, -o paper.tex a fragment to input. What only
    you know stays open: --template answers.toml asks for it.
    """,
    {
        "files": _FILES,
        **_SOURCES,
        "form": _FORM,
        "into": own(text("FILE"), "A file of the HEDS form to merge into; your answers win."),
        "strict": _STRICT,
        "template": own(
            text("FILE"),
            "Write a TOML file of the answers that are still open, to fill in and give back as a FILE.",
        ),
        "no_memory": _NO_MEMORY,
    },
    _report,
    Page(
        "Write it up",
        "Fills the forms that reviewers ask for as far as the numbers go; what only you know stays open and is "
        "listed.",
        (
            Part("What to write", ("form", "criterion")),
            Part(
                "What it is made of",
                ("analysis", "plan", "parameters", "power", "surface", "ratings", "imported", "config"),
            ),
        ),
        journey="ratings",
        hides=("files", "strict", "into"),
    ),
    arguments=("files",),
    read_as=_READ_AS,
    beside={"template": Kept(attrgetter("text"), "its answers stay, comments do not")},
    kind=FilesOrCommand,
    no_program="tells the files of a study apart by what is in them; hp.report takes their documents.",
)


def _check(given: TypedValues, calls: Calls) -> None:
    sources = sources_of(given)
    if not sources.documents and sources.heds is None:
        raise click.UsageError("Name at least one FILE, such as analysis.json or plan.json.")
    from humeval_power.files.file_bytes import read_object

    answers: Any = own_answers(sources.config, memory=read_memory(wanted=not given["no_memory"]))
    with telling_file(sources.config):
        documents: Any = read_criteria(sources) if sources.documents else ()
        saved = None if sources.heds is None else read_object(sources.heds)
        said = {"form": given["form"], "answers": answers, "saved": saved, "strict": given["strict"]}
        calls.let("result", call("hp.documents.open_fields", *documents, **said))


CHECK = Declaration(
    ("report", "check"),
    """List the fields of a form that are open, each with a hint.

    FILE is any of the files that 'report' takes, told by what is in it, or
    what the web form of HEDS saved. 'open' has no answer; 'check' has one
    that a person should confirm.
    """,
    {
        "files": _FILES,
        **_SOURCES,
        "form": own(word(CHECKED_FORMS), "As for 'report'. [card2020; heds for a file of its form]"),
        "strict": _STRICT,
        "no_memory": _NO_MEMORY,
    },
    _check,
    arguments=("files",),
    read_as=_READ_AS,
    no_program="tells the files of a study apart; hp.documents.open_fields takes documents.",
)


def _remember(given: TypedValues, calls: Calls) -> None:
    file = given["answers"]
    names = [name.strip() for name in (given["forget"] or "").split(",") if name.strip()]
    answers: Any = None if file is None else read_config(file)
    memory: Any = read_memory(wanted="all" not in names)
    expression = call("hp.documents.remember", answers, memory=memory, forget=names)
    result: Any = calls.let("result", expression)
    place = memory_path()
    if file is not None or names:
        refuse_to_overwrite([place], force=True)
        replace_file(place, result.text)
        note(f"Written: {place}")
    elif result.texts:
        note(f"From {place}")


REMEMBER = Declaration(
    ("report", "remember"),
    """Keep the answers that are the same in every study, or list them.

    ANSWERS is the file of answers of a study. What describes the team and its
    tools is kept in the folder of your settings: persons, ethics, consent,
    recruitment, pay, platform, licence and the like; nothing of the ratings.
    'report' and 'report check' use it where the answers of a study say
    nothing, and tell which they took; --no-memory leaves it out there.
    """,
    {
        "answers": own(text("[ANSWERS]"), ""),
        "forget": own(text("NAMES"), "Forget these answers: 'all', or A,B,..."),
    },
    _remember,
    arguments=("answers",),
    writes=False,
    no_program="writes the answers that are remembered; hp.documents.remember is its call.",
)
command = cast(click.Group, DECLARED.command())
for _each in (CHECK, REMEMBER):
    command.add_command(_each.command())
