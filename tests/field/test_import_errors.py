"""Errors as ratings: the weights of MQM, and those of a study's own mapping."""

import itertools

import exports
import pytest
from click.testing import CliRunner

from humeval_power.checking.exports.mapping import ErrorWeights
from humeval_power.doors.terminal.main import main
from humeval_power.errors import InputError
from humeval_power.files.exports.mapping_file import read_mapping


def run(*args: object, code: int = 0) -> str:
    result = CliRunner().invoke(main, [str(arg) for arg in args])
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture
def annotated(tmp_path):
    path = tmp_path / "errors.tsv"
    path.write_text(exports.MQM)
    return path


@pytest.fixture
def mapping(annotated, tmp_path):
    path = tmp_path / "mapping.toml"
    run("import", annotated, "--draft", "-o", path)
    return path


def ratings_by(annotated, mapping) -> dict[tuple[str, ...], float]:
    rows = run("import", annotated, "--map", mapping, "--keep-ids", "-q", "--format", "csv").splitlines()[
        1:
    ]
    return {tuple(cells[:3]): float(cells[3]) for cells in (row.split(",") for row in rows)}


def test_the_draft_is_the_weights_that_it_was_read_by(annotated, mapping):
    found = ratings_by(annotated, mapping)
    assert found == {
        (worker, item, system): float(value) for worker, item, system, _, value in exports.MQM_RATINGS
    }


def test_weights_of_a_study_of_its_own_and_a_twin_of_them(annotated, mapping):
    text = mapping.read_text()
    mapping.write_text(text.replace('"* | major" = 5', '"Accuracy* | major" = 10\n"* | major" = 4'))
    found = ratings_by(annotated, mapping)

    def weight(category: str, severity: str) -> float:
        if category == "No-error" or severity == "Neutral":
            return 0
        if category.startswith("Non-translation"):
            return 25
        if severity == "Major":
            return 10 if category.startswith("Accuracy") else 4
        return 0.1 if category.startswith("Fluency/Punctuation") else 1

    twin: dict[tuple[str, ...], float] = {}
    for line in exports.MQM.splitlines()[1:]:
        system, doc, _, segment, rater, _, _, category, severity = line.split("\t")
        output = (rater, f"{doc}:{segment}", system)
        twin[output] = twin.get(output, 0) - weight(category, severity)
    assert found == pytest.approx(twin)
    assert "10" in run("import", annotated, "--map", mapping)


def test_errors_that_are_filtered_leave_the_sum_alone_and_are_counted(annotated, mapping):
    text = mapping.read_text().replace("[drop_rows]", '[drop_rows]\n"category" = ["Fluency/Grammar"]')
    mapping.write_text(text)
    assert ratings_by(annotated, mapping)["rater1", "d1:1", "sysA"] == pytest.approx(-5.1)
    assert "category is 'Fluency/Grammar': 1" in run("import", annotated, "--map", mapping)


def test_every_kind_of_error_without_a_weight_is_named_where_it_first_stands(annotated, mapping):
    annotated.write_text(exports.MQM.replace("Neutral", "Trivial").replace("\tMinor\n", "\tTiny\n"))
    told = run("import", annotated, "--map", mapping, code=2)
    assert all(words in told for words in ("row 3", "'Tiny'", "row 7", "'Trivial'"))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('category = "category"', 'category = "categry"', "no column 'categry'"),
        ('"* | major" = 5', '"major" = 5', "'major' is no kind of error"),
        ('"* | major" = 5', '"* | major" = "five"', "errors.weights"),
        ("missing = []", 'ratings = "rating"\nmissing = []', "one of both"),
        ('system = "system"', 'system = "systm"', "no column 'systm'"),
    ],
)
def test_a_mapping_of_errors_with_a_fault(annotated, mapping, old, new, words):
    text = mapping.read_text()
    assert old in text
    mapping.write_text(text.replace(old, new, 1))
    assert words in " ".join(run("import", annotated, "--map", mapping, code=2).split())


def test_the_first_key_that_fits_counts():
    keys = {"Accuracy* | Major": 3.0, "* | *": 1.0}
    for order in itertools.permutations(keys):
        errors = ErrorWeights(weights={key: keys[key] for key in order})
        first = keys[order[0]]
        assert errors.weight_of(" accuracy/omission", "MAJOR ") == first
    assert ErrorWeights(weights={"a | b": 1.0}).weight_of("a", "c") is None
    with pytest.raises(InputError, match="is no kind of error"):
        ErrorWeights(weights={"a | b | c": 1.0})


def test_ratings_and_errors_exclude_each_other(tmp_path):
    path = tmp_path / "mapping.toml"
    for text in ("", 'ratings = "score"\n[errors]\n'):
        path.write_text(f'schema = "humeval_power/mapping/1"\n{text}')
        with pytest.raises(InputError, match="one of both"):
            read_mapping(path)


def test_a_draft_that_nobody_filled_in_says_that_ratings_are_missing(tmp_path):
    (tmp_path / "own.csv").write_text("a,b,c\n1,2,3\n", encoding="utf-8")
    run("import", tmp_path / "own.csv", "--from", "table", "--draft", "-o", tmp_path / "m.toml")
    told = run("import", tmp_path / "own.csv", "--map", tmp_path / "m.toml", code=2)
    assert "(ratings = ...)" in told
    assert "it has neither" in " ".join(told.split())
