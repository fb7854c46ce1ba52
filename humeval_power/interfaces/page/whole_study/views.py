"""The pages of a whole study: how far it is, and the page that all of it is read from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from humeval_power.interfaces.page.answers import Answer, Told
from humeval_power.interfaces.page.asked import Asked
from humeval_power.interfaces.page.views import State, progress_words, rendered
from humeval_power.interfaces.page.whole_study.steps import PRIVATE, SEED, WholeStudy
from humeval_power.interfaces.page.words import on_page
from humeval_power.reporting import render

_STYLE = Path(str(render.__file__)).with_name("templates") / "page.css"


@dataclass(frozen=True, slots=True)
class StepShown:
    """A step of a whole study: what is known of it so far."""

    title: str
    state: str = "waiting"
    words: str = ""
    problems: tuple[str, ...] = ()
    is_over: bool = False
    is_fine: bool = False

    @classmethod
    def of(cls, title: str, state: State, told: Told | None, answer: Answer | None) -> StepShown:
        """A step that has begun."""
        if state in ("waiting", "running"):
            return cls(title, state, progress_words(told))
        problems = () if answer is None else tuple(on_page(each.text) for each in answer.problems)
        is_fine = answer is not None and bool(answer.html) and not problems
        missed = "done; the target is missed, read why" if answer and answer.exit_code == 3 else "done"
        return cls(title, state, missed if is_fine else "not done", problems, True, is_fine)


def study_page(steps: Sequence[StepShown], key: str, asked: Asked) -> str:
    """How far a whole study is; with a key it is done and can be taken."""
    share = sum(step.is_over for step in steps) / len(steps)
    refresh = None if key or any(step.is_over and not step.is_fine for step in steps[:1]) else 2
    return rendered(
        "whole_study.html",
        title="The whole study",
        steps=steps,
        key=key,
        plan_link=asked.link,
        share=share,
        refresh=refresh,
    )


def study_file(whole: WholeStudy, *, alone: bool) -> str:
    """The page that a study is read from: with all that may be shown in it, or with links to its files."""
    shown = [part for part in whole.parts if not part.step.is_private]
    names = sorted({*(name for part in whole.parts for name in part.files), *whole.inputs, SEED, "run.sh"})
    return rendered(
        "study_file.html",
        style=Markup(_STYLE.read_text("utf-8")),
        parts=[(part.step, Markup(part.answer.html)) for part in shown],
        pages=[(part.step.title, f"{part.step.folder}/index.html") for part in whole.parts],
        script=whole.script,
        public=[name for name in names if not name.startswith(f"{PRIVATE}/") and name not in whole.inputs],
        private=[name for name in names if name.startswith(f"{PRIVATE}/")],
        inputs=sorted(whole.inputs),
        plan=_sealed(whole) if alone else "",
        alone=alone,
    )


def _sealed(whole: WholeStudy) -> str:
    found = (part.files.get("plan/plan.json") for part in whole.parts)
    return next((path.read_text("utf-8") for path in found if path), "")
