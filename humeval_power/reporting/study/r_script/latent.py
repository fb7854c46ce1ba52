"""The fit of ratings in categories as lines of R: by glmmTMB where there are two of them, else by clmm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from humeval_power.estimation.latent.fit import LatentFit, fit_latent
from humeval_power.reporting.study.r_script.covariates import columns_of
from humeval_power.reporting.study.r_script.text import assigned, comment, heading, table_lines

if TYPE_CHECKING:
    from humeval_power.ratings import Ratings

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
    yield from _model(fitted, terms)
    yield from _comparison(fitted, plain, columns_of(ratings.covariates), test=test)


def _model(fitted: LatentFit, terms: Sequence[str]) -> Iterator[str]:
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
    found: Expected = [
        ("effect", peer.effect, latent.effect),
        ("standard_error", peer.error, fitted.standard_error),
    ]
    for k, threshold in enumerate(latent.thresholds, start=1):
        code = f"coef(model)[[{k}]]" if peer is ORDINAL else '-fixef(model)$cond[["(Intercept)"]]'
        found.append((f"threshold_{k}", code, threshold))
    known = {one.label: one.estimate for one in fitted.covariates}
    for column, _, label in columns:
        where = "coef(model)" if peer is ORDINAL else "fixef(model)$cond"
        found.append((column, f'{where}[["{column}"]]', known[label]))
    for group in ("worker", "item", *(["document"] if fitted.n_documents else [])):
        for term, column in (("intercept", "(Intercept)"), ("slope", "x")):
            name = f"sd_{group}_{term}"
            found.append((name, f'sd_of("{group}", "{column}")', getattr(latent, name)))
    found.append(("criterion", "-2 * as.numeric(logLik(model))", fitted.criterion))
    return found


def _comparison(
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
