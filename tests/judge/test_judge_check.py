"""What a file supports: measures with golden values, bias, levels of evidence, any table, hostile files."""

import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import each_case
from cli import refusal_of, run, run_json, text_of
from scipy import stats

from humeval_power.comparisons.judge.check import kind_of
from humeval_power.comparisons.judge.files import read_judged
from humeval_power.comparisons.judge.quality import (
    ac1,
    alpha,
    alpha_of_numbers,
    classes,
    correlation,
    distortion,
    favours,
    kappa,
    lang_reiczigel,
    measured_table,
)

FIRST = np.array([1, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 0, 0])
SECOND = np.array([1, 1, 0, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0])
TWO = np.array([0.0, 1.0])


def test_agreement_has_the_values_of_other_programs() -> None:
    # kappa of psych 2.2.9, AC1 of truescore 0.7.4, nominal alpha of krippendorff 0.9.0
    values = [
        measured_table(of, FIRST, SECOND, TWO, "nominal", None, confidence=0.95).value
        for of in (kappa, ac1, alpha)
    ]
    assert values == pytest.approx([0.69387755, 0.70660147, 0.70076726], abs=1e-8)


def test_ordinal_and_interval_alpha_are_those_of_all_pairs() -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(0, 5, 30)
    y = np.clip(x + rng.integers(-1, 2, 30), 0, 4)
    pooled = np.concatenate([x, y])
    counts = np.bincount(pooled, minlength=5)
    rank = np.cumsum(counts) - counts / 2
    for level, value in (("ordinal", rank), ("interval", np.arange(5.0))):
        pairs = [
            (value[a] - value[b]) ** 2 for i, a in enumerate(pooled) for j, b in enumerate(pooled) if i != j
        ]
        expected = 1 - np.mean((value[x] - value[y]) ** 2) / np.mean(pairs)
        found = measured_table(alpha, x, y, np.arange(5.0), level, None, confidence=0.95)
        assert found.value == pytest.approx(expected, rel=1e-12)
    by_numbers = alpha_of_numbers(x * 1.0, y * 1.0, None, confidence=0.95)
    interval = measured_table(alpha, x, y, np.arange(5.0), "interval", None, confidence=0.95)
    assert [by_numbers.value, by_numbers.low, by_numbers.high] == pytest.approx(
        [interval.value, interval.low, interval.high], rel=1e-9
    )


def test_a_correlation_is_pearsons_and_its_error_the_jackknife() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=40)
    y = x + rng.normal(size=40)
    found = correlation(x, y, None, confidence=0.95)
    assert found.value == pytest.approx(np.corrcoef(x, y)[0, 1], rel=1e-12)
    left = np.array([np.corrcoef(np.delete(x, i), np.delete(y, i))[0, 1] for i in range(40)])
    error = np.sqrt(39 / 40 * np.sum((left - left.mean()) ** 2))
    reach = stats.t(39).ppf(0.975) * error / (1 - found.value**2)
    assert np.arctanh(found.high) - np.arctanh(found.value) == pytest.approx(reach, rel=1e-9)


@pytest.mark.parametrize(
    ("counts", "ends"),
    [
        ((25, 30, 56, 70, 430, 1100), (0.165310, 0.437948)),
        ((30, 40, 90, 100, 20, 100), (0.011635, 0.315494)),
        ((45, 50, 40, 50, 300, 1000), (0.0, 0.263301)),
    ],
)
def test_corrected_rates_have_the_golden_intervals(counts: tuple, ends: tuple) -> None:
    assert lang_reiczigel(*counts) == pytest.approx(ends, abs=1e-6)


@pytest.mark.parametrize(
    ("rate", "se", "sp", "n"),
    [(0.3, 0.85, 0.8, 15), (0.05, 0.85, 0.8, 50), (0.9, 0.9, 0.6, 25)],
)
def test_corrected_rates_are_covered_where_the_judge_alone_never_is(
    rate: float, se: float, sp: float, n: int
) -> None:
    """2,000 studies: at least .95 but for 3 Monte Carlo errors, and .98 at most as METHODS found."""
    rng = np.random.default_rng(12)
    share = rate * se + (1 - rate) * (1 - sp)
    draws = rng.binomial(n, se, 2000), rng.binomial(n, sp, 2000), rng.binomial(1000, share, 2000)
    inside = alone = 0
    for hits, rejected, yes in zip(*draws, strict=True):
        low, high = lang_reiczigel(hits, n, rejected, n, yes, 1000)
        inside += low <= rate <= high
        reach = 1.96 * np.sqrt(yes * (1000 - yes) / 1e9)
        alone += abs(yes / 1000 - rate) <= reach
    assert inside / 2000 > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 2000)
    assert alone / 2000 < 0.01


def test_sensitivity_specificity_and_the_corrected_rate_are_counted() -> None:
    human = np.repeat([True, True, False, False], [25, 5, 14, 56])
    judge = np.repeat([True, False, True, False], [25, 5, 14, 56])
    every = np.repeat([1.0, 0.0], [430, 670])
    found = classes(human, judge, every, confidence=0.95)
    assert found.counts == (25, 5, 14, 56)
    assert found.sensitivity.value == pytest.approx(25 / 30)
    assert found.rate.value == pytest.approx(0.301435, abs=1e-6)
    assert found.rate.low == pytest.approx(0.165310, abs=1e-6)
    # a coin: the interval is all there is
    coin = classes(human, np.arange(100) % 2 == 0, every, confidence=0.95)
    assert "does not tell" in coin.rate.reason
    none = classes(np.zeros(9, dtype=bool), judge[:9], every, confidence=0.95)
    assert none.rate.reason == "the labels have no positive one"


def test_rare_classes_and_full_agreement_have_no_interval() -> None:
    rare = np.zeros(40, dtype=np.int64)
    rare[:3] = 1
    other = np.roll(rare, 1)
    assert np.isnan(measured_table(kappa, rare, other, TWO, "nominal", None, confidence=0.95).low)
    assert not np.isnan(measured_table(ac1, rare, other, TWO, "nominal", None, confidence=0.95).low)
    same = measured_table(kappa, FIRST, FIRST, TWO, "nominal", None, confidence=0.95)
    assert (same.value, same.reason) == (1.0, "all agree")


def noisy(rng: np.random.Generator, n: int, errors: float = 0.1) -> tuple:
    """Two people with 10 % errors and a judge of sensitivity .85, specificity .75; n outputs of each system."""
    system = np.repeat([0, 1], n)
    truth = rng.random(2 * n) < np.array([0.3, 0.6])[system]
    judge = rng.random(2 * n) < np.where(truth, 0.85, 0.25)
    people = [np.where(rng.random(2 * n) < errors, ~truth, truth) * 1.0 for _ in range(2)]
    return judge * 1.0, *people, system


def favoured(judge: np.ndarray, first: np.ndarray, second: np.ndarray, system: np.ndarray) -> float:
    rows = np.array([[-1.0, 1.0]])
    found = favours(
        judge, first, second, np.eye(2)[system], rows, ("B",), np.arange(len(judge)), confidence=0.95
    )
    return found[0].p_value


def test_favour_is_two_stage_least_squares() -> None:
    judge, first, second, system = noisy(np.random.default_rng(4), 80)
    design = np.eye(2)[system]
    x = np.vstack([np.column_stack([design, first]), np.column_stack([design, second])])
    z = np.vstack([np.column_stack([design, second]), np.column_stack([design, first])])
    y = np.concatenate([judge, judge])
    stage = z @ np.linalg.lstsq(z, x, rcond=None)[0]  # the first stage, as textbooks do it
    theta = np.linalg.lstsq(stage, y, rcond=None)[0]
    rows = np.array([[-1.0, 1.0]])
    (found,) = favours(judge, first, second, design, rows, ("B",), np.arange(160), confidence=0.95)
    assert found.estimate == pytest.approx(theta[1] - theta[0], rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, 200])
def test_an_unfair_truth_is_no_favour_and_yet_distorts(n: int) -> None:
    rng, runs = np.random.default_rng(n), 2000
    found, distorted = 0, 0
    for _ in range(runs):
        judge, first, second, system = noisy(rng, n)
        found += favoured(judge, first, second, system) < 0.05
        if n == 200:
            judge, first, _, system = noisy(rng, n, errors=0.0)
            pairs = [np.stack([part[system == 0], part[system == 1]], axis=1) for part in (judge, first)]
            one = distortion(pairs[0], pairs[1], ("A", "B"), None, confidence=0.95)
            distorted += one is not None and one.p_value < 0.05
    assert (
        stats.binom.interval(0.999, runs, 0.045)[0] <= found <= stats.binom.interval(0.999, runs, 0.058)[1]
    )
    assert n != 200 or distorted > 0.5 * runs


def write(path: Path, frame: pd.DataFrame) -> Path:
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def simple(tmp_path: Path) -> Path:
    """item, human, judge: 60 labels of 1,000, in words."""
    rng = np.random.default_rng(1)
    truth = rng.random(1000) < 0.3
    judge = np.where(rng.random(1000) < 0.85, truth, ~truth)
    human = np.where(truth, "pass", "fail").astype(object)
    human[60:] = ""
    frame = {
        "item": [f"i{i}" for i in range(1000)],
        "human": human,
        "judge": np.where(judge, "pass", "fail"),
    }
    return write(tmp_path / "simple.csv", pd.DataFrame(frame))


def test_a_table_of_item_human_and_judge(simple: Path) -> None:
    found = run("judge", "check", simple)
    assert max(len(line) for line in found.stdout.splitlines() if "humeval-power" not in line) <= 80
    assert "'pass' as 1" in found.stderr
    record = run_json("judge", "check", simple)
    assert record["human_kind"] == "binary"
    assert record["n_labelled"] == 60
    supported = {one["what"]: one["supported"] for one in record["evidence"]}
    assert supported["a mean with the judge's help, for all items judged"]
    estimate = run_json("judge", "estimate", simple)
    worth = record["worth"][0]
    assert worth["found"]["estimate"] == pytest.approx(estimate["tuned"]["estimate"])
    assert estimate["method"] == "post-stratified"
    for line in record["commands"]:
        assert run(*line.replace("humeval-power ", "").split()).exit_code == 0
    labels = run_json("judge", "agreement", simple)
    assert labels["judges"][0]["kappa"]["value"] == pytest.approx(record["judges"][0]["kappa"]["value"])


def test_labels_of_the_lowest_scores_are_no_random_part(simple: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(simple, dtype=str, keep_default_na=False)
    rng = np.random.default_rng(2)
    score = rng.random(1000)
    frame["judge"] = score.round(4).astype(str)
    order = np.argsort(score)
    human = np.full(1000, "", dtype=object)
    human[order[:60]] = frame["human"][:60]
    frame["human"] = human
    record = run_json("judge", "check", write(tmp_path / "low.csv", frame))
    helped = next(one for one in record["evidence"] if "for all items judged" in one["what"])
    assert not helped["supported"]
    assert "--label-origin random" in helped["because"]
    assert not any("estimate" in line for line in record["commands"])
    stated = run_json("judge", "check", tmp_path / "low.csv", "--label-origin", "random")
    assert any("estimate" in line for line in stated["commands"])
    apart = run_json("judge", "check", simple, "--label-origin", "apart")
    assert apart["worth"] == []


def three_judges(rng: np.random.Generator) -> pd.DataFrame:
    """Three judges, two runs each, below each other; 80 of 400 items labelled."""
    truth = rng.normal(size=400)
    label = np.clip(np.rint(3 + 0.8 * truth + 0.5 * rng.normal(size=400)), 1, 5)
    rows = []
    for item in range(400):
        for judge in "xyz":
            said = truth[item] + 0.6 * rng.normal()
            human = label[item] if item < 80 else ""
            rows += [
                (f"i{item}", human, judge, run, round(50 + 10 * said + 3 * rng.normal(), 1))
                for run in (1, 2)
            ]
    return pd.DataFrame(rows, columns=["item", "human", "judge", "run", "score"])


def test_three_judges_of_two_runs_in_rows_or_columns(tmp_path: Path) -> None:
    long = three_judges(np.random.default_rng(5))
    first = write(tmp_path / "long.csv", long)
    found = run_json("judge", "check", first)
    assert found["judge_names"] == ["x", "y", "z"]
    assert found["n_labelled"] == 80
    assert all(0.5 < one["run_reliability"] < 1 for one in found["judges"])
    assert found["between"] == pytest.approx(
        1 / 1.36, abs=0.06
    )  # truth + 0.6 errors, without the runs' noise
    wide = (
        long.pivot_table(index=["item", "run"], columns="judge", values="score")
        .add_prefix("judge_")
        .reset_index()
    )
    wide["human"] = (
        long.drop_duplicates(["item", "run"])
        .set_index(["item", "run"])
        .loc[pd.MultiIndex.from_frame(wide[["item", "run"]]), "human"]
        .to_numpy()
    )
    second = write(tmp_path / "wide.csv", wide)
    one, other = (run_json("judge", "estimate", path) for path in (first, second))
    assert other["judges"] == ["judge_x", "judge_y", "judge_z"]
    assert one["tuned"]["estimate"] == pytest.approx(other["tuned"]["estimate"], rel=1e-12)
    assert one["n"] == 80
    told = run("judge", "estimate", first).stderr
    assert "2 runs of the judge, which are averaged" in " ".join(told.split())
    single = run_json("judge", "estimate", second, "--judge", "judge_y")
    assert single["judges"] == ["judge_y"]
    assert "--judge x" in refusal_of("judge", "bias", first, "--own", "a")


def test_several_people_in_columns_are_raters(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    truth = rng.normal(size=(200, 2))
    rows = []
    for item in range(200):
        for place, system in enumerate(("old", "new")):
            people = [
                round(3 + truth[item, place] + rng.normal(0, 0.5), 1) if item < 70 else "" for _ in range(3)
            ]
            rows.append((f"i{item}", system, *people, round(truth[item, place] + rng.normal(0, 0.5), 3)))
    names = ["item", "system", "human_1", "human_2", "human_3", "metric"]
    path = write(tmp_path / "people.csv", pd.DataFrame(rows, columns=names))
    found = run_json("judge", "check", path)
    assert found["worker_names"] == ["human_1", "human_2", "human_3"]
    assert found["judges"][0]["favours"][0]["n"] == 140
    fixed = run("judge", "estimate", path, "--raters-fixed")
    assert "about these raters: human_1, human_2, human_3" in " ".join(fixed.stdout.split())
    model = run_json("judge", "estimate", path)
    assert model["n_workers"] == 3
    agreement = run_json("judge", "agreement", path)
    assert agreement["ceiling"]["estimate"] > agreement["judge"]["estimate"]


def test_a_judge_tuned_on_some_rows_is_not_seen_on_them(simple: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(simple, dtype=str, keep_default_na=False)
    frame["prompt set"] = np.where(np.arange(1000) < 30, "yes", "")
    path = write(tmp_path / "tuned.csv", frame)
    found = run_json("judge", "check", path, "--tuned-on", "prompt set")
    assert (found["n_labelled"], found["n_items"]) == (30, 970)
    assert "tuned" in run("judge", "estimate", path, "--tuned-on", "prompt set").stderr


def test_words_that_nobody_knows_are_asked_for(simple: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(simple, dtype=str, keep_default_na=False).replace(
        {"pass": "gut", "fail": "schlecht"}
    )
    path = write(tmp_path / "words.csv", frame)
    assert "--words good=1,bad=0" in run("judge", "check", path, code=2).stderr
    found = run_json("judge", "check", path, "--words", "gut=1,schlecht=0")
    assert found["human_kind"] == "binary"
    assert found["commands"][0].endswith("--words gut=1,schlecht=0")
    assert run(*found["commands"][0].replace("humeval-power ", "").split()).exit_code == 0


def test_kinds_follow_from_the_values() -> None:
    assert kind_of(np.array([0.0, 1, 1])) == "binary"
    assert kind_of(np.array([1.0, 2, 5])) == "ordinal"
    assert kind_of(np.array([1.0, 2.5])) == "numeric"
    assert kind_of(np.arange(12.0)) == "numeric"


@each_case(
    ("content", "words"),
    [
        ("item,judge\na,1\nb,0\n", "Nothing about people"),
        ("item,human\na,1\nb,0\n", "no judge"),
        ("item,human,judge\na,1,1\nb,0,0\n", "5 are needed"),
        ("item,human,judge\n" + "".join(f"i{i},1,{i % 2}\n" for i in range(40)), "no negative one"),
        ("a,b\n1,2\n3,4\n", "Nothing about people"),
        ("item,human,judge\na,NaN,NaN\nb,,1\n", "Nothing about people"),
        (
            "item,human,judge,worker\n" + "".join(f"<b>{i},{i % 2},{i % 3},w\n" for i in range(30)),
            "no judge's help",
        ),
    ],
)
def test_any_table_has_an_answer(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "any.csv"
    path.write_text(content)
    found = run("judge", "check", path)
    assert words in " ".join(found.stdout.split()) or words == "no judge's help"


@each_case(
    "content",
    ["item,human,ju", "", '{"item": 1, "human":', "item,human,judge\na,1\n,2,3\n", "PK\x03\x04broken"],
)
def test_a_broken_file_is_one_message(tmp_path: Path, content: str) -> None:
    path = tmp_path / "broken.csv"
    path.write_text(content)
    found = run("judge", "check", path, code=None)
    assert found.exit_code == 2
    assert "Traceback" not in found.stderr


def test_all_labels_alike_are_a_result(tmp_path: Path) -> None:
    path = tmp_path / "alike.csv"
    path.write_text(
        "item,human,judge\n" + "".join(f"i{i},{'1' if i < 30 else ''},{i % 2}\n" for i in range(90))
    )
    found = run("judge", "estimate", path)
    said = " ".join(found.stdout.split())
    assert "All labels are alike" in said
    assert "0.8865 to 1" in said  # Wilson's for 30 of 30
    assert run("judge", "agreement", path).exit_code == 0


def test_runs_of_a_judge_do_not_make_labels_of_one_person_several(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    lines = [
        f"i{i},{i % 3 if i < 20 else ''},{run},{i % 3 + run / 10 + i / 100}\n"
        for i in range(60)
        for run in (1, 2)
    ]
    path.write_text("item,human,run,judge\n" + "".join(lines))
    table = read_judged(path)
    assert int(np.isfinite(table.human).sum()) == 20
    assert table.has_runs


def test_labels_apart_are_no_part_of_what_is_corrected(tmp_path: Path) -> None:
    """Rogan and Gladen (1978) with the share of yes of the target alone: (0.13 + 0.9 - 1) / 0.8."""
    human = np.repeat([1, 0], 100)
    judge = np.concatenate([np.repeat([1, 0, 1, 0], [90, 10, 10, 90]), np.repeat([1, 0], [39, 261])])
    frame = pd.DataFrame(
        {"item": range(500), "human": pd.array([*human, *[None] * 300], dtype="Int64"), "judge": judge}
    )
    found = run_json("judge", "check", write(tmp_path / "apart.csv", frame), "--label-origin", "apart")
    measured = found["judges"][0]["classes"]
    assert measured["n_judged"] == 300
    assert measured["rate"]["value"] == pytest.approx((0.13 + 0.9 - 1) / 0.8)
    all_labelled = write(tmp_path / "none.csv", frame[:200])
    none = run_json("judge", "check", all_labelled, "--label-origin", "apart")["judges"][0]["classes"]
    assert none["rate"]["value"] is None
    assert "no output without a label" in none["rate"]["reason"]
    assert "nan" not in run("judge", "check", all_labelled, "--label-origin", "apart").stdout


def test_labels_that_differ_between_runs_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("item,human,sample,judge\na,1,1,0.5\na,0,2,0.6\nb,1,1,0.2\nb,1,2,0.3\n")
    said = refusal_of("judge", "check", path)
    assert "row 3, column 'human': value '0': row 2 has another value for the same output." in said
    assert "--worker COLUMN" in said
    path.write_text("item,w1,human_1,human_2,run,judge\na,x,1,0,1,.5\na,x,1,1,2,.6\n")
    assert "row 3, column 'human_2'" in refusal_of("judge", "check", path)


def test_labels_that_stand_beside_each_judge_in_rows_count_once(tmp_path: Path) -> None:
    rng = np.random.default_rng(17)
    quality = rng.normal(size=60)
    rows = [
        (f"i{item}", worker, round(3 + quality[item] + rng.normal(), 2) if item < 30 else "")
        for item in range(60)
        for worker in "vwxy"
    ]
    wide = pd.DataFrame(rows, columns=["item", "worker", "human"])
    for name in "ab":
        wide[f"judge_{name}"] = np.repeat(quality + rng.normal(0, 0.5, 60), 4).round(3)
    long = wide.melt(["item", "worker", "human"], var_name="judge", value_name="score")
    long["run"] = long["judge"]  # one of each judge
    paths = write(tmp_path / "wide.csv", wide), write(tmp_path / "long.csv", long)
    first, second = (run_json("judge", "estimate", path) for path in paths)
    assert (first["n_ratings"], first["judged"]) == (second["n_ratings"], second["judged"])
    noise = next(
        one for one in run_json("judge", "check", paths[1])["evidence"] if "own noise" in one["what"]
    )
    assert not noise["supported"]
    long["human"] = long["human"].mask(long["judge"] == "judge_b", 1)
    assert "for the same output and worker" in refusal_of("judge", "check", write(paths[1], long))


def two_systems(rng: np.random.Generator, n: int, workers: tuple[str, ...]) -> pd.DataFrame:
    """A row for each rating of n items under two systems, one of each worker."""
    rows = [
        (f"i{item}", system, worker, int(rng.random() < 0.5), int(rng.random() < 0.5))
        for item in range(n)
        for system in "AB"
        for worker in workers
    ]
    return pd.DataFrame(rows, columns=["item", "system", "worker", "human", "judge"]).assign(
        judge=lambda frame: frame.groupby(["item", "system"])["judge"].transform("first")
    )


def test_two_ratings_are_of_two_people(tmp_path: Path) -> None:
    frame = two_systems(np.random.default_rng(7), 60, ("w",))
    doubled = pd.concat([frame, frame])
    for number, one in enumerate((doubled, doubled.drop(columns="worker"))):
        found = run_json("judge", "check", write(tmp_path / f"{number}.csv", one))
        favour = next(each for each in found["evidence"] if "favour" in each["what"])
        assert found["n_twice"] == 0
        assert (favour["supported"], favour["because"]) == (False, "the table does not name two people")
    two = two_systems(np.random.default_rng(7), 60, ("v", "w"))
    again = pd.concat([two, two])  # the same two people twice
    counts = [
        run_json("judge", "check", write(tmp_path / "two.csv", each))["judges"][0]["favours"]
        for each in (two, again)
    ]
    assert counts[0] == counts[1]
    assert counts[0][0]["n"] == 120


def test_every_estimate_has_the_reason_of_all(tmp_path: Path) -> None:
    frame = two_systems(np.random.default_rng(8), 200, ("w",)).drop(columns="worker")
    frame["judge"] = np.random.default_rng(9).random(400).round(4)
    frame["human"] = frame["human"].astype("Int64").mask(frame["judge"] > 0.5)
    path = write(tmp_path / "low.csv", frame)
    for options in ((), ("--label-origin", "apart")):
        found = run_json("judge", "check", path, *options)
        helped = [one for one in found["evidence"] if "with the judge's help" in one["what"]]
        assert [one["supported"] for one in helped] == [False, False]
        assert helped[0]["because"] == helped[1]["because"]


def test_labels_in_one_cluster_have_no_interval(tmp_path: Path) -> None:
    frame = two_systems(np.random.default_rng(10), 200, ("v", "w"))
    frame["passage"] = np.where(frame["item"].str.slice(1).astype(int) < 60, "p", frame["item"])
    frame["human"] = frame["human"].astype("Int64").mask(frame["passage"] != "p")
    path = write(tmp_path / "one.csv", frame)
    found = run_json("judge", "check", path, "--cluster", "passage")
    one = found["judges"][0]
    for measure in (one["correlation"], one["kappa"], one["ac1"], one["alpha"]):
        assert (measure["low"], measure["reason"]) == (None, "all labels are in one cluster")
    assert (one["distortions"], one["favours"]) == ([], [])
    assert "all labels are in one cluster" in {each["because"] for each in found["evidence"]}
    for line in found["commands"]:
        assert run(*line.replace("humeval-power ", "").split()).exit_code == 0


def test_other_columns_of_people_are_no_labels(tmp_path: Path) -> None:
    path = tmp_path / "age.csv"
    path.write_text("item,annotator_age,annotator_sex,label,judge\na,40,1,1,1\nb,30,0,0,1\n")
    assert run_json("judge", "check", path)["columns"]["People"] == "label"
    path.write_text("item,human_1,judge\na,1,1\nb,0,1\n")
    assert run_json("judge", "check", path)["columns"]["People"] == "human_1"
    path.write_text("item,judge\na,1\nb,0\n")
    assert "--human" in run("judge", "check", path).stdout


def test_a_rate_needs_a_judge_that_tells_classes_apart(tmp_path: Path) -> None:
    human, rng = np.arange(100) % 2, np.random.default_rng(3)
    wrong = np.where(rng.random(100) < 0.1, human, 1 - human)
    for judge, why in ((wrong, "the opposite"), (np.ones(100, dtype=int), "does not tell")):
        frame = pd.DataFrame({"item": range(100), "human": human, "judge": judge})
        found = run_json("judge", "check", write(tmp_path / "wrong.csv", frame))
        rate = next(one for one in found["evidence"] if "a rate corrected" in one["what"])
        assert not rate["supported"]
        assert why in rate["because"]


def test_pairs_without_a_difference_have_the_exact_bound_together(tmp_path: Path) -> None:
    """Bonferroni over three pairs: 1 - (.05 / 3 / 2)^(1 / 30) for yes and no; no bound on a longer scale."""
    rng = np.random.default_rng(11)
    human = rng.integers(0, 2, 30)
    for scale, most in ((1, 1 - (0.05 / 6) ** (1 / 30)), (4, None)):
        rows = [
            (f"i{item}", system, scale * human[item] if item < 30 else "", round(rng.random(), 3))
            for item in range(60)
            for system in "ABC"
        ]
        path = write(
            tmp_path / "same.csv", pd.DataFrame(rows, columns=["item", "system", "human", "judge"])
        )
        pair = run_json("judge", "estimate", path)["pairs"][0]
        high = pair["simultaneous"][1]
        assert high == (None if most is None else pytest.approx(most, rel=1e-9))
        assert (pair["human"]["interval"][1] is None) == (most is None)


def offered(found: dict) -> list[str]:
    for line in found["commands"]:
        assert run(*shlex.split(line)[1:]).exit_code == 0
    return [line.split()[2] for line in found["commands"]]


def test_systems_on_different_items_are_no_comparison(tmp_path: Path) -> None:
    frame = two_systems(np.random.default_rng(12), 200, ("w",)).drop(columns="worker")
    frame["item"] += frame["system"]
    frame["human"] = frame["human"].astype("Int64").mask(np.arange(400) >= 100)
    found = run_json("judge", "check", write(tmp_path / "apart.csv", frame), "--label-origin", "random")
    assert offered(found) == ["agreement"]


@pytest.mark.parametrize("form", ["columns", "rows"])
def test_bias_is_asked_of_one_judge_at_a_time(tmp_path: Path, form: str) -> None:
    rng = np.random.default_rng(13)
    frame = two_systems(rng, 80, ("v", "w"))
    frame["human"] = (frame["judge"] + (rng.random(len(frame)) < 0.2)) % 2
    frame["x"] = frame.pop("judge")
    frame["y"] = 1
    frame["z"] = 1 - frame["x"]
    if form == "rows":
        keys = ["item", "system", "worker", "human"]
        frame = frame.melt(keys, ["x", "y", "z"], var_name="judge", value_name="score")
    else:
        frame = frame.rename(columns={name: f"judge_{name}" for name in "xyz"})
    frame.insert(0, "Status", "Approved")
    found = run_json("judge", "check", write(tmp_path / "three.csv", frame))
    assert offered(found).count("bias") == 1  # neither of a constant judge nor of one that errs always
    assert sum("judge bias" in line and "--judge" in line for line in found["commands"]) == 1


def test_copied_and_constant_judges_with_workers_are_named(tmp_path: Path) -> None:
    rng = np.random.default_rng(14)
    quality = rng.normal(size=60)
    rows = [
        (f"i{item}", worker, round(3 + quality[item] + rng.normal(), 2) if item < 30 else "", quality[item])
        for item in range(60)
        for worker in "vwxy"
    ]
    frame = pd.DataFrame(rows, columns=["item", "worker", "human", "judge_a"]).assign(
        judge_b=lambda found: found["judge_a"] * 2, judge_c=1
    )
    path = write(tmp_path / "copied.csv", frame)
    assert "estimate" in offered(run_json("judge", "check", path))
    said = text_of("judge", "estimate", path)
    assert "judge_b, judge_c: left out, as a copy of a judge before it" in said
    constant = run("judge", "estimate", path, "--judge", "judge_c").stdout
    assert "The judge says the same of all labelled items" in " ".join(constant.split())


def test_one_run_of_each_output_is_one_run(simple: Path, tmp_path: Path) -> None:
    """Rows of two people with the same score are no runs either, whatever their batch is called."""
    frame = pd.read_csv(simple, dtype=str, keep_default_na=False).assign(run="1", worker="v")
    batches = frame.assign(run=[f"{place % 3}" for place in range(len(frame))])
    of_two = pd.concat([frame, frame.assign(worker="w")])
    for one in (frame, batches, of_two):
        found = run_json("judge", "check", write(tmp_path / "run.csv", one))
        noise = next(each for each in found["evidence"] if "own noise" in each["what"])
        assert (noise["supported"], noise["because"]) == (False, "each output has one run")


def test_commands_carry_what_was_decided_of_rejected_rows(simple: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(simple, dtype=str, keep_default_na=False).assign(AssignmentStatus="Approved")
    frame.loc[5, "AssignmentStatus"] = "Rejected"
    path = write(tmp_path / "rejected.csv", frame)
    run("judge", "check", path, code=2)
    found = run_json("judge", "check", path, "--rejected-rows", "drop")
    assert all("--rejected-rows drop" in line for line in found["commands"])
    assert offered(found) == ["estimate", "agreement"]


def test_labels_with_the_judge_and_without_are_of_the_same_items(tmp_path: Path) -> None:
    """120 items in all: t .5 / sqrt(120) is above .05, whoever helps; a judge that says nothing has no number."""
    rng = np.random.default_rng(15)
    human = pd.array([*(np.arange(40) % 2), *[None] * 80], dtype="Int64")
    frame = pd.DataFrame({"item": range(120), "human": human, "judge_a": rng.random(120), "judge_b": 1})
    path = write(tmp_path / "few.csv", frame)
    found = run_json("judge", "check", path, "--half-width", "0.05")["worth"]
    assert [one["needed_alone"] for one in found] == [None] * 3
    rows = [
        line.split() for line in run("judge", "check", path, "--half-width", "0.05").stdout.splitlines()
    ]
    ends = {row[0]: row[-3:] for row in rows if row[:1] in (["judge_a"], ["judge_b"]) and row[-1] == "none"}
    assert ends == {"judge_a": ["0.05", "none", "none"], "judge_b": ["0.05", "-", "none"]}


def test_pairs_that_are_not_looked_at_are_counted(tmp_path: Path) -> None:
    rng = np.random.default_rng(16)
    rows = [
        (f"i{item}", f"s{system:02}", int(rng.random() < 0.5) if item < 20 else "", int(rng.random() < 0.5))
        for item in range(40)
        for system in range(11)
    ]
    path = write(tmp_path / "many.csv", pd.DataFrame(rows, columns=["item", "system", "human", "judge"]))
    said = text_of("judge", "check", path)
    assert said.count("The first 45 of 55 pairs of systems were looked at.") == 2
    assert "The 12 that are worth most of 45." in said


def test_rows_of_one_output_never_count_as_outputs_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    rows = [f"q{i},w{w},{1 + (i + w) % 5},{i % 7}" for i in range(30) for w in range(3)]
    path.write_text("\n".join(["prompt,annotator,score,my judge", *rows, ""]), encoding="utf-8")
    refused = refusal_of("judge", "check", path)
    assert "rows of one output would count as outputs of their own" in refused
    assert "--item COLUMN" in refused
    assert "30 with a label and a score" in text_of("judge", "check", path, "--item", "prompt")


def test_a_table_without_a_column_of_items_says_that_each_row_is_one(simple: Path, tmp_path: Path) -> None:
    path = tmp_path / "unnamed.csv"
    pd.read_csv(simple).drop(columns="item").to_csv(path, index=False)
    told = " ".join(run("judge", "check", path).stderr.split())
    assert "each row counts as an output of its own. Name it: --item COLUMN" in told
    assert "each row counts" not in run("judge", "check", simple).stderr


def test_columns_of_people_that_are_named_one_by_one_are_refused(simple: Path) -> None:
    refused = refusal_of("judge", "check", simple, "--human", "human", "--human", "other")
    assert "--human is given 2 times, and is one list: --human A,B." in refused
