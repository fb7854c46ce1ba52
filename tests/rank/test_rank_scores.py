"""A leaderboard by scores: the tests behind it, its ranks and groups, and the command."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli import refusal_of, run, run_json
from own_scripts import SEARCH, SORT
from scipy import stats

import humeval_power as hp
from humeval_power.clusters import Clusters
from humeval_power.comparisons.rank.leaderboard import rank_scores
from humeval_power.comparisons.scores.score_table import ScoreTable
from humeval_power.inference.clustered import clustered_mean
from humeval_power.saying.render.html import as_html

NAMES = ("a", "b", "c", "d", "e")


def table(*, clustered: bool = True) -> ScoreTable:
    rng = np.random.default_rng(6)
    sizes = np.array([3, 9, 4, 4, 12, 6, 5, 7, 3, 10, 5, 4])
    codes = np.repeat(np.arange(len(sizes)), sizes)
    own = rng.normal(0, 0.5, (len(sizes), 5))[codes]
    scores = np.arange(5) * 0.6 + own + rng.normal(0, 1, (len(codes), 5))
    return ScoreTable(scores, NAMES, clusters=Clusters.of(codes.tolist()) if clustered else None)


def test_pairs_have_the_errors_df_and_p_values_of_means_in_clusters() -> None:
    known = table()
    for pair in rank_scores(known).board.pairs:
        mean = clustered_mean(known.column(pair.better) - known.column(pair.worse), known.clusters)
        assert pair.difference == pytest.approx(mean.estimate)
        assert pair.standard_error == pytest.approx(mean.standard_error)
        assert pair.df == pytest.approx(mean.df)
        assert pair.p_value == pytest.approx(mean.p_value())
        assert pair.corrected_p >= pair.p_value


def test_without_clusters_they_are_paired_t_tests() -> None:
    known = table(clustered=False)
    for pair in rank_scores(known).board.pairs:
        expected = stats.ttest_rel(known.column(pair.better), known.column(pair.worse))
        assert pair.p_value == pytest.approx(expected.pvalue, rel=1e-9)


def test_ranks_letters_and_intervals_follow_from_the_same_pairs() -> None:
    board = rank_scores(table()).board
    apart = {(pair.better, pair.worse) for pair in board.pairs if pair.significant}
    assert apart
    for pair in board.pairs:
        assert pair.significant >= (pair.low > 0 or pair.high < 0)  # stepping down finds more
    for place in board.places:
        assert place.rank_low == 1 + sum(worse == place.system for _, worse in apart)
        assert place.rank_high == 5 - sum(better == place.system for better, _ in apart)
        assert sum(place.chances) == pytest.approx(1)
        for other in board.places:
            if other is not place:
                told = (place.system, other.system) in apart or (other.system, place.system) in apart
                assert told == set(place.letters).isdisjoint(other.letters)


def test_lower_is_better_turns_the_order_and_nothing_else() -> None:
    known = table()
    high, low = rank_scores(known).board, rank_scores(known, lower_is_better=True).board
    assert [p.system for p in low.places] == [p.system for p in high.places][::-1]
    for one, other in zip(low.places, high.places[::-1], strict=True):
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))
        assert one.rank_low == 6 - other.rank_high
    found = {frozenset((p.better, p.worse)): (p.corrected_p, abs(p.difference)) for p in high.pairs}
    for pair in low.pairs:
        p, size = found[frozenset((pair.better, pair.worse))]
        assert pair.corrected_p == pytest.approx(p)
        assert pair.difference == pytest.approx(-size)


def test_systems_that_always_agree_share_rank_and_letter() -> None:
    known = table()
    twice = ScoreTable(
        np.column_stack([known.scores, known.scores[:, 4]]), (*NAMES, "twin"), clusters=known.clusters
    )
    places = {place.system: place for place in rank_scores(twice).board.places}
    assert places["e"].letters == places["twin"].letters
    assert places["e"].rank_low == places["twin"].rank_low == 1


def test_the_chance_of_being_best_of_two_is_that_of_a_t() -> None:
    known = table().only(("a", "b"))
    board = rank_scores(known).board
    pair = next(board.pairs)
    expected = stats.t.cdf(pair.difference / pair.standard_error, pair.df)
    assert board.places[0].best == pytest.approx(expected, abs=5 * (0.25 / board.n_draws) ** 0.5)


def written(folder: Path) -> Path:
    known = table()
    assert known.clusters is not None
    rows = [
        f"i{place},p{code},{','.join(f'{score:.4f}' for score in row)}"
        for place, (code, row) in enumerate(zip(known.clusters.codes, known.scores, strict=True))
    ]
    path = folder / "scores.csv"
    path.write_text("\n".join([f"item,passage,{','.join(NAMES)}", *rows]) + "\n")
    return path


def test_the_command_says_clusters_and_what_they_cost(tmp_path: Path) -> None:
    path = written(tmp_path)
    record = run_json("rank", "scores", path, "--cluster", "passage")
    assert record["n_clusters"] == 12
    assert record["independence"][0]["state"] == "accounted"
    assert "cluster:passage:12" in record["signature"]
    text = run("rank", "scores", path, "--cluster", "passage").stdout
    for each in record["systems"]:
        assert f"{each['value']:.4g}" in text


def test_columns_that_look_like_clusters_are_told(tmp_path: Path) -> None:
    result = run("rank", "scores", written(tmp_path))
    assert "--cluster passage" in " ".join(result.stderr.split())
    assert "--cluster passage" in " ".join(result.stdout.split())


def test_a_single_cluster_and_unknown_columns_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    assert "passage" in run("rank", "scores", path, "--cluster", "pasage", code=2).stderr
    run("rank", "scores", path, "--systems", "a,zz", code=2)


def test_the_same_bytes_for_the_same_seed(tmp_path: Path) -> None:
    path = written(tmp_path)
    one, two = (run("rank", "scores", path, "--seed", 7, "--json").stdout for _ in range(2))
    assert one == two


def test_systems_of_the_same_scores_share_their_ranks() -> None:
    scores = np.random.default_rng(2).normal(size=(30, 3))
    scores[:, 1] = scores[:, 0]
    for known, names in ((scores, NAMES[:3]), (scores[:, :2], NAMES[:2])):
        places = {one.system: one for one in rank_scores(ScoreTable(known, names)).board.places}
        assert places["a"].chances == pytest.approx(places["b"].chances)
        assert places["a"].expected == pytest.approx(places["b"].expected)
        assert sum(one.best for one in places.values()) == pytest.approx(1)


def test_a_table_with_holes_says_what_to_leave_out(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    cells = [[f"{x:.3f}" for x in row] for row in rng.normal(size=(20, 5))]
    for row in range(2, 15):
        cells[row][3] = ""  # system d lacks most items
    cells[0][1] = "NA"
    path = tmp_path / "holes.csv"
    rows = [f"i{place}," + ",".join(row) for place, row in enumerate(cells)]
    path.write_text("\n".join(["item,a,b,c,d,e", *rows]) + "\n")
    message = refusal_of("rank", "scores", path)
    # without d and one item 19 x 4 of 100 scores are left
    assert (
        "most scores, 76 %, are kept without system d and 1 item: --systems and --drop-missing" in message
    )
    record = run_json("rank", "scores", path, "--systems", "a,b,c,e", "--drop-missing")
    assert record["n_items"] == 19


def test_fixed_tasks_are_a_field_of_the_command(tmp_path: Path) -> None:
    path = written(tmp_path)
    record = run_json("rank", "scores", path, "--cluster", "passage", "--tasks", "fixed")
    assert record["tasks"] == "fixed"
    assert "tasks:fixed" in record["signature"]
    assert "--cluster" in run("rank", "scores", path, "--tasks", "fixed", code=2).stderr


def test_a_page_of_200_systems_is_small_and_its_rows_can_be_found() -> None:
    rng = np.random.default_rng(9)
    names = tuple(f"family-{k % 9}-model-{k:03}" for k in range(200))
    scores = np.linspace(0, 1, 200) + rng.normal(0, 1, (60, 1)) + rng.normal(0, 0.5, (60, 200))
    result = hp.rank.scores(ScoreTable(scores, names))
    page = as_html(result.document())
    assert len(page.encode()) < 400_000
    assert page.count('<g class="row"><title>') == 200
    assert page.count("<script>") == 2
    assert SORT in page
    assert SEARCH in page
    assert 'table class="searchable"' in page
    pairs = pd.DataFrame(result.record()["pairs"])
    assert len(pairs) == 200 * 199 / 2
    known = list(result.found.board.pairs)[7]
    systems = [one["system"] for one in result.record()["systems"]]
    assert (systems[pairs["better"][7]], systems[pairs["worse"][7]]) == (known.better, known.worse)
    assert pairs["corrected_p"][7] == pytest.approx(known.corrected_p, rel=1e-6)
    assert SEARCH not in as_html(hp.rank.scores(ScoreTable(scores[:, :6], names[:6])).document())
