"""The guided start: what was understood and taken, and the commands that lead on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, ClassVar

from humeval_power.asking.command_groups import in_terminal
from humeval_power.saying.document import Block, Document, Listing, Paragraph, Section
from humeval_power.saying.quantities import values
from humeval_power.saying.result import UNKNOWN, Provenance, Record, Result
from humeval_power.studies.start.talk import PROGRAM, Phase, Step, Talk, script
from humeval_power.studies.start.ways import (
    NOW,
    again,
    assumptions,
    commands_later,
    study_file,
    understood,
    way,
)

if TYPE_CHECKING:
    from humeval_power.studies.start.talk import FileContents


_TITLES: dict[Phase, str] = {"now": "Now", "later": "When the judgements are in"}


@dataclass(frozen=True, kw_only=True)
class StartResult(Result):
    """The way from these answers: `steps` are its commands in order. Nothing was computed yet."""

    schema: ClassVar[str] = "humeval_power/start/1"
    endings: ClassVar[tuple[str, ...]] = (".sh", ".toml")

    talk: Talk
    as_study: bool = False  # whether a study file is written, which every command then reads
    provenance: Provenance = UNKNOWN

    @property
    def steps(self) -> tuple[Step, ...]:
        """The commands in order."""
        return way(self.talk)

    def body(self) -> Document:
        if self.as_study:
            return self._of_study_file()
        steps = self.steps
        sections = [
            Section(_TITLES[phase], tuple(block for step in results for block in _blocks(step, steps)))
            for phase in _TITLES
            if (results := [step for step in steps if step.phase == phase])
        ]
        first = " ".join(takewhile(str.isalpha, in_terminal(steps[0].words)))
        return Document(
            "Your way from here",
            lead=f"Start with '{PROGRAM} {first}', the first of {len(steps)} commands; nothing is "
            "computed yet.",
            headline=understood(self.talk),
            caveats=assumptions(self.talk),
            sections=(*sections, Section("The same without questions", (Listing(again(self.talk).shown),))),
        )

    def _of_study_file(self) -> Document:
        """The same where a study file holds what commands need: they come without options."""
        now = [] if self.talk.have == "results" else [("Now", NOW)]
        words = ["analyze"] if self.talk.have == "results" else [words for words, _ in NOW]
        following = f"{PROGRAM} {', '.join(words)}: each reads the study file, without options"
        sections = tuple(
            Section(title, tuple(block for words, why in commands for block in _command(words, why)))
            for title, commands in (*now, (_TITLES["later"], commands_later(self.talk)))
        )
        return Document(
            "Your study",
            lead="The study file says it all; each command reads it in its folder.",
            headline=(*understood(self.talk), ("Next", following)),
            caveats=assumptions(self.talk),
            sections=sections,
        )

    def content(self) -> Record:
        talk = self.talk
        return {
            "answers": dict(talk.said),
            "assumed": sorted(talk.assumed),
            "understood": [{"label": label, "text": text} for label, text in understood(talk)],
            "assumptions": list(assumptions(talk)),
            "rows": [_row(step) for step in self.steps],
            "again": [PROGRAM, *again(talk).words],
        }

    def artefact(self, ending: str) -> str | bytes:
        if ending == ".toml":
            return study_file(self.talk, self.steps)
        if ending != ".sh":
            raise NotImplementedError(ending)
        return script(self.body().title, self.steps)

    def files(self) -> dict[str, str | bytes]:
        return {"start.sh": self.artefact(".sh")}


def _blocks(step: Step, steps: tuple[Step, ...]) -> tuple[Block, ...]:
    blocks = (Paragraph(step.tells),) if step.tells else ()
    return (Paragraph(f"{steps.index(step) + 1}. {step.why}"), Listing(step.shown), *blocks)


def _command(words: str, why: str) -> tuple[Block, Block]:
    return Listing(f"{PROGRAM} {words}"), Paragraph(why)


def _row(step: Step) -> Record:
    return {
        "phase": step.phase,
        "command": [PROGRAM, *in_terminal(step.words)],
        **values(step, "shown", "link", "why", "tells"),
        "writes": step.output,
        "needs": list(step.needs),
    }


def start(
    answers: Mapping[str, str], *, files: Sequence[str] = (), found: FileContents | None = None
) -> StartResult:
    """Say which commands lead from what somebody has to what they want to know.

    Parameters
    ----------
    answers : texts by the names of the questions: judgement, have, systems (a number, or names), comparisons,
        baseline, raters, academic (yes or no), pay-per-hour, seconds-per-rating, instruction-minutes, scale,
        difference, sd, accuracy, limit (budget=500). What is left out is assumed, and the result says so.
    files : the names of the files that there are.
    found : what they hold; None where nobody looked.

    Returns
    -------
    StartResult
        `steps` are the commands in order, each with its words, why it is run and what to read in its answer; a row
        each in `to_frame`. Nothing is computed.

    Raises
    ------
    InputError
        Every answer that cannot be one, and every one that nothing asks for.
    """
    from humeval_power.studies.start.questions import filled, given_answers
    from humeval_power.studies.start.talk import Talk

    given = given_answers(answers)
    talk = filled(Talk().looked(tuple(files), found) if files else Talk(), given)
    if talk.is_rated and talk.have == "nothing":
        from humeval_power.scales import RatingScale
        from humeval_power.studies.power.parameter_library import typical_name

        talk = replace(talk, typical=typical_name(RatingScale.parse(talk.scale)))
    return StartResult(talk=talk)
