"""`--formula`: a model in lme4's syntax, in place of the options that name columns and terms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from humeval_power.checking.formula.model import ModelFormula, model_formula
from humeval_power.checking.formula.parts import PLACE, quoted, unfitted
from humeval_power.errors import InputError, Problem
from humeval_power.fields import own, text
from humeval_power.interfaces.asking.study_values import StudyValues
from humeval_power.interfaces.cli.output import note
from humeval_power.safe_text import shell_word

if TYPE_CHECKING:  # pandas is slow to import
    from humeval_power.estimation.fit import CorrelatedFactor
    from humeval_power.ratings import Ratings

FORMULA = own(
    text("FORMULA"),
    "The model as lme4 writes it, with the columns of FILE: 'score ~ model + (1 + model || annotator) "
    "+ (1 + model || segment)'. It names columns and terms in place of the options that do.",
    "The model as lme4 writes it",
    further=True,
)


class Modelled(NamedTuple):
    """The columns, and the terms beside those of every model. `nested`: items are written within documents."""

    study: StudyValues
    worker_item: bool
    correlated: tuple[CorrelatedFactor, ...]
    nested: bool = False

    def check(self, ratings: Ratings) -> None:
        """Refuse items whose names come again in another document, where the formula has them within documents.

        Raises
        ------
        InputError
            Such an item, with two of its documents.
        """
        document = ratings.document
        if not self.nested or document is None:
            return
        import numpy as np

        first = np.full(ratings.n_items, -1)
        first[ratings.item[::-1]] = document[::-1]
        bad = np.flatnonzero(first[ratings.item] != document)
        if len(bad):
            item, names = ratings.item[bad[0]], ratings.document_names
            rule = (
                f"its items lie within documents, and item {ratings.item_names[item]!r} occurs in "
                f"{names[first[item]]!r} and in {names[document[bad[0]]]!r}."
            )
            raise InputError([Problem(rule, "Give every item of every document an id of its own.", PLACE)])


def with_formula(text: str | None, study: StudyValues, *, worker_item: bool | None = None) -> Modelled:
    """The columns and terms that a formula names; or those of the options.

    worker_item : whether the term is asked for; None where the command does not fit it.

    Raises
    ------
    InputError
        No formula, a term that is not fitted here, or an option that says something else.
    """
    correlated = study.correlated or ()
    if text is None:
        return Modelled(study, bool(worker_item), correlated)
    model = model_formula(text)
    problems = [*_contradicted(model, study)]
    term = f"(1 | {quoted(model.worker)}:{quoted(model.item)})"
    if worker_item is None and model.worker_item:
        problems.append(unfitted(term, "this command does not fit it.", "'fit' does; here leave it out."))
    if worker_item and not model.worker_item:
        problems.append(Problem(f"--worker-item asks for a term that it lacks: {term}.", "Add it.", PLACE))
    problems += [
        Problem(f"--correlated asks for correlated {factor}s, which its '||' deny.", "Write '|'.", PLACE)
        for factor in correlated
        if factor not in model.correlated
    ]
    if problems:
        raise InputError(problems)
    for assumed in model.assumed:
        note(assumed)
    columns = model.columns
    columns["covariates"] = tuple(name for name in model.covariates if name != study.order_column)
    return Modelled(study.with_(**columns), model.worker_item, model.correlated, model.nested)


def _contradicted(model: ModelFormula, study: StudyValues) -> Iterator[Problem]:
    """Options that name another column than the formula does, or one that it lacks."""
    for role in ("worker", "item", "system", "rating"):
        column, said = getattr(model, role), getattr(study, role)
        if said not in (None, column):
            rule = f"it names {column!r} as the {role}, and --{role} {shell_word(said)} another column."
            yield Problem(rule, f"Leave out --{role}, or change the formula.", PLACE)
    if study.document not in (None, model.document):
        rule = f"it lacks the document of --document {shell_word(study.document)}."
        yield Problem(rule, f"Add (1 + {quoted(model.system)} || {quoted(study.document)}).", PLACE)
    order = () if study.order_column is None else (study.order_column,)
    for name in (*(study.covariates or ()), *order):
        if name not in model.covariates:
            yield Problem(
                f"it lacks the column {name!r}, which an option names.", f"Add + {quoted(name)}.", PLACE
            )
