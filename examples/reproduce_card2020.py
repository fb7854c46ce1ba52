"""Card et al. (2020), "With Little Power Comes Great Responsibility": their tables, computed again.

Run: python examples/reproduce_card2020.py
"""

import csv
from pathlib import Path

from humeval_power.planning.accuracy_claims import EFFECTS_GLUE
from humeval_power.planning.accuracy_published import published_columns
from humeval_power.scenarios.accuracy import PairedAccuracy
from humeval_power.scenarios.accuracy_agreement import OVERLAP, KnownAgreement

HERE = Path(__file__).resolve().parent
COLUMNS = ("binomial", "lachenbruch", "lachenbruch_lower", "lachenbruch_upper", "regression")


def table_9() -> None:
    """Smallest improvements that test sets find in 8 of 10 comparisons; Table 2 is its last column."""
    print(
        "Tables 2 and 9: detectable improvement in points, and as published (lower and upper: lachenbruch)\n"
    )
    print(f"{'data set':<9}" + "".join(f"{name.replace('lachenbruch_', ''):>14}" for name in COLUMNS))
    impossible = []
    for row in csv.DictReader((HERE / "card2020_table9.csv").read_text().splitlines()):
        n, baseline, agreement = int(row["n"]), float(row["baseline"]), OVERLAP[row["overlap"]]
        ours = published_columns(n, baseline=baseline, agreement=agreement)
        cells = [f"{100 * getattr(ours, name):.3f} ({row[name]})" for name in COLUMNS]
        print(f"{row['dataset']:<9}" + "".join(f"{cell:>14}" for cell in cells))
        if not ours.regression_is_possible:
            impossible.append(row["dataset"])
        if row["dataset"] in EFFECTS_GLUE.per_task:
            expected = EFFECTS_GLUE.expected(row["dataset"], 100 * baseline)
            print(f"{'':<9} expected from past claims (Table 7): {expected:+.2f}")
    print("\nThe regression column is the mid-p test, though the paper names Suissa and Shuster's.")
    print(f"Impossible (more items newly right than the baseline has wrong): {', '.join(impossible)}.\n")


def appendix_c() -> None:
    """The numerical example of McNemar's test; the paper used the exact conditional test."""
    print("Appendix C: power and type M error (published: .25 and 1.9; nearly .80 and 1.1; enough twice)")
    for n, difference, agreement in (
        (500, 0.02, 0.9),
        (2000, 0.02, 0.9),
        (500, 0.04, 0.9),
        (500, 0.02, 0.975),
    ):
        found = PairedAccuracy(n, difference, KnownAgreement(agreement), test="exact").computed()
        print(
            f"  n {n:>4}, difference {difference}, agreement {agreement}: power {found.power:.4f}, ", end=""
        )
        print(f"type M {found.type_m:.3f}")


if __name__ == "__main__":
    table_9()
    appendix_c()
