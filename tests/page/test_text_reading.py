"""How a table of texts is read: roles by names, what is chosen, and the copy that says it."""

import csv
import json

import pytest
from cases import each_case

pytest.importorskip("starlette", reason="The page needs the extra [page].")

from humeval_power.doors.page.workspace.reading import planned, texts_read
from humeval_power.errors import InputError
from humeval_power.files.tables import read_table
from humeval_power.studies.field.files import read_outputs

PAIR = ("old", "new")


def table(folder, header, *rows, name="texts.csv"):
    path = folder / name
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return str(path)


def written(found, folder):
    path = folder / "written.csv"
    path.write_text(found.written, encoding="utf-8")
    return read_outputs(path)


def test_a_prompt_stands_above_and_is_no_system(tmp_path):
    path = table(
        tmp_path, ("item", "prompt", "old", "new"), ("a", "Say x", "x", "X"), ("b", "Say y", "y", "Y")
    )
    with pytest.raises(InputError, match="'prompt', not in the assignment"):
        read_outputs(path).check(("a", "b"), PAIR)
    found = texts_read(path, PAIR)
    assert found.roles == {"item": "item", "prompt": "source", "old": "system:old", "new": "system:new"}
    assert not found.is_as_it_is
    assert found.said == "2 items, texts of old, new, with \u201cprompt\u201d above them"
    copy = written(texts_read(path, PAIR, found.roles), tmp_path)
    copy.check(("a", "b"), PAIR)
    assert copy.sources == {"a": "Say x", "b": "Say y"}
    assert copy.texts == {("a", "old"): "x", ("a", "new"): "X", ("b", "old"): "y", ("b", "new"): "Y"}
    assert texts_read(str(tmp_path / "written.csv"), PAIR).is_as_it_is


def test_columns_of_other_names_are_given_to_the_systems_of_the_study(tmp_path):
    path = table(tmp_path, ("id", "gpt, large", "bart", "notes"), ("a", "x", "X", "?"), ("b", "y", "Y", ""))
    found = texts_read(path, PAIR)
    assert found.problems == ("Which column holds the texts of old, new?",)
    said = {"id": "item", "gpt, large": "system:old", "bart": "system:new", "notes": ""}
    copy = written(texts_read(path, PAIR, said), tmp_path)
    copy.check(("a", "b"), PAIR)
    assert copy.texts["b", "old"] == "y"


def test_rows_without_names_of_items_are_numbered(tmp_path):
    path = table(tmp_path, ("old", "new"), ("x", "X"), ("y", "Y"))
    found = texts_read(path, PAIR, {"old": "system:old", "new": "system:new"})
    assert written(found, tmp_path).items == ("i01", "i02")


def test_one_text_a_row_keeps_its_rows(tmp_path):
    rows = [(item, system, f"{item} of {system}", "?") for item in "ab" for system in PAIR]
    path = table(tmp_path, ("item", "system", "output", "date"), *rows)
    found = texts_read(path, PAIR)
    assert found.is_as_it_is
    assert not found.problems
    said = {"item": "item", "system": "which", "output": "text", "date": ""}
    assert written(texts_read(path, PAIR, said), tmp_path).texts["b", "new"] == "b of new"


def test_a_study_that_has_not_named_its_systems_takes_the_columns(tmp_path):
    path = table(tmp_path, ("item", "A", "B", "article"), ("a", "x", "X", "long"))
    found = texts_read(path, ())
    assert found.roles == {"item": "item", "A": "system", "B": "system", "article": "source"}
    assert found.systems == ("A", "B")
    assert set(found.kinds) == {"", "item", "source", "system", "which", "text"}


@each_case(
    ("roles", "said"),
    [
        ({"item": "item", "old": "system:old"}, "Which column holds the texts of new?"),
        ({"item": "item", "old": "system:old", "new": "system:old"}, "cannot both be the texts of old"),
        ({"item": "item", "old": "source", "new": "source"}, "cannot both be what stands above"),
        ({"item": "item", "old": "which", "new": "system:new"}, "a column of texts for each system"),
        ({"old": "which", "new": "text"}, "Which column is the name of the item?"),
        ({"item": "item", "old": "which", "new": "text"}, "Which column holds the texts of old, new?"),
    ],
)
def test_choices_that_do_not_go_together_say_so_and_write_nothing(tmp_path, roles, said):
    found = texts_read(table(tmp_path, ("item", "old", "new"), ("a", "x", "X")), PAIR, roles)
    assert said in found.problems[0]
    assert found.written == ""
    assert "--" not in " ".join(found.problems)


def test_texts_that_are_missing_or_twice_are_all_named(tmp_path):
    path = table(tmp_path, ("item", "old", "new"), ("a", "x", ""), ("b", "", "Y"), ("b", "y", "Y"))
    problems = " ".join(texts_read(path, PAIR).problems)
    assert "item 'b' has a second output of 'old'" in problems
    assert "'a' has no output of 'new'" in problems


def test_a_thousand_systems_are_refused_and_hostile_names_stay_text(tmp_path):
    with pytest.raises(InputError, match="more than 60"):
        texts_read(table(tmp_path, ("item", *map(str, range(1000))), ("a", *"x" * 1000)), ())
    names = ("<script>", '=cmd|"x"')
    found = texts_read(table(tmp_path, ("item", *names), ("a", "x", "X")), names)
    assert found.systems == names
    again = texts_read(str(tmp_path / "texts.csv"), names, found.roles)
    (tmp_path / "as-read.csv").write_text(again.written)
    assert list(read_table(str(tmp_path / "as-read.csv")).frame) == ["item", *names]


def test_a_system_called_as_a_column_of_items_is_refused(tmp_path):
    path = table(tmp_path, ("name", "source", "b"), ("a", "x", "X"))
    found = texts_read(path, (), {"name": "item", "source": "system", "b": "system"})
    assert "cannot be called" in found.problems[0]


def test_the_systems_of_a_sealed_plan_are_read(tmp_path):
    assert planned(str(tmp_path)) == ((), 0)
    (tmp_path / "plan.json").write_text(json.dumps({"study": {"systems": ["x", "y"], "items": 150}}))
    assert planned(str(tmp_path)) == (("x", "y"), 150)
    for odd in ("[1]", '{"study": 1}', '{"study": {"systems": "xy", "items": "many"}}'):
        (tmp_path / "plan.json").write_text(odd)
        assert planned(str(tmp_path)) == ((), 0)


def test_what_is_written_is_what_the_reader_of_outputs_makes_of_it(tmp_path):
    """The slow twin: cell by cell, and the table of outputs as it is read from the file."""
    header = ("prompt", "new", "item", "old")
    rows = [(f"p{n}", f"n{n}\nline", f"i{n}", f'o{n}, "quoted"') for n in range(5)]
    found = texts_read(table(tmp_path, header, *rows), PAIR)
    made = written(texts_read(str(tmp_path / "texts.csv"), PAIR, found.roles), tmp_path)
    for prompt, new, item, old in rows:
        assert (made.sources[item], made.texts[item, "new"], made.texts[item, "old"]) == (prompt, new, old)


@pytest.mark.parametrize("name", ["Nr", "No.", "#", "ID", "Nummer", "index"])
def test_numbers_of_items_are_their_names(tmp_path, name):
    path = table(tmp_path, (name, "prompt", "old", "new"), ("1", "p", "x", "X"), ("2", "q", "y", "Y"))
    found = texts_read(path, ())
    assert (found.roles[name], found.systems) == ("item", PAIR)
    assert read_outputs(table(tmp_path, (name, "old", "new"), ("7", "x", "X"))).items == ("7",)
