"""The crossed rating model written with dense matrices: slow, short, obvious."""

import numpy as np
from scipy import optimize


def design_matrices(worker, item, system):
    """X (n, 2) and the list of Z_t for worker intercept, worker slope, item intercept, item slope."""
    x = np.asarray(system) - 0.5
    w = (np.asarray(worker)[:, None] == np.unique(worker)[None, :]).astype(float)
    i = (np.asarray(item)[:, None] == np.unique(item)[None, :]).astype(float)
    return np.column_stack([np.ones_like(x), x]), [w, x[:, None] * w, i, x[:, None] * i]


def h_matrix(zs, gamma):
    return np.eye(len(zs[0])) + sum(g * z @ z.T for g, z in zip(gamma, zs, strict=True))


def traces(matrix, gs):
    """tr(M G_s M G_t) of every two: the sum of the products of M G_s and the transpose of M G_t."""
    products = np.array([matrix @ g for g in gs])
    return np.tensordot(products, products.transpose(0, 2, 1), axes=((1, 2), (1, 2)))


def criterion(gamma, y, X, zs, restricted=True):
    """-2 log (restricted) likelihood, profiled over the coefficients and sigma."""
    H = h_matrix(zs, gamma)
    Hi = np.linalg.inv(H)
    xhx = X.T @ Hi @ X
    beta = np.linalg.solve(xhx, X.T @ Hi @ y)
    r = y - X @ beta
    rss = r @ Hi @ r
    df = len(y) - X.shape[1] * restricted
    value = df * (1 + np.log(2 * np.pi * rss / df)) + np.linalg.slogdet(H)[1]
    return value + restricted * np.linalg.slogdet(xhx)[1]


def stationary(gamma, y, ratings):
    """The zero of the slope of the ML criterion near gamma, those at zero kept there."""
    X, zs = design_matrices(ratings.worker, ratings.item, ratings.system)
    free = gamma > 0

    def slope(variances):
        full = np.zeros(len(gamma))
        full[free] = variances
        return gradient(full, y, X, zs, restricted=False)[free]

    found = gamma.copy()
    found[free] = optimize.root(slope, gamma[free], tol=1e-14).x
    return found


def precision(gamma, y, X, zs, contrast, restricted=True):
    """(se, Kenward-Roger se, Satterthwaite df, Kenward-Roger df) from full n x n matrices.

    Kenward and Roger (1997) with every component kept; Satterthwaite with the observed information
    of the components above zero.
    """
    Hi = np.linalg.inv(h_matrix(zs, gamma))
    beta = np.linalg.solve(X.T @ Hi @ X, X.T @ Hi @ y)
    rss = (y - X @ beta) @ Hi @ (y - X @ beta)
    s2 = rss / (len(y) - X.shape[1] * restricted)
    Vi = Hi / s2
    G = [z @ z.T for z in zs] + [np.eye(len(y))]
    Phi = np.linalg.inv(X.T @ Vi @ X)
    P_reml = Vi - Vi @ X @ Phi @ X.T @ Vi
    P_info = P_reml if restricted else Vi
    q = len(G)
    expected = 0.5 * traces(P_info, G)
    GPy = np.array([g @ (P_reml @ y) for g in G])
    average = 0.5 * GPy @ P_reml @ GPy.T
    observed = 2 * average - expected
    along = Vi @ X @ Phi @ contrast
    slopes = np.array([along @ g @ along for g in G])
    variance = contrast @ Phi @ contrast
    free = [t for t in range(q) if t == q - 1 or gamma[t] > 0]
    df_s = 2 * variance**2 / (slopes[free] @ np.linalg.inv(observed[np.ix_(free, free)]) @ slopes[free])
    W = np.linalg.inv(expected)
    XV = X.T @ Vi
    XVG = [XV @ g for g in G]
    P = [-xvg @ XV.T for xvg in XVG]
    XVGV = [xvg @ Vi for xvg in XVG]
    Q = [[one @ other.T for other in XVG] for one in XVGV]
    middle = sum(W[a, b] * (Q[a][b] - P[a] @ Phi @ P[b]) for a in range(q) for b in range(q))
    adjusted = Phi + 2 * Phi @ middle @ Phi
    return (
        np.sqrt(variance),
        np.sqrt(contrast @ adjusted @ contrast),
        df_s,
        2 * variance**2 / (slopes @ W @ slopes),
    )


def fixed_effects(gamma, y, X, zs):
    """Generalised least squares coefficients, (X'H^-1X)^-1 and y'Py."""
    Hi = np.linalg.inv(h_matrix(zs, gamma))
    phi = np.linalg.inv(X.T @ Hi @ X)
    beta = phi @ X.T @ Hi @ y
    r = y - X @ beta
    return beta, phi, r @ Hi @ r


def gradient(gamma, y, X, zs, restricted=True):
    """d criterion / d gamma_t = tr(K G_t) - y'PG_tPy / sigma^2, with K = P for REML, H^-1 for ML."""
    Hi = np.linalg.inv(h_matrix(zs, gamma))
    P = Hi - Hi @ X @ np.linalg.inv(X.T @ Hi @ X) @ X.T @ Hi
    s2 = y @ P @ y / (len(y) - X.shape[1] * restricted)
    K = P if restricted else Hi
    Py = P @ y
    return np.array([np.sum(z * (K @ z)) - np.sum((z.T @ Py) ** 2) / s2 for z in zs])


def working_products(gamma, y, X, zs):
    """z_s'Z_s'PZ_t z_t and z_t'z_t with z_t = Z_t'Py."""
    Hi = np.linalg.inv(h_matrix(zs, gamma))
    P = Hi - Hi @ X @ np.linalg.inv(X.T @ Hi @ X) @ X.T @ Hi
    Py = P @ y
    w = np.array([z @ (z.T @ Py) for z in zs])
    return w @ P @ w.T, np.array([np.sum((z.T @ Py) ** 2) for z in zs])


def information(gamma, X, zs):
    """tr(H^-1G_sH^-1G_t), X'H^-1G_tH^-1X and X'H^-1G_sH^-1G_tH^-1X, the residual (G = I) last."""
    Hi = np.linalg.inv(h_matrix(zs, gamma))
    G = [z @ z.T for z in zs] + [np.eye(len(X))]
    XH = X.T @ Hi
    XHG = np.array([XH @ g for g in G])
    xggx = np.array([XHG @ Hi @ one.T for one in XHG]).transpose(1, 0, 2, 3)
    return traces(Hi, G), XHG @ XH.T, xggx


def effect_precision(variances, X, zs, contrast):
    """Variance and Kenward-Roger df of a contrast at given variances (residual last), without data.

    A generalised inverse serves where the components are not all identified: the variance of the
    contrast depends on identified combinations alone, so the df does not depend on which inverse.
    """
    s2 = variances[-1]
    Hi = np.linalg.inv(h_matrix(zs, np.asarray(variances[:-1]) / s2))
    Vi = Hi / s2
    Phi = np.linalg.inv(X.T @ Vi @ X)
    P = Vi - Vi @ X @ Phi @ X.T @ Vi
    G = [z @ z.T for z in zs] + [np.eye(len(X))]
    expected = 0.5 * traces(P, G)
    scale = np.sqrt(np.diag(expected))
    W = np.linalg.pinv(expected / np.outer(scale, scale), rcond=1e-9, hermitian=True) / np.outer(
        scale, scale
    )
    along = Vi @ X @ Phi @ contrast
    slopes = np.array([along @ g @ along for g in G])
    variance = contrast @ Phi @ contrast
    return variance, 2 * variance**2 / (slopes @ W @ slopes)
