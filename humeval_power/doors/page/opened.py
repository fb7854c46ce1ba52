"""The page as it is opened: the application with what the server gives it."""

from __future__ import annotations

from starlette.types import ASGIApp

from humeval_power.doors.page.app import make_app
from humeval_power.doors.page.requests import PageParts
from humeval_power.doors.page.serving.server import State
from humeval_power.doors.page.working.workers import Workers, WorkLimits

_JOBS = 2  # at once: a table can be looked at while a long simulation runs
_LIMITS = WorkLimits(alone_seconds=600.0)  # a page that is open asks several times a minute


def make_page(state: State) -> ASGIApp:
    """The application for `serve`; while a worker is busy the server does not end for want of use."""
    workers = Workers(n_jobs=_JOBS, limits=_LIMITS, scratch=state.private)
    state.is_busy = lambda: workers.is_busy
    return make_app(PageParts(workers, state.uploads, state.private, state.form_token, state.folder))
