"""The whole application in one process: what workers answer elsewhere is answered here."""

from in_process_parts import InProcess
from starlette.applications import Starlette

from humeval_power.doors.page.app import make_app as whole_app
from humeval_power.doors.page.requests import PageParts
from humeval_power.doors.page.serving.server import State


def make_app(state: State) -> Starlette:
    parts = PageParts(InProcess(), state.uploads, state.private, state.form_token, state.folder)
    return whole_app(parts)
