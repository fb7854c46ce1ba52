"""`--formula`: a model in lme4's syntax, in place of the options that name columns and terms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import click

from humeval_power.checking.formula.model import ModelFormula, model_formula
from humeval_power.checking.formula.parts import PLACE, quoted
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.cli.options import TableOptions
from humeval_power.interfaces.cli.output import note
from humeval_power.safe_text import shell_word

formula_option = click.option(
    "--formula",
    metavar="FORMULA",
    help="The model as lme4 writes it, with the columns of FILE: 'score ~ model + (1 + model || annotator) "
    "+ (1 + model || segment)'. It names columns and terms in place of the options that do.",
)


def with_formula(text: str | None, table: TableOptions, *, worker_item: bool) -> tuple[TableOptions, bool]:
    """The columns, and whether there is a term of worker and item, as a formula says; or as the options do.

    Raises
    ------
    InputError
        No formula, a term that is not fitted here, or an option that says something else.
    """
    if text is None:
        return table, worker_item
    model = model_formula(text)
    problems = [*_contradicted(model, table), *_not_taken(model)]
    if worker_item and not model.worker_item:
        term = f"(1 | {model.worker}:{model.item})"
        problems.append(Problem(f"--worker-item asks for a term that it lacks: {term}.", "Add it.", PLACE))
    if problems:
        raise InputError(problems)
    for assumed in model.assumed:
        note(assumed)
    return replace(table, **model.columns), model.worker_item


def _contradicted(model: ModelFormula, table: TableOptions) -> Iterator[Problem]:
    """Options that name another column than the formula does, or one that it lacks."""
    for role, column in model.columns.items():
        said = getattr(table, role)
        if said not in (None, column):
            rule = f"it names {column!r} as the {role}, and --{role} {shell_word(said)} another column."
            yield Problem(rule, f"Leave out --{role}, or change the formula.", PLACE)
    if table.document not in (None, model.document):
        rule = f"it lacks the document of --document {shell_word(table.document)}."
        yield Problem(rule, f"Add (1 + {quoted(model.system)} || {quoted(table.document)}).", PLACE)
    order = () if table.order_column is None else (table.order_column,)
    for name in (*table.covariates, *order):
        if name not in model.covariates:
            yield Problem(
                f"it lacks the column {name!r}, which an option names.", f"Add + {quoted(name)}.", PLACE
            )


def _not_taken(model: ModelFormula) -> list[Problem]:
    """Terms that formulas know and a fit does not take yet."""
    rule, remedy = "it has {}, which a fit does not take yet.", "Leave it out of the formula."
    asked = {
        f"the document {model.document!r}": model.document,
        f"covariates ({', '.join(model.covariates)})": model.covariates,
        f"correlated intercepts and slopes of {', '.join(model.correlated)}s": model.correlated,
    }
    return [Problem(rule.format(what), remedy, PLACE) for what, said in asked.items() if said]
