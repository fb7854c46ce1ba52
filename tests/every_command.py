"""Every command once on fixed input, and what its JSON was when the numbers were last looked at.

`python tests/every_command.py` writes tests/golden/every_command.json anew: after a change that was meant to
change numbers, and never to make a test pass.
"""

import contextlib
import json
import math
import os
import shutil
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from humeval_power.studies.plan import assignment as blinding

ROOT = Path(__file__).parents[1]
GOLDEN = Path(__file__).parent / "golden" / "every_command.json"
QUICK = "--simulations 200 --seed 3"
SMALL_STUDY = "--workers 6 --items 24"
SETTING = "--preset low"
OWN = "own_scenario.py:make"

# name: the command line; --json is added. Files are those of `write_inputs`, or of a command before.
COMMANDS: dict[str, str] = {
    "start": "start --have pilot --file pilot.csv --limit budget=500 --raters mturk",
    "check": "check pilot.csv --scale 1:5",
    "fit": "fit pilot.csv --scale 1:5 -o parameters.json",
    "fit differences": "fit pilot.csv --scale 1:5 --analysis differences",
    "fit ml": "fit pilot.csv --scale 1:5 --estimator ml --df normal",
    "fit non-inferior": "fit pilot.csv --scale 1:5 --alternative non-inferior --margin 0.1",
    "fit few workers": f"fit experts.csv --scale 0:100 {QUICK}",
    "power": f"power --parameters parameters.json {SMALL_STUDY} --effect 0.1 {QUICK}",
    "power k": f"power {SETTING} {SMALL_STUDY} --ratings-per-item 3 --effect 0.1 {QUICK}",
    "power margin": f"power {SETTING} {SMALL_STUDY} --alternative equivalent --margin 0.1 {QUICK}",
    "power card": f"power --preset high {SMALL_STUDY} --effect 0.1 --compat card2020 {QUICK}",
    "mde": f"mde {SETTING} {SMALL_STUDY} {QUICK}",
    "size": f"size {SETTING} --find items --workers 10 --effect 0.1 {QUICK}",
    "surface": f"surface {SETTING} --workers 4,6 --items 24 --effect 0.1,0.2 {QUICK} -o surface",
    "power many": f"power {SETTING} {SMALL_STUDY} --n-systems 3 --pattern steps --effect 0.1 {QUICK}",
    "power many k": f"power {SETTING} {SMALL_STUDY} --ratings-per-item 3 --n-systems 4 --baseline A --model joint "
    f"--effect 0.1 {QUICK}",
    "mde many": f"mde {SETTING} {SMALL_STUDY} --n-systems 3 --goal any {QUICK}",
    "size budget": f"size {SETTING} --find budget --max-workers 20 --effect 0.1 --method analytic "
    "--ratings-per-item 2 --cost-per-rating 0.1 --cost-per-worker 2",
    "size many": f"size {SETTING} --find items --workers 10 --n-systems 3 --effect 0.2 {QUICK}",
    "surface many": f"surface {SETTING} --workers 4,6 --items 24 --n-systems 3 --effect 0.1,0.2 {QUICK}",
    "plan": "plan pilot.csv --scale 1:5 --effect 0.15 --items 20:100:20 --max-workers 30 --cost-per-rating 0.12 "
    f"--cost-per-worker 3 {QUICK} -o plan.json",
    "assign": "assign --workers 4 --items 6 --ratings-per-item 2 --batch-size 4 --checks 0.2 --repeats 0.2 "
    "--seed 4",
    "assign blind": "assign --workers 3 --items 4 --seed 4 -o assignment.csv --key key.csv",
    "assign upload": "assign --workers 2 --outputs outputs.csv --scale 1:5 --checks 0.3 --repeats 0.3 "
    "--batch-size 4 --upload html --key upload.csv -o upload",
    "assign many": "assign --systems a,b,c --workers 3 --items 3 --ratings-per-item 2 --seed 4",
    "assign plan": "assign --plan plan.json --seed 4 -o study.csv --key study_key.csv",
    "rehearse": "simulate --plan plan.json --assignment study.csv --key study_key.csv --quitting 0.2 --seed 3 "
    "--coded -o coded.csv",
    "import": "import coded.csv --assignment study.csv --key study_key.csv --keep-ids -o collected.csv",
    "import draft": "import coded.csv --draft",
    "import logs": "import logs",
    "collect status": "collect status collected.csv --assignment study.csv --keep-ids",
    "analyze plan": "analyze collected.csv --plan plan.json",
    "simulate": "simulate --preset low --workers 8 --items 30 --effect 0.1 --seed 5 -o simulated.csv",
    "items": "items scored.csv --n 20 --score chrf -o chosen.csv",
    "assign pool": "assign --pool chosen.csv --workers 4 --ratings-per-item 2 --systems old,new --seed 4",
    "analyze pool": "analyze five.csv --systems base,one --scale 1:5 --pool pool.csv",
    "analyze pool many": "analyze five.csv --all-pairs --scale 1:5 --pool pool.csv --estimand population",
    "analyze": "analyze simulated.csv",
    "analyze many": f"analyze five.csv --scale 1:5 --all-pairs {QUICK}",
    "calibrate": f"calibrate {SETTING} --workers 4 --items 20 {QUICK}",
    "calibrate many": f"calibrate {SETTING} --workers 4 --items 20 --n-systems 3 {QUICK}",
    "parameters list": "parameters list",
    "report check": "report check parameters.json --no-memory",
    "report template": "report parameters.json --template answers.toml --no-memory",
    "cite": "cite parameters.json",
    "looks study": f"looks study --preset high {SMALL_STUDY} --effect 0.2 {QUICK}",
    "looks stop": f"looks study --preset low --workers 18 --items 20 --effect 0.15 --looks 3 "
    f"--stop-when decision,half_width=0.2 {QUICK}",
    "looks drop": "looks study --preset low --n-systems 4 --pattern one --workers 12 --items 20 --effect 0.2 "
    f"--looks 0.5,0.75,1 --drop-systems {QUICK}",
    "looks anytime": "looks anytime fresh.csv --scale 1:5",
    "looks accuracy": f"looks accuracy --n 300 --effect 0.05 --agreement 0.8 {QUICK}",
    "looks preference": f"looks preference --n 200 --effect 0.1 {QUICK}",
    "looks scores": f"looks scores --n 200 --effect 0.2 {QUICK}",
    "looks pool": f"looks pool --simulated 8 {QUICK}",
    "compare scores": f"compare scores scores.csv --question mean {QUICK}",
    "compare nlpstattest": f"compare scores scores.csv --procedure nlpstattest {QUICK}",
    "compare clusters": f"compare scores passages.csv --question mean --margin 0.1 --cluster passage {QUICK}",
    "compare gate": "compare gate a_labels.txt b_labels.txt --margin 0.02",
    "compare prospective": "compare prospective --effect 0.02 --sd-difference 0.1",
    "compare primer": "compare primer --n 500 --helped 10 --hurt 7",
    "compare primer-table": "compare primer-table",
    "compare power": f"compare power --n 60 --effect 0.05 --sd-difference 0.2 {QUICK}",
    "compare mde": f"compare mde --n 60 --sd-difference 0.2 {QUICK}",
    "compare size": f"compare size --effect 0.05 --sd-difference 0.2 {QUICK}",
    "compare surface": f"compare surface --n 40,60 --effect 0.05 --sd-difference 0.2 {QUICK}",
    "runs test": "runs test generations.csv --cluster passage -o pilot_runs.json",
    "runs test crossed": "runs test prompts.csv",
    "runs check": "runs check generations.csv --run generation",
    "runs power": f"runs power --pilot pilot_runs.json --runs 3 --n 200 --effect 0.05 --cluster-size 4 {QUICK}",
    "runs power crossed": "runs power --crossed --sd-item 0.3 --sd-prompt-slope 0.05 --sd-residual 0.3 "
    f"--prompts 5 --n 100 --effect 0.1 --alternative equivalent --margin 0.3 {QUICK}",
    "runs mde": f"runs mde {{ANSWERS}} --runs 3 --n 200 {QUICK}",
    "runs size": f"runs size {{ANSWERS}} --runs 3 --effect 0.05 {QUICK}",
    "runs surface": f"runs surface {{ANSWERS}} --runs 3 --n 100,200 --effect 0.05 {QUICK}",
    "runs budget": "runs budget --pilot pilot_runs.json --effect 0.05 --budget 300 --cost-per-call 0.02 "
    "--cost-per-item 0.5",
    "accuracy bounds": "accuracy bounds --n 147 --baseline-accuracy 0.945",
    "accuracy claims": "accuracy claims claims.csv",
    "accuracy leaderboard": "accuracy leaderboard board.csv --n 1000",
    "accuracy leaderboard pairs": "accuracy leaderboard board.csv --n 1000 --pairs pairs.csv --n-validation 800",
    "accuracy overlap": "accuracy overlap system_pairs.csv",
    "accuracy estimate": "accuracy estimate a_labels.csv b_labels.csv --gold gold.csv",
    "accuracy test": "accuracy test --only-b 16 --only-a 6 --n 161 --both 100",
    "accuracy test clusters": "accuracy test answers.csv --cluster passage",
    "accuracy estimate clusters": "accuracy estimate answers.csv --systems A,B --cluster passage",
    "accuracy mde": f"accuracy mde --n 1821 --baseline-accuracy 0.93 --overlap glue {QUICK}",
    "accuracy power": f"accuracy power --n 500 --effect 0.02 --agreement 0.9 {QUICK}",
    "accuracy size": f"accuracy size --effect 0.05 --agreement 0.9 {QUICK}",
    "accuracy surface": f"accuracy surface --n 200,400 --effect 0.05 --agreement 0.9 {QUICK}",
    "preference test": "preference test --wins 40 --losses 22 --ties 10",
    "preference test panel": "preference test choices.csv",
    "preference power panel": "preference power --n 90 --effect 0.15 --tie-share 0.2 --workers 6 "
    f"--judgements-per-item 3 --sd-worker 0.4 --sd-item 0.5 --position-bias 0.05 {QUICK}",
    "preference power": f"preference power --n 100 --effect 0.1 {QUICK}",
    "preference mde": f"preference mde --n 100 --tie-share 0.3 {QUICK}",
    "preference size": f"preference size --effect 0.2 {QUICK}",
    "preference surface": f"preference surface --n 50,100 --effect 0.1 {QUICK}",
    "rank power": f"rank power --n 900 --effect 0.1 --n-systems 4 --tie-share 0.2 {QUICK}",
    "rank power scores": f"rank power --n 90 --effect 0.1 --n-systems 4 --sd-difference 0.3 {QUICK}",
    "rank mde": "rank mde --n 900 --n-systems 4 --method analytic",
    "rank size": "rank size --effect 0.05 --n-systems 4 --design-effect 1.2 --method analytic",
    "rank surface": "rank surface --n 900,1800 --effect 0.1 --n-systems 4 --method analytic",
    "rank scores": "rank scores scores.csv",
    "rank scores clusters": "rank scores five_scores.csv --cluster passage --lower-is-better --alpha 0.1",
    "rank battles": "rank battles battles.csv",
    "rank battles rao-kupper": "rank battles battles.csv --tie-model rao-kupper --no-position-bias --cluster item",
    "corpus test": "corpus test --system-a a.txt --system-b b.txt --reference reference.txt --seed 3",
    "corpus clusters": "corpus test --system-a a.txt --system-b b.txt --reference reference.txt "
    "--cluster documents.txt --seed 3",
    "corpus estimate": "corpus estimate --system-a a.txt --system-b b.txt --reference reference.txt",
    "corpus power": f"corpus power --n 300 --effect 1 {QUICK}",
    "corpus mde": f"corpus mde --n 300 {QUICK}",
    "corpus size": f"corpus size --effect 2 {QUICK}",
    "corpus surface": f"corpus surface --n 300,600 --effect 1 {QUICK}",
    "contingency test": "contingency test --gold gold.txt --system-a a_labels.txt --system-b b_labels.txt --seed 3",
    "contingency test clusters": "contingency test --gold gold.txt --system-a a_labels.txt --system-b b_labels.txt "
    "--cluster clusters.txt --seed 3 --swaps 500",
    "contingency test table": "contingency test answers.csv --gold gold --system-a A --system-b B --cluster "
    "passage --metric mcc --swaps 500 --seed 3",
    "contingency estimate": "contingency estimate --gold gold.txt --system-a a_labels.txt --system-b b_labels.txt",
    "contingency power": f"contingency power {{CLASSES}} --n 500 --effect 0.05 {QUICK}",
    "contingency mde": f"contingency mde {{CLASSES}} --n 500 {QUICK}",
    "contingency size": f"contingency size {{CLASSES}} --effect 0.1 {QUICK}",
    "contingency surface": f"contingency surface {{CLASSES}} --n 300,500 --effect 0.1 {QUICK}",
    "assessment power": f"assessment power --n 600 --effect 2 {QUICK}",
    "assessment mde": f"assessment mde --n 600 {QUICK}",
    "assessment size": f"assessment size --effect 4 {QUICK}",
    "assessment surface": f"assessment surface --n 300,600 --effect 2 {QUICK}",
    "assessment test": "assessment test pilot.csv --cluster worker",
    "assessment decompose": "assessment decompose pilot.csv",
    "assessment observed-mde": "assessment observed-mde comparisons.csv",
    "agreement report": "agreement report five.csv --scale 1:5",
    "agreement report compatible": "agreement report pilot.csv --scale 1:5 --compatible",
    "agreement plan": "agreement plan pilot.csv --rater-counts 5,10 --half-width 0.15 --ratings-per-output 3",
    "agreement study": f"agreement study {SETTING} --workers 5,10 --items 50,200 --sd-systems 0.03",
    "judge mean": "judge mean --n 100 --extra 1000 --correlation 0.7",
    "judge study": f"judge study {SETTING} --workers 10 --items 100 --effect 0.1 --extra 500 --correlation 0.6",
    "judge check": "judge check judged_by_workers.csv --cluster passage",
    "judge check words": "judge check graded.csv",
    "judge estimate": "judge estimate judged.csv",
    "judge estimate classes": "judge estimate graded.csv",
    "judge estimate judges": "judge estimate three_judges.csv",
    "judge estimate workers": "judge estimate judged_by_workers.csv --systems A,B --cluster passage",
    "judge estimate systems": "judge estimate judged_by_workers.csv --average-workers --own A",
    "judge plan": f"judge plan {SETTING} --effect 0.2 --max-extra 200 --correlation 0.8 --cost-per-rating 0.1 "
    "--cost-per-score 0.01 --max-workers 6 --max-ratings-per-item 2 --simulations 20",
    "judge plan budget": f"judge plan {SETTING} --effect 0.1 --max-extra 500 --correlation 0.8 --reliability 0.7 "
    "--cost-per-rating 0.1 --cost-per-worker 3 --cost-per-score 0.002 --budget 60 --max-workers 6 --simulations 3",
    "judge agreement": "judge agreement judged_by_workers.csv --cluster passage",
    "judge agreement labels": "judge agreement graded.csv",
    "judge bias": "judge bias judged_by_workers.csv --own A",
    "judge sample": "judge sample judged.csv --n 20",
    "judge length": "judge length lengths.csv --length words",
    "judge position": "judge position verdicts.csv",
    "resample": f"resample pilot.csv --scale 1:5 --shift 0.08 {QUICK}",
    "survey": "survey papers.csv --preset high,low",
    "scenario power": f"scenario {{OWN}} power --n 60 --effect 0.2 {QUICK}",
    "scenario mde": f"scenario {{OWN}} mde --n 60 {QUICK}",
    "scenario size": f"scenario {{OWN}} size --effect 0.3 {QUICK}",
    "scenario surface": f"scenario {{OWN}} surface --n 40,60 --effect 0.2 {QUICK}",
}
_ANSWERS = "--nested --family binary --mean-accuracy 0.7 --sd-item 0.2 --sd-run 0.4"
_CLASSES = "--prevalence 0.1 --recall 0.7 --precision 0.65 --correctness-correlation 0.5"


def write_inputs(folder: Path) -> None:
    """The files that the commands read, drawn from fixed seeds."""
    _write(folder / "outputs.csv", ["item,old,new", "one,a cat,the cat", "two,a dog,the <b>dog"])
    for place in ("data/pilot.csv", "data/experts.csv", "examples/own_scenario.py"):
        shutil.copy(ROOT / place, folder)
    rng = np.random.default_rng(7)
    quality = {"base": 0.0, "one": 0.3, "two": 0.4, "three": -0.2, "four": 0.1}
    worker, item = rng.normal(0, 0.4, 6), rng.normal(0, 0.6, 15)
    lines = ["worker,item,system,rating"]
    for w in range(6):
        for i in range(15):
            for system, shift in quality.items():
                rating = np.clip(round(3 + worker[w] + item[i] + shift + rng.normal(0, 0.7)), 1, 5)
                lines.append(f"w{w},i{i},{system},{int(rating)}")
    _write(folder / "five.csv", lines)
    scored = (f"s{i:02d},same,same,1,1" for i in range(10))
    other = (f"s{i:02d},a {i},b {i},{(7 * i) % 23},{(11 * i) % 29}" for i in range(10, 60))
    _write(folder / "scored.csv", ["item,old,new,chrf_old,chrf_new", *scored, *other])
    drawn = (f"i{i},{int(i < 15)},{i % 3 + 1},{1 / 3!r},{i % 7},{(5 * i) % 11}" for i in range(45))
    _write(folder / "pool.csv", ["item,chosen,stratum,probability,score_base,score_one", *drawn])
    own = np.random.default_rng(40)  # of each worker's own items
    lines = ["worker,item,system,rating"]
    for w in range(8):
        for i in range(6):
            for system, mean in (("A", 3.0), ("B", 3.6)):
                lines.append(
                    f"w{w},i{w}-{i},{system},{int(np.clip(round(mean + own.normal(0, 0.7)), 1, 5))}"
                )
    _write(folder / "fresh.csv", lines)
    a = rng.normal(0.5, 0.15, 60)
    b = a + rng.normal(0.03, 0.08, 60)
    scores = [f"s{i},A,{x:.4f}\ns{i},B,{y:.4f}" for i, (x, y) in enumerate(zip(a, b, strict=True))]
    _write(folder / "scores.csv", ["item,system,score", *scores])
    passages = [f"s{i},p{i // 4},{x:.4f},{y:.4f}" for i, (x, y) in enumerate(zip(a, b, strict=True))]
    _write(folder / "passages.csv", ["item,passage,A,B", *passages])
    gold = rng.integers(0, 2, 200)
    answers = {name: np.where(rng.random(200) < right, gold, 1 - gold) for name, right in _RIGHT.items()}
    for name, values in {"gold": gold, **answers}.items():
        _write(folder / f"{name}.csv", ["id,label", *(f"q{i},{value}" for i, value in enumerate(values))])
        _write(folder / f"{name}.txt", [str(value) for value in values])
    passages = [f"p{i // 8}" for i in range(200)]
    _write(folder / "clusters.txt", passages)
    cells = zip(passages, gold, *answers.values(), gold[::-1], strict=True)
    rows = [f"q{i},{','.join(map(str, each))}" for i, each in enumerate(cells)]
    _write(folder / "answers.csv", ["item,passage,gold,A,B,C", *rows])
    words = [
        "the",
        "a",
        "model",
        "says",
        "that",
        "this",
        "text",
        "is",
        "not",
        "as",
        "good",
        "as",
        "it",
        "could",
        "be",
        "but",
        "fine",
    ]
    reference = [" ".join(rng.choice(words, 9)) for _ in range(80)]
    for name, kept in (("a", 0.75), ("b", 0.8)):
        changed = [" ".join(w if rng.random() < kept else "other" for w in s.split()) for s in reference]
        _write(folder / f"{name}.txt", changed)
    _write(folder / "reference.txt", reference)
    _write(folder / "documents.txt", [f"d{place // 8}" for place in range(len(reference))])
    claims = [
        "task,baseline,accuracy,n",
        "sst2,0.93,0.94,1821",
        "sst2,0.95,0.953,1821",
        "rte,0.70,0.75,3000",
    ]
    _write(folder / "claims.csv", claims)
    _write(
        folder / "board.csv",
        ["date,system,accuracy", "2019-01-03,m3,0.885", "2019-05-01,m2,0.89", "2020-02-01,m1,0.91"],
    )
    _write(folder / "pairs.csv", ["first,second,differing", "m3,m2,40", "m3,m1,60", "m2,m1,50"])
    alike = [
        "worse,0.8,0.02,0.9",
        "other,0.82,0.01,0.92",
        "third,0.85,0.03,0.91",
        "last,0.9,0.01,0.95",
        "x,0.7,0,0.8",
    ]
    _write(folder / "system_pairs.csv", ["name,baseline,improvement,agreement", *alike])
    choices = np.random.default_rng(8)
    own, of_item = choices.normal(0, 0.5, 6), choices.normal(0, 0.6, 15)
    lines = ["worker,item,winner,position"]
    for w in range(6):
        for i in range(15):
            first = (w + i) % 2
            drawn = 0.5 + 0.4 * (first - 0.5) + own[w] + of_item[i] + choices.normal()
            won = "B" if drawn > 0.4 else "A" if drawn < -0.4 else "tie"
            lines.append(f"w{w},i{i},{won},{'AB'[first]}")
    _write(folder / "choices.csv", lines)
    _write(folder / "battles.csv", _battles())
    _write(folder / "five_scores.csv", _clustered_scores())
    judged = rng.normal(0.6, 0.2, 400)
    human = judged + rng.normal(0.0, 0.1, 400)
    rows = [
        f"i{i},{j:.4f},{h:.4f}" if i < 100 else f"i{i},{j:.4f},"
        for i, (j, h) in enumerate(zip(judged, human, strict=True))
    ]
    _write(folder / "judged.csv", ["item,judge,human", *rows])
    _write_logs(folder / "logs")
    _judged_by_workers(folder)
    _graded(folder)
    write_lengths(folder)
    papers = ["paper,workers,items,ratings_per_item,effect", "one,3,100,3,0.1", "two,10,50,2,0.05"]
    _write(folder / "papers.csv", papers)
    pairs = [f"en-de,s{i},s{i + 1},{d:.2f},{p:.4f},500" for i, (d, p) in enumerate(_OBSERVED)]
    _write(folder / "comparisons.csv", ["pair,system_a,system_b,difference,p_value,n", *pairs])
    _write_runs(folder)


def _write_runs(folder: Path) -> None:
    """Scores of generations, and right or wrong answers under several prompts."""
    rng = np.random.default_rng(9)
    own, passages = rng.normal(0.02, 0.1, 40), rng.normal(0, 0.05, 10)
    lines = [
        f"q{i},p{i // 4},{name},{run},{0.6 + s * (own[i] + passages[i // 4]) + rng.normal(0, 0.1):.4f}"
        for i in range(40)
        for s, name in enumerate(("old", "new"))
        for run in range(1, 4)
    ]
    _write(folder / "generations.csv", ["item,passage,system,generation,score", *lines])
    prompts, favour = rng.normal(0, 0.4, 6), rng.normal(0.5, 0.4, 6)
    right = rng.random((50, 6, 2)) < 1 / (
        1 + np.exp(-(rng.normal(0.5, 1, (50, 1, 1)) + prompts[:, None] + favour[:, None] * [0, 1]))
    )
    lines = [
        f"q{i},{('old', 'new')[s]},t{run},{int(right[i, run, s])}" for i, run, s in np.ndindex(50, 6, 2)
    ]
    _write(folder / "prompts.csv", ["item,system,prompt,correct", *lines])


def _write_logs(folder: Path) -> None:
    """Two logs of Inspect, of answers to the same items; two items share a passage."""
    folder.mkdir()
    for system, right in {"base": "CIICICII", "tuned": "CCICCCPI"}.items():
        samples = [
            {
                "id": i,
                "epoch": 1,
                "metadata": {"passage": f"p{i // 2}"},
                "scores": {"match": {"value": word}},
            }
            for i, word in enumerate(right)
        ]
        about = {"status": "success", "eval": {"model": system, "task": "bridges"}}
        _write(folder / f"{system}.json", [json.dumps({**about, "samples": samples})])


def _clustered_scores() -> list[str]:
    """Scores of five systems on 60 items of 12 passages."""
    rng = np.random.default_rng(10)
    own = rng.normal(0, 0.1, (12, 5))
    lines = ["item,passage,one,two,three,four,five"]
    for place in range(60):
        scores = 0.5 + own[place % 12] + 0.04 * np.arange(5) + rng.normal(0, 0.15, 5)
        lines.append(f"q{place},p{place % 12},{','.join(f'{score:.4f}' for score in scores)}")
    return lines


def _battles() -> list[str]:
    """Battles of four systems that 12 workers judged on 30 items, what is shown first being preferred."""
    rng = np.random.default_rng(9)
    names, quality = ("atlas", "birch", "cedar", "delta"), (0.0, 0.2, 0.5, 0.9)
    own = rng.normal(0, 0.3, (12, 4))
    lines = ["system_a,system_b,winner,worker,item"]
    for place in range(300):
        worker, (first, second) = place % 12, rng.permutation(4)[:2]
        gap = quality[first] - quality[second] + own[worker, first] - own[worker, second]
        drawn = gap + 0.3 + rng.logistic()
        won = "A" if drawn > 0.4 else "B" if drawn < -0.4 else "tie"
        lines.append(f"{names[first]},{names[second]},{won},w{worker},i{rng.integers(30)}")
    return lines


def _judged_by_workers(folder: Path) -> None:
    """Three systems, 24 items rated by three of four workers and 60 judged alone, in twelve passages."""
    rng = np.random.default_rng(18)
    lines = ["item,passage,system,worker,human,judge"]
    for i in range(84):
        for place, system in enumerate("ABC"):
            quality = 0.2 * place + rng.normal(0, 0.5)
            score = 50 + 10 * quality + rng.normal(0, 3)
            if i >= 24:
                lines.append(f"i{i},p{i % 12},{system},,,{score:.1f}")
            for w in rng.permutation(4)[:3] if i < 24 else ():
                human = 3 + quality + 0.1 * (w - 1.5) + rng.normal(0, 0.4)
                lines.append(f"i{i},p{i % 12},{system},w{w},{human:.2f},{score:.1f}")
    _write(folder / "judged_by_workers.csv", lines)


def write_lengths(folder: Path) -> None:
    """Two ratings of 60 outputs with their lengths, and verdicts of pairs in both orders."""
    rng = np.random.default_rng(20)
    lines = ["item,system,worker,human,judge,words"]
    for i in range(30):
        for place, system in enumerate("AB"):
            words, quality = int(rng.integers(50, 200)), 3 + 0.3 * place + rng.normal(0, 0.6)
            score = quality + 0.004 * (words - 125) + rng.normal(0, 0.3)
            for w in (1, 2):
                lines.append(f"i{i},{system},w{w},{quality + rng.normal(0, 0.5):.2f},{score:.2f},{words}")
    _write(folder / "lengths.csv", lines)
    lines = [
        f"i{i},{place},{'AB'[int(side > 0)]}"
        for i, quality in enumerate(rng.normal(0.2, 1, 40))
        for place, shift in (("A", -0.4), ("B", 0.4))
        for side in [quality + shift + rng.normal(0, 0.3)]
    ]
    _write(folder / "verdicts.csv", ["item,position,preference", *lines])


def _graded(folder: Path) -> None:
    """Labels and a judge of pass and fail; and three judges with two runs each."""
    rng = np.random.default_rng(19)
    truth = (rng.random(300) < 0.4).astype(int)
    said = np.where(rng.random(300) < 0.85, truth, 1 - truth)
    word = ("fail", "pass")
    lines = [f"i{i},{word[int(truth[i])] if i < 60 else ''},{word[int(said[i])]}" for i in range(300)]
    _write(folder / "graded.csv", ["item,human,judge", *lines])
    quality = rng.normal(size=(120, 1)) + np.array([0.0, 0.5, 0.8]) * rng.normal(size=(120, 3))
    label = np.clip(np.rint(3 + quality[:, 0]), 1, 5)
    lines = [
        f"i{i},{label[i] if i < 40 else ''},{judge},{run},{50 + 10 * quality[i, place] + rng.normal(0, 3):.1f}"
        for i in range(120)
        for place, judge in enumerate("xyz")
        for run in (1, 2)
    ]
    _write(folder / "three_judges.csv", ["item,human,judge,run,score", *lines])


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("\n".join(lines) + "\n")


_RIGHT = {"a_labels": 0.8, "b_labels": 0.85}
_OBSERVED = ((1.0, 0.3), (2.5, 0.04), (4.0, 0.001), (0.2, 0.9), (3.1, 0.02), (5.0, 0.0001), (1.9, 0.08))


def command_words(line: str) -> list[str]:
    """A command line of COMMANDS as words."""
    return line.replace("{CLASSES}", _CLASSES).replace("{ANSWERS}", _ANSWERS).replace("{OWN}", OWN).split()


# Simulations of a second: no later command needs what they write.
SLOW = (
    "looks pool",
    "preference power panel",
    "runs size",
    "runs mde",
    "resample",
    "surface",
    "scenario mde",
    "judge plan",
    "mde many",
    "accuracy claims",
    "judge check",
    "analyze pool many",
    "agreement report compatible",
    "compare primer-table",
    "power many",
    "power many k",
)


def run_all(folder: Path, *, without: Container[str] = ()) -> dict[str, Any]:
    """Every command in turn in `folder`: its name to its JSON, or to what it printed if that is none."""
    from cli import run

    found: dict[str, Any] = {}
    with prepared(folder):
        for name, line in COMMANDS.items():
            if name not in without:
                words = command_words(line)
                takes_json = words[0] not in ("simulate", "release")
                result = run(*words, *(["--json"] if takes_json else []), code=None)
                found[name] = {"exit": result.exit_code, "record": _parsed(result.stdout)}
    return found


@contextlib.contextmanager
def prepared(folder: Path) -> Iterator[None]:
    """Within it, the lines can be run in `folder`, in turn, without settings of one's own."""
    write_inputs(folder)
    settings = mock.patch.dict(os.environ, {"XDG_CONFIG_HOME": str(folder / "settings")})
    # The bits of codes are drawn anew for each key: here they are the same, as a seed makes other draws.
    bits = mock.patch.object(blinding, "new_bits", return_value=bytes(range(16)))
    with contextlib.chdir(folder), settings, bits:
        yield


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return {"text": text}


# Kept by no snapshot: they change with the machine and the day, not with the numbers.
VOLATILE = {"versions", "command", "time", "created", "seconds", "sha256", "checksum"}
OTHER_MACHINES = 1e-5  # relative, what their rounding does to estimates that are iterated


def lasting(record: Any) -> Any:
    """A record without what changes with the machine and the day."""
    if isinstance(record, dict):
        return {key: lasting(value) for key, value in record.items() if key not in VOLATILE}
    return [lasting(value) for value in record] if isinstance(record, list) else record


def kept(old: Any, new: Any) -> Any:
    """The new record with the old numbers where they differ by rounding alone: other machines do that."""
    if isinstance(old, dict) and isinstance(new, dict):
        return {key: kept(old.get(key), value) for key, value in new.items()}
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [kept(one, other) for one, other in zip(old, new, strict=True)]
    return old if are_close(old, new) else new


def lines_of(value: Any, depth: int = 4) -> list[str]:
    """JSON in lines: a row of a table is one line, so a changed row is a changed line."""
    flat = json.dumps(value, ensure_ascii=False)
    if depth == 0 or len(flat) <= 100 or not isinstance(value, dict | list):
        return [flat]
    keys = (
        [f"{json.dumps(key, ensure_ascii=False)}: " for key in value]
        if isinstance(value, dict)
        else [""] * len(value)
    )
    parts = [lines_of(part, depth - 1) for part in (value.values() if isinstance(value, dict) else value)]
    inner = ",\n".join(key + "\n".join(part) for key, part in zip(keys, parts, strict=True))
    ends = "{}" if isinstance(value, dict) else "[]"
    return [ends[0], *(f" {line}" for line in inner.split("\n")), ends[1]]


def differences(old: Any, new: Any, path: str = "", *, rel_tol: float = OTHER_MACHINES) -> Iterator[str]:
    """Where two records differ: other names, other words, numbers apart by more than rounding."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted((set(old) | set(new)) - VOLATILE):
            if key not in new or key not in old:
                yield f"{path}.{key}: only {'before' if key in old else 'now'}"
            else:
                yield from differences(old[key], new[key], f"{path}.{key}", rel_tol=rel_tol)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from differences(one, other, f"{path}[{place}]", rel_tol=rel_tol)
    elif old != new and not are_close(old, new, rel_tol=rel_tol):
        yield f"{path}: {old!r} before, {new!r} now"


def are_close(old: Any, new: Any, *, rel_tol: float = OTHER_MACHINES) -> bool:
    """Whether two values are numbers that rounding can tell apart, and nothing else."""
    if not (_is_number(old) and _is_number(new)):
        return False
    return math.isclose(old, new, rel_tol=rel_tol, abs_tol=rel_tol / 1e4)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


if __name__ == "__main__":
    import sys
    import tempfile

    sys.path.insert(0, os.path.dirname(__file__))
    with tempfile.TemporaryDirectory() as place:
        records = run_all(Path(place))
    before = json.loads(GOLDEN.read_text())
    GOLDEN.write_text("\n".join([*lines_of(kept(before, lasting(records))), ""]))
