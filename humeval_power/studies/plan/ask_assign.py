"""`humeval-power assign`: who rates what when, as a table that can be carried out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humeval_power.asking.command import Use, study_in_use
from humeval_power.asking.declared import SIZE, Page, Part, study_command, untouched
from humeval_power.asking.form import Next
from humeval_power.asking.output import Reused, note
from humeval_power.asking.study_values import StudyValues, study_fields
from humeval_power.asking.vocabulary import SEED, WITHDRAWN
from humeval_power.choices import DEFAULT_INSTRUCTIONS, MAX_RATE
from humeval_power.errors import InputError, Problem
from humeval_power.fields import flag, names, own, parts_of, real, text, whole
from humeval_power.safe_text import shell_word
from humeval_power.scales import RatingScale
from humeval_power.studies.field.ask_import import EXPORTS
from humeval_power.studies.plan.ask_held import AMEND, LEDGER_SECRET, load_plan, plan_path
from humeval_power.studies.resolve import design_of
from humeval_power.study import FIELDS

if TYPE_CHECKING:
    from humeval_power.checking.exports.assigned import Key
    from humeval_power.checking.outputs import Outputs
    from humeval_power.designs import Design
    from humeval_power.item_pool import ItemPool
    from humeval_power.studies.field.files import UploadResult
    from humeval_power.studies.field.form import Asked
    from humeval_power.studies.monitor.dropping import DroppingMonitoring
    from humeval_power.studies.plan.plan import Plan
    from humeval_power.studies.plan.result_assignment import AssignmentResult, NextRatings, Takeover

_OF_PLAN = (  # fields that a plan says itself
    *("workers", "items", "n_systems", "ratings_per_item", "paired", "design"),
    *("documents", "items_per_document"),
)
_RATE = real(0, MAX_RATE)
_OF_A_RATE: dict[str, Any] = {"unit": "as a share", "slider": (0, 0.3), "step": 0.01}
_OF_NEXT = ("assignment", "exports", "budget", "ledger")  # what asks about a study that is under way
_SLOTS = names(parts_of, "SLOT,...")
_OF_FORM = ("questions", "labels", "check_texts", "title", "instructions", "scale")


def _is_key(path: str) -> bool:
    """Whether a key lies there already."""
    from humeval_power.studies.field.files import looks_like_key

    return looks_like_key(path)


def _takeovers(
    _ctx: click.Context, _option: click.Parameter, texts: tuple[str, ...]
) -> tuple[Takeover, ...]:
    """(spare, slot, first batch) for each --replace."""
    takeovers = []
    for typed in texts:
        spare, _, rest = typed.partition("=")
        slot, colon, batch = rest.partition(":")
        if not spare or not slot or (colon and not batch.isdecimal()):
            raise click.BadParameter(f"write SPARE=SLOT such as r01=w07, or r01=w07:3; got {typed!r}.")
        takeovers.append((spare.strip(), slot.strip(), int(batch or 1)))
    for what, each in (
        ("spare", [spare for spare, _, _ in takeovers]),
        ("slot", [s for _, s, _ in takeovers]),
    ):
        twice = next((name for name in each if each.count(name) > 1), None)
        if twice is not None:
            raise click.BadParameter(f"the {what} {twice!r} is named twice.")
    return tuple(takeovers)


def _under_way(values: dict[str, Any], typed: Mapping[str, Any]) -> dict[str, Any]:
    """What has been collected means nothing to a study that begins."""
    return {name: value for name, value in values.items() if "n_next" in typed or name not in _OF_NEXT}


def _questions(
    _ctx: click.Context, _option: click.Parameter, texts: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    """(criterion, text) of each --rating-question."""
    questions = []
    for typed in texts:
        name, sign, question = (part.strip() for part in typed.partition("="))
        if not (name and sign and question):
            raise click.BadParameter(
                f"write CRITERION=QUESTION, such as 'fluency=How fluent is this text?'; got {typed!r}."
            )
        questions.append((name, question))
    return tuple(questions)


@study_command(
    ("assign",),
    {
        **untouched(
            study_fields(
                *("design", "form", "outputs", "n_systems", "ledger"),
                pool=replace(
                    FIELDS["pool"],
                    note="They are given out in the order of its file.",
                    page_help="What the page \u201cWhich items to rate\u201d writes.",
                ),
                assignment=replace(
                    FIELDS["assignment"],
                    note="Only where ratings come next: that so far, and again for each that came after it.",
                    main=False,
                ),
                exports=replace(
                    FIELDS["exports"],
                    note="Only where ratings come next; repeatable. Ratings are not read.",
                ),
                budget=replace(
                    FIELDS["budget"],
                    note="on the whole study, at the prices of the plan, where ratings come next.",
                    main=False,
                ),
                plan=replace(
                    FIELDS["plan"], page_help="What the page \u201cThe plan\u201d writes; it says the size."
                ),
                systems=replace(
                    FIELDS["systems"],
                    kind=replace(FIELDS["systems"].kind, metavar="A,B,..."),
                    note=", which also say how many there are. [A,B,...]",
                    label="Names of the systems",
                ),
                paired=replace(
                    FIELDS["paired"],
                    usual=None,
                    note=", or other workers do, as far as there are enough. [paired]",
                    label="Who sees all systems",
                ),
                max_ratings_per_worker=replace(
                    FIELDS["max_ratings_per_worker"],
                    note="Repeats and checks count.",
                ),
                key=replace(
                    FIELDS["key"],
                    kind=replace(FIELDS["key"].kind, metavar="PATH"),
                    note=": written to this file alone, or read where this study has its key there.",
                    label="Workers see codes, not systems",
                    page_help="What the codes stand for is then written apart, for you alone. Give a seed of your "
                    "own: it makes the order.",
                ),
                scale=replace(FIELDS["scale"], note="0:100 is a slider. [that of the plan]"),
            ),
            key="1",
        ),
        "amend": AMEND,
        "together": own(
            flag("documents-together", "documents-spread"),
            "Give a document to a worker as a whole, its items one after the other in their order; or deal "
            "its items one by one. [spread]",
            "A document is given",
            option="documents-together",
            words={"1": "as a whole", "0": "item by item"},
            usual=False,
            further=True,
        ),
        "item_names": own(
            text("FILE"),
            "Names of the items: a line each, or a CSV with a column item, such as 'judge sample' writes. [i01, "
            "i02, ...]",
            "Names of the items",
            further=True,
        ),
        "check_rate": own(
            _RATE,
            FIELDS["checks"].help,
            "Attention checks",
            option="checks",
            **_OF_A_RATE,
        ),
        "repeat_rate": own(
            _RATE,
            FIELDS["repeats"].help,
            "Outputs shown once more",
            option="repeats",
            **_OF_A_RATE,
        ),
        "takeovers": own(
            text("SPARE=SLOT", many=True),
            "Give only what this spare does for this slot: r01=w07, or r01=w07:3 from batch 3 on; repeatable.",
            "A spare stands in",
            option="replace",
            page_help="Such as r01=w07, or r01=w07:3 from batch 3 on. It sees the codes of the table that was "
            "asked for without it.",
            further=True,
        ),
        "n_next": own(
            whole(1),
            "Say which ratings come next in a study that is under way, so many at most, by counts alone.",
            "Ratings that come next",
            option="next",
            page_help="How many, of a study that is under way; leave it blank to lay out a study that begins.",
        ),
        "dropouts": own(
            _SLOTS,
            "Where ratings come next: slots whose workers do not come back; what they did counts.",
            "Slots of dropouts",
            page_help="Such as w03,w05: what they did counts, the rest may go to others.",
            further=True,
        ),
        "excluded": own(
            _SLOTS,
            "Where ratings come next: slots whose workers the rules of the plan leave out; 'collect status' says.",
            "Slots that are left out",
            page_help="Such as w04: nothing of theirs counts.",
            further=True,
        ),
        "new_workers": own(
            whole(0),
            "Where ratings come next: how many new workers take part.",
            "New workers",
            usual=0,
            further=True,
        ),
        "withdrawn": replace(WITHDRAWN, note="Only where ratings come next.", further=True),
        **{name: replace(one, further=True) for name, one in EXPORTS.items()},
        "secret": LEDGER_SECRET,
        "seed": replace(SEED, page_help="Any whole number that nobody guesses; keep it with the key."),
    },
    use=Use(adapts=_under_way, writes="assignment", unless="n_next", beside_plan=("budget",)),
    read_as={"plan": plan_path, "questions": _questions, "takeovers": _takeovers},
    endings=(".csv",),
    beside={"key": Reused(lambda result: result.key_csv(), _is_key)},
    page=Page(
        "Who rates what",
        "A table that says which worker rates what when, in an order that is fair to the systems.",
        (
            Part("The study", ("plan", *SIZE.fields), "A plan, or the size of a study without one."),
            Part(
                "How it is laid out",
                (
                    *("key", "seed", "systems", "item_names", "batch_size", "order", "replacements"),
                    *("check_rate", "repeat_rate", "takeovers"),
                ),
            ),
            Part(
                "What comes next, of a study that is under way",
                (
                    *("n_next", "assignment", "exports", "mapping", "platform"),
                    *("dropouts", "excluded", "withdrawn", "new_workers", "budget"),
                ),
                "By counts alone: no rating is read.",
                folded=True,
            ),
        ),
        (
            Next(
                ("simulate",),
                "Rehearse the study",
                ("plan",),
                {"assignment": "table.csv"},
                {"key": "key.csv"},
            ),
        ),
        journey="plan",
        hides=("ledger", "secret"),
    ),
)
def command(
    study: StudyValues,
    amend: str | None,
    together: bool,
    item_names: str | None,
    check_rate: float | None,
    repeat_rate: float | None,
    takeovers: tuple[Takeover, ...],
    n_next: int | None,
    dropouts: tuple[str, ...] | None,
    excluded: tuple[str, ...] | None,
    new_workers: int,
    withdrawn: tuple[str, ...],
    mapping: str | None,
    platform: str | None,
    secret: str | None,
    seed: int | None,
) -> AssignmentResult | UploadResult:
    """Say who rates what when; -o FILE.csv writes the table.

    Slots w01, w02, ... are filled by workers as they come. The column place
    says which of its outputs of an item a worker sees first, second, ...: keep
    it with the ratings, and name it with --order-column. More than two systems
    are spread evenly over workers, places and neighbours; what is not even is
    told in numbers. With --key the table names outputs by their codes alone,
    which are drawn at random: the key alone says what they stand for. When a
    worker drops out, run the same command again with --replace: it uses the
    key that it finds. --format csv prints the table.

    With --outputs and --upload the folder -o gets what platforms take: the
    texts under their codes, the questions, attention checks, and how the
    answers come back; and assignment.csv to follow the work by.

    With --next N, --assignment and --exports the same command says which
    ratings come next after dropouts, for late starters or with spare money:
    the item with the fewest, to the worker with the least work. It counts who
    did what and reads no rating, so that the analysis stays that of a design
    that was fixed; -o writes the batch as above.
    """
    from humeval_power.studies.field.calls import make_uploads
    from humeval_power.studies.plan.calls import assign_work, next_ratings
    from humeval_power.studies.power.typed import refuse_work
    from humeval_power.studies.power.workload import study_workload

    outputs, key, chosen = _outputs(study), study.key, _chosen(study, item_names)
    given = study.options_of(_OF_PLAN)
    if study.plan is not None and given:
        raise click.UsageError(f"The plan says this itself: leave out {', '.join(given)}.")
    planned = load_plan(study.plan, amend)
    systems, form = study.systems, None
    named = None if item_names is None else _read_names(item_names)
    if chosen is not None and outputs is not None:
        outputs = outputs.of_items(chosen.chosen_items)
    if planned is None:
        if named is not None:
            study = study.with_(items=study.items or len(named))
        if chosen is not None:
            study = study.with_(items=study.items or chosen.n_chosen)
        if outputs is not None:
            systems = systems or outputs.systems
            study = study.with_(items=study.items or len(outputs.items))
        if study.workers is None or study.items is None:
            raise click.UsageError("Give --plan FILE, or --workers and --items, or --item-names.")
        design = design_of(study, _number_of_systems(study.n_systems, systems))
    else:
        design = planned.design()
        if systems is not None:
            _check_names(systems, planned)
    own_key = None if key is None else _existing_key(key, goes_on=bool(takeovers or n_next))
    refuse_work(study_workload(design, n_simulations=1), n_simulations=1)
    if chosen is not None:
        named = _names_of_chosen(chosen, design)
    if outputs is not None:
        named = named or _names_of(outputs, design.n_items)
        form = _form_content(study, planned)
    how: dict[str, Any] = {
        "systems": systems,
        "item_names": named,
        "documents_together": together,
        "batch_size": study.batch_size,
        "order": study.order,
        "check_rate": check_rate,
        "repeat_rate": repeat_rate,
        "replacements": study.replacements,
        "max_ratings_per_worker": study.max_ratings_per_worker,
        "blind": key is not None,
        "key": own_key,
        "seed": seed,
    }
    if planned is not None and planned.drops_systems:
        how["after"] = _looks_so_far(study)
        if n_next is None:
            study = study.with_(ledger=None)  # which was read
    collected = _collected(
        study, n_next, takeovers, mapping, platform, withdrawn, dropouts, excluded, new_workers
    )
    batch = None
    if n_next is None:
        assigned = assign_work(planned or design, takeovers=takeovers, **how)
    else:
        assigned = batch = next_ratings(planned or design, n_next, **collected, **how)
    uploads = (
        None
        if outputs is None or form is None
        else make_uploads(assigned, outputs, form, platforms=study.upload)
    )
    if batch is not None and planned is not None and planned.looks is not None:
        assigned = _recorded(batch, uploads or batch, study, secret)
    return assigned if uploads is None else replace(uploads, assignment=assigned)


def _looks_so_far(study: StudyValues) -> DroppingMonitoring | None:
    """The looks at a plan that drops systems, from its ledger; None before the first."""
    from humeval_power.files.private_files import ledger_path
    from humeval_power.studies.monitor.dropping import DroppingMonitoring
    from humeval_power.studies.monitor.files import read_ledger
    from humeval_power.studies.monitor.followed import monitoring_of
    from humeval_power.studies.monitor.ledger_fields import state_of
    from humeval_power.studies.plan.files import read_plan_file

    path, planned = ledger_path(study.plan, study.ledger), read_plan_file(study.plan)
    if not Path(path).exists():
        return None
    state = state_of(
        read_ledger(path), monitoring_of(planned.plan), planned.checksum, place=path
    ).monitoring
    assert isinstance(state, DroppingMonitoring)
    return state


def _chosen(study: StudyValues, item_names: str | None) -> ItemPool | None:
    """The pool that items were drawn from; None without one. Raises UsageError: names beside those of the
    pool; InputError: a file that is no pool."""
    if study.pool is None:
        return None
    if item_names is not None:
        raise click.UsageError("--pool names the items: leave out --item-names.")
    from humeval_power.studies.items.files import read_pool

    return read_pool(study.pool)


def _names_of_chosen(pool: ItemPool, design: Design) -> list[str]:
    """The chosen items, each at a place of the design, so that every worker meets all strata. Raises
    InputError: another number of items than the study has."""
    from humeval_power.inference.item_sampling import spread_over_workers

    if pool.n_chosen != design.n_items:
        rule = f"{pool.n_chosen:,} items are chosen; the study has {design.n_items:,}."
        remedy = f"Draw as many: humeval-power more items ... --n {design.n_items}."
        raise InputError([Problem(rule, remedy, place=pool.source)])
    rows = design.assignment
    order = spread_over_workers(rows.worker, rows.item, pool.stratum[pool.chosen])
    return [pool.chosen_items[place] for place in order]


def _collected(
    study: StudyValues,
    n_next: int | None,
    takeovers: tuple[Takeover, ...],
    mapping: str | None,
    platform: str | None,
    withdrawn: tuple[str, ...],
    dropouts: tuple[str, ...] | None,
    excluded: tuple[str, ...] | None,
    new_workers: int,
) -> dict[str, Any]:
    """What a study that is under way has collected, as arguments; nothing of one that begins. Raises
    UsageError: what is said of a study under way without --next, or --next without it, or beside a spare;
    InputError: files that cannot be read."""
    gone = {
        name: tuple(filter(None, slots or ()))
        for name, slots in (("dropouts", dropouts), ("excluded", excluded))
    }
    if n_next is None:
        typed = {
            "map": mapping,
            "from": platform,
            "withdrawn": withdrawn,
            **gone,
            "new-workers": new_workers,
        }
        given = [
            *study.options_of([name for name in _OF_NEXT if getattr(study, name)]),
            *(f"--{name}" for name, value in typed.items() if value),
        ]
        if given:
            raise click.UsageError(f"{', '.join(given)}: of a study that is under way; add --next N.")
        return {}
    if takeovers:
        raise click.UsageError("--next and --replace are two ways to go on: give one of them.")
    if not study.assignment or not study.exports:
        raise click.UsageError(
            "--next needs what was given out and what came back: --assignment FILE and --exports FILE."
        )
    from humeval_power.files.exports.mapping_file import read_mapping
    from humeval_power.files.exports.platforms import read_export
    from humeval_power.studies.field.files import read_assignment, read_withdrawn

    chosen, of_map = (None, None) if mapping is None else read_mapping(mapping)
    return {
        "assignment": read_assignment(*study.assignment),
        "exports": [read_export(path, platform=platform or of_map, rated=False) for path in study.exports],
        "mapping": chosen,
        "withdrawn": read_withdrawn(*withdrawn),
        **gone,
        "new_workers": new_workers,
        "budget": study.budget,
    }


def _recorded(
    ratings: NextRatings,
    written: AssignmentResult | UploadResult,
    study: StudyValues,
    secret_file: str | None,
) -> NextRatings:
    """Tell the ledger of looks how many cells are added and why, where the batch can be written; once for a
    batch. Raises InputError: a ledger of another study, one whose secret is lost, or files that are in the
    way of the batch."""
    import datetime
    import json

    from humeval_power.asking.output import folder_of, refuse_to_overwrite
    from humeval_power.files.private_files import ledger_path
    from humeval_power.studies.monitor.files import kept_secret, open_ledger, secret_path
    from humeval_power.studies.monitor.followed import monitoring_of
    from humeval_power.studies.monitor.ledger_fields import (
        cells_content,
        check_content,
        start_content,
        state_of,
    )
    from humeval_power.studies.monitor.taking import ledger_kind, secret_of_rows
    from humeval_power.studies.plan.files import read_plan_file

    typed = click.get_current_context().params
    output = typed["output"]
    if study.plan is None or output in (None, "-") or Path(output).suffix not in ("", ".csv"):
        return ratings
    if not Path(output).suffix:
        refuse_to_overwrite([Path(output) / name for name in folder_of(written)], force=typed["force"])
    planned = read_plan_file(study.plan)
    scale, monitoring = planned.plan.scale, monitoring_of(planned.plan)
    path = ledger_path(study.plan, study.ledger)
    key_file = secret_path(path, secret_file)
    with open_ledger(path) as book:
        state = state_of(book.entries, monitoring, planned.checksum, place=path)
        if not book.entries and scale is None:
            note(
                "The plan has no scale, so that its ledger begins with the first look: nothing is recorded."
            )
            return ratings
        key = secret_of_rows(state, book.entries, path, key_file) if book.entries else kept_secret(key_file)
        if key is None:
            rule = "is missing: the ledger cannot be told without it."
            raise InputError([Problem(rule, "Restore it, or name it with --secret FILE.", place=key_file)])
        rows, cells = ratings.before, ratings.assignment
        before, added = (
            key.digest(json.dumps([name, *(codes.tolist() for codes in parts)]))[:16]
            for name, parts in (
                ("before", (rows.worker, rows.item, rows.system)),
                ("added", (cells.order, cells.item, cells.system)),
            )
        )
        if any(entry.kind == "cells" and entry.content["added"] == added for entry in book.entries):
            return replace(ratings, recorded=path)
        content = cells_content(
            ratings.n_ratings,
            len(ratings.new_slots),
            ratings.counts,
            rule=ratings.rule,
            before=before,
            added=added,
            time=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        )
        lines: list[tuple[str, dict[str, Any]]] = [("cells", content)]
        if not book.entries and scale is not None:
            lines.insert(0, ("start", start_content(planned.checksum, monitoring, scale, key.fingerprint)))
        for name, line in lines:
            check_content(name, line, place=path, ledger=ledger_kind(monitoring))
        book.extend(lines, secret=key)
    return replace(ratings, recorded=path)


def _outputs(study: StudyValues) -> Outputs | None:
    """The texts to rate; None where nothing is to be uploaded. Raises UsageError: what is said of a form
    without texts and a platform, or without a folder and a key; InputError: texts that cannot be read."""
    if study.outputs is None and not study.upload:
        file = study_in_use()  # it may say today what a form will need
        of_file = {} if file is None else file.places
        given = [option for option in study.options_of(_OF_FORM) if option not in of_file]
        if given:
            raise click.UsageError(
                f"{', '.join(given)}: there is nothing to upload; add --outputs and --upload."
            )
        return None
    if study.outputs is None or not study.upload:
        raise click.UsageError("--outputs PATH and --upload PLATFORM need each other.")
    if study.key is None:
        raise click.UsageError(
            "--upload needs --key FILE: workers see codes, and only this file says what they stand for."
        )
    output = click.get_current_context().params["output"]
    if output in (None, "-") or Path(output).suffix:
        raise click.UsageError("--upload writes a folder: add -o FOLDER, such as -o upload/.")
    from humeval_power.studies.field.files import read_outputs

    return read_outputs(study.outputs)


def _form_content(study: StudyValues, planned: Plan | None) -> Asked:
    """What workers are told, asked and paid: on the scale and the criteria of the plan, at its prices; or as it was
    said."""
    agreed = None if planned is None else planned.scale
    if agreed is not None and study.scale is not None:
        raise click.UsageError("The plan says this itself: leave out --scale.")
    if agreed is None and study.scale is None:
        raise click.UsageError("--upload needs the scale of the ratings: add --scale, such as 1:5.")
    from humeval_power.files.file_bytes import read_text
    from humeval_power.studies.field.files import read_check_texts
    from humeval_power.studies.field.form import Asked, Question, questions_of

    scale, labels = agreed or RatingScale.parse(study.scale), study.labels or {}
    instructions = (
        DEFAULT_INSTRUCTIONS if study.instructions is None else read_text(study.instructions).strip()
    )
    checks = () if study.check_texts is None else read_check_texts(study.check_texts)
    costs = None if planned is None else planned.costs
    criteria = () if planned is None or planned.many is None else planned.many.criteria
    own = tuple(Question(name, text, labels) for name, text in study.questions or ())
    return Asked(scale, study.title, instructions, questions_of(criteria, own, labels), checks, costs)


def _check_names(systems: tuple[str, ...], planned: Plan) -> None:
    """Refuse another number of names than the plan has systems; of other names say how the plan calls them."""
    if len(systems) != len(planned.systems):
        raise click.UsageError(
            f"--systems names {len(systems)}; the plan has {len(planned.systems)}: {', '.join(planned.systems)}."
        )
    if len(systems) == 2 and tuple(systems) != planned.systems:
        called = shell_word(",".join(systems))
        note(f"The plan calls them {', '.join(planned.systems)}. Beside it say --systems {called}.")


def _existing_key(path: str, *, goes_on: bool) -> Key | None:
    """The key of the study, where it is there already. Raises InputError: a key that cannot be read; or none,
    where the study goes on under its codes."""
    from humeval_power.studies.field.files import read_key

    if _is_key(path):
        return read_key(path)
    if goes_on:
        rule = "is not there. A spare sees the codes of the study, which its key alone can make."
        raise InputError(
            [Problem(rule, "Give --key as the table of the study was written with.", place=path)]
        )
    return None


def _names_of(outputs: Outputs, n_items: int) -> list[str] | None:
    """The names of the items, where the outputs have names; None where they go by number. Raises InputError:
    another number of items than the study has."""
    if len(outputs.items) != n_items:
        rule = f"has outputs of {len(outputs.items):,} items; the study has {n_items:,}."
        remedy = (
            "Leave out those that are not to be rated, or plan for as many as there are: "
            f"humeval-power plan --items {len(outputs.items)}."
        )
        raise InputError([Problem(rule, remedy, place=outputs.origin)])
    return list(outputs.items) if outputs.named else None


def _number_of_systems(number: int | None, names: tuple[str, ...] | None) -> int:
    """As many as were asked for, or named; two without either."""
    if number is not None and names is not None and number != len(names):
        raise click.UsageError(
            f"--n-systems is {number}, and --systems names {len(names)}: give one of them."
        )
    return number or (2 if names is None else len(names))


def _read_names(path: str) -> list[str]:
    """The items of a table with a column 'item', as `judge sample` writes it; else the lines of a file without the
    blanks around them, of which blank ones at the end do not count."""
    from humeval_power.files.file_bytes import read_text

    if path.lower().endswith(".csv"):
        from humeval_power.checking.columns import Column, find_columns
        from humeval_power.files.tables import read_table

        table = read_table(path)
        column = find_columns(table.frame.columns, [Column(("item",), is_id=True)], source=table.source).of[
            "item"
        ]
        return [str(name).strip() for name in table.frame[column].fillna("")]
    text = read_text(path)
    return [line.strip() for line in text.rstrip().split("\n")] if text.strip() else []
