"""What a table of ratings says besides worker, item and system: its documents and covariates."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # the problem uses this file
    from humeval_power.estimation.crossed.problem import RatingTable


class ModelStructure(TypedDict):
    """Codes of documents (n,) and the columns of covariates (n, k), None where there are none."""

    document: NDArray[np.int64] | None
    covariates: NDArray[np.float64] | None


def structure_of(ratings: RatingTable) -> ModelStructure:
    """The documents and covariates of a table; a table without such fields has none."""
    covariates = getattr(ratings, "covariate_columns", None)
    none = covariates is None or covariates.shape[1] == 0
    return {"document": getattr(ratings, "document", None), "covariates": None if none else covariates}


def is_structured(ratings: RatingTable) -> bool:
    """Whether a table has documents or covariates."""
    return any(part is not None for part in structure_of(ratings).values())


def n_documents(ratings: RatingTable) -> int:
    """Number of documents of a table, 0 where they are not known."""
    document = structure_of(ratings)["document"]
    return 0 if document is None else int(document.max()) + 1
