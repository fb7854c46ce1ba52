"""`humeval-power check`: what is in a table of ratings, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from humeval_power.asking.adapting import one_table
from humeval_power.asking.command import Use
from humeval_power.asking.declared import Page, Part, study_command
from humeval_power.asking.form import Next
from humeval_power.asking.study_values import StudyValues
from humeval_power.asking.vocabulary import TABLE, table_of
from humeval_power.checking.columns import ROLES
from humeval_power.comparisons.runs import calls as runs
from humeval_power.errors import InputError
from humeval_power.safe_text import shell_word

if TYPE_CHECKING:
    from humeval_power.comparisons.runs.result import RunsKindResult
    from humeval_power.comparisons.scores.result_sets import ScoreCheckResult
    from humeval_power.comparisons.scores.score_table import ScoreTable
    from humeval_power.studies.fit.check import CheckResult


@study_command(
    ("check",),
    {"ratings": table_of(), **TABLE},
    arguments=("ratings",),
    use=Use(adapts=one_table),
    page=Page(
        "Check a table of ratings",
        "What is in it, who rated what, and all that is wrong with it. A row is one rating.",
        (Part("The ratings", ("ratings", "scale", "lower_is_better")),),
        (
            Next(("fit",), "Compare two systems by a model"),
            Next(("analyze",), "Analyse the finished study, of any number of systems"),
        ),
        journey="ratings",
    ),
)
def command(study: StudyValues) -> CheckResult | RunsKindResult | ScoreCheckResult:
    """Show what is in a table of ratings, and all that is wrong with it.

    RATINGS is CSV, TSV, JSON Lines, Parquet or Excel, with one rating per row;
    - is standard input. Columns that look like documents, sessions, an order of
    showing or time are named, with what leaving them out of the model would do.
    Ends with 0 if the table is fine, with 2 if not. Of scores that no worker
    gave it names columns that look like clusters of items, and says what kind
    of runs they are where there are several.
    """
    from humeval_power.comparisons.runs.files import holds_runs, run_table
    from humeval_power.comparisons.scores import calls as compare
    from humeval_power.files.tables import each_criterion, read_rating_table
    from humeval_power.studies.fit.calls import check
    from humeval_power.studies.loading import reading

    result = read_rating_table(study.ratings)
    unsaid = not set(study.typed) - {"ratings"}
    if unsaid and holds_runs(result):
        return runs.check(run_table(result))
    try:
        checked = each_criterion(result, **reading(study))
    except InputError:
        has_workers = any(ROLES["worker"].fits(str(name)) for name in result.frame.columns)
        if unsaid and not has_workers and (scores := _scores(study.ratings)):
            return compare.check(scores)
        raise
    notices = []
    if len(checked) > 1:
        option = f"--criterion {shell_word(str(checked[0].criterion))}"
        notices.append(f"{len(checked)} criteria, each by itself. To 'fit' one, name it: {option}")
    return check(checked, table=result.frame, remarks=notices)


def _scores(file: str) -> Mapping[str, ScoreTable]:
    """The scores of a table that nobody rated, by metric; nothing where it is no such table."""
    from humeval_power.comparisons.scores.files import open_scores, read_scores
    from humeval_power.files.file_bytes import STANDARD_INPUT

    if file == STANDARD_INPUT:
        return {}  # it has been read
    try:
        source = open_scores([file])
        wanted = [(name,) for name in source.scores] if source.system else [()]
        return {
            name: table for scores in wanted for name, table in read_scores(file, scores=scores).items()
        }
    except InputError:
        return {}
