"""All forms of the page, by the words of their commands."""

from __future__ import annotations

from humeval_power.interfaces.asking.form import Form
from humeval_power.interfaces.page.forms import comparisons, planning, ratings, start

FORMS: dict[tuple[str, ...], Form] = {
    form.command: form for form in (start.START, *planning.FORMS, *ratings.FORMS, *comparisons.FORMS)
}
