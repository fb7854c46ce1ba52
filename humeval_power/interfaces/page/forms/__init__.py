"""All forms of the page, by the words of their commands."""

from __future__ import annotations

from humeval_power.interfaces.page.forms import comparisons, planning, ratings, start
from humeval_power.interfaces.page.forms.form import Form

FORMS: dict[tuple[str, ...], Form] = {
    form.command: form for form in (start.START, *planning.FORMS, *ratings.FORMS, *comparisons.FORMS)
}
