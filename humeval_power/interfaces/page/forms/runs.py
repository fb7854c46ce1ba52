"""Forms of repeated runs: generations, prompts or seeds of systems on the same items."""

from __future__ import annotations

from humeval_power.interfaces.asking.form import Control, Form, Group, Next
from humeval_power.interfaces.page.forms.questions import CLUSTER
from humeval_power.interfaces.page.forms.runs_planned import FORMS as PLANNED

_SCORES = Group(
    "The scores",
    (
        Control(
            "file",
            "Table, or the log of a harness",
            help="A row for each item, system and run, with a score; or a log of lm-evaluation-harness, Inspect, "
            "HELM and others.",
        ),
        Control(
            "systems",
            "Systems to compare",
            help="Names with commas between; the effect is B - A. More than two: all pairs. [all]",
        ),
        Control("run", "Column of the run", help="Generation, prompt or seed. [found]"),
        CLUSTER,
    ),
)
_KIND = Group(
    "What a run is",
    (
        Control("nested", "Each item has runs of its own: generations"),
        Control("crossed", "All items have the same runs: prompts or seeds"),
    ),
    "Leave both empty where the table says it. Prompts and seeds are a sample as items are: with five of them the "
    "answer stays uncertain, however many items there are.",
    one_of=("nested", "crossed"),
)
_COLUMNS = Group(
    "Columns",
    (
        Control("item", "Column of the item"),
        Control("system", "Column of the system"),
        Control("score", "Column of the score", help="Of a log with several metrics, one."),
        Control("drop-missing", "Leave out items without a score of each system"),
    ),
    folded=True,
)
_READ = ("file", "run", "item", "system", "score", "systems", "cluster", "drop-missing")
_DECISION = ("alternative", "margin", "alpha")


def _to_power(counted: str, needs: str) -> Next:
    """To the power of such a comparison, which counts generations or prompts by options of their own."""
    return Next(
        ("runs", "power"),
        "Power of the next comparison",
        carries=_DECISION,
        brings={"from": "record.json"},
        fills={"n": "rows.0.n_items", "effect": "rows.0.estimate", counted: "comparisons.0.n_labels"},
        needs=(needs,),
    )


TEST = Form(
    ("runs", "test"),
    "compare",
    "Systems by several generations or prompts",
    "Is B better than A, where answers were sampled several times, or under several prompts or seeds?",
    (
        _SCORES,
        _KIND,
        Group(
            "The test",
            (
                Control(
                    "family",
                    "What a score is",
                    labels={"gaussian": "a number", "binary": "right or wrong, 1 or 0"},
                ),
                Control(
                    "alternative",
                    "What to show",
                    labels={
                        "two-sided": "a difference, in either direction",
                        "greater": "B is better than A",
                        "non-inferior": "B is not worse by the margin",
                        "equivalent": "they are alike within the margin",
                    },
                ),
                Control("margin", "Margin", "in units of the score"),
                Control("alpha", "Level of the test", slider=(0.001, 0.2), step=0.001),
            ),
        ),
        _COLUMNS,
    ),
    next=(
        _to_power("runs", "parameters.sd_run_a"),
        _to_power("prompts", "parameters.sd_prompt_slope"),
        Next(
            ("runs", "budget"),
            "Items or runs: what a budget buys",
            carries=_DECISION,
            brings={"from": "record.json"},
            sets={"total": "100", "cost-per-call": "0.01"},
            fills={"effect": "rows.0.estimate"},
        ),
        Next(("runs", "check"), "What the runs of this table are", carries=_READ),
    ),
)
CHECK = Form(
    ("runs", "check"),
    "compare",
    "Generations, or prompts?",
    "Whether the runs of a table are nested in items or crossed with them: it decides how they are compared.",
    (_SCORES, _COLUMNS),
    next=(Next(("runs", "test"), "Compare the systems", carries=_READ),),
)
FORMS = (TEST, CHECK, *PLANNED)
