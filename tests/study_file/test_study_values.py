"""A study is a value; a file of it is changed in place, and keeps what people wrote."""

from decimal import Decimal
from pathlib import Path

import pytest
from cases import every_case
from cli import run

import humeval_power as hp
from humeval_power.asking.study_file import updated, with_values
from humeval_power.errors import InputError
from humeval_power.files.documents.reading import to_json
from humeval_power.parameters import PRESETS

ALL_KINDS = {
    "question": 'Is "B"\tbetter, \\ or \u007f?',
    "exclude_if": {"failed-checks": 0.34},
    "scale": "1:5",
    "lower_is_better": True,
    "criteria": ["fluency, of all", "style"],
    "shares": [0.5, 0.5],
    "covariates": ["length"],
    "systems": ["a, b", "c"],
    "values": {"sd_residual": 0.2},
    "workers": 10,
    "workers_range": "3:9:3",
    "items_range": [20, 40],
    "looks": [0.5, 1],
    "cost_per_rating": Decimal("0.10"),
    "labels": {"1": "bad, very", "5": "good \U0001f600"},
    "upload": ["html"],
}


def test_a_study_written_and_read_again_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    with every_case() as cases:
        for name, value in ALL_KINDS.items():
            with cases.case(name):
                study = hp.Study(**{name: value})
                path.write_text(study.to_toml(), encoding="utf-8")
                again = hp.Study.read(str(path))
                assert (again, hash(again)) == (study, hash(study))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"alpha": 0.05}, {"alpha": Decimal("0.05")}),
        ({"budget": 500}, {"budget": Decimal("500.0")}),
        ({"systems": "a,b"}, {"systems": ["a", "b"]}),
        ({"values": {"sd_residual": 0.1, "effect": 0.2}}, {"values": {"effect": 0.2, "sd_residual": 0.1}}),
    ],
)
def test_studies_that_say_the_same_are_equal(one: dict[str, object], other: dict[str, object]) -> None:
    assert hp.Study(**one) == hp.Study(**other)
    assert hash(hp.Study(**one)) == hash(hp.Study(**other))


def test_parameters_are_values_of_a_study() -> None:
    parameters = hp.Parameters(
        baseline=0.6,
        effect=0.1,
        sd_worker_intercept=0.1,
        sd_worker_slope=0.05,
        sd_item_intercept=0.1,
        sd_item_slope=0.1,
        sd_residual=0.2,
    )
    size = {"workers": 12, "items": 40}
    listed = "baseline=.6,sd_worker_intercept=.1,sd_worker_slope=.05,sd_item_intercept=.1,sd_item_slope=.1"
    found = hp.power(hp.Study(values=parameters, **size), method="analytic")
    typed = hp.power(hp.Study(values=f"{listed},sd_residual=.2", effect=0.1, **size), method="analytic")
    assert (
        to_json(found.record()).partition('"command"')[0]
        == to_json(typed.record()).partition('"command"')[0]
    )
    # Its effect is what the study should find, unless another is said. All of it is kept, in the file too.
    held = {name: number for name, number in parameters.as_dict().items() if name != "coding"}
    assert hp.Study(values=parameters).values == held
    raw = hp.Study(values=parameters, effect_raw=0.4)
    assert (raw.effect, raw.effect_raw) == (None, 0.4)
    assert hp.Study(values=parameters).with_(effect_raw=0.4).effect is None


def test_a_published_setting_is_values_of_a_study() -> None:
    size = {"workers": 12, "items": 40, "effect": 0.1}
    found = hp.power(hp.Study(values=PRESETS["high"], **size), method="analytic")
    named = hp.power(hp.Study(preset="high", **size), method="analytic")
    # Another coding of the systems is the same model, so that powers differ by rounding alone.
    assert found.analytic.power == pytest.approx(named.analytic.power, rel=1e-9)


def test_errors_in_python_name_arguments() -> None:
    with pytest.raises(InputError) as caught:
        hp.Study(effect=0.1, effect_raw=1, workers="many", items=10**5000)
    message = str(caught.value)
    assert "--" not in message
    assert all(name in message for name in ("effect_raw", "workers", "items"))


WRITTEN = """# mine
schema = "humeval_power/study/1"
[design]   # size
items = 40   # forty
workers = [
  1, # a list
]  # of one
[cost]
budget = 5
"""


def test_a_file_keeps_remarks_order_and_line_ends() -> None:
    changed = with_values(WRITTEN, {"items": 40, "workers": 16, "plan": "plan", "ratings_per_item": 3})
    assert changed is not None
    kept = ["# mine", "[design]   # size", "items = 40   # forty", "workers = 16  # of one", "budget = 5"]
    assert [line for line in kept if line not in changed.split("\n")] == []
    assert 'plan = "plan"' in changed
    windows = with_values(WRITTEN.replace("\n", "\r\n"), {"workers": 16, "ratings_per_item": 3})
    assert windows is not None
    assert windows.count("\n") == windows.count("\r\n")


def test_a_file_that_cannot_be_changed_in_place_is_left() -> None:
    assert with_values("design.workers = 3\n[cost]\nbudget = 5\n", {"workers": 4, "items": 5}) is None


def test_a_file_that_changed_meanwhile_is_left_and_says_what_to_write(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(WRITTEN + "# more\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"was changed since it was read.*workers = 16"):
        updated(str(path), WRITTEN, {"workers": 16})
    assert updated(str(path), WRITTEN, {"items": 40}) is None  # it says that already


STUDY = """schema = "humeval_power/study/1"
[systems]
systems = ["old", "new"]
[variation]
preset = "high"
[effect]
effect = 0.2
[design]
workers = 10
items = 40
[cost]
cost_per_rating = 0.10
"""


def test_options_override_the_file_and_its_alternatives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    power = ("power", "--method=analytic")
    # pay without --seconds-per-rating: its alternative in the file is put aside
    words = ("study.toml", "--scale=1:5", "--effect-raw=0.8", "--pay-per-hour=9", "--preset=low")
    typed = " ".join(run(*power, *words, code=2).stderr.split())
    told = "Study: study.toml. Typed in its place: --preset, --effect-raw, --pay-per-hour."
    options = told.partition("place: ")[2].rstrip(".").split(", ")
    assert [option for option in options if option not in typed.partition("Error")[0]] == []
    unread = " ".join(run(*power, "--preset=low", code=2).stderr.split())
    assert "study.toml is not read, since --preset was typed; --study study.toml reads it." in unread
    run(*power)
    run(*power, "--no-study", code=2)
    for words in (("study.toml", "--no-study"), ("study.toml", "--study=study.toml"), ("study.toml",) * 2):
        run(*power, *words, code=2)


def test_sections_only_group_keys(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(
        'schema = "humeval_power/study/1"\nquestion = "Is the new one better?"\nitems = 150  # all that there are\n'
        '[ratings]\nscale = "1:5"\nworker = "annotator"\n[design]\nworkers = 25\npreset = "high"\n'
    )
    study = hp.Study.read(path)
    assert (study.question, study.items, study.worker) == ("Is the new one better?", 150, "annotator")
    assert study.preset == ("high",)
    text = path.read_text()
    assert with_values(text, {"items": 90, "workers": 12, "worker": "who"}) == (
        text.replace("items = 150", "items = 90")
        .replace("workers = 25", "workers = 12")
        .replace('"annotator"', '"who"')
    )
