"""The randomisation test of documents, and the interval of a corpus metric by influence values."""

import itertools
import json

import numpy as np
import pytest
from cases import few_fast
from cli import run, run_json
from reference.corpus_texts import corpus
from reference.swaps import metric_difference

from humeval_power.clusters import Clusters
from humeval_power.comparisons.corpus import calls as api
from humeval_power.errors import InputError
from humeval_power.estimation.metrics import influence_values, sentence_counts
from humeval_power.inference.corpus import metric_mean, paired_randomisation_test

METRICS = ["bleu", "chrf", "chrf++"]


def documents(n, size=4):
    return [f"d{place // size}" for place in range(n)]


@few_fast("metric", METRICS, fast=1)
def test_whole_documents_are_swapped_as_by_the_definition(metric):
    a, b, references = corpus(30)
    codes = np.array([0] * 3 + [1] * 9 + [2] * 6 + [3] * 7 + [4] * 5)
    counts = sentence_counts(a, b, references=references, metric=metric)
    found = paired_randomisation_test(counts, clusters=Clusters.of(codes.tolist()))
    observed, extreme = metric_difference(a, b, references, metric), 0
    for swapped in itertools.product((False, True), repeat=5):
        one = [y if swapped[g] else x for x, y, g in zip(a, b, codes, strict=True)]
        two = [x if swapped[g] else y for x, y, g in zip(a, b, codes, strict=True)]
        extreme += abs(metric_difference(one, two, references, metric)) >= abs(observed) - 1e-9
    assert (found.exact, found.n_swaps, found.n_extreme) == (True, 32, extreme)


def test_documents_of_one_sentence_are_sentences():
    counts = sentence_counts(*corpus(60)[:2], references=corpus(60)[2])
    plain, each = (
        paired_randomisation_test(counts, clusters=known, n_swaps=300, seed=2)
        for known in (None, Clusters.of(range(60)))
    )
    assert plain == each
    assert metric_mean(counts).standard_error == pytest.approx(
        metric_mean(counts, Clusters.of(range(60))).standard_error, rel=1e-12
    )


def jackknife(counts, clusters):
    """The error from leaving out one cluster at a time (Tukey 1958)."""
    left_out = []
    for members in clusters.members():
        a, b = (np.delete(each, members, axis=0).sum(axis=0) for each in (counts.a, counts.b))
        left_out.append(float(counts.value(b) - counts.value(a)))
    n = len(left_out)
    return np.sqrt((n - 1) / n * np.sum((np.array(left_out) - np.mean(left_out)) ** 2))


@few_fast("metric", METRICS, fast=1)
@pytest.mark.parametrize("size", [1, 5])
def test_the_error_by_influence_is_that_of_the_jackknife(metric, size):
    a, b, references = corpus(300, seed=4)
    counts = sentence_counts(a, b, references=references, metric=metric)
    clusters = Clusters.of(documents(300, size))
    # both are linear in 1/n: at 60 clusters they differ by a few percent
    assert metric_mean(counts, clusters).standard_error == pytest.approx(
        jackknife(counts, clusters), rel=0.06
    )


@pytest.mark.parametrize("metric", METRICS)
def test_the_error_by_influence_is_that_of_resampled_documents(metric):
    a, b, references = corpus(300, seed=5)
    counts = sentence_counts(a, b, references=references, metric=metric)
    clusters = Clusters.of(documents(300, 5))
    whole, rng = counts.summed(clusters), np.random.default_rng(1)
    drawn = rng.multinomial(60, np.full(60, 1 / 60), size=4000).astype(float)
    differences = counts.value(drawn @ whole.b) - counts.value(drawn @ whole.a)
    # the SD of 4,000 draws is known to 1.1 %; CR2 is larger by about 1/60
    assert metric_mean(counts, clusters).standard_error == pytest.approx(differences.std(), rel=0.08)


@pytest.mark.parametrize("metric", METRICS)
def test_influence_values_sum_to_nothing_and_follow_a_small_change_of_weights(metric):
    a, b, references = corpus(80, seed=6)
    counts = sentence_counts(a, b, references=references, metric=metric)
    influence = influence_values(counts)
    assert influence.sum() == pytest.approx(0.0, abs=1e-6 * np.abs(influence).sum())
    step, weights = 1e-5, np.ones(80)
    for place in (0, 17, 79):
        up, down = weights.copy(), weights.copy()
        up[place] += step
        down[place] -= step
        change = [float(counts.value(w @ counts.b) - counts.value(w @ counts.a)) for w in (up, down)]
        assert influence[place] == pytest.approx(
            80 * (change[0] - change[1]) / (2 * step), abs=1e-4 * np.abs(influence).max()
        )


def test_texts_without_a_match_of_four_words_have_a_finite_influence():
    counts = sentence_counts(["cat", "dog"], ["cat sat", "the dog"], references=[["the cat sat", "a dog"]])
    assert np.isfinite(influence_values(counts)).all()


def test_systems_that_are_alike_have_no_interval():
    a, _, references = corpus(20)
    found = api.test(a, a, references=references, clusters=documents(20))
    assert found.content()["interval"] is None
    assert "Interval" not in str(found)


@pytest.fixture
def files(tmp_path):
    a, b, references = corpus(120)
    for name, lines in (("a", a), ("b", b), ("r", references[0]), ("talks", documents(120, 6))):
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def given(files):
    return ["--system-a", files / "a.txt", "--system-b", files / "b.txt", "--reference", files / "r.txt"]


def test_a_file_of_documents_gives_the_test_of_the_library(files):
    words = ["corpus", "test", *given(files), "--cluster", files / "talks.txt", "--swaps", "400", "-q"]
    record = run_json(*words)
    a, b, references = corpus(120)
    expected = api.test(a, b, references=references[:1], clusters=documents(120, 6), n_swaps=400)
    assert record["p_value"] == expected.found.p_value
    assert record["interval"] == pytest.approx(expected.mean.interval(), rel=1e-12)
    assert (record["n_clusters"], record["independence"][0]["state"]) == (20, "accounted")
    assert "cluster:talks:20|draws:400|seed:1" in record["test_signature"]
    text = run(*words).stdout
    assert max(map(len, text.splitlines())) <= 80
    flat = " ".join(text.split())
    for said in (
        "400 random swaps of 20 clusters (talks)",
        "On 120 sentences in 20 clusters (talks), A has",
        "What counts as independent?",
        "with 400 random swaps of whole clusters",
    ):
        assert said in flat


def test_sentences_that_count_as_independent_are_said_to(files):
    record = run_json("corpus", "test", *given(files), "--swaps", "100", "-q")
    assert record["independence"][0]["state"] == "assumed"
    assert record["n_clusters"] is None


def test_three_documents_cannot_be_significant_and_it_is_said(files):
    (files / "talks.txt").write_text("\n".join(documents(120, 40)) + "\n")
    text = run("corpus", "test", *given(files), "--cluster", files / "talks.txt").stdout
    assert "There are only 8 swaps, and no p-value is below 0.25" in " ".join(text.split())


def test_documents_that_do_not_fit_are_refused(files):
    (files / "talks.txt").write_text("one\ntwo\n\n")
    words = ["corpus", "test", *given(files), "--cluster", files / "talks.txt"]
    told = " ".join(run(*words, code=2).stderr.split())
    assert "has 3 lines for 120 items" in told
    assert "row 3: the line is blank" in told
    (files / "talks.txt").write_text("one\n" * 120)
    assert "All items are in one cluster of 'talks'" in " ".join(run(*words, code=2).stderr.split())
    a, b, references = corpus(20)
    with pytest.raises(InputError, match="clusters of 8 items"):
        api.test(a, b, references=references, clusters=documents(8))


def test_the_program_reads_the_documents_too(files):
    words = ["corpus", "test", *given(files), "--cluster", files / "talks.txt", "--swaps", "50"]
    code = run(*words, "--code", "python").stdout
    assert "hp.corpus.read_cluster_lines(" in code
    assert json.loads(run(*words, "--json", "-q").stdout)["n_clusters"] == 20
