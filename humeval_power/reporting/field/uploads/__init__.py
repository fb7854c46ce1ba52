"""The platforms that an assignment can be uploaded to, by the name under which they are asked for."""

from __future__ import annotations

from collections.abc import Mapping

from humeval_power.reporting.field.form import Uploader
from humeval_power.reporting.field.uploads.label_studio import LABEL_STUDIO

UPLOADERS: Mapping[str, Uploader] = {one.name: one for one in (LABEL_STUDIO,)}
