"""Scores as people bring them (invented): tables in several shapes, and a folder of logs."""

import json
from pathlib import Path
from random import Random

SYSTEMS = ("old", "new")


def _level(draw: Random) -> float:
    return draw.gauss(0.6, 0.1)


def with_seeds() -> str:
    """Under names of one's own: two metrics, three seeds, ten documents."""
    draw, lines = Random(2), ["segment,document,engine,seed,bleu,comet"]
    for item in range(60):
        level = _level(draw)
        for system in SYSTEMS:
            for seed in range(3):
                bleu = level + 0.02 * (system == "new") + draw.gauss(0, 0.03)
                comet = level + draw.gauss(0, 0.02)
                lines.append(f"s{item:02d},d{item // 6},{system},{seed},{bleu:.4f},{comet:.4f}")
    return "\n".join([*lines, ""])


def six_side_by_side() -> str:
    """A column for each of six systems."""
    names = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")
    draw, lines = Random(3), [",".join(("item", *names))]
    for item in range(80):
        level = draw.gauss(50, 8)
        lines.append(",".join([f"q{item}", *(f"{level + 3 * k + draw.gauss(0, 4):.2f}" for k in range(6))]))
    return "\n".join([*lines, ""])


def judged() -> str:
    """Values of people for a third of the outputs, a judge's scores for all."""
    draw, lines = Random(4), ["item,system,human,judge_a"]
    for item in range(120):
        for system in SYSTEMS:
            value = draw.gauss(3, 1)
            human = str(round(value)) if item < 40 else ""
            lines.append(f"q{item},{system},{human},{value + draw.gauss(0, 0.7):.2f}")
    return "\n".join([*lines, ""])


def numbers_alone(mean: float) -> str:
    """A number a line, without a header."""
    draw = Random(int(100 * mean))
    return "".join(f"{draw.gauss(mean, 0.1):.4f}\n" for _ in range(50))


def logs(folder: Path) -> Path:
    """What lm-evaluation-harness writes of two models, whose names are those of folders."""
    draw = Random(5)
    for model, right in (("acme__alpha", 0.8), ("acme__beta", 0.5)):
        place = folder / "runs" / model
        place.mkdir(parents=True)
        rows = [
            {
                "doc_id": number,
                "doc": {"question": f"Question {number}?"},
                "target": "0",
                "arguments": {"gen_args_0": {"arg_0": f"Question {number}?"}},
                "resps": [["0"]],
                "filtered_resps": ["0"],
                "filter": "none",
                "metrics": ["acc"],
                "doc_hash": f"{number:064d}",
                "prompt_hash": f"{number:064d}",
                "target_hash": f"{0:064d}",
                "acc": float(draw.random() < right),
            }
            for number in range(80)
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (place / "samples_quiz_2026-01-01T00-00-00.000000.jsonl").write_text(text)
    return folder / "runs"
