"""One study, four doors: typed as options, read from a file, from the record of an answer, and in Python."""

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from cases import every_case
from click.testing import CliRunner

import humeval_power as hp
from humeval_power.doors.terminal.main import main
from humeval_power.files.documents.reading import to_json
from humeval_power.study import FIELDS, option_of

Line = tuple[str, dict[str, Any], tuple[str, ...]]

SIZE = {"workers": 12, "items": 40, "ratings_per_item": 3}
HIGH = {"preset": ["high"], "effect": 0.1}
VALUES = {"sd_worker_slope": 0.05, "sd_item_slope": 0.1, "sd_residual": 0.2, "baseline": 0.6}
FORMULA = ("--method=analytic",)
DRAWN = ("--method=simulate", "--simulations=30")
MARGIN = {"preset": ["high"], "margin": 0.1, "alternative": "non-inferior"}
CATEGORIES = {
    "values": {"sd_worker_slope": 0.05, "sd_item_slope": 0.1},
    "shares": [0.1, 0.2, 0.3, 0.25, 0.15],
    "family": "ordinal",
    "effect_latent": 0.5,
}
EIGHT = {"preset": ["high"], "effect": 0.2, "n_systems": 8}
PRICES = {"cost_per_rating": 0.12, "cost_per_worker": 1.5, "fee": "prolific", "currency": "USD"}
RANGES = {"workers_range": "4:12:4", "items_range": [20, 40]}

POWER: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    (HIGH | SIZE, FORMULA),
    (HIGH | SIZE | {"alpha": 0.01}, FORMULA),
    (HIGH | SIZE | {"paired": False}, FORMULA),
    (HIGH | SIZE | {"paired": True, "estimator": "ml", "df": "satterthwaite"}, FORMULA),
    ({"preset": ["low"], "scale": "1:5", "effect_raw": 0.4} | SIZE, FORMULA),
    ({"preset": ["low"], "scale": "1:5", "effect_raw": -0.4, "lower_is_better": True} | SIZE, FORMULA),
    ({"values": VALUES, "effect": 0.1} | SIZE, FORMULA),
    (HIGH | SIZE | {"alternative": "greater"}, FORMULA),
    (MARGIN | SIZE, FORMULA),
    ({"preset": ["high"], "scale": "1:5", "margin_raw": 0.3, "alternative": "equivalent"} | SIZE, FORMULA),
    (HIGH | SIZE | {"documents": 8}, FORMULA),
    (HIGH | SIZE | {"items_per_document": 5}, FORMULA),
    (HIGH | SIZE | {"max_ratings_per_worker": 50}, FORMULA),
    (HIGH | SIZE | PRICES | {"budget": 500}, FORMULA),
    (HIGH | SIZE | {"pay_per_hour": 12, "seconds_per_rating": 30, "rejected": 0.05}, FORMULA),
    (HIGH | {"workers": 12, "items": 36, "design": "workers-nested"}, FORMULA),
    (EIGHT | SIZE, FORMULA),
    (EIGHT | SIZE | {"goal": "best", "correction": "bonferroni"}, FORMULA),
    ({"preset": ["high"], "system_means": [0.5, 0.5, 0.7]} | SIZE, DRAWN),
    (
        {"preset": ["high"], "effect": 0.2, "systems": ["a, b", "c", "d"], "baseline": "a, b"} | SIZE,
        FORMULA,
    ),
    (HIGH | SIZE | {"response": "likert", "points": 5}, DRAWN),
    (HIGH | SIZE | {"lost": 0.1, "quitting": 0.05, "careless": 0.1, "exclusion": "careless"}, DRAWN),
    (HIGH | SIZE | {"at_random": 0.1, "straight_lining": 0.05, "exclusion": "suspicious"}, DRAWN),
    (CATEGORIES | SIZE, DRAWN),
    (HIGH | SIZE | {"analysis": "differences"}, FORMULA),
]
LINES: list[Line] = [
    *(("power", said, own) for said, own in POWER),
    ("mde", {"preset": ["high"]} | SIZE, FORMULA),
    ("mde", {"preset": ["high"], "power": 0.9, "scale": "1:5"} | SIZE, FORMULA),
    ("mde", {"values": VALUES, "alpha": 0.1} | SIZE, FORMULA),
    ("mde", {"preset": ["high"], "paired": False} | SIZE, FORMULA),
    ("mde", {"preset": ["high"], "n_systems": 4} | SIZE, FORMULA),
    ("size", HIGH | {"items": 100, "ratings_per_item": 3}, ("--find=workers", *FORMULA)),
    ("size", {"preset": ["low"], "effect": 0.2, "workers": 20}, ("--find=items", *FORMULA)),
    ("size", {"values": VALUES, "effect": 0.1, "items": 100}, ("--find=workers", *FORMULA)),
    ("size", HIGH | {"workers": 40, "items": 200}, ("--find=ratings-per-item", *FORMULA)),
    ("size", HIGH | {"items": 100, "power": 0.5, "alternative": "greater"}, ("--find=workers", *FORMULA)),
    ("surface", {"preset": ["high"], "effect_range": [0.1, 0.2]} | RANGES, ("--simulations=20",)),
    ("surface", {"values": VALUES, "effect_range": "0.1:0.2:0.1"} | RANGES, ("--simulations=20",)),
    ("surface", {"preset": ["high", "low"], "effect_range": [0.1]} | RANGES, ("--simulations=20",)),
    (
        "surface",
        {"preset": ["high"], "scale": "1:5", "effect_raw_range": [0.4, 0.8]} | RANGES,
        ("--simulations=20",),
    ),
    (
        "surface",
        {"preset": ["high"], "effect_range": [0.2], "ratings_per_item": 3} | RANGES,
        ("--simulations=20",),
    ),
    (
        "plan",
        {"preset": ["high"], "effect": 0.2, "items_range": [40, 80], "cost_per_rating": 0.1},
        ("--simulations=50",),
    ),
    ("plan", {"preset": ["low"], "effect": 0.2, "items_range": "40:80:20"} | PRICES, ("--simulations=50",)),
    (
        "plan",
        {"values": VALUES, "effect": 0.1, "items_range": [100], "question": "Is B, the new one, better?"}
        | PRICES,
        ("--simulations=50",),
    ),
    (
        "plan",
        {"preset": ["high"], "effect": 0.2, "items_range": [80], "exclude_if": {"same-answer": 0.95}}
        | PRICES,
        ("--simulations=50",),
    ),
    (
        "plan",
        {"preset": ["high"], "effect": 0.25, "items_range": [80], "looks": [0.5, 1]} | PRICES,
        ("--simulations=50",),
    ),
    ("calibrate", {"preset": ["high"], "workers": 8, "items": 20}, ("--simulations=20",)),
    ("calibrate", {"values": VALUES, "workers": 8, "items": 20}, ("--simulations=20",)),
    ("calibrate", {"preset": ["low"], "workers": 8, "items": 20, "alpha": 0.1}, ("--simulations=20",)),
    (
        "calibrate",
        {"preset": ["high"], "workers": 8, "items": 20, "ratings_per_item": 2, "paired": False},
        ("--simulations=20",),
    ),
    (
        "calibrate",
        {"preset": ["high"], "workers": 8, "items": 20, "response": "likert", "points": 5},
        ("--simulations=20",),
    ),
    ("simulate", HIGH | SIZE, ()),
    ("simulate", HIGH | SIZE | {"scale": "1:5", "response": "likert", "points": 5}, ()),
    ("simulate", {"values": VALUES, "effect": 0.1} | SIZE, ()),
    ("simulate", HIGH | SIZE | {"lost": 0.1}, ()),
    ("simulate", {"preset": ["high"], "effect": 0.2, "n_systems": 4} | SIZE, ()),
]
# One of each kind of value runs always, from a formula; the others are slow.
FAST = (5, 19)
_NOT_COMPARED = {"command", "study", "made", "input_files", "inputs", "versions", "program", "commit"}


def _typed(value: Any) -> str:
    if isinstance(value, Mapping):
        return ",".join(f"{name}={one}" for name, one in value.items())
    if isinstance(value, list):
        return ",".join(f'"{one}"' if "," in str(one) else str(one) for one in value)
    return str(value)


def _options(said: Mapping[str, Any]) -> Iterator[str]:
    for name, value in said.items():
        kind = FIELDS[name].kind
        if isinstance(value, bool):
            yield f"--{kind.flag[0 if value else 1]}" if kind.flag and all(kind.flag) else option_of(name)
        elif kind.many:
            yield from (f"{option_of(name)}={one}" for one in value)
        else:
            yield f"{option_of(name)}={_typed(value)}"


def _compared(record: Any) -> Any:
    """A record without what was typed and when, in which doors differ."""
    if isinstance(record, Mapping):
        return {name: _compared(one) for name, one in record.items() if name not in _NOT_COMPARED}
    return [_compared(one) for one in record] if isinstance(record, list) else record


def _answer(words: Sequence[str]) -> Any:
    found = CliRunner().invoke(main, [*words, "--json", "--jobs=1"] if words[0] != "simulate" else words)
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    assert found.exit_code in (0, 3), found.output  # 3: the target is missed, which is an answer
    return json.loads(found.stdout) if words[0] != "simulate" else found.stdout


def _compare_doors(line: Line, folder: Path) -> None:
    command, said, own = line
    typed = _answer([command, *_options(said), *own])
    study = hp.Study(**said)
    path = folder / "study.toml"
    path.write_text(study.to_toml(), encoding="utf-8")
    assert hp.Study.read(str(path)) == study
    read = _answer([command, str(path), *own])
    assert _compared(read) == _compared(typed)
    if command == "simulate":
        return
    record = folder / "record.json"
    record.write_text(json.dumps(read), encoding="utf-8")
    assert _compared(_answer([command, f"--study={record}", *own])) == _compared(typed)
    how = {"n_" + "simulations" if name == "simulations" else name: value for name, value in _own(own)}
    called = getattr(hp, command)(study, **how)
    assert _compared(json.loads(to_json(called.record()))) == _compared(typed)


def _own(own: Sequence[str]) -> Iterator[tuple[str, Any]]:
    for word in own:
        name, _, value = word.removeprefix("--").partition("=")
        yield name.replace("-", "_"), int(value) if value.isdecimal() else value


@pytest.mark.long
@pytest.mark.slow
def test_every_door_gives_the_same_numbers(tmp_path: Path) -> None:
    with every_case() as cases:
        for place, line in enumerate(LINES):
            folder = tmp_path / str(place)
            folder.mkdir()
            with cases.case(f"{place} {line}"):
                _compare_doors(line, folder)


def test_a_study_typed_and_read_gives_the_same_numbers(tmp_path: Path) -> None:
    with every_case() as cases:
        for place in FAST:
            with cases.case(LINES[place]):
                _compare_doors(LINES[place], tmp_path)


def test_money_is_kept_to_the_last_digit(tmp_path: Path) -> None:
    exact = Decimal("0.12345678901234567891")
    study = hp.Study(cost_per_rating=exact, budget=Decimal("500.10"))
    path = tmp_path / "study.toml"
    path.write_text(study.to_toml(), encoding="utf-8")
    again = hp.Study.read(str(path))
    assert (again.cost_per_rating, again.budget) == (exact, Decimal("500.10"))
