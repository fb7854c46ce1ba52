"""The fit of a table of ratings as a script of R, which reads the same file and fits and tests the same model."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from humeval_power.errors import InputError
from humeval_power.reporting.study.r_covariates import columns_of
from humeval_power.reporting.study.r_reading import needed_to_read, reading_lines
from humeval_power.reporting.study.r_text import assigned, comment, table_lines
from humeval_power.rules import DecisionRule

if TYPE_CHECKING:
    from humeval_power.ratings import Ratings
    from humeval_power.reporting.study.fit_result import FitResult

# With these the scripts of every kind of table gave the numbers of the fit.
TRIED = "R 4.2.2, lme4 1.1.31, lmerTest 3.1.3, pbkrtest 0.5.2"


def r_script(result: FitResult) -> str:
    """A complete script that repeats a fit from its file, and prints its numbers beside those of the fit.

    Raises
    ------
    InputError
        A test or a file that R cannot repeat from the file alone.
    """
    check_repeatable(result.ratings, result.test.rule)
    lines = [
        *_header(result),
        *reading_lines(result.ratings),
        *_model(result),
        *_test(result.test.rule, result),
        *_comparison(result),
    ]
    return "\n".join(lines) + "\n"


def check_repeatable(ratings: Ratings, rule: DecisionRule) -> None:
    """Refuse, before long work, what a script cannot repeat.

    Raises
    ------
    InputError
        What `r_script` raises.
    """
    needed_to_read(ratings)
    if rule.is_simulated:
        raise InputError(
            f"df '{rule.df}' are simulated here, which a script of R does not repeat: take df 'kenward-roger', "
            "'satterthwaite', 'min' or 'normal'."
        )
    if rule.is_latent:
        raise InputError(
            f"A script of R repeats the fit of ratings as numbers so far, not that of the family '{rule.family}'."
        )
    if rule.analysis == "differences":
        raise InputError("A script of R repeats the fit of ratings, not that of differences.")


def _header(result: FitResult) -> Iterator[str]:
    ratings, provenance = result.ratings, result.provenance
    yield from comment(f"The fit of {ratings.source}, repeated in R.")
    if provenance.command:
        yield from comment(f"Made by: {provenance.command}")
    for source in provenance.sources:
        if source.sha256:
            yield from comment(f"{source.name}: SHA-256 {source.sha256}")
    yield "#"
    yield from comment("Run it where the file is, or name the file: Rscript THIS.R [FILE]")
    yield from comment('Needs: install.packages(c("lme4", "lmerTest", "pbkrtest"))')
    yield from comment(f"Tried with {TRIED}.")
    yield ""
    yield "suppressPackageStartupMessages({"
    yield "  library(lme4)"
    yield "  library(lmerTest)"
    yield "})"
    yield ""


def terms_of(ratings: Ratings, *, worker_item: bool, correlated: Collection[str]) -> list[str]:
    """The terms as lme4 writes them: x = -1/2 and +1/2 is the system, the columns have the names of their roles."""
    terms = ["x", *(column for column, *_ in columns_of(ratings.covariates))]
    for group in ("worker", "item", *(["document"] if ratings.document is not None else [])):
        alone = [f"(1 | {group})", f"(0 + x | {group})"]
        terms += [f"(1 + x | {group})"] if group in correlated else alone
    if worker_item:
        terms.append("(1 | worker:item)")
    return terms


def _model(result: FitResult) -> Iterator[str]:
    reml = "TRUE" if result.fitted.estimator == "reml" else "FALSE"
    terms = terms_of(
        result.ratings,
        worker_item=result.parameters.sd_worker_item > 0,
        correlated=[one.factor for one in result.fitted.correlations],
    )
    yield "# The model -------------------------------------------------------------------"
    yield ""
    yield from comment(
        "Intercepts and slopes correlate within one bracket only. x is a number: in (0 + x | worker) a factor "
        "would have an effect for each of its levels."
    )
    yield from assigned("model_formula", "y", terms)
    yield from comment(
        "lme4's usual search stops a little above the lowest criterion, and small tables can have several minima: "
        "three starts, a fine search, and the lowest of them."
    )
    yield 'control <- lmerControl(optimizer = "bobyqa", calc.derivs = FALSE,'
    yield '  optCtrl = list(rhoend = 1e-10, maxfun = 1e5), check.conv.singular = "ignore",'
    yield '  check.nobs.vs.nlev = "ignore", check.nobs.vs.nRE = "ignore",'
    yield '  check.nobs.vs.rankZ = "ignore")'
    yield "theta <- lFormula(model_formula, d, control = control)$reTrms$theta"
    yield "model <- NULL"
    yield "for (s in c(1, 0.1, 5)) {"
    yield f"  fit <- lmer(model_formula, d, REML = {reml}, start = s * theta, control = control)"
    yield "  if (is.null(model) || logLik(fit) > logLik(model)) model <- fit"
    yield "}"
    yield 'print(summary(model, correlation = FALSE, ddf = "lme4"))'
    yield ""


def _test(rule: DecisionRule, result: FitResult) -> Iterator[str]:
    yield "# The test of the effect B - A, on [0, 1] -------------------------------------"
    yield ""
    yield 'contrast <- as.numeric(names(fixef(model)) == "x")'
    if rule.df in ("kenward-roger", "satterthwaite"):
        name = "Kenward-Roger" if rule.df == "kenward-roger" else "Satterthwaite"
        if rule.df == "kenward-roger" and len(result.ratings.rating) > 2000:
            yield from comment("pbkrtest forms dense matrices: with so many ratings this takes long.")
        yield f'test <- contest1D(model, contrast, ddf = "{name}")'
        yield 'standard_error <- test[["Std. Error"]]'
        yield 'df <- test[["df"]]'
    else:
        yield 'standard_error <- sqrt(vcov(model)["x", "x"])'
        yield "df <- Inf" if rule.df == "normal" else "df <- min(nlevels(d$worker), nlevels(d$item)) - 1"
    yield 'effect <- fixef(model)[["x"]]'
    yield from p_lines(rule)
    yield ""


def p_lines(rule: DecisionRule) -> Iterator[str]:
    """The p-value of the rule from effect, standard_error and df."""
    if rule.alternative == "two-sided":
        yield "p <- 2 * pt(-abs(effect / standard_error), df)"
    elif rule.alternative == "greater":
        yield "p <- pt(-effect / standard_error, df)"
    else:
        yield f"margin <- {rule.margin!r}"
        yield "p <- pt(-(effect + margin) / standard_error, df)"
        if rule.alternative == "equivalent":
            yield "p <- max(p, pt((effect - margin) / standard_error, df))"


def _comparison(result: FitResult) -> Iterator[str]:
    fitted, tested = result.fitted, result.test
    expected: list[tuple[str, str, float]] = [
        ("effect", "effect", tested.estimate),
        ("standard_error", "standard_error", tested.standard_error),
        ("df", "df", tested.df),
        ("p", "p", tested.p_value),
    ]
    for place, (column, _, label) in enumerate(columns_of(result.ratings.covariates)):
        known = {effect.label: effect.estimate for effect in fitted.covariates}
        expected.append((column, f"fixef(model)[[{place + 3}]]", known[label]))
    documents = [] if result.ratings.document is None else ["document"]
    for group in ("worker", "item", *documents):
        for term, column in (("intercept", "(Intercept)"), ("slope", "x")):
            name = f"sd_{group}_{term}"
            expected.append((name, f'sd_of("{group}", "{column}")', getattr(fitted.parameters, name)))
    if fitted.parameters.sd_worker_item > 0:
        value = fitted.parameters.sd_worker_item
        expected.append(("sd_worker_item", 'sd_of("worker:item", "(Intercept)")', value))
    for one in fitted.correlations:
        code = f'attr(VarCorr(model)${one.factor}, "correlation")[1, 2]'
        expected.append((f"correlation_{one.factor}", code, one.value))
    expected.append(("sd_residual", "sigma(model)", fitted.parameters.sd_residual))
    expected.append(("criterion", "-2 * as.numeric(logLik(model))", fitted.criterion))
    yield "# R's numbers beside those of the fit -------------------------------------------"
    yield ""
    if fitted.not_identified:
        yield from comment(
            f"This table cannot tell {', '.join(fitted.not_identified)} apart: how R splits them says nothing, "
            "and neither do the df of such a fit."
        )
    yield from comment(
        "They agree to 4 digits or more; of SDs near zero the criterion hardly says more than that they are small."
    )
    yield "sd_of <- function(group, term) {"
    yield "  found <- as.data.frame(VarCorr(model))"
    yield '  groups <- sub("[.][0-9]+$", "", found$grp)'
    yield "  found$sdcor[groups == group & found$var1 %in% term & is.na(found$var2)]"
    yield "}"
    yield from table_lines(expected)
