"""The linear mixed model of ratings as lines of R: by lme4, tested as lmerTest and pbkrtest do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from humeval_power.reporting.study.r_script.covariates import columns_of
from humeval_power.reporting.study.r_script.text import assigned, comment, heading, table_lines

if TYPE_CHECKING:
    from humeval_power.estimation.fit import Fit
    from humeval_power.inference.study.wald import EffectTest
    from humeval_power.ratings import Ratings
    from humeval_power.rules import DecisionRule

# With these the scripts of every kind of table gave the numbers of the fit.
PACKAGES = ("lme4", "lmerTest", "pbkrtest")
TRIED = "R 4.2.2, lme4 1.1.31, lmerTest 3.1.3, pbkrtest 0.5.2"


def linear_lines(ratings: Ratings, fitted: Fit, tested: EffectTest) -> Iterator[str]:
    """Fit the model to `d`, test the effect, and compare."""
    correlated = [one.factor for one in fitted.correlations]
    shared = fitted.parameters.sd_worker_item > 0
    yield from _model(fitted, terms_of(ratings, worker_item=shared, correlated=correlated))
    yield from _test(ratings, tested.rule)
    yield from _comparison(ratings, fitted, tested)


def terms_of(ratings: Ratings, *, worker_item: bool = False, correlated: Sequence[str] = ()) -> list[str]:
    """The terms as lme4 writes them: x = -1/2 and +1/2 is the system, the columns have the names of their roles."""
    terms = ["x", *(column for column, *_ in columns_of(ratings.covariates))]
    for group in ("worker", "item", *(["document"] if ratings.document is not None else [])):
        alone = [f"(1 | {group})", f"(0 + x | {group})"]
        terms += [f"(1 + x | {group})"] if group in correlated else alone
    if worker_item:
        terms.append("(1 | worker:item)")
    return terms


def _model(fitted: Fit, terms: Sequence[str]) -> Iterator[str]:
    reml = "TRUE" if fitted.estimator == "reml" else "FALSE"
    yield from heading("The model")
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


def _test(ratings: Ratings, rule: DecisionRule) -> Iterator[str]:
    yield from heading("The test of the effect B - A, on [0, 1]")
    yield 'contrast <- as.numeric(names(fixef(model)) == "x")'
    if rule.df in ("kenward-roger", "satterthwaite"):
        name = "Kenward-Roger" if rule.df == "kenward-roger" else "Satterthwaite"
        if rule.df == "kenward-roger" and ratings.n_ratings > 2000:
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


def _comparison(ratings: Ratings, fitted: Fit, tested: EffectTest) -> Iterator[str]:
    expected: list[tuple[str, str, float]] = [
        ("effect", "effect", tested.estimate),
        ("standard_error", "standard_error", tested.standard_error),
        ("df", "df", tested.df),
        ("p", "p", tested.p_value),
    ]
    for place, (column, _, label) in enumerate(columns_of(ratings.covariates)):
        known = {effect.label: effect.estimate for effect in fitted.covariates}
        expected.append((column, f"fixef(model)[[{place + 3}]]", known[label]))
    documents = [] if ratings.document is None else ["document"]
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
    yield from heading("R's numbers beside those of the fit")
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
