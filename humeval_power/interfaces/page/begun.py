"""The answers that were asked for in full: which job computes each, and what its link asks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from humeval_power.errors import InputError
from humeval_power.interfaces.asking.form import Form
from humeval_power.interfaces.page.answers import Work
from humeval_power.interfaces.page.asked import Asked
from humeval_power.interfaces.page.parts import Parts
from humeval_power.interfaces.page.views import Shown

if TYPE_CHECKING:
    from humeval_power.interfaces.page.working.jobs import Job


class Begun:
    """What is known of a job is forgotten with it."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._asked: WeakKeyDictionary[Job, tuple[Form, Asked]] = WeakKeyDictionary()

    def begin(self, form: Form, asked: Asked, work: Work) -> str:
        """Have it computed; the key of the job."""
        here = replace(work, output=str(self._parts.folder_of(work.key)))
        self._asked[self._parts.workers.job(work.key, here)] = form, asked
        return work.key

    def of(self, key: str) -> tuple[Form, Asked]:
        """The form of a job, and what was asked.

        Raises
        ------
        InputError
            The job is not known, or was forgotten.
        """
        job = self._parts.workers.job_of(key)
        found = None if job is None else self._asked.get(job)
        if found is None:
            raise InputError("This answer is not here any more. Open its link again: it is computed anew.")
        return found

    def shown(self, key: str) -> Shown:
        """How far a job is, or its answer with the files that other forms take."""
        job = self._parts.workers.job_of(key)
        if job is None:
            return Shown("idle")
        brought: dict[str, str] = {}
        apart: tuple[str, ...] = ()
        if job.state == "done" and job.answer is not None:
            beside = self._parts.beside(key)
            apart = tuple(sorted(path.name for path in beside.rglob("*") if path.is_file()))
            brought = self._brought(key)
        return Shown(job.state, key, job.told, job.place, job.answer, brought=brought, beside=apart)

    def _brought(self, key: str) -> dict[str, str]:
        """The files of an answer that the next forms take, as values of links."""
        steps = self.of(key)[0].next
        wanted = {name for step in steps for name in (*step.brings.values(), *step.may_bring.values())}
        return {
            name: self._parts.uploads.adopt(name, place / name).reference
            for name in wanted
            for place in (self._parts.folder_of(key), self._parts.beside(key))
            if (place / name).is_file()
        }
