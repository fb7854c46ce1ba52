"""The form of what platforms export and harnesses log: it becomes one table."""

from __future__ import annotations

from humeval_power.interfaces.asking.form import Control, Form, Group, Next

IMPORT = Form(
    ("import",),
    "ratings",
    "Bring exports, or logs",
    "Makes one table, a rating a row, of what a crowd platform or a survey tool exported; or of the logs that a "
    "harness wrote of several models.",
    (
        Group(
            "The exports",
            (
                Control(
                    "files",
                    "Exports",
                    help="One file or several of the same kind; or a folder of logs in the folder of the page.",
                ),
                Control(
                    "from",
                    "Kind of export",
                    help="[told from what is in it]",
                    labels={
                        "collected": "page of this program",
                        "mturk": "Amazon Mechanical Turk",
                        "qualtrics": "Qualtrics",
                        "prolific": "Prolific",
                        "label-studio": "Label Studio",
                        "argilla": "Argilla",
                        "potato": "Potato",
                        "pearmut": "Pearmut",
                        "appraise": "Appraise",
                        "mqm": "MQM",
                        "google-forms": "Google Forms",
                        "table": "a table",
                        "lm-eval": "log of lm-evaluation-harness",
                        "lmms-eval": "log of lmms-eval",
                        "inspect": "log of Inspect",
                        "helm": "log of HELM",
                        "openai-evals": "log of OpenAI evals",
                        "promptfoo": "results of promptfoo",
                        "deepeval": "test run of DeepEval",
                        "pydantic-evals": "report of Pydantic Evals",
                        "ragas": "results of ragas",
                        "mlflow": "results of MLflow",
                    },
                ),
                Control(
                    "map", "Mapping", help="A mapping file, where columns do not say enough by themselves."
                ),
            ),
        ),
        Group(
            "Of logs",
            (
                Control("task", "Tasks", help="The tasks of logs to read. [all]"),
                Control("score", "Metric", help="The metric of logs. [all]"),
                Control(
                    "again",
                    "A task that a system was given again",
                    labels={"refuse": "is refused", "last": "the last counts", "run": "each is a run"},
                ),
                Control("system", "Names of systems", help="NAME=FILE, where a log does not say it."),
            ),
            folded=True,
        ),
        Group(
            "What workers were given",
            (
                Control("assignment", "Assignment", help="Of codes: who was given what."),
                Control("key", "Key", help="Of codes: which code stands for which item and system."),
                Control("withdrawn", "Who withdrew"),
            ),
            folded=True,
        ),
    ),
    next=(
        Next(("check",), "Check the ratings", carries=("scale",), brings={"file": "ratings.csv"}),
        Next(("analyze",), "Analyse the ratings", carries=("scale",), brings={"file": "ratings.csv"}),
        Next(("compare", "scores"), "Compare the scores", brings={"files": "scores.csv"}),
        Next(("runs", "check"), "Are there runs?", brings={"file": "scores.csv"}),
    ),
    hides=("draft", "secret"),
)
