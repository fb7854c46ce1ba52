"""The model of each kind of document that is read back."""

from __future__ import annotations

from pydantic import BaseModel

from humeval_power.interfaces.formats.documents.analysis_models import Analyses, Analysis
from humeval_power.interfaces.formats.documents.models import ImportDocument, ParametersDocument
from humeval_power.interfaces.formats.documents.power_models import PowerDocument, SurfaceDocument
from humeval_power.reporting.records import (
    ANALYSES_SCHEMA,
    ANALYSIS_SCHEMA,
    IMPORT_SCHEMA,
    PARAMETERS_SCHEMA,
    POWER_SCHEMA,
    SURFACE_SCHEMA,
)

KINDS: dict[str, type[BaseModel]] = {
    PARAMETERS_SCHEMA: ParametersDocument,
    ANALYSIS_SCHEMA: Analysis,
    ANALYSES_SCHEMA: Analyses,
    POWER_SCHEMA: PowerDocument,
    IMPORT_SCHEMA: ImportDocument,
    SURFACE_SCHEMA: SurfaceDocument,
}
