"""`humeval-power assign`: who rates what when, as a table that can be carried out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from humeval_power.choices import DesignKind, PresentationOrder
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.asking.command import StudyCommand, Use
from humeval_power.interfaces.cli.beside import Reused
from humeval_power.interfaces.cli.options import seed_option
from humeval_power.interfaces.cli.output import note
from humeval_power.interfaces.cli.plan.assign_options import assignment_options, size_options
from humeval_power.interfaces.cli.plan.form_options import FormOptions, check_places, form_options
from humeval_power.interfaces.cli.plan.options import load_plan
from humeval_power.interfaces.cli.results import with_result
from humeval_power.safe_text import shell_word

if TYPE_CHECKING:
    from humeval_power.checking.exports.assigned import Key
    from humeval_power.checking.outputs import Outputs
    from humeval_power.reporting.field.uploaded import UploadResult
    from humeval_power.reporting.plan.assignment import AssignmentResult, Takeover


def _is_key(path: str) -> bool:
    """Whether a key lies there already."""
    from humeval_power.interfaces.formats.assigned import looks_like_key

    return looks_like_key(path)


@click.command("assign", cls=StudyCommand, use=Use(skips=("assignment",), writes="assignment"))
@size_options
@assignment_options
@seed_option
@with_result(endings=(".csv",), beside={"key": Reused(lambda result: result.key_csv(), _is_key)})
@form_options
def command(
    plan: str | None,
    amend: str | None,
    workers: int | None,
    items: int | None,
    n_systems: int | None,
    ratings_per_item: int | None,
    paired: bool | None,
    kind: DesignKind | None,
    max_ratings_per_worker: int | None,
    documents: int | None,
    items_per_document: int | None,
    together: bool,
    systems: tuple[str, ...] | None,
    item_names: str | None,
    batch_size: int | None,
    order: PresentationOrder,
    checks: float | None,
    repeats: float | None,
    replacements: int,
    takeovers: tuple[Takeover, ...],
    key: str | None,
    seed: int | None,
    form: FormOptions | None,
) -> AssignmentResult | UploadResult:
    """Say who rates what when; -o FILE.csv writes the table.

    Slots w01, w02, ... are filled by workers as they come. The column place
    says which of its outputs of an item a worker sees first, second, ...: keep
    it with the ratings, and name it by --order-column. More than two systems
    are spread evenly over workers, places and neighbours; what is not even is
    told in numbers. With --key the table names outputs by their codes alone,
    which are drawn at random: the key alone says what they stand for. When a
    worker drops out, run the same command again with --replace: it uses the
    key that it finds. --format csv prints the table.

    With --outputs and --upload the folder -o gets what platforms take: the
    texts under their codes, the questions, attention checks, and how the
    answers come back; and assignment.csv to follow the work by.
    """
    from humeval_power.api.field import make_uploads
    from humeval_power.api.plan import assign_work
    from humeval_power.interfaces.cli.work_ahead import refuse_work
    from humeval_power.planning.study.designs_of import build_design
    from humeval_power.planning.workload import study_workload
    from humeval_power.study_counts import Documents

    if form is not None:
        check_places(click.get_current_context().params["output"], key)
        systems, items = _of_outputs(form.outputs, systems, items, planned=plan is not None)
    typed = {
        "--workers": workers,
        "--items": items,
        "--n-systems": n_systems,
        "--ratings-per-item": ratings_per_item,
        "--paired/--unpaired": paired,
        "--design": kind,
        "--documents": documents,
        "--items-per-document": items_per_document,
        "--systems": None if plan is not None else systems,
    }
    _check_typed(typed, planned=plan is not None)
    planned = load_plan(plan, amend)
    if planned is not None and systems is not None and len(systems) != len(planned.systems):
        raise click.UsageError(
            f"--systems names {len(systems)}; the plan has {len(planned.systems)}: {', '.join(planned.systems)}."
        )
    if (
        planned is not None
        and systems is not None
        and len(systems) == 2
        and tuple(systems) != planned.systems
    ):
        told = shell_word(",".join(systems))
        note(f"The plan calls them {', '.join(planned.systems)}. Beside it say --systems {told}.")
    design = (
        planned.design()
        if planned is not None
        else build_design(
            workers or 0,
            items or 0,
            ratings_per_item,
            paired=paired is not False,
            kind=kind,
            max_ratings_per_worker=max_ratings_per_worker,
            documents=Documents(documents, items_per_document),
            n_systems=_number_of_systems(n_systems, systems),
        )
    )
    own_key = None if key is None else _found_key(key, takes_over=bool(takeovers))
    refuse_work(study_workload(design, n_simulations=1), n_simulations=1)
    named = None if item_names is None else _read_names(item_names)
    if form is not None and named is None:
        named = _names_of(form.outputs, design.n_items)
    assigned = assign_work(
        planned or design,
        systems=systems,
        item_names=named,
        documents_together=together,
        batch_size=batch_size,
        order=order,
        check_rate=checks,
        repeat_rate=repeats,
        replacements=replacements,
        takeovers=takeovers,
        max_ratings_per_worker=max_ratings_per_worker,
        blind=key is not None,
        key=own_key,
        seed=seed,
    )
    if form is None:
        return assigned
    return make_uploads(assigned, form.outputs, form.asked(planned), platforms=form.platforms)


def _found_key(path: str, *, takes_over: bool) -> Key | None:
    """The key of the study, where it is there already.

    Raises
    ------
    InputError
        A key that cannot be read; or none, where a spare is to see the codes that others saw.
    """
    from humeval_power.interfaces.formats.assigned import read_key

    if _is_key(path):
        return read_key(path)
    if takes_over:
        rule = "is not there. A spare sees the codes of the study, which its key alone can make."
        raise InputError(
            [Problem(rule, "Give --key as the table of the study was written with.", place=path)]
        )
    return None


def _of_outputs(
    outputs: Outputs, systems: tuple[str, ...] | None, items: int | None, *, planned: bool
) -> tuple[tuple[str, ...] | None, int | None]:
    """The systems and the number of items: as typed, or else those of the outputs, where there is no plan."""
    if planned:
        return systems, items
    return systems or outputs.systems, items or len(outputs.items)


def _names_of(outputs: Outputs, n_items: int) -> list[str] | None:
    """The names of the items, where the outputs have names; None where they go by number.

    Raises
    ------
    InputError
        Another number of items than the study has.
    """
    if len(outputs.items) != n_items:
        rule = f"has outputs of {len(outputs.items):,} items; the study has {n_items:,}."
        remedy = (
            "Leave out those that are not to be rated, or plan for as many as there are: "
            f"humeval-power plan --items {len(outputs.items)}."
        )
        raise InputError([Problem(rule, remedy, place=outputs.origin)])
    return list(outputs.items) if outputs.named else None


def _check_typed(typed: Mapping[str, object], *, planned: bool) -> None:
    """A study is planned or typed, not half of each."""
    given = [option for option, value in typed.items() if value is not None]
    if planned and given:
        raise click.UsageError(f"The plan says this itself: leave out {', '.join(given)}.")
    if not planned and not {"--workers", "--items"} <= set(given):
        raise click.UsageError("Give --plan FILE, or --workers and --items.")


def _number_of_systems(number: int | None, names: tuple[str, ...] | None) -> int:
    """As many as were asked for, or named; two without either."""
    if number is not None and names is not None and number != len(names):
        raise click.UsageError(
            f"--n-systems is {number}, and --systems names {len(names)}: give one of them."
        )
    return number or (2 if names is None else len(names))


def _read_names(path: str) -> list[str]:
    """The lines of a file without the blanks around them; blank lines at the end do not count."""
    from humeval_power.interfaces.formats.file_bytes import read_text

    text = read_text(path)
    return [line.strip() for line in text.rstrip().split("\n")] if text.strip() else []
