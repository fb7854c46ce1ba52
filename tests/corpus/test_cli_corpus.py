"""`humeval-power compare corpus` as a user meets it: files, remarks, pictures and records."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from cli import run, run_json
from reference.corpus_texts import corpus

from humeval_power.comparisons.corpus import calls as api
from humeval_power.comparisons.corpus.files import read_corpus
from humeval_power.comparisons.corpus.result import cautions
from humeval_power.comparisons.corpus.scenario import CorpusStudy
from humeval_power.errors import InputError
from humeval_power.estimation.metrics import Additivity, fit_delta_laplace, sentence_counts
from humeval_power.inference.corpus import paired_randomisation_test


@pytest.fixture
def files(tmp_path):
    a, b, references = corpus(120)
    for name, lines in (("a", a), ("b", b), ("r1", references[0]), ("r2", references[1])):
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def given(files, *references: str) -> list[str]:
    options = ["--system-a", str(files / "a.txt"), "--system-b", str(files / "b.txt")]
    for name in references or ("r1",):
        options += ["--reference", str(files / f"{name}.txt")]
    return options


def test_estimate_says_what_swaps_do_and_what_to_type_next(files):
    found = run("corpus", "estimate", *given(files, "r1", "r2"), "-q")
    assert "nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp" in found.stdout
    assert max(map(len, found.stdout.splitlines())) <= 80
    line = found.stdout.splitlines()[-1].strip()
    assert line.startswith("humeval-power compare corpus power --n 120 --effect 1 --p0 ")
    assert "120 sentences" in run(*line.split()[1:], "--method", "analytic").stdout


def test_estimate_writes_the_effects_and_pictures(files):
    options = ["corpus", "estimate", *given(files), "-o", files / "out", "--subsets", "50"]
    run(*options)
    names = {"index.html", "record.json", "effects.csv", "swaps.png", "swaps.svg"}
    assert {path.name for path in (files / "out").iterdir()} == names
    record = json.loads((files / "out" / "record.json").read_text())
    assert record["schema"] == "humeval_power/corpus_estimate/1"
    assert record["seed"] == 1
    assert {Path(each["name"]).name for each in record["sources"]} == {"a.txt", "b.txt", "r1.txt"}
    rows = list(csv.DictReader((files / "out" / "effects.csv").read_text().splitlines()))
    effects = np.array([float(row["effect"]) for row in rows])
    assert np.mean(effects == 0) == record["swaps"]["zero_share"]
    assert (files / "out" / "swaps.png").read_bytes().startswith(b"\x89PNG")
    assert "index.html" in run(*options, code=2).stderr  # without --force nothing is written over


def test_test_prints_the_p_value_of_the_library(files):
    record = run_json("corpus", "test", *given(files), "--metric", "chrf", "--swaps", "500", "-q")
    a, b, references = corpus(120)
    counts = sentence_counts(a, b, references=references[:1], metric="chrf")
    expected = paired_randomisation_test(counts, n_swaps=500, seed=1)
    assert record["schema"] == "humeval_power/corpus_test/1"
    assert record["p_value"] == expected.p_value
    assert record["significant"] == (expected.p_value <= 0.05)


def test_a_test_of_all_swaps_has_no_seed():
    a, b, references = corpus(8)
    found = api.test(a, b, references=references)
    assert "seed" not in found.record()
    assert "all 256 swaps" in str(found)
    assert "seed" in api.test(*corpus(30)[:2], references=corpus(30)[2], n_swaps=20).record()


def test_a_preset_gives_way_to_numbers():
    line = "corpus power --n 2000 --effect 1 --b0 26 --method analytic"
    record = run_json(*line.split())
    expected = CorpusStudy(2000, difference=1.0, zero_share=0.13, scale=26.0).computed()
    assert record["computed"]["power"] == pytest.approx(expected.power, rel=1e-12)


def test_a_surface_has_a_cell_for_each_size_and_effect(tmp_path):
    run("corpus", "surface", "--n", "500,2000", "--effect", "1,2", "-o", tmp_path / "s")
    rows = list(csv.DictReader((tmp_path / "s" / "table.csv").read_text().splitlines()))
    assert [float(row["power"]) for row in rows] == pytest.approx(
        [CorpusStudy(n, difference=d).computed().power for n in (500, 2000) for d in (1.0, 2.0)], rel=1e-9
    )


def test_files_that_do_not_fit_are_told_together(files):
    (files / "b.txt").write_text("one line\n")
    (files / "r1.txt").write_bytes(b"fine\n\xff\xfe bad\n")
    with pytest.raises(InputError) as refused:
        read_corpus(
            str(files / "a.txt"), str(files / "b.txt"), [str(files / "r1.txt"), str(files / "no.txt")]
        )
    told = str(refused.value)
    assert "r1.txt, row 2: byte 6 (0xff) is not UTF-8 text." in told
    assert "There is no file" in told
    assert "a.txt has 120" in told
    assert "b.txt has 1" in told


@pytest.mark.parametrize("with_header", [True, False])
def test_columns_of_one_table_are_the_texts_of_three_files(files, tmp_path, with_header):
    words = given(files)
    lines = [Path(words[place]).read_text().splitlines() for place in (1, 3, 5)]
    names = ("new system", "old", "ref:A") if with_header else ("1", "2", "3")
    head = ["\t".join(names)] if with_header else []
    table = tmp_path / "echo.tsv"
    table.write_text("\n".join([*head, *map("\t".join, zip(*lines, strict=True))]) + "\n")
    of_table = ("--texts", table, "--system-a", names[0], "--system-b", names[1], "--reference", names[2])
    found, wanted = (run_json("corpus", "test", *each) for each in (of_table, words))
    for key in ("system_a", "system_b", "p_value", "n_sentences"):
        assert found[key] == wanted[key]
    wrong = ("--texts", table, "--system-a", "9", "--system-b", names[1], "--reference", names[2])
    message = run("corpus", "test", *wrong, code=2).stderr
    assert (
        "no column '9'" in message if with_header else "row 1: has 3 columns" in " ".join(message.split())
    )


def test_lines_end_at_line_feeds_only(tmp_path):
    for name, content in (("a", "x\u2028y\r\n\r\nz"), ("b", "\ufeff1\n2\n3\n"), ("r", "1\n2\n4\n")):
        (tmp_path / name).write_bytes(content.encode())
    found = read_corpus(str(tmp_path / "a"), str(tmp_path / "b"), [str(tmp_path / "r")])
    assert found.system_a == ("x\u2028y", "", "z")
    assert found.system_b == ("1", "2", "3")
    assert len(found.notices) == 1
    assert "line 2 is blank" in found.notices[0]


def test_heavy_tails_and_effects_that_do_not_add_up_are_told():
    fit = fit_delta_laplace(np.random.default_rng(1).standard_t(2.2, size=2000))
    crooked = Additivity(np.arange(10.0), np.arange(10.0) ** 3)
    told = cautions(fit, crooked)
    assert len(told) == 2
    assert "do not add up" in told[0]
    assert "heavier tails" in told[1]
    fair = fit_delta_laplace(np.random.default_rng(1).laplace(size=2000))
    assert cautions(fair, Additivity(np.arange(10.0), np.arange(10.0))) == ()


def test_an_empty_file_is_refused(tmp_path):
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(InputError, match="the file is empty"):
        read_corpus(str(tmp_path / "empty"), str(tmp_path / "empty"), [str(tmp_path / "empty")])


def test_systems_that_count_alike_are_told_so(files):
    same = ["--system-a", files / "a.txt", "--system-b", files / "a.txt", "--reference", files / "r1.txt"]
    found = run("corpus", "estimate", *same, "-q")
    assert "A and B count alike in every sentence" in found.stdout
    assert "corpus power" not in found.stdout
    record = run_json("corpus", "estimate", *same, "-o", files / "same", "-q")
    assert record["swaps"]["zero_share"] == 1
    assert record["swaps"]["scale"] is None
    tested = run("corpus", "test", *same, "--swaps", "100").stdout
    assert "No difference between B and A is shown (p = 1.000)" in tested


def test_outputs_that_are_the_reference_or_the_other_system_are_asked_about(files):
    """A reference given as a system is a difference of many points, and significant."""
    (files / "copy.txt").write_bytes((files / "r1.txt").read_bytes())
    same = ["--system-b", files / "copy.txt", "--reference", files / "r1.txt", "--swaps", "50"]
    told = " ".join(run("corpus", "test", "--system-a", files / "a.txt", *same).stderr.split())
    assert told.count("line for line. Is it the right file?") == 1
    again = " ".join(run("corpus", "test", "--system-a", files / "copy.txt", *same).stderr.split())
    assert "the same outputs, line for line." in again
    assert "line for line" not in run("corpus", "test", *given(files), "--swaps", "50").stderr


def test_files_without_options_are_named_beside_the_options_that_are_missing(files) -> None:
    refused = " ".join(run("corpus", "test", files / "a.txt", files / "b.txt", code=2).stderr.split())
    assert (
        "missing: --system-a; --system-b; --reference. Name each file by its option; none names" in refused
    )
    assert "a.txt" in refused
