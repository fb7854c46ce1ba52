"""The authors' own answers: every form uses them or refuses them, and a missing file is always an error."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from forms_documents import ANALYSIS

from humeval_power.doors.terminal.main import main

CONFIG = """[report]
payment = "12 USD an hour"
data_link = "https://example.org/ratings"
licence = "CC BY 4.0"
preregistration = false

[report.criteria.fluency]
definition = "How easily a text reads."
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "analysis.json").write_text(json.dumps(ANALYSIS))
    (tmp_path / "config.toml").write_text(CONFIG)
    return tmp_path


def report(folder: Path, form: str, config: str, *words: str) -> Result:
    given = ["--findings", str(folder / "analysis.json"), "--answers", str(folder / config)]
    return CliRunner().invoke(main, ["report", "--form", form, *given, *words])


def test_the_checklist_of_card_et_al_takes_the_answers(study: Path) -> None:
    found = report(study, "card2020", "config.toml", "--format", "markdown")
    assert found.exit_code == 0, found.stderr
    assert "**Pay**: 12 USD an hour." in found.stdout
    assert "https://example.org/ratings CC BY 4.0." in found.stdout
    assert "There was no preregistration." in found.stdout
    assert "How easily a text reads." in found.stdout


@pytest.mark.parametrize("form", ["card2020", "heds", "arr", "aspredicted", "osf", "paper", "parameters"])
def test_a_configuration_that_is_not_there_is_an_error_in_every_form(study: Path, form: str) -> None:
    found = report(study, form, "none.toml")
    assert found.exit_code == 2
    assert not found.stdout


def test_the_paragraphs_refuse_answers_that_they_would_not_use(study: Path) -> None:
    found = report(study, "paper", "config.toml")
    assert found.exit_code == 2
    assert "leave those out" in " ".join(found.stderr.split())


def test_a_wrong_answer_is_told_with_its_file(study: Path) -> None:
    (study / "config.toml").write_text("[report]\npayment = 12\n")
    told = " ".join(report(study, "card2020", "config.toml").stderr.split())
    assert "config.toml, line 2, field 'payment': value 12: must be text" in told


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("n_workers",), -7, "field 'n_workers': value -7: must be greater than or equal to 1."),
        (
            ("effect", "interval"),
            [5.0, -9.0],
            "field 'effect.interval': must run from its lower to its upper end",
        ),
        (("effect", "p_value"), 0.5, "does not follow from the estimate, its standard error and df"),
        (("effect", "significant"), None, None),
        (("effect", "raw", "estimate"), 3.0, "lies outside its own interval"),
        (("n_ratings",), 5, "field 'n_ratings': value 5: is not the number of rows analysed"),
        (
            ("power_at_interest", "fitted"),
            1.2,
            "field 'power_at_interest.fitted': value 1.2: must be less than",
        ),
        (("parameters", "effect"), 0.9, "is not the difference that the parameters have"),
        (
            ("agreement", "between", 0, "interval"),
            [0.9, 0.1],
            "field 'agreement.between.0.interval': must run",
        ),
    ],
)
def test_an_analysis_that_contradicts_itself_fills_no_form(
    study: Path, path: tuple[str | int, ...], value: object, said: str | None
) -> None:
    document = json.loads(json.dumps(ANALYSIS))
    part = document
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = value
    (study / "analysis.json").write_text(json.dumps(document))
    found = CliRunner().invoke(main, ["report", "--findings", str(study / "analysis.json")])
    assert found.exit_code == (0 if said is None else 2), found.stderr
    assert (said or "") in " ".join(found.stderr.split())


def test_a_decision_against_its_own_p_value_fills_no_form(study: Path) -> None:
    document = json.loads(json.dumps(ANALYSIS))
    document["effect"]["significant"] = not document["effect"]["significant"]
    (study / "analysis.json").write_text(json.dumps(document))
    found = CliRunner().invoke(main, ["report", "--findings", str(study / "analysis.json")])
    assert found.exit_code == 2
    assert "field 'effect.significant'" in " ".join(found.stderr.split())
    assert "contradicts the p-value" in " ".join(found.stderr.split())
