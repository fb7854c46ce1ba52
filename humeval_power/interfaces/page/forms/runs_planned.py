"""Forms of planned comparisons over repeated runs: power, effect, size, and what a budget buys."""

from __future__ import annotations

from humeval_power.interfaces.asking.form import Control, Form, Group, Next
from humeval_power.interfaces.page.forms.questions import ALPHA, question_forms

_EFFECT = Control(
    "effect",
    "True difference B - A",
    "in units of the score",
    (0, 0.5),
    0.005,
    "0.1",
    help="Of right and wrong, a share.",
)
_KIND = Group(
    "What a run is",
    (
        Control("nested", "Each item has runs of its own: generations", start="1"),
        Control("crossed", "All items have the same runs: prompts or seeds"),
    ),
    "One of them, where no pilot says it.",
    one_of=("nested", "crossed"),
)
_RUNS = Group(
    "The runs",
    (
        Control("runs", "Runs of an item by each system", "generations", (1, 20), 1, "3"),
        Control("runs-a", "Of A, where they differ", "generations"),
        Control("runs-b", "Of B", "generations"),
        Control("prompts", "Or prompts or seeds for all items", "prompts", (2, 50)),
    ),
)
_VARIES = Group(
    "How scores vary",
    (
        Control(
            "from", "A pilot's record", help="What 'Systems by several generations or prompts' writes."
        ),
        Control("systems", "Its pair of systems", help="Names with a comma between, where it has several."),
        Control(
            "family", "What a score is", labels={"gaussian": "a number", "binary": "right or wrong, 1 or 0"}
        ),
        Control("sd-item", "Items' true differences", "SD", (0, 2), 0.01, "0.3"),
        Control("sd-run", "Generations of an item", "SD", (0, 2), 0.01, "0.4"),
        Control("sd-run-a", "Generations of A, where they differ", "SD"),
        Control("sd-run-b", "Generations of B", "SD"),
        Control("sd-prompt-slope", "Prompts' own differences", "SD"),
        Control("sd-residual", "Single scores under prompts", "SD"),
        Control("sd-item-level", "Right and wrong under prompts: items' levels", "SD"),
        Control("sd-prompt-level", "And prompts' levels", "SD"),
        Control("baseline", "Share that is right", help="Of right and wrong: halfway between A and B."),
    ),
    "A pilot's record, or these standard deviations.",
)
_CLUSTERS = Group(
    "Clusters of items",
    (
        Control("cluster-size", "Mean items in a cluster", "items"),
        Control("cluster-cv", "Variation of the clusters' sizes", help="SD of the sizes over their mean."),
        Control("icc", "Correlation of items of a cluster", slider=(0, 1), step=0.01),
    ),
    folded=True,
)
_TEST = Group(
    "The test",
    (
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
        ALPHA,
    ),
    folded=True,
)
_GROUPS = (_KIND, _RUNS, _VARIES, _CLUSTERS, _TEST)
_ASKED = tuple(control.option for group in _GROUPS for control in group.controls)
_OF_BUDGET = tuple(name for name in _ASKED if name not in ("runs", "runs-a", "runs-b", "prompts"))
QUESTIONS = question_forms(
    "runs",
    name="a comparison over runs",
    size=Control("n", "Items", "items", (10, 2000), 10, "100"),
    effect=_EFFECT,
    groups=_GROUPS,
    carries=_ASKED,
    after=(Next(("runs", "budget"), "Items or runs: what a budget buys", (*_OF_BUDGET, "effect")),),
)
BUDGET = Form(
    ("runs", "budget"),
    "compare",
    "Items, generations or prompts?",
    "How to divide a budget between items and runs, and what one more of each buys.",
    (
        Group(
            "The budget",
            (
                Control("total", "What there is to spend", "USD", start="100"),
                Control("cost-per-call", "One answer of one system", "USD", start="0.01"),
                Control("cost-per-item", "An item: to write, to grade", "USD"),
                Control("cost-per-prompt", "A prompt to write", "USD"),
                Control("max-items", "Items that there are at all", "items"),
                Control("max-runs", "Most runs, or prompts, looked at", "runs"),
                _EFFECT,
            ),
        ),
        _KIND,
        _VARIES,
        _CLUSTERS,
        _TEST,
    ),
    is_quick=True,
    next=tuple(
        Next(
            ("runs", "power"),
            "Power of the best split",
            (*_OF_BUDGET, "effect"),
            fills={"n": "best.n_items", counted: "best.runs"},
            needs=(needs,),
        )
        for counted, needs in (
            ("runs", "parameters.sd_run_a"),
            ("prompts", "parameters.sd_prompt_slope"),
        )
    ),
)
FORMS = (*QUESTIONS, BUDGET)
