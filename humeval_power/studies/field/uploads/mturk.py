"""Mechanical Turk: a table with a HIT in each row, and the page that a worker sees of it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from humeval_power.costs import money
from humeval_power.errors import InputError, Problem
from humeval_power.safe_text import csv_text
from humeval_power.studies.field.form import Content, FormRow, RatingForm, Uploader
from humeval_power.studies.field.uploads.html import (
    by_criterion,
    filled,
    mapping_toml,
    question_names,
    readme,
    web_text,
)

# CreateHIT in the API reference: the question may not be larger than 65,535 bytes.
_MOST_BYTES = 65_535
_UNUSED = "none"  # stands in the cells of places that a HIT does not use; no code is in small letters
_EMPTY = "&#160;"  # a text without characters
_PLACEHOLDER = re.compile(r"\$\{(\w+)\}")


def mturk_files(form: RatingForm) -> Mapping[str, Content]:
    """The files of a batch: hits.csv, template.html, mapping.toml and README.md.

    A HIT is a batch of a worker slot. In the places that a HIT with fewer outputs than the largest leaves stands a
    word, and the page removes them.

    Raises InputError: a HIT that is larger than the platform takes.
    """
    hits = _hits(form)
    places = range(1, max(map(len, hits.values())) + 1)
    with_source = any(one.source for one in form.shown)
    header, rows = _table(hits, places, with_source=with_source)
    template = _template(form, places, with_source=with_source)
    _check_size(template, header, rows)
    return {
        "hits.csv": csv_text(header, rows),
        "template.html": template,
        "mapping.toml": _mapping(form),
        "README.md": _readme(form, hits),
    }


def _hits(form: RatingForm) -> dict[tuple[str, int], list[FormRow]]:
    """What each HIT shows, in order."""
    hits: dict[tuple[str, int], list[FormRow]] = defaultdict(list)
    for slot in form.slots:
        for one in form.of_slot(slot):
            hits[slot, one.batch].append(one)
    return hits


def _table(
    hits: Mapping[tuple[str, int], Sequence[FormRow]], places: range, *, with_source: bool
) -> tuple[list[str], list[list[str]]]:
    parts = ("code", "order", "source", "text") if with_source else ("code", "order", "text")
    header = ["slot", "batch", *(f"{part}_{place}" for place in places for part in parts)]
    rows = []
    for (slot, batch), shown in hits.items():
        row = [slot, str(batch)]
        for one in shown:
            cells = {"code": one.code, "order": str(one.order), "source": one.source, "text": one.text}
            row += [web_text(cells[part]) or _EMPTY for part in parts]
        rows.append(row + [_UNUSED] * (len(header) - len(row)))
    return header, rows


def _template(form: RatingForm, places: range, *, with_source: bool) -> str:
    names = by_criterion(form, question_names(form))
    return filled(
        "mturk.html",
        title=web_text(form.title),
        instructions=web_text(form.instructions),
        questions=[
            {
                "name": names[one.criterion],
                "text": web_text(one.text),
                "points": [(point, web_text(one.choice(point))) for point in form.points],
                "labels": web_text(
                    "\n".join(f"{point}: {text}" for point, text in sorted(one.labels.items()))
                ),
            }
            for one in form.questions
        ],
        slider=form.is_slider,
        low=form.points[0],
        high=form.points[-1],
        places=places,
        with_source=with_source,
        unused=_UNUSED,
    )


def _check_size(template: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Refuse HITs that are too large, all of them at once."""
    fixed = len(_PLACEHOLDER.sub("", template).encode())
    times = {name: template.count(f"${{{name}}}") for name in header}
    problems = []
    for row in rows:
        size = fixed + sum(times[name] * len(cell.encode()) for name, cell in zip(header, row, strict=True))
        if size > _MOST_BYTES:
            rule = f"is a HIT of {size:,} bytes; Mechanical Turk takes {_MOST_BYTES:,}."
            problems.append(
                Problem(rule, "Make the batches smaller.", place=f"slot {row[0]}, batch {row[1]}")
            )
    if problems:
        raise InputError(problems)


def _mapping(form: RatingForm) -> str:
    names = [f"Answer.{name}_{{slot}}" for name in question_names(form)]
    return mapping_toml(
        "mturk",
        by_criterion(form, names),
        {
            "worker": "WorkerId",
            "code": "Input.code_{slot}",
            "slot": "Input.slot",
            "batch": "Input.batch",
            "order": "Input.order_{slot}",
            "seconds": "Answer.seconds_{slot}",
            "time_s": "WorkTimeInSeconds",
            "status": "AssignmentStatus",
            "timestamp": "SubmitTime",
        },
    )


def _readme(form: RatingForm, hits: Mapping[tuple[str, int], Sequence[FormRow]]) -> str:
    loads = sorted({len(shown) for shown in hits.values()})
    of_slot = Counter(slot for slot, _ in hits)
    each = f"{loads[0]}" if len(loads) == 1 else f"{loads[0]} to {loads[-1]}"
    notes = _NOTES if max(of_slot.values()) == 1 else (_NOTES[0], _SEVERAL, *_NOTES[1:])
    return readme(
        "Mechanical Turk",
        (
            "Create a project (Other), and paste template.html into the source of its design layout.",
            "Set the **assignments per HIT to 1**: each row of hits.csv is the work of one person.",
            f"Set the reward and the time for {each} outputs{_paid(form, loads)}: there are {len(hits):,} "
            f"HITs, one for each batch of {len(of_slot):,} worker slots.",
            "Publish a batch with hits.csv in the sandbox, do a HIT of it yourself, and import what comes "
            "back; then publish it for workers.",
            "When all is done, download the results as CSV.",
        ),
        exports="batch_results.csv",
        notes=notes,
    )


def _paid(form: RatingForm, loads: Sequence[int]) -> str:
    """The reward by the plan's prices, for the HIT with the most outputs: all HITs of a batch are paid
    the same."""
    reward = form.reward(loads[-1])
    if reward is None or form.costs is None:
        return ""
    whom = "" if len(loads) == 1 else f" for {loads[-1]}; all are paid the same"
    return f" (by the plan {money(reward, form.costs.currency)}{whom})"


_NOTES = (
    "The platform does not stop a worker from taking HITs of two slots; `import` finds and says it. To "
    "prevent it, publish slot after slot, and give those who have done one a qualification that the next "
    "excludes.",
    "The page shows one output at a time and notes the seconds on each. It uses Amazon's "
    'crowd-html-elements with answer-format="flatten-objects", as the platform\'s own templates do; it '
    "was not tried on the platform: hence the sandbox.",
    "Emoji and other signs beyond Unicode's first plane are written as references such as &#128512;, "
    "because uploads with characters of four bytes have been refused; signs of markup, line breaks and "
    "what looks like a placeholder or a formula are references too. Workers see them as they are.",
    f"A HIT may hold {_MOST_BYTES:,} bytes (CreateHIT in the API reference). Columns of places that a HIT "
    f"does not use hold the word {_UNUSED}, and the page leaves them out.",
)
_SEVERAL = (
    "The batches of a slot are meant for one worker, and different workers may take them. For the design "
    "as planned, make each slot one batch, or publish its later batches with a qualification that only "
    "its worker has."
)

MTURK = Uploader("mturk", mturk_files, sliders=True)
