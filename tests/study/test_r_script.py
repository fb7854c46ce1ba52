"""`fit --code r`: a script of R that reads the same file and gives the same numbers."""

import gzip
import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import each_case
from cli import run
from places import ROOT
from r_scripts import Rscript, TestedDifference, compared, likert, require, rscript, table

import humeval_power as hp
from humeval_power.errors import InputError
from humeval_power.safe_text import r_text

PILOT = ROOT / "data" / "pilot.csv"
PACKAGES = ("lme4", "lmerTest", "pbkrtest")
HOSTILE = {
    "worker": 'who "rated" \\it`s',
    "item": "sätze, 1|2",
    "system": "=system",
    "rating": "#value\t%",
}
WORKERS = ("O'Neil, J.", '"quoted"', "=cmd()", "日本", "w\\n", "; rm -rf", "'=late")
SYSTEMS = ('+A, the "old"', "B\\u0041é")


@pytest.fixture(scope="module")
def program() -> Iterator[Rscript]:
    require(*PACKAGES)
    with rscript() as session:
        yield session


def assert_same(found: TestedDifference, *, unidentified: tuple[str, ...] = ()) -> None:
    for name, (r, fit) in found.items():
        if name in unidentified:
            continue
        tolerance = 2e-3 if name == "df" else 1e-4
        assert r == pytest.approx(fit, rel=tolerance, abs=2e-4), name
    assert found["effect"][0] == pytest.approx(found["effect"][1], rel=1e-5, abs=1e-7)
    assert found["criterion"][0] == pytest.approx(found["criterion"][1], rel=1e-7, abs=1e-6)


@pytest.mark.slow
@pytest.mark.r
@pytest.mark.parametrize(
    ("drawn", "options"),
    [
        (table(1), ()),
        (table(2, kept=0.6), ()),
        (table(3, kept=0.5, n_workers=4, n_items=8, slopes=0.0), ()),
        (table(4, n_workers=3, n_items=6, slopes=0.0), ("--worker-item",)),
        (table(5, kept=0.7), ("--estimator", "ml", "--df", "satterthwaite")),
        (table(6, kept=0.8), ("--df", "min", "--alternative", "equivalent", "--margin", "0.2")),
        (table(7, kept=0.8), ("--df", "satterthwaite", "--alternative", "non-inferior", "--margin", "0.1")),
        (table(8, kept=0.9), ("--df", "normal", "--alternative", "greater")),
    ],
    ids=["complete", "unbalanced", "singular", "worker-item", "ml", "equivalent", "non-inferior", "normal"],
)
def test_r_gives_the_numbers_of_the_fit(
    program: Rscript, tmp_path: Path, drawn: pd.DataFrame, options: tuple[str, ...]
) -> None:
    drawn.assign(rating=likert(drawn["rating"])).to_csv(tmp_path / "ratings.csv", index=False)
    found = compared(program, tmp_path, tmp_path / "ratings.csv", "--scale", "1:5", *options)
    assert_same(found)
    assert math.isfinite(found["p"][0])


@pytest.mark.slow
@pytest.mark.r
@pytest.mark.parametrize("factors", ["worker", "item", "worker,item"])
def test_correlated_intercepts_and_slopes(program: Rscript, tmp_path: Path, factors: str) -> None:
    drawn = table(16, n_workers=7, n_items=16, kept=0.9)
    level = drawn.groupby("worker")["rating"].transform("mean") + drawn.groupby("item")["rating"].transform(
        "mean"
    )
    drawn["rating"] += 0.8 * (level - level.mean()) * (drawn["system"] - 0.5)
    drawn.to_csv(tmp_path / "ratings.csv", index=False)
    words = ("--correlated", factors, "--scale", "-1:2")
    found = compared(program, tmp_path, tmp_path / "ratings.csv", *words)
    assert_same(found)
    assert all(abs(found[f"correlation_{factor}"][1]) > 0.05 for factor in factors.split(","))


@pytest.mark.slow
@pytest.mark.r
@pytest.mark.parametrize("order", ["place", "first", "letter"])
def test_documents_and_covariates(program: Rscript, tmp_path: Path, order: str) -> None:
    drawn = table(14, n_workers=5, n_items=15, kept=0.9)
    rng = np.random.default_rng(15)
    drawn["document"] = [f"d{code % 4}" for code in drawn["item"]]
    drawn["rating"] += 0.1 * rng.standard_normal(4)[drawn["item"] % 4]
    drawn["length, words"] = (rng.gamma(3, 8, 15)[drawn["item"]]).round(1)
    drawn["expert"] = ["yes" if code < 2 else 'n"o' for code in drawn["worker"]]
    drawn["genre"] = [
        ("news", "chat", "é, law")[code % 3] for code in rng.integers(0, 9, 15)[drawn["item"]]
    ]
    first = (drawn["worker"] + drawn["item"]) % 2
    drawn["order"] = {
        "place": np.where(first == drawn["system"], 1, 2),
        "first": [SYSTEMS[code] for code in first],
        "letter": [("A first", "b")[code] for code in first],
    }[order]
    drawn["system"] = [SYSTEMS[code] for code in drawn["system"]]
    drawn.to_csv(tmp_path / "ratings.csv", index=False)
    named = [word for name in ("length, words", "expert", "genre") for word in ("--covariate", name)]
    words = ("--document", "document", *named, "--order-column", "order", "--scale", "-1:2")
    found = compared(program, tmp_path, tmp_path / "ratings.csv", *words)
    assert_same(found)
    assert sum(name.startswith("covariate_") for name in found) == 6
    assert found["sd_document_intercept"][1] > 0


@pytest.mark.slow
@pytest.mark.r
def test_places_of_more_than_two_systems(program: Rscript, tmp_path: Path) -> None:
    drawn = table(14, n_workers=5, n_items=15, kept=0.9)
    drawn = pd.concat([drawn, drawn[drawn["system"] == 0].assign(system=2)], ignore_index=True)
    drawn["place"] = (drawn["system"] + drawn["worker"] + 2 * drawn["item"]) % 3 + 1
    drawn["rating"] -= 0.05 * drawn["place"]
    drawn["system"] = drawn["system"].map({0: "x", 1: "y", 2: "z"})
    drawn.to_csv(tmp_path / "ratings.csv", index=False)
    words = ("--systems", "x,y", "--order-column", "place", "--scale", "-1:2")
    found = compared(program, tmp_path, tmp_path / "ratings.csv", *words)
    assert_same(found)
    assert sum(name.startswith("covariate_") for name in found) == 1


@pytest.mark.r
def test_what_a_table_cannot_tell_apart_does_not_move_effect_and_criterion(
    program: Rscript, tmp_path: Path
) -> None:
    drawn = table(9).query("(worker + item) % 6 == 0")  # each item by one or two workers
    drawn = drawn[drawn["worker"] == drawn.groupby("item")["worker"].transform("min")]
    drawn.to_csv(tmp_path / "ratings.csv", index=False)
    found = compared(program, tmp_path, tmp_path / "ratings.csv", "--scale", "-1:2")
    text = (tmp_path / "fit.R").read_text()
    assert "This table cannot tell" in text
    sds = tuple(name for name in found if name.startswith("sd_"))
    assert_same(found, unidentified=(*sds, "df", "p", "standard_error"))


@pytest.mark.r
def test_hostile_names_arrive_as_they_are(program: Rscript, tmp_path: Path) -> None:
    drawn = table(10, n_workers=7, kept=0.8)
    drawn["worker"] = [f" {WORKERS[code]} " for code in drawn["worker"]]
    drawn["system"] = [SYSTEMS[code] for code in drawn["system"]]
    drawn["item"] = [f"sentence {code},\nof two lines" for code in drawn["item"]]
    names = [word for role, name in HOSTILE.items() for word in (f"--{role}", name)]
    drawn.rename(columns=HOSTILE).to_csv(tmp_path / "hostile; name's.csv", index=False)
    found = compared(program, tmp_path, tmp_path / "hostile; name's.csv", "--scale", "-1:2", *names)
    assert_same(found)
    assert (tmp_path / "fit.R").read_text().isascii()


@pytest.mark.r
def test_a_table_that_was_made_safe_for_a_spreadsheet_is_read_as_it_was(
    program: Rscript, tmp_path: Path
) -> None:
    drawn = table(11, n_workers=7)
    drawn["worker"] = [f"'{WORKERS[2]}{code}" for code in drawn["worker"]]
    drawn["system"] = ["'=old" if code == 0 else "'-new" for code in drawn["system"]]
    drawn.rename(columns={"worker": "'=worker"}).to_csv(tmp_path / "safe.csv", index=False)
    found = compared(
        program,
        tmp_path,
        tmp_path / "safe.csv",
        "--worker",
        "=worker",
        "--systems",
        "-new,=old",
        "--scale",
        "-1:2",
    )
    assert_same(found)


@pytest.mark.r
def test_the_same_rows_are_left_out(program: Rscript, tmp_path: Path) -> None:
    drawn = table(12)
    rows = pd.concat(
        [drawn, drawn.assign(system=2), drawn.iloc[:9]], ignore_index=True
    )  # a third, and repeats
    rows["system"] = [("old", "new", "other")[code] for code in rows["system"]]
    rows["rating"] = likert(rows["rating"], 7).astype(str)
    rows.loc[[3, 11, 30], "rating"] = ["-99", "N/A", ""]
    rows["AssignmentStatus"] = ["Rejected" if place % 17 == 0 else "Approved" for place in range(len(rows))]
    rows["aspect"] = "fluency"
    rows = pd.concat([rows, rows.assign(aspect="adequacy", rating="1")], ignore_index=True)
    with (tmp_path / "rows.tsv").open("w", encoding="utf-8-sig", newline="") as file:
        rows.to_csv(file, sep="\t", index=False, lineterminator="\r\n")
        file.write("\r\n\t\t\t\t\t\r\n")
    words = ("--systems", "new,old", "--scale", "1:7", "--lower-is-better", "--criterion", "fluency")
    found = compared(
        program, tmp_path, tmp_path / "rows.tsv", *words, "--rejected-rows", "drop", "--missing", "-99"
    )
    assert_same(found)


@pytest.mark.slow
@pytest.mark.r
@pytest.mark.parametrize("kind", ["semicolons", "gzip", "utf-16", "json lines"])
def test_files_of_other_kinds(program: Rscript, tmp_path: Path, kind: str) -> None:
    drawn = table(13, kept=0.7).round(3)
    path = tmp_path / "ratings.txt"
    if kind == "json lines":
        records = [{**row, "worker": row["worker"] + 0.0} for row in drawn.to_dict("records")]
        path.write_text("".join(json.dumps(row) + "\n" for row in records))
    elif kind == "gzip":
        path.write_bytes(gzip.compress(drawn.to_csv(index=False).encode()))
    else:
        drawn["item"] = [f"é{code}" for code in drawn["item"]]
        encoding, separator = ("utf-16", ",") if kind == "utf-16" else ("utf-8", ";")
        path.write_text(drawn.to_csv(index=False, sep=separator), encoding=encoding)
    if kind == "json lines":
        require("jsonlite")
    assert_same(compared(program, tmp_path, path, "--scale", "-1:2"))


def assert_same_categories(found: TestedDifference) -> None:
    """As glmmTMB and clmm search: less finely, and with another standard error."""
    for name, (r, fit) in found.items():
        if name == "standard_error":
            assert fit <= r * 1.001 < 1.06 * fit
        elif name == "criterion":
            assert r == pytest.approx(fit, rel=1e-7)
        else:
            assert r == pytest.approx(fit, rel=1e-3, abs=1e-3), name


def yes_no(rating: pd.Series) -> pd.Series:
    return (rating > 0.5).astype(int)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.r
@pytest.mark.parametrize(
    ("family", "options"),
    [
        ("binary", ()),
        ("binary", ("--link", "logit", "--document", "document", "--covariate", "genre")),
        ("binary", ("--estimator", "ml", "--df", "min")),
        ("ordinal", ()),
        ("ordinal", ("--link", "logit", "--lower-is-better")),
        ("ordinal", ("--document", "document", "--covariate", "genre", "--estimator", "ml", "--df", "min")),
    ],
)
def test_r_gives_the_numbers_of_categories(
    program: Rscript, tmp_path: Path, family: str, options: tuple[str, ...]
) -> None:
    drawn = table(17, n_workers=8, n_items=24, kept=0.9)
    drawn["document"] = [f"d{code % 6}" for code in drawn["item"]]
    drawn["genre"] = [("news", "chat", "law")[code % 3] for code in drawn["item"]]
    sort = yes_no if family == "binary" else likert
    drawn["rating"] = sort(drawn["rating"] + 0.2 * np.random.default_rng(18).standard_normal(len(drawn)))
    drawn.to_csv(tmp_path / "ratings.csv", index=False)
    scale = "0:1" if family == "binary" else "1:5"
    require("glmmTMB" if family == "binary" else "ordinal")
    words = ("--scale", scale, "--family", family, *options)
    found = compared(program, tmp_path, tmp_path / "ratings.csv", *words)
    assert_same_categories(found)
    text = (tmp_path / "fit.R").read_text().replace("\n# ", " ")
    assert "The fit's test is: t = " in text
    assert ("the plain likelihood. The restricted" in text) == (family == "ordinal" and "ml" not in options)


def test_the_script_goes_to_the_terminal_or_to_a_file(tmp_path: Path) -> None:
    printed = run("fit", PILOT, "--scale", "1:5", "--code", "r").stdout
    assert printed.startswith("# The fit of pilot.csv, repeated in R.")
    assert max(map(len, printed.splitlines())) <= 100
    run("fit", PILOT, "--scale", "1:5", "-o", tmp_path / "fit.R")
    code = [line for line in (tmp_path / "fit.R").read_text().splitlines() if not line.startswith("#")]
    assert code == [line for line in printed.splitlines() if not line.startswith("#")]
    read = hp.fit(hp.read_ratings(PILOT, scale="1:5")).artefact(".r")
    assert [line for line in read.splitlines() if not line.startswith("#")] == code


@each_case(
    ("words", "said"),
    [
        (("--code", "r", "--json"), "--code prints a program, and json is asked for too"),
        (("--code", "r", "-o", "fit/"), "is written to a file ending .R."),
        (("--code", "r", "--df", "bootstrap"), "df 'bootstrap' are simulated here"),
        (("--code", "r", "--analysis", "differences"), "not that of differences"),
        (("--code", "r", "--family", "ordinal", "--df", "bootstrap"), "df 'bootstrap'"),
    ],
)
def test_what_cannot_be_repeated_is_refused(words: tuple[str, ...], said: str) -> None:
    assert said in " ".join(run("fit", PILOT, "--scale", "1:5", *words, code=2).output.split())


def test_a_file_that_r_does_not_read_is_refused_before_the_fit(tmp_path: Path) -> None:
    pd.read_csv(PILOT).to_excel(tmp_path / "pilot.xlsx", index=False)
    told = run("fit", tmp_path / "pilot.xlsx", "--scale", "1:5", "-o", tmp_path / "fit.R", code=2).output
    assert "Save the table as CSV" in " ".join(told.split())
    with pytest.raises(InputError, match="these were read from none"):
        hp.fit(hp.ratings_from_table(pd.read_csv(PILOT))).artefact(".r")


@each_case(
    ("text", "expected"),
    [
        ("plain name", '"plain name"'),
        ('a"b\\c', '"a\\"b\\\\c"'),
        ("é\n\x1b", '"\\u00e9\\u000a\\u001b"'),
        ("\U0001f600", '"\\U0001f600"'),
        ("\ud800", '"\\ufffd"'),
    ],
)
def test_a_string_of_r_is_ascii(text: str, expected: str) -> None:
    assert r_text(text) == expected
