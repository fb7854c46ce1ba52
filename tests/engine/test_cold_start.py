"""The first minute after installation: what is compiled, when that is told, and where it is kept."""

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from cli import run

from humeval_power.asking import output as compiling
from humeval_power.estimation.crossed.fits import fit_batch
from humeval_power.estimation.crossed.problem import CrossedProblem
from humeval_power.kernels import kernel
from humeval_power.kernels.compile_events import announce, listening
from humeval_power.kernels.crossed import reml

COUNTED = """
import json, sys
from humeval_power.kernels.compile_events import listening
from humeval_power.doors.terminal.main import main
seen = []
with listening(seen.append):
    for arguments in json.loads(sys.argv[1]):
        main(arguments, standalone_mode=False)
print("COMPILED", json.dumps(seen))
"""
POWER = ["power", "--preset", "high", "--workers", "6", "--items", "20", "--effect", "0.1"]
SPLIT = [*POWER, "--ratings-per-item", "3"]
UNEVEN = ["7" if word == "6" else word for word in SPLIT]  # workers with 8 items or 9


def _run(*commands, **environment):
    """Run commands in one new process; its standard output and error, and the kernels that were compiled."""
    done = subprocess.run(
        [sys.executable, "-c", COUNTED, json.dumps(commands)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    text, _, counted = done.stdout.rpartition("COMPILED ")
    return text, re.sub(r"\s+", " ", done.stderr), json.loads(counted)


@pytest.fixture
def table(tmp_path):
    """A small incomplete table: 5 workers, 12 items, three of the workers on each."""
    path = tmp_path / "ratings.csv"
    simulated = [
        "--workers",
        "5",
        "--items",
        "12",
        "--ratings-per-item",
        "3",
        "--effect",
        "0.1",
        "--seed",
        "1",
    ]
    arguments = ["simulate", "--preset", "high", *simulated, "-o", str(path)]
    run(*arguments)
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        [*SPLIT, "--method", "analytic"],
        POWER,
        [*SPLIT, "--simulations", "100"],
        ["mde", *SPLIT[1:-4], "--ratings-per-item", "3", "--method", "analytic"],
        ["size", "--preset", "high", "--effect", "0.2", "--find", "workers", "--items", "40"],
    ],
    ids=[
        "power by formula",
        "power of a complete design",
        "power of an even design",
        "mde by formula",
        "size",
    ],
)
def test_formulas_and_even_designs_compile_nothing(command, tmp_path):
    text, told, compiled = _run(command, NUMBA_CACHE_DIR=str(tmp_path))
    assert compiled == []
    assert "Compiling" not in told
    assert text


def _record(command, **environment):
    """The JSON of a command in a new process, as it is printed, without its time."""
    text, _, compiled = _run([*command, "--json"], **environment)
    return re.sub(r'"created": "[^"]*"', "", text), compiled


def _first_answers(table):
    looks = [*SPLIT, "--simulations", "100"]
    return [["fit", table], ["check", table], ["analyze", table], looks]


@pytest.mark.long
@pytest.mark.slow
def test_first_answers_compile_nothing_and_are_the_same_bytes_with_cold_and_warm_caches(table, tmp_path):
    _run(["warm-up"])  # where they are kept for the user, who mostly has them there
    for command in _first_answers(str(table)):
        cold, compiled = _record(command, NUMBA_CACHE_DIR=str(tmp_path / "cold"))
        assert compiled == []
        assert cold == _record(command)[0]


def test_what_is_loaded_does_not_change_the_digits_of_a_fit(table):
    def record():
        return re.sub(r'"created": "[^"]*"', "", run("fit", table, "--json").stdout)

    before = record()
    drawn = np.random.default_rng(0).random((2, 18))
    fit_batch(CrossedProblem.of_design(*np.indices((3, 3, 2)).reshape(3, -1)), drawn, start=np.ones(4))
    assert reml.fit_many.compiled.signatures
    assert record() == before


@pytest.mark.long
@pytest.mark.slow
def test_the_formula_comes_before_the_compiler_and_warming_up_leaves_nothing_to_compile(table, tmp_path):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    other = {"NUMBA_CACHE_DIR": str(tmp_path / "other")}
    _, told, compiled = _run([*UNEVEN, "--simulations", "100"], **other)
    assert "fit_many" in compiled
    assert not {"examine", "exact_p", "extreme_flips", "maximum_likelihood"} & set(compiled)
    assert told.index("By formula the power is") < told.index("Compiling the numerical kernels")
    assert told.count("Compiling the numerical kernels") == 1
    text, told, compiled = _run(["warm-up"], **cache)
    assert {"fit_many", "examine", "exact_p", "extreme_flips", "maximum_likelihood"} <= set(compiled)
    assert "Compiling" not in told
    text, _, compiled = _run(["warm-up"], **cache)
    assert compiled == []
    assert text.count("ready") == len(text.splitlines())
    commands = (
        [*UNEVEN, "--simulations", "100"],
        [*UNEVEN, "--simulations", "100", "--analysis", "differences"],
        [*POWER, "--compat", "card2020", "--simulations", "100"],
        ["fit", str(table), "--intervals", "profile"],
        ["fit", str(table), "--family", "ordinal"],
        ["power", *SPLIT[1:], "--n-systems", "3", "--model", "joint", "--simulations", "20"],
        [*UNEVEN, "--n-systems", "3", "--model", "joint", "--simulations", "20"],
        [
            *POWER,
            "--n-systems",
            "3",
            "--model",
            "joint",
            "--system-variances",
            "common",
            "--simulations",
            "20",
        ],
        ["fit", str(table), "--estimator", "ml", "--df", "normal"],
    )
    _, told, compiled = _run(*commands, **cache)
    assert compiled == []
    assert "Compiling" not in told


def _notice(arguments, during):
    """Standard error of a command in which `during` happens."""

    def happens(*_arguments, **_options):
        during()
        raise SystemExit(0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("humeval_power.studies.power.typed.assumptions_of", happens)
        return re.sub(r"\s+", " ", run(*arguments).stderr)


def test_the_notice_comes_from_the_compiler_once_and_not_with_quiet():
    def compile_two():
        announce("one")
        announce("two")

    assert _notice(POWER, compile_two).count("Compiling the numerical kernels") == 1
    assert _notice([*POWER, "--quiet"], compile_two) == ""
    assert _notice(POWER, lambda: None) == ""


def test_a_listener_hears_what_is_compiled_within_its_block_alone():
    heard = []
    with listening(heard.append):
        announce("inside")
    announce("outside")
    assert heard == ["inside"]


def test_the_notice_names_the_temporary_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(kernel, "_compiler", lambda: SimpleNamespace(temporary=tmp_path))
    assert f"kept in {tmp_path}" in compiling._message()


NOWHERE = """
from numba.core import caching
for locator in (caching.InTreeCacheLocator, caching.UserWideCacheLocator):
    locator.from_function = classmethod(lambda cls, function, file: None)
import numpy as np
from humeval_power.kernels.kernel import temporary_cache
from humeval_power.kernels.metrics.corpus import pair_mean
pair_mean(np.arange(4.0), 1)
folder = temporary_cache()
print(folder, len(list(folder.rglob("*.nbi"))))
"""


def _without_a_place(folder):
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    return subprocess.Popen(
        [sys.executable, "-c", NOWHERE],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment, "TMPDIR": str(folder)},
    )


@pytest.mark.slow
def test_without_a_place_to_write_kernels_are_kept_among_temporary_files_for_their_user_alone(tmp_path):
    both = [_without_a_place(tmp_path), _without_a_place(tmp_path)]  # two at once share the folder
    for process in both:
        out, err = process.communicate()
        assert process.returncode == 0, err
        folder, _, kept = out.strip().rpartition(" ")
        assert Path(folder).parent == tmp_path
        assert stat.S_IMODE(Path(folder).stat().st_mode) == 0o700
        assert int(kept) >= 1
    lock = tmp_path / f"humeval-power-compiling-{os.getuid()}.lock"
    assert set(tmp_path.iterdir()) == {Path(folder), lock}
    assert stat.S_IMODE(lock.stat().st_mode) == 0o600


@pytest.mark.slow
def test_a_folder_that_others_can_write_is_not_trusted(tmp_path):
    known = tmp_path / f"humeval-power-kernels-{os.getuid()}"
    known.mkdir()
    known.chmod(0o777)
    process = _without_a_place(tmp_path)
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert Path(out.split()[0]) != known
    assert list(known.iterdir()) == []
