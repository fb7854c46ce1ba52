"""All forms of the page, by the words of their commands."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from humeval_power.interfaces.asking.form import Form
from humeval_power.interfaces.cli.main import COMMANDS, module_of
from humeval_power.interfaces.page.forms.assigned import ASSIGN, SIMULATE
from humeval_power.interfaces.page.forms.planned import LOOKS, PLAN
from humeval_power.interfaces.page.forms.ratings import ANALYZE, CHECK, FIT
from humeval_power.interfaces.page.forms.study_questions import MDE, POWER, SIZE, SURFACE


def _declared() -> Iterator[Form]:
    """Those of the commands that are declared, alone or as a subject."""
    for name, (place, _) in COMMANDS.items():
        if place.startswith(".asking."):
            module = importlib.import_module(module_of(name))
            subject = getattr(module, "SUBJECT", None)
            forms = (module.DECLARED.form(),) if subject is None else subject.forms()
            yield from (form for form in forms if form is not None)


_OF_A_STUDY = (POWER, MDE, SIZE, SURFACE, LOOKS, PLAN, ASSIGN, SIMULATE, CHECK, FIT, ANALYZE)
FORMS: dict[tuple[str, ...], Form] = {form.command: form for form in (*_OF_A_STUDY, *_declared())}
