"""Corpus metrics: counts against sacreBLEU, swaps against texts, power against published values."""

import csv
from dataclasses import replace

import numpy as np
import pytest
import sacrebleu
from cases import each_case
from reference.corpus_texts import corpus
from reference.golden import shared_golden
from reference.swaps import exchanged, listed_sign_flip_p, metric_difference
from sacrebleu.metrics.bleu import BLEU
from scipy import stats

from humeval_power.choices import PRESETS
from humeval_power.comparisons.corpus.scenario import CorpusStudy
from humeval_power.errors import InputError
from humeval_power.estimation.metrics import (
    additivity,
    fit_delta_laplace,
    random_subsets,
    sentence_counts,
    swap_effects,
    swapped_differences,
)
from humeval_power.inference.corpus import normal_sign_flip, paired_randomisation_test
from humeval_power.kernels.metrics.sign_flips import extreme_flips
from humeval_power.studies.power.estimate import estimate_power
from humeval_power.studies.power.questions import detectable_effect, required_n

METRICS = ["bleu", "chrf", "chrf++"]


@each_case("metric", METRICS)
@each_case("n", [2, 5, 60])
def test_metrics_from_counts_are_those_of_sacrebleu(metric, n):
    a, b, references = corpus(n, seed=n)
    counts = sentence_counts(a, b, references=references, metric=metric)
    assert counts.difference == pytest.approx(metric_difference(a, b, references, metric), abs=1e-9)


@each_case("metric", METRICS)
@each_case(
    ("a", "b"),
    [
        (["", ""], ["x", "y"]),  # no output at all, and no match
        (["cat", "dog"], ["cat sat", "the dog"]),  # no n-gram of order 4
        (
            ["the cat sat on it", "no"],
            ["the cat sat on the mat now", "a dog is here"],
        ),  # no match of order 4
    ],
)
def test_degenerate_outputs_have_the_value_that_sacrebleu_gives(metric, a, b):
    references = [["the cat sat on the mat", "a dog was here"]]
    counts = sentence_counts(a, b, references=references, metric=metric)
    assert counts.difference == pytest.approx(metric_difference(a, b, references, metric), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
def test_the_effect_of_a_swap_is_what_sacrebleu_finds_in_the_swapped_texts(metric):
    a, b, references = corpus(40)
    counts = sentence_counts(a, b, references=references, metric=metric)
    slow = [
        metric_difference(*exchanged(a, b, np.eye(40)[place]), references, metric) - counts.difference
        for place in range(40)
    ]
    # 1e-9 of 100 points: sums of 40 sentences in another order
    np.testing.assert_allclose(swap_effects(counts), slow, atol=1e-9)


@pytest.mark.parametrize("metric", METRICS)
def test_swapped_subsets_have_the_difference_of_the_swapped_texts(metric):
    a, b, references = corpus(40)
    counts = sentence_counts(a, b, references=references, metric=metric)
    swapped = random_subsets(np.random.default_rng(1), 40, 12)
    slow = [metric_difference(*exchanged(a, b, row), references, metric) for row in swapped]
    np.testing.assert_allclose(swapped_differences(counts, swapped), slow, atol=1e-9)


def test_swapping_every_sentence_turns_the_difference_round():
    counts = sentence_counts(*corpus(30)[:2], references=corpus(30)[2])
    every = swapped_differences(counts, np.ones((1, 30), dtype=np.bool_))
    assert every[0] == pytest.approx(-counts.difference, abs=1e-9)


def test_identical_outputs_have_effects_of_exactly_zero():
    a, b, references = corpus(60)
    effects = swap_effects(sentence_counts(a, b, references=references))
    alike = np.array(a) == np.array(b)
    assert alike.sum() > 3
    assert (effects[alike] == 0).all()


def test_single_effects_add_up_in_a_corpus_of_some_size():
    # Card et al. (2020), Fig. 15: points on the diagonal; the sum of all effects is about -2 (B - A).
    a, b, references = corpus(500)
    counts = sentence_counts(a, b, references=references)
    effects = swap_effects(counts)
    found = additivity(counts, effects, rng=np.random.default_rng(5), n_subsets=400)
    assert found.correlation > 0.99
    assert found.slope == pytest.approx(1, abs=0.05)
    assert effects.sum() == pytest.approx(-2 * counts.difference, rel=0.05)


def test_the_randomisation_test_agrees_with_sacrebleus_on_its_own_swaps(monkeypatch):
    # sacreBLEU draws swaps by default_rng(seed).integers(2) and counts strictly larger differences.
    assert sacrebleu.__version__.startswith("2.")
    from sacrebleu.significance import PairedTest

    a, b, references = corpus(80, noise=(0.45, 0.42))
    monkeypatch.setenv("SACREBLEU_SEED", "77")
    test = PairedTest(
        [("A", a), ("B", b)],
        {"BLEU": BLEU(force=True)},
        references=references,
        test_type="ar",
        n_samples=500,
    )
    theirs = test()[1]["BLEU"][1].p_value
    counts = sentence_counts(a, b, references=references)
    kept = np.random.default_rng(77).integers(2, size=(500, 80), dtype=bool)
    ours = np.abs(swapped_differences(counts, ~kept))
    assert theirs == pytest.approx((1 + (ours > abs(counts.difference) + 1e-9).sum()) / 501, abs=1e-12)
    # Swaps drawn by ourselves: 4 standard errors of both p-values
    p = paired_randomisation_test(counts, n_swaps=4000, seed=1).p_value
    assert p == pytest.approx(theirs, abs=4 * np.sqrt(theirs * (1 - theirs) * (1 / 500 + 1 / 4000)))


def test_few_sentences_are_tested_with_every_swap():
    a, b, references = corpus(8)
    counts = sentence_counts(a, b, references=references)
    every = ((np.arange(256)[:, None] >> np.arange(8)) & 1).astype(bool)
    slow = [abs(metric_difference(*exchanged(a, b, row), references, "bleu")) for row in every]
    found = paired_randomisation_test(counts)
    assert found.exact
    assert found.p_value == np.mean(np.array(slow) >= abs(counts.difference) - 1e-9)
    assert found.p_interval is None


def test_more_swaps_extend_fewer():
    counts = sentence_counts(*corpus(30)[:2], references=corpus(30)[2])
    runs = [paired_randomisation_test(counts, n_swaps=n, seed=4) for n in (100, 300, 300)]
    assert runs[1] == runs[2]
    assert runs[0].n_extreme <= runs[1].n_extreme <= runs[0].n_extreme + 200


def test_systems_that_are_alike_have_p_one():
    a, _, references = corpus(30)
    assert paired_randomisation_test(sentence_counts(a, a, references=references)).p_value == 1.0


@each_case("place", range(20))
def test_drawn_flips_agree_with_all_flips(place):
    rng = np.random.default_rng(place)
    n = int(rng.integers(2, 12))
    effects = rng.laplace(0.3, 1, size=n) * (rng.random(n) > 0.2)
    exact = listed_sign_flip_p(effects)
    count = extreme_flips(effects[None], np.array([place], dtype=np.uint64), 4000)[0]
    # 20 settings: outside a 99.99 % band once in 500 runs of this file
    low, high = stats.binom.interval(0.9999, 4000, exact)
    assert low <= count <= high


def test_flips_of_nothing_are_all_as_extreme_as_nothing():
    zero = np.zeros((2, 13))
    assert extreme_flips(zero, np.arange(2, dtype=np.uint64), 99).tolist() == [99, 99]
    assert normal_sign_flip(zero)[2].tolist() == [1.0, 1.0]


def test_the_variance_of_flips_is_a_quarter_of_the_squared_effects():
    effects = np.random.default_rng(2).laplace(size=(1, 10))
    signs = 1 - 2 * ((np.arange(1024)[:, None] >> np.arange(10)) & 1)
    assert normal_sign_flip(effects)[1][0] == pytest.approx((signs @ effects[0] / 2).std(), rel=1e-12)


def test_the_fit_is_scipys_and_finds_what_was_drawn():
    study = CorpusStudy(40_000, difference=1.0)
    effects = study.draw_effects(np.random.default_rng(6), 1)[0]
    fit = fit_delta_laplace(effects)
    b = stats.laplace.fit(effects[effects != 0])[1]
    assert fit.scale == pytest.approx(40_000 * b, rel=1e-12)
    assert fit.zero_share == pytest.approx(0.13, abs=4 * fit.zero_share_error)
    assert fit.scale == pytest.approx(25.8, abs=4 * fit.scale_error)
    assert fit.matched_scale == pytest.approx(25.8, rel=0.05)
    assert fit.null_sd == pytest.approx(study.null_sd, rel=0.05)


def test_the_matched_scale_reproduces_the_null_deviation_exactly():
    effects = np.random.default_rng(3).standard_t(3, size=500) * (np.arange(500) % 7 > 0)
    fit = fit_delta_laplace(effects)
    study = CorpusStudy(
        500, difference=-effects.sum() / 2, zero_share=fit.zero_share, scale=fit.matched_scale
    )
    assert study.null_sd == pytest.approx(fit.null_sd, rel=1e-12)


def test_effects_that_are_all_zero_have_no_scale():
    fit = fit_delta_laplace(np.zeros(5))
    assert fit.zero_share == 1
    assert np.isnan([fit.scale, fit.matched_scale, fit.scale_error]).all()


@pytest.mark.parametrize("row", range(5))
def test_computed_power_is_that_of_the_reference_values(shared, row):
    golden = shared_golden(shared, "12_bleu")["approx"][row]
    study = CorpusStudy(
        golden["n"], difference=golden["delta_bleu"], zero_share=golden["P0"], scale=golden["b0"]
    )
    found = study.computed()
    assert study.null_sd == pytest.approx(golden["sd_null"], rel=1e-12)
    assert study.standard_error == pytest.approx(golden["se"], rel=1e-12)
    assert found.power == pytest.approx(golden["power_correct_sign"], abs=1e-12)
    assert found.rejection_rate == pytest.approx(golden["power_two"], abs=1e-12)
    assert found.type_m == pytest.approx(golden["type_m"], rel=1e-10)
    assert found.type_s == pytest.approx(golden["type_s"], rel=1e-8)
    mde = detectable_effect(study, largest=20.0)
    assert mde.effect == pytest.approx(golden["mde80"], abs=3e-5)  # the search stops at 1e-6 of 20


def test_simulated_power_agrees_with_the_reference_simulations(shared):
    golden = shared_golden(shared, "12_bleu")
    for row in golden["mc_normal_reference"]:
        study = CorpusStudy(row["n"], difference=row["delta_bleu"], zero_share=row["P0"], scale=row["b0"])
        found = estimate_power(study, n_simulations=2048, seed=12)
        p = row["power_two"]
        # 4 standard errors of the difference of two simulations
        error = np.sqrt(p * (1 - p) * (1 / 2048 + 1 / row["R"]))
        assert found.rejection_rate == pytest.approx(p, abs=4 * error)


def test_power_with_random_flips_agrees_with_full_randomisation(shared):
    for row in shared_golden(shared, "12_bleu")["mc_full_randomization"]:
        study = CorpusStudy(row["n"], difference=row["delta_bleu"], test="flips", n_flips=row["B"])
        found = estimate_power(study, n_simulations=1024, seed=3)
        p = row["power_two"]
        error = np.sqrt(p * (1 - p) * (1 / 1024 + 1 / row["R"]))
        assert found.rejection_rate == pytest.approx(p, abs=4 * error)


def test_published_power_and_exaggeration_are_met():
    # Card et al. (2020), online notebook: power .756, type M 1.200 from 500 simulated studies of 2,000
    # sentences; the text says "approximately 75 %".
    found = CorpusStudy(2000, difference=1.0).computed()
    assert found.power == pytest.approx(0.756, abs=3 * np.sqrt(0.75 * 0.25 / 500))
    assert found.power == pytest.approx(0.7467, abs=5e-5)
    assert found.type_m == pytest.approx(1.2, abs=0.05)
    appendix_g = CorpusStudy(2000, difference=1.0, zero_share=0.2, scale=26.0)
    assert appendix_g.computed().power == pytest.approx(0.7748, abs=5e-5)


def test_presets_are_the_published_table_and_its_mean(shared):
    path = shared / "published" / "card2020_table3_bleu.csv"
    if not path.is_file():
        pytest.skip(f"the published table is not at {path}")
    rows = [
        (float(row["p_zero"]), float(row["b_zero"]))
        for row in csv.DictReader(path.read_text().splitlines())
    ]
    assert rows == [PRESETS[name] for name in PRESETS if name.startswith("wmt")]
    # They round the mean of .125 up in Figure 17.
    np.testing.assert_allclose(np.mean(rows, axis=0), PRESETS["card2020"], atol=0.0051)


@each_case("place", range(20))
def test_the_formula_agrees_with_simulation_in_random_settings(place):
    rng = np.random.default_rng(100 + place)
    n = int(rng.integers(100, 3000))
    study = CorpusStudy(n, difference=0.0, zero_share=rng.uniform(0, 0.6), scale=rng.uniform(10, 40))
    study = study.with_effect(rng.uniform(0.5, 3.5) * study.null_sd)
    computed = study.computed()
    found = estimate_power(study, n_simulations=1024, seed=place)
    error = np.sqrt(computed.power * (1 - computed.power) / 1024)
    # The Laplace tails make the null deviation vary: the formula is within .01 from 100 sentences on.
    assert found.power == pytest.approx(computed.power, abs=4 * error + 0.01)
    assert found.type_m == pytest.approx(computed.type_m, rel=0.1)


def test_random_flips_keep_the_level_even_for_few_sentences():
    # With 199 flips P(p <= .05) is exactly .05 under the null hypothesis (Phipson and Smyth 2010).
    study = CorpusStudy(20, difference=0.0, test="flips", n_flips=199)
    found = study.draw(8192, seed=8)
    low, high = stats.binom.interval(0.998, 8192, 0.05)
    assert low <= (found.p_value <= 0.05).sum() <= high


def test_the_normal_cut_off_is_conservative_for_twenty_sentences(shared):
    row = shared_golden(shared, "12_bleu")["mc_normal_reference"][-1]
    assert row["n"] == 20
    found = CorpusStudy(20, difference=0.0).draw(8192, seed=9)
    error = np.sqrt(0.044 * 0.956 * (1 / 8192 + 1 / row["R"]))
    assert np.mean(found.p_value <= 0.05) == pytest.approx(row["power_two"], abs=4 * error)


def test_a_difference_in_favour_of_a_has_the_same_power():
    up, down = CorpusStudy(800, difference=1.5).computed(), CorpusStudy(800, difference=-1.5).computed()
    assert up == down


def test_the_size_is_the_smallest_that_reaches_the_target():
    found = required_n(lambda n: CorpusStudy(n, difference=1.0), power=0.8)
    assert found.n is not None
    assert (
        CorpusStudy(found.n, difference=1.0).computed().power
        >= 0.8
        > CorpusStudy(found.n - 1, difference=1.0).computed().power
    )


def test_swaps_that_never_matter_are_never_significant():
    study = CorpusStudy(50, difference=0.0, zero_share=1.0)
    assert study.computed().power == 0
    assert (study.draw(20, seed=1).p_value == 1).all()
    assert (replace(study, test="flips").draw(20, seed=1).p_value == 1).all()


@pytest.mark.parametrize("n", [2, 6, 50])
def test_effects_far_beyond_their_spread_are_found_if_there_are_sentences_enough(n):
    # With equal effects the sign-flip statistic is sqrt(n) (zeros apart): 2 sentences never suffice.
    study = CorpusStudy(n, difference=100.0, zero_share=0.0, scale=0.01)
    assert study.computed().power == pytest.approx(float(n > 3.85), abs=1e-9)
    assert estimate_power(study, n_simulations=256).power == float(n > 3.85)


def test_every_problem_of_a_study_is_told_at_once():
    with pytest.raises(InputError) as refused:
        CorpusStudy(1, difference=1.0, zero_share=1.0, scale=-2.0, test="bootstrap", n_flips=5, alpha=0.05)
    assert len(refused.value.problems) == 4
    with pytest.raises(InputError, match="19"):
        CorpusStudy(10, difference=1.0, test="flips", n_flips=5)


def test_texts_of_different_lengths_are_refused():
    with pytest.raises(InputError, match="2 of A, 1 of B"):
        sentence_counts(["a", "b"], ["a"], references=[["a", "b"]])
