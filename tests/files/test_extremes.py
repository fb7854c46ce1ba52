"""Values of the wrong kind and of extreme size, in every file of a kind: refused in words, in no time."""

import json
import math
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from humeval_power.comparisons.scores.score_table import ScoreTable
from humeval_power.doors.page.serving.chosen_folder import Folder
from humeval_power.doors.terminal.main import main
from humeval_power.errors import InputError
from humeval_power.files.exports.platforms import read_export
from humeval_power.files.file_bytes import toml_values
from humeval_power.saying.numbers import decimals, interval_words
from humeval_power.saying.row_flow import flow_sentence, n_dropped
from humeval_power.saying.values import estimated, plain, signed
from humeval_power.studies.power import parameter_library
from humeval_power.studies.power.files import read_library
from humeval_power.uncertainty import VarianceUncertainty

KINDS = (None, True, 5, "x", [], {}, ["x"], [5], [[]], {"a": 1}, [None], 1e308, "[" * 5000)
TASK = {
    "id": 1,
    "data": {"item": "i1", "system": "A"},
    "annotations": [
        {
            "id": 7,
            "completed_by": 3,
            "lead_time": 2.5,
            "result": [{"from_name": "fluency", "value": {"rating": 4}, "type": "rating"}],
        }
    ],
}
RECORD = {
    "id": "r1",
    "item": "i1",
    "system": "A",
    "q.responses": [4],
    "q.responses.users": ["u1"],
    "q.responses.status": ["submitted"],
}


def places(value, above=()):
    """The path of every part of a JSON value."""
    inner = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for name, part in inner:
        yield (*above, name)
        yield from places(part, (*above, name))


def changed(value, path, new):
    """A copy with another value at the path."""
    copy = json.loads(json.dumps(value))
    part = copy
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = new
    return copy


def test_exports_with_values_of_any_kind_are_read_or_refused_with_the_place(tmp_path: Path) -> None:
    file, faults, n_refused = tmp_path / "export.json", [], 0
    for good in ([TASK], [RECORD]):
        for path in places(good):
            for kind in KINDS:
                file.write_text(json.dumps(changed(good, path, kind)))
                try:
                    read_export(file)
                except InputError as error:
                    n_refused += 1
                    if "export.json" not in str(error):
                        faults.append((path, kind, str(error)[:80]))
                except Exception as error:
                    faults.append((path, kind, repr(error)[:80]))
    assert not faults, faults[:10]
    assert n_refused > 50


def test_a_row_that_is_no_object_is_refused_and_not_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "export.json"
    for good in (TASK, RECORD):
        file.write_text(json.dumps([good, 5]))
        with pytest.raises(InputError, match="row 2: value '5'"):
            read_export(file)


def test_scores_whose_powers_are_no_numbers_are_refused_with_their_cell(tmp_path: Path) -> None:
    base = np.random.default_rng(1).normal(3, 1, (20, 2)).round(3)
    tables = {"tiny": base * 1e-120, "huge": base * 1e160, "least": base * 5e-324}
    for name, cell in (("one", 1e308), ("minus", -1e308)):
        tables[name] = base.copy()
        tables[name][3, 0] = cell
    file, faults = tmp_path / "scores.csv", []
    for name, values in tables.items():
        rows = (f"i{row},{a!r},{b!r}\n" for row, (a, b) in enumerate(values.tolist()))
        file.write_text("item,A,B\n" + "".join(rows))
        for words in (
            ["compare", "scores", str(file), "--question", "mean"],
            ["rank", "scores", str(file)],
        ):
            done = CliRunner().invoke(main, words)
            said = " ".join(done.stderr.split())
            if done.exit_code != 2 or not isinstance(done.exception, SystemExit):
                faults.append((name, words[0], repr(done.exception)))
            elif "cannot be computed with" not in said and "than can be computed with" not in said:
                faults.append((name, words[0], said))
    assert not faults, faults
    assert ScoreTable(base * 1e-60, ("A", "B")).n_items == 20
    assert ScoreTable(base * 1e70, ("A", "B")).n_items == 20


def test_counts_beyond_whole_numbers_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "claims.csv"
    for size in ("1e308", "1e60", "9007199254740994"):
        file.write_text(
            f"task,n,baseline,improvement\nx,{size},0.8,0.02\nx,1000,0.7,0.01\nx,500,0.6,0.02\n"
        )
        done = CliRunner().invoke(main, ["accuracy", "claims", str(file)])
        assert done.exit_code == 2, (size, done.exception)
        assert "row 2, column 'n'" in done.stderr


def test_a_library_entry_is_checked_as_a_file_of_parameters_is(tmp_path: Path) -> None:
    shipped = Path(str(parameter_library.__file__)).with_name("parameter_library.json")
    library = json.loads(shipped.read_text())
    library["entries"] = library["entries"][:1]
    file, faults = tmp_path / "library.json", []
    for kind in (5, True, "x", {"a": 1}, [5], [[]], [None]):
        file.write_text(json.dumps(changed(library, ("entries", 0, "document", "not_identified"), kind)))
        try:
            read_library(file)
            faults.append((kind, "read"))
        except InputError as error:
            if "not_identified" not in str(error):
                faults.append((kind, str(error)))
        except Exception as error:
            faults.append((kind, repr(error)))
    assert not faults, faults


def test_an_uncertainty_beyond_what_can_be_computed_with_is_refused() -> None:
    names = ("sd_worker_intercept", "sd_worker_slope", "sd_item_intercept", "sd_item_slope")
    strata = {name: {"value": 0.1, "df": 4.0, "residual_weight": 0.2} for name in names}
    for value in (1e308, -1e308, 10**400, math.inf, math.nan):
        wrong = {**strata, "sd_item_slope": {**strata["sd_item_slope"], "value": value}}
        with pytest.raises(InputError, match=r"strata\.sd_item_slope\.value"):
            VarianceUncertainty.from_dict({"strata": wrong, "residual": 0.04, "residual_df": 30.0})


def test_toml_that_would_take_the_machine_is_refused_at_once() -> None:
    bombs = {
        "key": ".".join(["a"] * 20_000) + " = 1\n",
        "table": "[" + ".".join(["a"] * 20_000) + "]\n",
        "quoted": " . ".join(['"a"'] * 10_000) + " = 1\n",
        "inline": "x = {" + ".".join(["a"] * 20_000) + " = 1}\n",
        "number": "x = 0x" + "f" * 50_000 + "\n",
        "nested": "x = " + "[" * 5_000 + "]" * 5_000 + "\n",
    }
    for name, text in bombs.items():
        begun = time.process_time()
        with pytest.raises(InputError, match=r"bomb\.toml"):
            toml_values(text, place="bomb.toml")
        assert time.process_time() - begun < 1, name
    for text in ("a" * 500_000, '"' * 500_000, "." * 500_000):
        begun = time.process_time()
        with pytest.raises(InputError):
            toml_values(text, place="bomb.toml")
        assert time.process_time() - begun < 1, text[0]
    assert toml_values('a.b."c.d" = "1.2.3"\n', place="x") == {"a": {"b": {"c.d": "1.2.3"}}}


def test_fifty_thousand_columns_are_refused_with_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "wide.csv"
    header = ",".join(["worker", "item", "system", "rating", *(f"c{n}" for n in range(50_000))])
    file.write_text(f"{header}\n" + ",".join(["1"] * 50_004) + "\n")
    keys = {f"k{n}": 1 for n in range(50_000)}
    (tmp_path / "wide.json").write_text(json.dumps([{**TASK, "data": keys}]))
    for name in ("wide.csv", "wide.json"):
        with pytest.raises(InputError, match=r"columns; at most 10,000"):
            read_export(tmp_path / name, platform="table" if name.endswith("csv") else None)


def test_a_long_name_in_a_link_of_the_page_is_refused(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    for method in (folder.places, folder.resolve, folder.target):
        with pytest.raises(InputError, match="too long for the name of a file"):
            method("1" * 400)


def test_a_chosen_criterion_is_no_exclusion_and_stands_once() -> None:
    steps = [
        {"step": "read", "rows": 120, "reason": ""},
        {"step": "dropped", "rows": 60, "reason": "criterion is not 'correctness'"},
        {"step": "dropped", "rows": 2, "reason": "rating is missing"},
        {"step": "analysed", "rows": 58, "reason": ""},
    ]
    said = flow_sentence({"flow": steps})
    assert said == (
        "120 rows were read, 60 of them of the criterion 'correctness'; 2 rows were left out (rating is missing); "
        "58 rows were analysed."
    )
    assert n_dropped({"flow": steps}) == 2


def test_a_number_that_is_zero_but_for_rounding_is_printed_as_zero() -> None:
    rounding = -2.425e-17
    shown = (plain(rounding), signed(rounding), estimated(rounding), interval_words(rounding, 0.098))
    assert shown == ("0", "0", "+0.00", "0.0000 to 0.0980")
    assert (plain(1e-6), signed(-1e-6)) == ("1e-06", "-1e-06")


def test_a_number_that_rounds_to_zero_has_no_minus() -> None:
    assert (decimals(-0.004, 2), decimals(-0.006, 2), decimals(-0.0, 3)) == ("0.00", "-0.01", "0.000")
    assert interval_words(-0.004, 0.29, digits=2) == "0.00 to 0.29"
    assert interval_words(-0.3, -0.001, digits=2, signed=True) == "-0.30 to +0.00"
