"""What the authors' own answers say about the items of the checklist."""

from __future__ import annotations

from humeval_power.reporting.report.config import ReportConfig

_TEXTS = {
    "data_availability": ("data_link", "licence", "anonymisation"),
    "code_availability": ("code_link",),
    "instructions": ("instructions", "interface_link"),
    "recruitment": ("recruitment",),
    "pay": ("payment",),
    "training": ("training",),
    "quality_control": ("quality_assurance",),
}


def given_answers(config: ReportConfig, *, criterion: str | None) -> dict[str, str]:
    """The answers by the key of the item; the definition is that of the criterion of the study."""
    found = {
        key: " ".join(_sentence(text) for name in names if (text := config.texts.get(name, "").strip()))
        for key, names in _TEXTS.items()
    }
    if isinstance(config.preregistration, str) and config.preregistration.strip():
        found["analysis_plan"] = f"Preregistered: {config.preregistration.strip()}"
    elif config.preregistration is False:
        found["analysis_plan"] = "There was no preregistration."
    definition = config.criteria.get(criterion or "", {}).get("definition")
    if isinstance(definition, str):
        found["criterion"] = definition.strip()
    return {key: text for key, text in found.items() if text}


def _sentence(text: str) -> str:
    """Text that others can follow; an address gets no full stop, which would belong to it."""
    is_address = "://" in text.rsplit(maxsplit=1)[-1]
    return text if is_address or text[-1] in ".!?;:" else f"{text}."
