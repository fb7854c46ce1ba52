"""Every way through the six questions that differs in its commands, and files of each kind to go it with."""

import itertools
from pathlib import Path

import numpy as np
from places import ROOT

PLANNING = ("nothing", "pilot")
HUMAN_LIMITS = ("budget=500", "workers=12", "items=40", "nothing")


def paths() -> dict[str, list[str]]:
    """The words of `start`, by a name for each way; the files are those of `write_files`."""
    found: dict[str, list[str]] = {}

    def add(name: str, *words: str) -> None:
        found[name] = ["start", *words]

    files = {"points": "pilot.csv", "yes-no": "yes.csv", "preference": "choices.csv"}
    crews = itertools.cycle(("prolific", "mturk", "students", "experts", "unknown"))
    for kind, have, limit in itertools.product(files, PLANNING, HUMAN_LIMITS):
        file = ("--file", files[kind]) if have == "pilot" else ()
        add(
            f"{kind} {have} {limit}",
            "--judgement",
            kind,
            "--have",
            have,
            *file,
            "--limit",
            limit,
            "--raters",
            next(crews),
        )
    for kind, file_name in files.items():
        add(f"{kind} results", "--judgement", kind, "--have", "results", "--file", file_name)
        add(
            f"{kind} results that matter",
            "--judgement",
            kind,
            "--have",
            "results",
            "--file",
            file_name,
            "--difference",
            {"preference": "60", "yes-no": "8"}.get(kind, "0.3"),
        )
    for kind in ("points", "yes-no"):
        several = ("--judgement", kind, "--raters", "students", "--limit", "workers=8")
        add(f"{kind} nothing 3", *several, "--have", "nothing", "--n-systems", "3")
        add(
            f"{kind} nothing names",
            *several,
            "--have",
            "nothing",
            "--systems",
            "old,new one,<b>",
            "--baseline",
            "new one",
        )
        add(
            f"{kind} nothing 3 baseline",
            *several,
            "--have",
            "nothing",
            "--n-systems",
            "3",
            "--comparisons",
            "baseline",
        )
    add("points 8 nothing", "--have", "nothing", "--n-systems", "8", "--limit", "budget=2000")
    for have in ("pilot", "results"):
        for file_name in ("five.csv", "criteria.csv", "columns.csv"):
            add(f"{file_name} {have}", "--have", have, "--file", file_name)
            add(f"{file_name} {have} baseline", "--have", have, "--file", file_name, "--baseline", "base")
        add(f"yes3.csv {have}", "--judgement", "yes-no", "--have", have, "--file", "yes3.csv")
    sets = {
        "score": ("scores.csv",),
        "correct": ("a.csv", "b.csv", "gold.csv"),
        "corpus": ("a.txt", "b.txt", "reference.txt"),
    }
    for (kind, names), have, limit in itertools.product(sets.items(), PLANNING, ("items=60", "nothing")):
        file = [word for name in names for word in ("--file", name)] if have == "pilot" else []
        add(f"{kind} {have} {limit}", "--judgement", kind, "--have", have, *file, "--limit", limit)
    for kind, names in sets.items():
        file = [word for name in names for word in ("--file", name)]
        add(f"{kind} results", "--judgement", kind, "--have", "results", *file)
        add(
            f"{kind} results that matter",
            "--judgement",
            kind,
            "--have",
            "results",
            *file,
            "--difference",
            "0.05",
        )
    add("score nothing matters", "--judgement", "score", "--have", "nothing", "--difference", "0.02")
    add(
        "score nothing sd",
        "--judgement",
        "score",
        "--have",
        "nothing",
        "--difference",
        "0.02",
        "--sd-difference",
        "0.1",
    )
    for have in ("pilot", "results"):
        for file_name in ("eight.csv", "metrics.csv"):
            add(f"{file_name} {have}", "--judgement", "score", "--have", have, "--file", file_name)
    add(
        "eight.csv baseline",
        "--judgement",
        "score",
        "--have",
        "results",
        "--file",
        "eight.csv",
        "--baseline",
        "s3",
    )
    add(
        "correct accuracy",
        "--judgement",
        "correct",
        "--have",
        "nothing",
        "--accuracy",
        "93",
        "--difference",
        "1.5",
    )
    return found


def write_files(folder: Path) -> None:
    """A small file of each kind, drawn from a fixed seed."""
    rng = np.random.default_rng(5)
    (folder / "pilot.csv").write_bytes((ROOT / "data" / "pilot.csv").read_bytes())
    five = _ratings(rng, {"base": 0, "one": 0.3, "two": 0.5, "three": -0.2, "four": 0.1}, ("",))
    _write(folder / "five.csv", "worker,item,system,rating", [line[:3] + line[4:] for line in five])
    criteria = _ratings(rng, {"base": 0, "one": 0.4, "two": 0.6}, ("fluency", "adequacy"))
    _write(folder / "criteria.csv", "worker,item,system,criterion,rating", criteria)
    halves = [[line for line in criteria if line[3] == name] for name in ("fluency", "adequacy")]
    columns = [[*one[:3], one[4], other[4]] for one, other in zip(*halves, strict=True)]
    _write(folder / "columns.csv", "worker,item,system,fluency,adequacy", columns)
    for name, systems in (("yes.csv", ("A", "B")), ("yes3.csv", ("A", "B", "C"))):
        likes = dict(zip(systems, (0.4, 0.6, 0.5), strict=False))
        rows = [
            [f"w{w}", f"i{i}", system, str(int(rng.random() < share + 0.03 * (w - 4)))]
            for w in range(8)
            for i in range(24)
            for system, share in likes.items()
        ]
        _write(folder / name, "worker,item,system,rating", rows)
    choices = [
        [f"w{w}", f"i{i}", str(rng.choice(["A", "B", "tie"], p=[0.35, 0.5, 0.15]))]
        for w in range(8)
        for i in range(15)
    ]
    _write(folder / "choices.csv", "worker,item,preference", choices)
    scores = 0.5 + rng.normal(0, 0.1, (60, 1)) + rng.normal(0, 0.05, (60, 8)) + np.linspace(0, 0.05, 8)
    names = [f"s{place}" for place in range(8)]
    _write(
        folder / "eight.csv",
        ",".join(["item", *names]),
        [[f"i{row}", *(f"{x:.4f}" for x in line)] for row, line in enumerate(scores)],
    )
    _write(
        folder / "scores.csv",
        "item,A,B",
        [[f"i{row}", *(f"{x:.4f}" for x in line[:2])] for row, line in enumerate(scores)],
    )
    long = [
        [f"i{row}", name, f"{line[place]:.4f}", f"{line[place + 2]:.4f}"]
        for row, line in enumerate(scores)
        for place, name in enumerate("AB")
    ]
    _write(folder / "metrics.csv", "item,system,bleurt,comet", long)
    gold = rng.integers(0, 2, 200)
    for name, right in (("gold", 1.0), ("a", 0.8), ("b", 0.86)):
        label = np.where(rng.random(200) < right, gold, 1 - gold)
        _write(folder / f"{name}.csv", "id,label", [[f"q{i}", str(x)] for i, x in enumerate(label)])
    words = np.array(
        ["the", "a", "model", "reads", "writes", "good", "bad", "text", "of", "people", "quickly", "today"]
    )
    reference = rng.choice(words, (80, 9))
    for name, wrong in (("reference", 0.0), ("a", 0.4), ("b", 0.3)):
        text = np.where(rng.random(reference.shape) < wrong, rng.choice(words, reference.shape), reference)
        (folder / f"{name}.txt").write_text("\n".join(map(" ".join, text)) + "\n")


def _ratings(
    rng: np.random.Generator, systems: dict[str, float], criteria: tuple[str, ...]
) -> list[list[str]]:
    worker, item = rng.normal(0, 0.4, 6), rng.normal(0, 0.6, 15)
    return [
        [
            f"w{w}",
            f"i{i}",
            system,
            criterion,
            str(int(np.clip(round(3 + worker[w] + item[i] + shift + rng.normal(0, 0.7)), 1, 5))),
        ]
        for w in range(6)
        for i in range(15)
        for criterion in criteria
        for system, shift in systems.items()
    ]


def _write(path: Path, header: str, rows: list[list[str]]) -> None:
    path.write_text("\n".join([header, *(",".join(row) for row in rows)]) + "\n", encoding="utf-8")
