"""The platforms that an assignment can be uploaded to, by the name under which they are asked for."""

from __future__ import annotations

from collections.abc import Mapping

from humeval_power.studies.field.form import Uploader
from humeval_power.studies.field.uploads.argilla import ARGILLA
from humeval_power.studies.field.uploads.google_forms import GOOGLE_FORMS
from humeval_power.studies.field.uploads.html import HTML
from humeval_power.studies.field.uploads.label_studio import LABEL_STUDIO
from humeval_power.studies.field.uploads.mturk import MTURK
from humeval_power.studies.field.uploads.potato import POTATO
from humeval_power.studies.field.uploads.prolific import PROLIFIC
from humeval_power.studies.field.uploads.qualtrics import QUALTRICS

UPLOADERS: Mapping[str, Uploader] = {
    one.name: one for one in (HTML, POTATO, LABEL_STUDIO, ARGILLA, QUALTRICS, MTURK, GOOGLE_FORMS, PROLIFIC)
}
