"""Every numeric option of every command, found in the tree of commands, and an invocation to try it in."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
from every_command import write_lengths
from seven import seven

from humeval_power.asking.command_groups import in_terminal, without_group
from humeval_power.asking.options import ReadType
from humeval_power.designs import k_per_item
from humeval_power.doors.terminal.main import main
from humeval_power.scales import RatingScale
from humeval_power.simulation.study import simulate

EXTREME = (
    "", "nan", "inf", "-inf", "-0", "0", "-1", "1e-320", "1e-12", "1e12", "1000000000000", "-1000000000000",
    "1e308", "-1e308", "1e400", "99999999999999999999999999",
)  # fmt: skip
LISTS = (
    "nan",
    "inf",
    "0",
    "-1",
    "1e-320",
    "1e308",
    "1000000000000",
    "1:1000000000000",
    "0:1:1e-12",
    "1,,2",
    ",",
)
NUMERIC_METAVARS = {
    "LIST": LISTS,
    "K|LIST": LISTS,
    "LOW:HIGH": ("nan:1", "0:inf", "1:1", "5:1", "0:1e-320", "-1e308:1e308", "1:1e15"),
}
NOT_NUMBERS = {("resample", "--tests"), ("power", "--values")}
STUDY = "--preset high --workers 4 --items 8"
FEW = "--simulations 20 --jobs 1 --seed 3"
SCORES = f"--sd-difference 0.2 --alpha 0.05 {FEW}"
ERRORS = "--prevalence 0.2 --recall 0.7 --precision 0.65 --correctness-correlation 0.5"
RUNS = f"--nested --sd-item 0.3 --sd-run 0.4 --runs 2 {FEW}"

# What a command needs besides the option that is tried; FILE names stand for the files of `write_files`.
BASE: dict[str, str] = {
    "fit": "ratings.csv --scale 1:5",
    "start": "--have nothing",
    "check": "ratings.csv",
    "warm-up": "",
    "release": "ratings.csv --scale 1:5 -o bundle",
    "monitor": "ratings.csv --plan none.json",
    "power": f"{STUDY} {FEW} --effect 0.1",
    "mde": f"{STUDY} {FEW}",
    "size": f"--preset high --find items --workers 12 --effect 0.3 {FEW}",
    "surface": f"{STUDY} {FEW} --effect 0.1 -o surface --force",
    "plan": f"--preset high --effect 0.3 --items 20:40:20 --workers 3:6 --cost-per-rating 0.1 {FEW}",
    "looks accuracy": f"--n 200 --effect 0.05 --agreement 0.9 {FEW}",
    "looks pool": "--simulated 4 --simulations 20 --seed 3 --budgets 20,40 --at 20,40",
    "looks preference": f"--n 100 --effect 0.1 {FEW}",
    "looks scores": f"--n 100 --effect 2 {FEW}",
    "looks study": f"--preset high --workers 4 --items 20 --effect 0.2 {FEW}",
    "looks anytime": "fresh.csv --scale 1:5",
    "items": "outputs_scored.csv --n 10 --score chrf",
    "assign": "--workers 4 --items 8 --seed 3 -o assignment.csv --key key.csv --force",
    "simulate": f"{STUDY} --effect 0.1 --seed 3",
    "calibrate": f"{STUDY} {FEW}",
    "analyze": f"ratings.csv --scale 1:5 {FEW}",
    "compare scores": f"scores.csv --question mean {FEW}",
    "compare gate": "before.txt after.txt",
    "compare prospective": "--effect 0.02 --sd-difference 0.1",
    "compare primer": "--n 20 --helped 4 --hurt 2",
    "compare primer-table": "--n 20 --effect 0.1 --hurt-share 0.1",
    "compare power": f"--n 50 --effect 0.1 {SCORES}",
    "compare mde": f"--n 50 {SCORES}",
    "compare size": f"--effect 0.1 {SCORES}",
    "compare surface": f"--n 50 --effect 0.1 {SCORES} -o grid --force",
    "runs test": "runs.csv",
    "runs check": "runs.csv",
    "runs power": f"--n 50 --effect 0.1 {RUNS}",
    "runs mde": f"--n 50 {RUNS}",
    "runs size": f"--effect 0.1 {RUNS}",
    "runs surface": f"--n 50 --effect 0.1 {RUNS} -o grid --force",
    "runs budget": "--nested --sd-item 0.3 --sd-run 0.4 --effect 0.1 --budget 50 --cost-per-call 0.1",
    "accuracy bounds": "--n 147 --baseline-accuracy 0.9",
    "accuracy claims": "claims.csv",
    "accuracy leaderboard": "board.csv --n 8862",
    "accuracy overlap": "system_pairs.csv",
    "accuracy mde": f"--n 500 --agreement 0.9 {FEW}",
    "accuracy power": f"--n 500 --effect 0.02 --agreement 0.9 {FEW}",
    "accuracy size": f"--effect 0.02 --agreement 0.9 {FEW}",
    "accuracy surface": f"--n 500 --effect 0.02 --agreement 0.9 {FEW} -o grid --force",
    "accuracy test": "--only-b 16 --only-a 6 --n 161 --both 100",
    "preference mde": f"--n 100 {FEW}",
    "preference power": f"--n 100 --effect 0.1 {FEW}",
    "preference size": f"--effect 0.2 {FEW}",
    "preference surface": f"--n 100 --effect 0.1 {FEW} -o grid --force",
    "preference test": "--wins 10 --ties 3 --losses 5",
    "rank battles": "battles.csv",
    "rank mde": f"--n 100 --n-systems 3 {FEW}",
    "rank power": f"--n 100 --effect 0.1 --n-systems 3 {FEW}",
    "rank size": f"--effect 0.2 --n-systems 3 {FEW}",
    "rank surface": f"--n 100 --effect 0.1 --n-systems 3 {FEW} -o grid --force",
    "rank scores": "scores.csv",
    "corpus estimate": "--system-a a.txt --system-b b.txt --reference r.txt --subsets 20",
    "corpus mde": f"--n 200 {FEW}",
    "corpus power": f"--n 200 --effect 1 {FEW}",
    "corpus size": f"--effect 1 {FEW}",
    "corpus surface": f"--n 200 --effect 1 {FEW} -o grid --force",
    "corpus test": "--system-a a.txt --system-b b.txt --reference r.txt --swaps 50",
    "contingency mde": f"{ERRORS} --n 200 {FEW}",
    "contingency power": f"{ERRORS} --n 200 "
    f"--effect 0.05 {FEW}",
    "contingency size": f"{ERRORS} --effect 0.2 "
    f"{FEW} --highest 4000",
    "contingency surface": f"{ERRORS} --n 200 "
    f"--effect 0.05 {FEW} -o grid --force",
    "contingency test": "--gold gold.txt --system-a la.txt --system-b lb.txt --positive yes --swaps 50",
    "assessment test": "segments.csv",
    "assessment decompose": "segments.csv --resamples 50",
    "assessment mde": f"--n 100 {FEW}",
    "assessment observed-mde": "comparisons.csv --fewest-above 3",
    "assessment power": f"--n 100 --effect 5 {FEW}",
    "assessment size": f"--effect 8 {FEW}",
    "assessment surface": f"--n 100 --effect 5 {FEW} -o grid --force",
    "agreement report": "ratings.csv",
    "agreement plan": "--expected-agreement 0.5 --rater-counts 5 --output-counts 30 --half-width 0.2",
    "agreement study": "--preset low --workers 5 --items 50 --sd-systems 0.1",
    "judge check": "judged.csv",
    "judge estimate": "judged.csv",
    "judge agreement": "judged_by_workers.csv",
    "judge sample": "judged.csv --n 20",
    "judge length": "lengths.csv --length words",
    "judge position": "verdicts.csv",
    "judge bias": "judged_by_workers.csv --own A",
    "judge plan": "--preset low --effect 0.2 --max-extra 50 --correlation 0.5 --cost-per-rating 0.1 "
    "--max-workers 5 --max-ratings-per-item 1 --simulations 5 --seed 3",
    "judge mean": "--n 100 --extra 1000 --correlation 0.7",
    "judge study": f"{STUDY} --effect 0.1 --extra 100 --correlation 0.5",
    "resample": f"ratings.csv --scale 1:5 --shift 0.1 --tests item-means-t {FEW}",
    "page": "--host 0.0.0.0 --no-browser",  # refused, so that no value of an option opens one
    "mcp": "--folder no-such-folder",  # refused, so that no value of an option starts a server
    "survey": "papers.csv --preset high --if-no-workers 3",
    "scenario mde": f"--n 50 {FEW}",
    "scenario power": f"--n 50 --effect 0.2 {FEW}",
    "scenario size": f"--effect 0.5 {FEW}",
    "scenario surface": f"--n 50 --effect 0.2 {FEW} -o grid --force",
}  # fmt: skip


class Trial(NamedTuple):
    """A command with one option set to one extreme value."""

    command: str
    option: str
    value: str

    def words(self, root: Path) -> list[str]:
        """What is typed; `root` is the repository."""
        base = BASE[self.command].split()
        head = self.command.split()
        if head[0] == "scenario":
            head.insert(1, f"{root / 'examples' / 'own_scenario.py'}:make")
        if self.option in base:  # typed twice, the last one would hold; lists repeat
            at = base.index(self.option)
            del base[at : at + 2]
        return in_terminal([*head, *base, f"{self.option}={self.value}"])


def leaves(
    command: click.Command = main, path: tuple[str, ...] = ()
) -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, by its words without the group that it was folded into."""
    if not isinstance(command, click.Group):
        yield " ".join(without_group(path)), command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None
        yield from leaves(below, (*path, name))


TEXTS = (click.Choice, click.types.StringParamType, click.Path, ReadType)


def numeric_options(command: click.Command) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The options that take numbers, each with the values to try."""
    for option in command.params:
        if not isinstance(option, click.Option) or option.is_flag:
            continue
        name = next(word for word in option.opts if word.startswith("--"))
        if option.metavar in NUMERIC_METAVARS:
            yield name, NUMERIC_METAVARS[option.metavar]
        elif not isinstance(option.type, TEXTS):
            yield name, EXTREME


def trials() -> list[Trial]:
    """Every numeric option of every command with every extreme value."""
    return [
        Trial(words, name, value)
        for words, command in leaves()
        for name, values in numeric_options(command)
        if (words, name) not in NOT_NUMBERS
        for value in values
    ]


def write_files(folder: Path) -> None:
    """The files that the invocations read."""
    design = k_per_item(4, 12, ratings_per_item=2)
    drawn = simulate(seven(0.5, 0.1, 0.1, 0.1, 0.1, 0.1, 0.2), design, seed=5, response="likert", points=5)
    table = drawn.to_frame(RatingScale(1, 5, points=5))
    table["rating"] = table["rating"].astype(int)
    table.to_csv(folder / "ratings.csv", index=False)
    rng = np.random.default_rng(1)
    texts: dict[str, list[str]] = {name: [] for name in ("a", "b", "r")}
    words = "the cat sat on a mat and saw one old dog run far away from here".split()  # noqa: SIM905
    for _ in range(30):
        line = rng.choice(words, 9)
        texts["r"].append(" ".join(line))
        for name in ("a", "b"):
            texts[name].append(" ".join(np.where(rng.random(9) < 0.2, rng.choice(words, 9), line)))
    for name, lines in texts.items():
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
    gold = rng.choice(["yes", "no"], 60)
    for name, share in (("gold", 0.0), ("la", 0.2), ("lb", 0.3)):
        labels = np.where(rng.random(60) < share, rng.choice(["yes", "no"], 60), gold)
        (folder / f"{name}.txt").write_text("\n".join(labels) + "\n")
    fresh = [
        (f"w{w}", f"w{w}-{i}", s, (w + 3 * i + 2 * (s == "B")) % 5 + 1)
        for w in range(8)
        for i in (0, 1)
        for s in "AB"
    ]
    scored = [
        (f"s{place}", system, (7 * place + k) % 23) for place in range(30) for k, system in enumerate("AB")
    ]
    _table(folder / "outputs_scored.csv", "item,system,chrf", scored)
    write_lengths(folder)
    _table(folder / "fresh.csv", "worker,item,system,rating", fresh)
    scores = np.round(rng.normal(0.5, 0.1, (20, 2)), 3)
    _table(folder / "scores.csv", "item,A,B", [(i, *row) for i, row in enumerate(scores)])
    for name, column in zip(("before", "after"), scores.T, strict=True):
        (folder / f"{name}.txt").write_text("".join(f"{value}\n" for value in column))
    _table(
        folder / "claims.csv",
        "task,n,baseline,improvement",
        [("t", 1700 + i, 88 + i / 2, 0.5 + i % 3) for i in range(8)],
    )
    _table(
        folder / "board.csv",
        "system,date,accuracy",
        [(f"s{i}", f"2020-0{i + 1}-01", 90 + i) for i in range(5)],
    )
    _table(
        folder / "system_pairs.csv",
        "baseline,improvement,agreement",
        [(0.7 + 0.02 * i, 0.01 * (i % 3), 0.8 + 0.02 * i) for i in range(6)],
    )
    _table(
        folder / "runs.csv",
        "item,system,generation,score",
        [(i, s, g, round(rng.normal(0.5, 0.1), 3)) for i in range(12) for s in "AB" for g in range(2)],
    )
    _table(folder / "comparisons.csv", "difference,p", [(i / 5, 0.5 / (1 + i)) for i in range(12)])
    _table(
        folder / "segments.csv",
        "worker,item,system,rating",
        [(i % 4, i // 8, i // 4 % 2, round(rng.uniform(0, 100), 1)) for i in range(96)],
    )
    met = [(a, b, "AB"[i % 2] if i % 3 else "tie", i) for i in range(6) for a, b in ("pq", "qr", "rp")]
    _table(folder / "battles.csv", "system_a,system_b,winner,worker", met)
    judged = [
        (i, s, round(h, 2) if i < 25 else "", round(h + rng.normal(0, 0.2), 2))
        for i in range(40)
        for s, h in zip("AB", rng.normal(0.5, 0.2, 2), strict=True)
    ]
    _table(folder / "judged.csv", "item,system,human,judge", judged)
    by_workers = [
        (i, s, f"w{w}", round(q + rng.normal(0, 0.2), 2), round(q, 2))
        for i in range(15)
        for s, q in zip("AB", rng.normal(0.5, 0.3, 2), strict=True)
        for w in range(3)
    ]
    _table(folder / "judged_by_workers.csv", "item,system,worker,human,judge", by_workers)
    _table(
        folder / "papers.csv",
        "name,effect,low,high,items,workers,ratings_per_item,p",
        [(f"p{i}", 0.2 * i, 1, 5, 50 * i or 20, 3 + i, 1, 0.04) for i in range(6)],
    )


def _table(path: Path, header: str, rows: list[tuple[object, ...]]) -> None:
    lines = [header, *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
