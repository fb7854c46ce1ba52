"""Workers worth a second look: made-up ones are found, and the words accuse nobody."""

import numpy as np
import pandas as pd
import pytest

from humeval_power.errors import InputError
from humeval_power.ratings import ratings_from_table
from humeval_power.scales import RatingScale
from humeval_power.studies.analyze.diagnostics import screen_workers, screening_sentence

N_ITEMS = 40


def study(*, careless=(), difference=0.1):
    """Ten workers who see what the items are worth, but for those in `careless`: name -> ratings."""
    rng = np.random.default_rng(5)
    worth = rng.normal(0.5, 0.2, (N_ITEMS, 2)) + np.array([0, difference])
    rows = []
    for worker in range(10):
        seen = np.clip(worth + rng.normal(0, 0.1, worth.shape), 0, 1)
        given = dict(careless).get(f"w{worker}", lambda seen, _: seen)(seen, rng)
        rows += [
            (f"w{worker}", f"i{i}", "AB"[s], 1 + np.round(4 * given[i, s]))
            for i in range(N_ITEMS)
            for s in (0, 1)
        ]
    frame = pd.DataFrame(rows, columns=["worker", "item", "system", "rating"])
    return ratings_from_table(frame, scale=RatingScale.parse("1:5"))


def checks_of(ratings, **options):
    return {check.worker: check for check in screen_workers(ratings, **options)}


def test_careful_workers_give_no_reason():
    checks = screen_workers(study())
    assert all(check.reasons == () for check in checks)
    assert screening_sentence(checks) == "None of the 10 workers stands out."


@pytest.mark.parametrize(
    ("way", "words"),
    [
        (lambda seen, _: np.full_like(seen, 0.75), "gave the same rating 80 times"),
        (lambda seen, _: seen * 0 + [0.25, 0.75], "all outputs of a system the same rating"),
        (lambda seen, _: 1 - seen, "goes along with the others less than is usual"),
    ],
    ids=["straight line", "one rating per system", "turned round"],
)
def test_a_careless_worker_stands_out_and_comes_first(way, words):
    checks = screen_workers(study(careless=[("w3", way)]))
    assert checks[0].worker == "w3"
    assert any(words in reason for reason in checks[0].reasons)
    assert [check.worker for check in checks if check.reasons] == ["w3"]
    assert screening_sentence(checks).startswith("Something stands out in the ratings of 1 of 10 workers")


def test_seeing_the_difference_between_systems_is_not_agreement():
    # A worker who only tells B from A and rates at random within them.
    way = lambda seen, rng: rng.random(seen.shape) * 0.4 + np.array([0, 0.6])  # noqa: E731
    ratings = study(careless=[("w3", way)], difference=0.3)
    raw = np.corrcoef(ratings.rating[ratings.worker == 3], ratings.rating[ratings.worker == 4])[0, 1]
    assert raw > 0.3
    # the correlation of 80 independent pairs is within three standard errors of zero
    assert abs(checks_of(ratings)["w3"].agreement) < 3 / np.sqrt(80)


def test_haste_is_judged_beside_the_usual_time_and_unknown_times_say_nothing():
    ratings = study()
    seconds = np.full(ratings.n_ratings, 20.0)
    seconds[ratings.worker == ratings.worker_names.index("w2")] = 6.0
    seconds[ratings.worker == ratings.worker_names.index("w4")] = np.nan
    checks = checks_of(ratings, seconds=seconds)
    assert checks["w2"].reasons == ("took 6 seconds per rating where 20 are usual",)
    assert checks["w4"].reasons == ()
    with pytest.raises(InputError, match="80"):
        screen_workers(ratings, seconds=seconds[:80])


def test_few_ratings_are_no_ground_for_a_word():
    rows = [("w1", f"i{i}", "AB"[i % 2], 3) for i in range(5)]
    rows += [(w, f"i{i}", "AB"[i % 2], 1 + i) for w in ("w2", "w3") for i in range(5)]
    frame = pd.DataFrame(rows, columns=["worker", "item", "system", "rating"])
    ratings = ratings_from_table(frame, scale=RatingScale.parse("1:5"))
    assert checks_of(ratings)["w1"].reasons == ()
    assert checks_of(ratings, min_ratings=5)["w1"].reasons == ("gave the same rating 5 times",)


def test_no_word_blames_or_tells_to_exclude():
    ratings = study(careless=[("w3", lambda seen, _: 1 - seen), ("w5", lambda seen, _: seen * 0 + 0.5)])
    checks = screen_workers(ratings)
    text = " ".join([screening_sentence(checks), *(reason for check in checks for reason in check.reasons)])
    for word in ("exclu", "remove", "careless", "bad", "fraud", "spam"):
        assert word not in text.lower()


def test_real_workers_who_rate_alone_have_no_agreement(shared_data):
    from humeval_power.files.tables import read_table

    path = shared_data / "dialogue_eval.csv.gz"
    if not path.is_file():
        pytest.skip(f"there is no table {path}")
    ratings = ratings_from_table(read_table(path).frame, criterion="fluent", require_pair=False)
    checks = screen_workers(ratings)
    assert len(checks) == 676
    assert all(check.n_shared == 0 and np.isnan(check.agreement) for check in checks)
