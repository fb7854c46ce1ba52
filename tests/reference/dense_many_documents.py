"""Several systems of items in documents, by the full covariance matrix of all ratings."""

import numpy as np


def covariance_of_ratings(parameters, rows):
    """Covariance of all ratings, from worker, item, document and system of each."""
    same_system = rows.system[:, None] == rows.system
    total = parameters.sd_residual**2 * np.eye(len(rows.worker))
    for codes, shared, own in (
        (rows.worker, parameters.sd_worker, parameters.sd_worker_system),
        (rows.item, parameters.sd_item, parameters.sd_item_system),
        (rows.document, parameters.sd_document, parameters.sd_document_system),
    ):
        together = codes[:, None] == codes
        total += together * (shared**2 + same_system * np.array(own)[rows.system] ** 2)
    return total


def covariance_of_means(parameters, rows):
    """Of the generalised least squares means of the systems in `rows`, (systems, systems)."""
    x = np.eye(parameters.n_systems)[rows.system][:, np.unique(rows.system)]
    return np.linalg.inv(x.T @ np.linalg.solve(covariance_of_ratings(parameters, rows), x))
