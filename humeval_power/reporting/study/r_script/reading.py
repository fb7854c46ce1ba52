"""Lines of R that read a file of ratings, and keep the rows that the fit kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from humeval_power.errors import InputError
from humeval_power.reporting.numbers import counted
from humeval_power.reporting.study.r_script.covariates import covariate_lines
from humeval_power.reporting.study.r_script.text import heading
from humeval_power.safe_text import formula_safe, r_text

if TYPE_CHECKING:
    from humeval_power.checking.origin import Layout, Origin
    from humeval_power.ratings import Ratings

_STANDARD_INPUT = "-"
_UNREAD = {"excel": "Excel files", "parquet": "Parquet files"}


def needed_to_read(ratings: Ratings) -> tuple[Origin, Layout]:
    """Where the ratings stand, for R to read.

    Raises
    ------
    InputError
        Ratings of no file, or of one that plain R does not read.
    """
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
