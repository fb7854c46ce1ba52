"""Make the table of docs/agreement.md anew: how often raters are named, of healthy panels and of others.

    python docs/make_rater_tests.py [--studies 300] [--quick]

Ratings of two systems and 50 items each: outputs have .35 of the variance, raters .15, raters x systems .05 and
error .45; then cut into answers. One rater in a panel is strict by a standard deviation of a rating (2.6 of
raters'), has twice the error, or answers at random. Beside the tests stands what the rules of thumb would do: a
level 2 SD from the mean of raters, and an F of mean squares about the others. The numbers depend on the seed
alone. `--quick` prints a few studies without touching the page.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import numpy as np
from scipy import special
from shown_rows import shown_rows

from humeval_power.comparisons.agreement.agreement import SharedRatings
from humeval_power.comparisons.agreement.raters import ALPHA, raters_one_by_one
from humeval_power.inference.corrections import correct

PAGE = Path(__file__).with_name("agreement.md")
COMMAND = "python docs/make_rater_tests.py"
SEED, ITEMS, SYSTEMS = 7, 50, 2
SCALES = {
    "slider": (),
    "slider, skewed": (),
    "5 points": (0.1, 0.3, 0.6, 0.85),
    "5 points, 85 % at the top": (0.01, 0.03, 0.07, 0.15),
    "yes or no, 30 % yes": (0.7,),
}
RATERS = (5, 10, 100)
ODD = ("", "strict", "noisy", "at random")


def drawn(rng: np.random.Generator, scale: str, m: int, odd: str) -> np.ndarray:
    """Ratings (items, systems, raters)."""
    level, error = rng.normal(size=m) * 0.15**0.5, rng.normal(size=(ITEMS, SYSTEMS, m)) * 0.45**0.5
    level[0] -= odd == "strict"
    error[:, :, 0] *= 2 if odd == "noisy" else 1
    values = rng.normal(size=(ITEMS, SYSTEMS, 1)) * 0.35**0.5 + level + error
    values += rng.normal(size=(SYSTEMS, m)) * 0.05**0.5
    cuts = SCALES[scale]
    values = np.digitize(values, special.ndtri(cuts)).astype(float) if cuts else values
    if odd == "at random":
        same = (ITEMS, SYSTEMS)
        values[:, :, 0] = rng.integers(len(cuts) + 1, size=same) if cuts else rng.normal(size=same)
    return np.exp(values / 2) if scale == "slider, skewed" else values


def named(values: np.ndarray) -> np.ndarray:
    """Who is named (5, m): by level, by consistency, for a system; by 2 SD, by an F of mean squares."""
    m, n = values.shape[2], ITEMS * SYSTEMS
    flat = values.reshape(n, m)
    found, code = np.unique(flat, return_inverse=True)
    output, rater = (one.ravel() for one in np.indices((n, m)))
    shared = SharedRatings(
        output,
        code.ravel(),
        found,
        np.full(n, m),
        np.arange(n) // 2,
        m,
        0,
        rater,
        np.arange(n) % 2,
        np.arange(m),
    )
    tests = raters_one_by_one(shared, SYSTEMS)
    of_level = flat.mean(axis=0)
    two_sd = np.abs(of_level - of_level.mean()) > 2 * of_level.std(ddof=1)
    own = values - values.mean(axis=0)
    residual = own - own.mean(axis=2, keepdims=True)
    squares = (residual**2).sum(axis=(0, 1)) * m / (m - 1)
    df = n - SYSTEMS
    rest, df_rest = (residual**2).sum() - squares, df * (m - 2)
    ratio = squares / df / (rest / df_rest)
    p = 2 * np.minimum(special.fdtr(df, df_rest, ratio), special.fdtrc(df, df_rest, ratio))
    by_f = correct(np.minimum(p, 1.0), "holm") <= ALPHA
    consistency = (tests.noise_p <= ALPHA) | (tests.agreement_p <= ALPHA)
    return np.stack([tests.level_p <= ALPHA, consistency, tests.leaning_p <= ALPHA, two_sd, by_f])


def row(scale: str, m: int, studies: int) -> str:
    shares = []
    for odd in ODD:
        every = [
            named(drawn(np.random.default_rng([SEED, study]), scale, m, odd)) for study in range(studies)
        ]
        shares.append(np.mean([one[:, 0] if odd else one.any(axis=1) for one in every], axis=0))
    healthy, strict, noisy, at_random = shares
    cells = [*healthy, strict[0], strict[3], noisy[1], at_random[1], max(noisy[3], at_random[3])]
    return f"| {scale} | {m} | " + " | ".join(f"{cell:.2f}" for cell in cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=300)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    head = (
        "| scale | raters | level | consistency | a system | 2 SD | F | strict: level | strict: 2 SD | "
        "noisy: consistency | at random: consistency | noisy or at random: 2 SD |\n" + "|---" * 12 + "|\n"
    )
    rows = []
    for scale in SCALES:
        for m in RATERS:
            studies = 10 if asked.quick else asked.studies if m < 100 else asked.studies // 5
            rows.append(row(scale, m, studies))
            print(rows[-1], file=sys.stderr, flush=True)
    begin = f"<!-- raters: made by {COMMAND} -->"
    page = PAGE.read_text("utf-8")
    print(head + "\n".join(rows))
    if asked.quick or begin not in page:
        return
    pattern = re.compile(re.escape(begin) + r".*?<!-- end -->", re.DOTALL)
    table = shown_rows(head + "\n".join(rows), r"\| 10 \|")
    PAGE.write_text(pattern.sub(lambda _: f"{begin}\n{table}\n<!-- end -->", page), encoding="utf-8")


if __name__ == "__main__":
    main()
