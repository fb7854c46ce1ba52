"""The fit of a table of ratings as a script of R, which reads the same file and fits and tests the same model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from humeval_power.errors import InputError
from humeval_power.estimation.latent.fit import LatentFit, fit_latent
from humeval_power.rules import DecisionRule
from humeval_power.safe_text import formula_safe, one_line, r_text
from humeval_power.saying.numbers import counted
from humeval_power.studies.fit.fit_blocks import tested_words

if TYPE_CHECKING:
    from humeval_power.checking.origin import Layout, Origin
    from humeval_power.checking.structure import Covariate
    from humeval_power.estimation.fit import Fit
    from humeval_power.ratings import Ratings
    from humeval_power.studies.fit.fit_result import FitResult
    from humeval_power.studies.fit.wald import EffectTest


# Covariates in a script of R: their columns, coded as in the fit, and what to compare of them.

Named = tuple[str, str, str]  # a column of the model, its covariate and what its coefficient is


def columns_of(covariates: Sequence[Covariate]) -> list[Named]:
    """The columns that covariates have in the model, one for each coefficient."""
    return [
        (column, one.name, label)
        for place, one in enumerate(covariates, start=1)
        for column, label in zip(_columns(place, one), one.labels, strict=True)
    ]


def _columns(place: int, covariate: Covariate) -> list[str]:
    name, count = f"covariate_{place}", len(covariate.labels)
    return [name] if count == 1 else [f"{name}_{k}" for k in range(1, count + 1)]


def covariate_lines(covariates: Sequence[Covariate]) -> Iterator[str]:
    """Add the columns of covariates to `d`: numbers in SDs from their mean, categories that sum to zero, two places
    and orders as -1/2 and +1/2, more places from their mean."""
    for place, one in enumerate(covariates, start=1):
        columns = _columns(place, one)
        for column, label in zip(columns, one.labels, strict=True):
            yield f"# {column}: {r_text(label)[1:-1]}"
        yield f"value <- cell({r_text(one.name)})[keep]"
        if one.kind == "numeric":
            yield "value <- as.numeric(value)"
            yield f"d${columns[0]} <- (value - mean(value)) / sqrt(mean((value - mean(value))^2))"
        elif one.kind == "place":
            yield "value <- as.numeric(value)"
            yield f"d${columns[0]} <- value - mean(value)"
        elif one.kind == "categorical":
            yield from _categories(columns, one.levels)
        else:
            yield from _order(columns)


def _categories(columns: Sequence[str], levels: Sequence[str]) -> Iterator[str]:
    yield f"levels <- c({', '.join(map(r_text, levels))})"
    yield "stopifnot(value %in% levels)"
    if len(levels) == 2:
        yield f"d${columns[0]} <- ifelse(value == levels[2], 0.5, -0.5)"
        return
    yield "coded <- contr.sum(length(levels))[match(value, levels), ]"
    for k, column in enumerate(columns, start=1):
        yield f"d${column} <- coded[, {k}]"


def _order(columns: Sequence[str]) -> Iterator[str]:
    """The place of the rated output, or the system that was shown first, as a name or as A and B."""
    yield "first <- value"
    yield 'bare <- gsub("[^[:alnum:]]", "", tolower(value))'
    yield 'first[!value %in% c(a, b) & bare %in% c("a", "afirst", "ab")] <- a'
    yield 'first[!value %in% c(a, b) & bare %in% c("b", "bfirst", "ba")] <- b'
    yield "place <- ifelse(first == system[keep], 1, 2)"
    yield 'own <- !value %in% c(a, b) & sub("[.]0$", "", value) %in% c("1", "2")'
    yield "place[own] <- as.numeric(value[own])"
    yield f"d${columns[0]} <- place - 1.5"
    for column in columns[1:]:
        yield f"d${column} <- 2 * (place - 1.5) * d$x"


# Pieces of scripts of R: comments, numbers, formulas, and the table that they end with.

_WIDTH = 80


def heading(text: str) -> Iterator[str]:
    """The heading of a part of a script."""
    yield f"# {text} ".ljust(_WIDTH - 1, "-")
    yield ""


def table_lines(expected: Sequence[tuple[str, str, float]]) -> Iterator[str]:
    """A table of names, what R computes of each, and the numbers of the fit."""
    yield "compared <- rbind("
    for place, (name, code, value) in enumerate(expected):
        end = "" if place == len(expected) - 1 else ","
        yield f"  {name} = c(R = {code}, fit = {number(value)}){end}"
    yield ")"
    yield "print(compared, digits = 8)"


def number(value: float) -> str:
    """A number as R writes it, to 10 significant digits."""
    if math.isnan(value):
        return "NA"
    return f"{value:.10g}" if math.isfinite(value) else "Inf" if value > 0 else "-Inf"


def comment(text: str) -> Iterator[str]:
    """Text as lines of comment in ASCII, with codes for other letters; nothing in it that ends a line."""
    line = "#"
    for word in one_line(text).encode("ascii", "backslashreplace").decode().split(" "):
        if len(line) > 1 and len(line) + 1 + len(word) > _WIDTH:
            yield line
            line = "#"
        line += f" {word}"
    yield line


def assigned(name: str, response: str, terms: Sequence[str]) -> Iterator[str]:
    """An assignment of a formula, broken at its terms."""
    line = f"{name} <- {response} ~ {terms[0]}"
    for term in terms[1:]:
        if len(line) + len(term) + 5 > _WIDTH:
            yield f"{line} +"
            line = f"  {term}"
        else:
            line += f" + {term}"
    yield line


# The linear mixed model of ratings as lines of R: by lme4, tested as lmerTest and pbkrtest do.

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


# The fit of ratings in categories as lines of R: by glmmTMB where there are two of them, else by clmm.

Expected = list[tuple[str, str, float]]


class Peer(NamedTuple):
    """A package of R that fits one family, the versions that were tried, and how to get at what it found."""

    packages: tuple[str, ...]
    tried: str
    effect: str
    error: str
    variances: str


BINARY = Peer(
    ("glmmTMB",),
    "R 4.2.2, glmmTMB 1.1.5",
    'fixef(model)$cond[["x"]]',
    'sqrt(vcov(model)$cond["x", "x"])',
    "VarCorr(model)$cond",
)
ORDINAL = Peer(
    ("ordinal",),
    "R 4.2.2, ordinal 2022.11.16",
    'coef(model)[["x"]]',
    'sqrt(vcov(model)["x", "x"])',
    "VarCorr(model)",
)


def peer_of(fitted: LatentFit) -> Peer:
    """The package that fits this family."""
    return BINARY if fitted.family == "binary" else ORDINAL


def latent_lines(ratings: Ratings, fitted: LatentFit, terms: Sequence[str], *, test: str) -> Iterator[str]:
    """Fit the model to `d`, and compare; `test` is what the fit's own test says."""
    plain = fitted
    if fitted.family == "ordinal" and fitted.estimator == "reml":
        plain = fit_latent(ratings, family="ordinal", link=fitted.latent.link, estimator="ml")
    yield from _model_of_latent(fitted, terms)
    yield from _comparison_of_latent(fitted, plain, columns_of(ratings.covariates), test=test)


def _model_of_latent(fitted: LatentFit, terms: Sequence[str]) -> Iterator[str]:
    """The model of categories: worst first, with the same link."""
    yield from heading("The model of categories, on the latent scale")
    yield "values <- sort(unique(round(d$y, 9)))"
    yield "d$category <- match(round(d$y, 9), values)"
    yield from comment(
        "x is a number: in (0 + x | worker) a factor would have an effect for each of its levels."
    )
    link = fitted.latent.link
    if fitted.family == "binary":
        reml = "TRUE" if fitted.estimator == "reml" else "FALSE"
        yield "stopifnot(length(values) == 2)"
        yield "d$yes <- d$category - 1"
        yield from assigned("model_formula", "yes", terms)
        yield f'model <- glmmTMB(model_formula, data = d, family = binomial("{link}"), REML = {reml})'
    else:
        yield f"stopifnot(length(values) == {len(fitted.latent.scores)})"
        yield "d$category <- factor(d$category, ordered = TRUE)"
        yield from assigned("model_formula", "category", terms)
        yield from comment(
            "clmm maximises the plain likelihood by Laplace's approximation and knows no restricted one."
        )
        yield f'model <- clmm(model_formula, data = d, link = "{link}",'
        yield "  control = clmm.control(gradTol = 1e-6))"
    yield "print(summary(model))"
    yield ""


def _expected(fitted: LatentFit, columns: Sequence[tuple[str, str, str]]) -> Expected:
    """What R finds beside what the fit found: effect, its standard error, thresholds, SDs and criterion."""
    peer, latent = peer_of(fitted), fitted.latent
    expected: Expected = [
        ("effect", peer.effect, latent.effect),
        ("standard_error", peer.error, fitted.standard_error),
    ]
    for k, threshold in enumerate(latent.thresholds, start=1):
        code = f"coef(model)[[{k}]]" if peer is ORDINAL else '-fixef(model)$cond[["(Intercept)"]]'
        expected.append((f"threshold_{k}", code, threshold))
    known = {one.label: one.estimate for one in fitted.covariates}
    for column, _, label in columns:
        where = "coef(model)" if peer is ORDINAL else "fixef(model)$cond"
        expected.append((column, f'{where}[["{column}"]]', known[label]))
    for group in ("worker", "item", *(["document"] if fitted.n_documents else [])):
        for term, column in (("intercept", "(Intercept)"), ("slope", "x")):
            name = f"sd_{group}_{term}"
            expected.append((name, f'sd_of("{group}", "{column}")', getattr(latent, name)))
    expected.append(("criterion", "-2 * as.numeric(logLik(model))", fitted.criterion))
    return expected


def _comparison_of_latent(
    fitted: LatentFit, plain: LatentFit, columns: Sequence[tuple[str, str, str]], *, test: str
) -> Iterator[str]:
    """R's numbers beside those of the fit; `plain` is the fit by the likelihood that R maximises, `test` what
    the fit's own test says."""
    yield from heading("R's numbers beside those of the fit")
    yield from comment(
        "On the latent scale. They agree to 3 digits or more but for the standard error, to which R adds what is "
        "not known of the SDs: up to some 5 % more. Of SDs near zero the criterion hardly says more than that they "
        "are small."
    )
    if plain is not fitted:
        yield from comment(
            "Beside clmm stands the same model by the plain likelihood. The restricted one, which is reported, "
            f"gives effect {fitted.latent.effect:.6g} with standard error {fitted.standard_error:.6g}: plain SDs "
            "are too small where there are few workers."
        )
    yield from comment(
        f"R's p-values are those of a normal z, too bold with few workers. The fit's test is: {test}."
    )
    yield "sd_of <- function(group, term) {"
    yield f"  found <- {peer_of(fitted).variances}"
    yield '  found <- found[sub("[.][0-9]+$", "", names(found)) == group]'
    yield '  unlist(lapply(unname(found), attr, "stddev"))[[term]]'
    yield "}"
    yield from table_lines(_expected(plain, columns))


# Lines of R that read a file of ratings, and keep the rows that the fit kept.

_STANDARD_INPUT = "-"
_UNREAD = {"excel": "Excel files", "parquet": "Parquet files"}


def needed_to_read(ratings: Ratings) -> tuple[Origin, Layout]:
    """Where the ratings stand, for R to read. Raises InputError: ratings of no file, or of one that plain R
    does not read."""
    origin = ratings.origin
    if origin is None or origin.layout is None:
        raise InputError("A script of R reads the ratings from their file; these were read from none.")
    if what := _UNREAD.get(origin.layout.kind):
        raise InputError(
            f"{ratings.source}: R does not read {what} without further packages. Save the table as CSV UTF-8, and "
            "fit that: the script then reads the same file."
        )
    return origin, origin.layout


def reading_lines(ratings: Ratings) -> Iterator[str]:
    """Read the file into `raw`, and the ratings that are analysed into `d`: worker, item, x and y."""
    origin, layout = needed_to_read(ratings)
    yield from heading("The ratings")
    yield "path <- commandArgs(trailingOnly = TRUE)[1]"
    path = "stdin" if layout.path == _STANDARD_INPUT else layout.path
    yield f"if (is.na(path)) path <- {r_text(path)}"
    yield from _table(layout)
    yield from _cells(ratings, origin)
    yield from _selection(ratings, origin)
    yield from _frame(ratings)


def _table(layout: Layout) -> Iterator[str]:
    if layout.kind == "json lines":
        yield '# JSON needs a package: install.packages("jsonlite")'
        yield "raw <- jsonlite::stream_in(file(path), verbose = FALSE)"
    else:
        encoding = 'encoding = "UTF-8"'
        if layout.encoding != "UTF-8":
            encoding = f"fileEncoding = {r_text(layout.encoding)}"
        yield 'raw <- read.csv(if (path == "stdin") file("stdin") else path,'
        separator = r_text(layout.separator).replace("\\u0009", "\\t")
        yield f'  sep = {separator}, colClasses = "character", check.names = FALSE,'
        yield f"  na.strings = character(0), {encoding})"
    yield "names(raw) <- trimws(names(raw))"


def _cells(ratings: Ratings, origin: Origin) -> Iterator[str]:
    """A function that gives the cells of a column as the fit reads them."""
    literals = [*origin.columns.values(), *ratings.system_names, *(one.name for one in ratings.covariates)]
    guarded = any(formula_safe(name) != name for name in literals)
    if guarded:
        yield "# Without the apostrophe that keeps a spreadsheet from running a cell."
        yield 'plain <- function(x) sub("^\'(\'*[-=+@\\t\\r\\n])", "\\\\1", x)'
        yield "names(raw) <- plain(names(raw))"
    yield "cell <- function(column) {"
    yield '  if (!column %in% names(raw)) stop("There is no column ", column, ".")'
    yield "  x <- as.character(raw[[column]])"
    yield '  x[is.na(x)] <- ""'
    if guarded:
        yield "  x <- plain(x)"
    yield '  trimws(x, whitespace = "[\\\\h\\\\v]")'
    yield "}"
    for role, column in origin.columns.items():
        yield f"{role} <- cell({r_text(column)})"
    yield ""


def _selection(ratings: Ratings, origin: Origin) -> Iterator[str]:
    """Which rows are analysed, with what the flow of rows says of them."""
    a, b = ratings.system_names
    for step in ratings.flow:
        reason = f": {step.reason}" if step.reason else ""
        yield f"# {counted(step.rows, 'row')} {step.step}{_ascii(reason)}"
    yield f"a <- {r_text(a)}"
    yield f"b <- {r_text(b)}"
    rules = ["system %in% c(a, b)", f"!rating %in% {_vector(origin.missing)}"]
    if "criterion" in origin.columns and ratings.criterion is not None:
        rules.append(f"criterion == {r_text(ratings.criterion)}")
    rules += [f"!cell({r_text(column)}) %in% {_vector(cells)}" for column, cells in origin.left_out]
    yield f"keep <- {rules[0]}"
    for rule in rules[1:]:
        yield f"keep <- keep & {rule}"
    yield ""


def _frame(ratings: Ratings) -> Iterator[str]:
    scale = ratings.scale
    share = f"(as.numeric(rating[keep]) - {scale.low!r}) / {scale.width!r}"
    if not scale.higher_is_better:
        share = f"1 - {share}"
    yield "d <- data.frame("
    yield "  worker = factor(worker[keep]),"
    yield "  item = factor(item[keep]),"
    if ratings.document is not None:
        yield "  document = factor(document[keep]),"
    yield "  x = ifelse(system[keep] == b, 0.5, -0.5),  # the effect is B - A"
    yield f"  y = {share}"
    yield ")"
    yield from covariate_lines(ratings.covariates)
    yield f"stopifnot(nrow(d) == {ratings.n_ratings}, nlevels(d$worker) == {ratings.n_workers},"
    yield f"  nlevels(d$item) == {ratings.n_items}, !anyNA(d))"
    yield ""


def _vector(texts: Sequence[str]) -> str:
    return f"c({', '.join(map(r_text, texts))})"


def _ascii(text: str) -> str:
    """Text in a comment: what is not plain as codes."""
    return r_text(text)[1:-1]


def r_script(result: FitResult) -> str:
    """A complete script that repeats a fit from its file, and prints its numbers beside those of the fit.
    Raises InputError: a test or a file that R cannot repeat from the file alone."""
    check_repeatable(result.ratings, result.test.rule)
    fitted, ratings, tested = result.fitted, result.ratings, result.test
    if isinstance(fitted, LatentFit):
        packages, tried = peer_of(fitted).packages, peer_of(fitted).tried
        body = latent_lines(ratings, fitted, terms_of(ratings), test=tested_words(tested))
    else:
        packages, tried = PACKAGES, TRIED
        body = linear_lines(ratings, fitted, tested)
    lines = [*_header(result, packages, tried), *reading_lines(ratings), *body]
    return "\n".join(lines) + "\n"


def check_repeatable(ratings: Ratings, rule: DecisionRule) -> None:
    """Refuse, before long work, what a script cannot repeat. Raises InputError: what `r_script` raises."""
    needed_to_read(ratings)
    if rule.is_simulated:
        raise InputError(
            f"df '{rule.df}' are simulated here, which a script of R does not repeat: take df 'kenward-roger', "
            "'satterthwaite', 'min' or 'normal'."
        )
    if rule.analysis == "differences":
        raise InputError("A script of R repeats the fit of ratings, not that of differences.")


def _header(result: FitResult, packages: Sequence[str], tried: str) -> Iterator[str]:
    ratings, provenance = result.ratings, result.provenance
    yield from comment(f"The fit of {ratings.source}, repeated in R.")
    if provenance.command:
        yield from comment(f"Made by: {provenance.command}")
    for source in provenance.sources:
        if source.sha256:
            yield from comment(f"{source.name}: SHA-256 {source.sha256}")
    names = ", ".join(f'"{package}"' for package in packages)
    yield "#"
    yield from comment("Run it where the file is, or name the file: Rscript THIS.R [FILE]")
    yield from comment(f"Needs: install.packages(c({names}))")
    yield from comment(f"Tried with {tried}.")
    yield ""
    yield "suppressPackageStartupMessages({"
    yield from (f"  library({package})" for package in packages)
    yield "})"
    yield ""
