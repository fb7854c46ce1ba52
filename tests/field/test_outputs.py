"""Outputs to be rated come out of tables and folders as they are, and what is missing is told at once."""

import pandas as pd
import pytest
from cases import each_case

from humeval_power.errors import InputError
from humeval_power.studies.field.files import read_check_texts, read_outputs
from tests.field.upload_cases import hostile_outputs

WIDE = pd.DataFrame(
    {"item": ["007", "b"], "old": ["x", "two\nlines"], "new": ["y", "w"], "source": ["s", "t"]}
)
LONG = WIDE.melt(["item", "source"], var_name="system", value_name="text")
TEXTS = {("007", "old"): "x", ("b", "old"): "two\nlines", ("007", "new"): "y", ("b", "new"): "w"}


def written(frame, path):
    writers = {".csv": frame.to_csv, ".xlsx": frame.to_excel, ".parquet": frame.to_parquet}
    if path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        writers[path.suffix](path, index=False)
    return path


@each_case("ending", [".csv", ".jsonl", ".xlsx", ".parquet"])
@each_case("frame", [WIDE, LONG], ids=["wide", "long"])
def test_a_table(tmp_path, frame, ending):
    found = read_outputs(written(frame, tmp_path / f"outputs{ending}"))
    assert dict(found.texts) == TEXTS
    assert found.items == ("007", "b")
    assert found.systems == ("old", "new")
    assert dict(found.sources) == {"007": "s", "b": "t"}
    assert found.named


def test_a_folder_of_folders(tmp_path):
    for (item, system), text in TEXTS.items():
        (tmp_path / "all" / system).mkdir(parents=True, exist_ok=True)
        (tmp_path / "all" / system / f"{item}.txt").write_text(text)
    (tmp_path / "all" / "source").mkdir()
    (tmp_path / "all" / "source" / "b.txt").write_text("above")
    (tmp_path / "all" / ".DS_Store").write_text("")
    found = read_outputs(tmp_path / "all")
    assert dict(found.texts) == TEXTS
    assert dict(found.sources) == {"b": "above"}


def test_a_folder_of_files_with_a_line_for_each_item(tmp_path):
    (tmp_path / "sys.v1.txt").write_text("one\r\ntwo\r\n", newline="")
    (tmp_path / "other").write_text("eins\nzwei")
    (tmp_path / "source.txt").write_text("uno\ndue\n")
    found = read_outputs(tmp_path)
    assert found.systems == ("other", "sys.v1")
    assert [found.texts[item, "sys.v1"] for item in found.items] == ["one", "two"]
    assert list(found.sources.values()) == ["uno", "due"]
    assert not found.named


def test_files_of_different_lengths_are_refused(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "b.txt").write_text("one\n\ntwo\n")
    with pytest.raises(InputError, match="not the same number of lines: a 2, b 3"):
        read_outputs(tmp_path)


def test_all_that_is_wrong_with_a_table_is_told_at_once(tmp_path):
    rows = [
        ("a", "old", "x", "s"),
        ("a", "old", "z", "s"),
        ("a", "new", " ", "other"),
        ("", "old", "w", "t"),
    ]
    frame = pd.DataFrame(rows, columns=["item", "system", "text", "source"])
    with pytest.raises(InputError) as error:
        read_outputs(written(frame, tmp_path / "outputs.csv"))
    said = str(error.value)
    for part in (
        "row 3: item 'a' has a second output of 'old'",
        "row 4: item 'a' has another source",
        "row 5: the item is blank",
        "item 'a' has no output of 'new', or an empty one",
    ):
        assert part in said


def test_a_table_without_items_says_what_to_call_the_column(tmp_path):
    with pytest.raises(InputError, match="no column says which item a row is"):
        read_outputs(written(WIDE.rename(columns={"item": "x"}), tmp_path / "outputs.csv"))


def test_a_line_or_file_that_is_empty_is_a_missing_output(tmp_path):
    (tmp_path / "a.txt").write_text("one\n\n")
    (tmp_path / "b.txt").write_text("one\ntwo\n")
    with pytest.raises(InputError, match="item 'i02' has no output of 'a'"):
        read_outputs(tmp_path)


def test_hostile_texts_stay_as_they_are(tmp_path):
    texts = hostile_outputs(tmp_path / "outputs.csv")
    found = read_outputs(tmp_path / "outputs.csv")
    assert dict(found.texts) == texts


def test_attention_checks_are_read_and_wrong_ones_told_at_once(tmp_path):
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text("text,right,source\nChoose 2,2,\nChoose 4,4,Article\n")
    bad.write_text("text,right\n,2\nChoose four,four\n")
    assert [(one.text, one.right, one.source) for one in read_check_texts(good)] == [
        ("Choose 2", 2, ""),
        ("Choose 4", 4, "Article"),
    ]
    with pytest.raises(InputError) as error:
        read_check_texts(bad)
    assert "row 2: the text is blank" in str(error.value)
    assert "row 3" in str(error.value)
