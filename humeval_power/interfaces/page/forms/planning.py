"""Forms of the journey from nothing to a plan, its assignment, its preregistration and its rehearsal."""

from __future__ import annotations

from humeval_power.interfaces.page.forms.assigned import ASSIGN, SIMULATE
from humeval_power.interfaces.page.forms.planned import LOOKS, PLAN
from humeval_power.interfaces.page.forms.study_questions import MDE, POWER, SIZE, SURFACE

FORMS = (POWER, MDE, SIZE, SURFACE, LOOKS, PLAN, ASSIGN, SIMULATE)
