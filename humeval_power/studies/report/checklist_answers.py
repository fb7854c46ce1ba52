"""What the authors' own answers say about the items of the checklist."""

from __future__ import annotations

from humeval_power.studies.report.config import SOURCE, ReportConfig
from humeval_power.studies.report.fields import Given

FROM_CONFIG = {
    "data_availability": ("data_link", "licence", "anonymisation"),
    "code_availability": ("code_link",),
    "instructions": ("instructions", "interface_link"),
    "recruitment": ("recruitment",),
    "pay": ("payment",),
    "training": ("training",),
    "quality_control": ("quality_assurance",),
}


def given_answers(config: ReportConfig, *, criterion: str | None) -> dict[str, Given]:
    """The answers by the key of the item; the definition is that of the criterion of the study."""
    found = {key: _joined(config, names) for key, names in FROM_CONFIG.items()}
    if isinstance(config.preregistration, str):
        found["analysis_plan"] = Given(f"Preregistered: {config.preregistration.strip()}", SOURCE)
    elif config.preregistration is False:
        found["analysis_plan"] = Given("There was no preregistration.", SOURCE)
    definition = config.criteria.get(criterion or "", {}).get("definition")
    if isinstance(definition, str):
        found["criterion"] = Given(definition.strip(), SOURCE)
    return {key: given for key, given in found.items() if given is not None}


def _joined(config: ReportConfig, names: tuple[str, ...]) -> Given | None:
    given = [one for name in names if (one := config.given(name))]
    if not given:
        return None
    return Given(
        " ".join(_sentence(one.text) for one in given),
        "; ".join(dict.fromkeys(one.source for one in given)),
    )


def _sentence(text: str) -> str:
    """Text that others can follow; an address gets no full stop, which would belong to it."""
    is_address = "://" in text.rsplit(maxsplit=1)[-1]
    return text if is_address or text[-1] in ".!?;:" else f"{text}."
