"""The fit of a table of ratings as a script of R, which reads the same file and fits and tests the same model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from humeval_power.errors import InputError
from humeval_power.estimation.latent.fit import LatentFit
from humeval_power.reporting.study.fits.fit_blocks import tested_words
from humeval_power.reporting.study.r_script.latent import latent_lines, peer_of
from humeval_power.reporting.study.r_script.linear import PACKAGES, TRIED, linear_lines, terms_of
from humeval_power.reporting.study.r_script.reading import needed_to_read, reading_lines
from humeval_power.reporting.study.r_script.text import comment
from humeval_power.rules import DecisionRule

if TYPE_CHECKING:
    from humeval_power.ratings import Ratings
    from humeval_power.reporting.study.fits.fit_result import FitResult


def r_script(result: FitResult) -> str:
    """A complete script that repeats a fit from its file, and prints its numbers beside those of the fit.

    Raises
    ------
    InputError
        A test or a file that R cannot repeat from the file alone.
    """
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
