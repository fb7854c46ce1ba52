"""The items of the checklist, in the order of Card et al. (2020), section 6, and the records they fill.

Their recommendations: a power analysis before a comparison is made; what others need to plan their own
studies, and data and code; an analysis planned before the ratings come in; and a human evaluation that
says how many workers rated how many items how often.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from humeval_power.saying.document import FormLine, Table

GIVEN = "the [report] table"  # the source of what the authors say themselves
State = Literal["filled", "open"]


@dataclass(frozen=True, slots=True)
class ChecklistItem:
    """One thing that a report should say.

    `state` is 'filled' where the documents give the whole answer. An open item may hold what is
    known so far in `answer`; `advice` says what to add. `source` names where an answer came from.
    """

    key: str
    section: str
    question: str
    state: State
    answer: str | None = None
    source: str | None = None
    advice: str | None = None
    table: Table | None = None

    def field(self) -> FormLine:
        """The item as it is shown."""
        return FormLine(
            self.key,
            self.question,
            self.state,
            self.answer or "",
            self.source or "",
            self.advice or "",
            self.table,
        )


@dataclass(frozen=True, slots=True)
class Checklist:
    """All items in order, the caveats a reader must know, and where the numbers came from."""

    title: str
    items: tuple[ChecklistItem, ...]
    caveats: tuple[str, ...]
    provenance: tuple[tuple[str, str], ...]

    @property
    def n_open(self) -> int:
        """Number of items that only the authors can fill."""
        return sum(item.state == "open" for item in self.items)

    @property
    def sections(self) -> tuple[str, ...]:
        """The sections in order."""
        return tuple(dict.fromkeys(item.section for item in self.items))


class ChecklistQuestion(NamedTuple):
    """What an item asks, and what to add while it is open."""

    key: str
    section: str
    question: str
    advice: str


POWER = "Power, before the comparison"
PLANNING = "What others need"
ANALYSIS = "Analysis and result"
STUDY = "The human evaluation"

QUESTIONS = (
    ChecklistQuestion(
        "effect_of_interest",
        POWER,
        "Difference of interest",
        "State the smallest difference that would matter and why, chosen before the ratings were seen. "
        "The observed difference is not an answer.",
    ),
    ChecklistQuestion(
        "power",
        POWER,
        "Power of this design and test for that difference",
        "Compute the power for the design and the test you report. Where it is low, say so.",
    ),
    ChecklistQuestion(
        "minimum_detectable_effect",
        POWER,
        "Smallest difference found with power 0.8",
        "Compute the power of this design over a range of differences.",
    ),
    ChecklistQuestion(
        "power_assumptions",
        POWER,
        "Parameters that the power rests on",
        "Say which variance parameters were assumed, and where they come from.",
    ),
    ChecklistQuestion(
        "parameters",
        PLANNING,
        "Estimated parameters, for planning later studies",
        "Fit the ratings and report all seven parameters with their coding.",
    ),
    ChecklistQuestion(
        "data_availability",
        PLANNING,
        "Anonymised ratings",
        "Say where the individual ratings are, with ids of workers, items and systems, and the licence.",
    ),
    ChecklistQuestion(
        "code_availability",
        PLANNING,
        "Code, including the significance test",
        "Say where the code of the analysis is, and the version that was used.",
    ),
    ChecklistQuestion(
        "analysis_plan",
        ANALYSIS,
        "Analysis planned before the ratings were collected",
        "Say whether there was a plan, its date and where it is; list the departures from it.",
    ),
    ChecklistQuestion("test", ANALYSIS, "Test", "Name the model, the test, its sidedness and alpha."),
    ChecklistQuestion(
        "assumptions",
        ANALYSIS,
        "Assumptions of the test",
        "Say which of them were checked, and how.",
    ),
    ChecklistQuestion(
        "effect",
        ANALYSIS,
        "Difference between the systems, with its interval",
        "Report the estimate and its interval, not the p-value alone.",
    ),
    ChecklistQuestion("systems", STUDY, "Systems compared", "Name both systems and their versions."),
    ChecklistQuestion(
        "workers", STUDY, "Number of workers", "Count the workers whose ratings were analysed."
    ),
    ChecklistQuestion("items", STUDY, "Number of items", "Count the items, and say how they were chosen."),
    ChecklistQuestion(
        "ratings_per_item",
        STUDY,
        "Ratings per item",
        "Say how many ratings each item has under each system.",
    ),
    ChecklistQuestion("ratings_total", STUDY, "Ratings in total", "Count the ratings that were analysed."),
    ChecklistQuestion(
        "assignment",
        STUDY,
        "Who rated what",
        "Say which workers rated which items under which systems, and how that was randomised.",
    ),
    ChecklistQuestion(
        "criterion", STUDY, "Criterion", "Name and define what the workers were asked to rate."
    ),
    ChecklistQuestion(
        "scale",
        STUDY,
        "Rating scale",
        "Give the bounds, the number of points, the direction and the labels.",
    ),
    ChecklistQuestion(
        "instructions",
        STUDY,
        "Instructions",
        "Quote what the workers read, and show the page they worked on.",
    ),
    ChecklistQuestion(
        "recruitment",
        STUDY,
        "Recruitment",
        "Say where the workers came from, and what was required of them.",
    ),
    ChecklistQuestion(
        "pay", STUDY, "Pay", "Give the pay per hour, and how it compares with the local minimum."
    ),
    ChecklistQuestion(
        "training",
        STUDY,
        "Training",
        "Say how the workers were trained or tested beforehand, or that they were not.",
    ),
    ChecklistQuestion(
        "quality_control",
        STUDY,
        "Quality control",
        "Describe attention checks, time limits and rejected work, or say that there were none.",
    ),
    ChecklistQuestion(
        "exclusions",
        STUDY,
        "Rows read, dropped and analysed",
        "Count what was dropped, and why; say who was excluded before the table was made.",
    ),
)
