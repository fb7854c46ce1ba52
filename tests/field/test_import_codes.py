"""Outputs that were shown by codes: where a code stands, and that it is no item and system yet."""

import pytest

from humeval_power.checking.exports.imported import imported
from humeval_power.errors import InputError
from humeval_power.files.exports.mapping_file import read_mapping
from humeval_power.files.exports.platforms import read_export

CODED = "who,slot,what,answer,took\np-1,w01,X3F9C,4,12.5\np-1,w01,K7LDM,2,8\n"
MAPPING = """schema = "humeval_power/mapping/1"
platform = "table"
ratings = "answer"
[columns]
worker = "who"
slot = "slot"
code = "what"
seconds = "took"
"""


def table_of(tmp_path, text, mapping):
    path, chosen = tmp_path / "coded.csv", tmp_path / "m.toml"
    path.write_text(text)
    chosen.write_text(mapping)
    used, platform = read_mapping(chosen)
    return imported([read_export(path, platform=platform)], used)


def test_a_code_stands_in_the_place_of_item_and_system(tmp_path):
    table = table_of(tmp_path, CODED, MAPPING)
    assert table.is_coded
    assert list(table.frame.columns) == ["worker", "code", "rating", "slot", "seconds"]
    assert table.frame["code"].tolist() == ["X3F9C", "K7LDM"]


def test_a_code_that_is_blank_is_refused(tmp_path):
    with pytest.raises(InputError, match="no code in 1 of the ratings: its cell is blank"):
        table_of(tmp_path, CODED.replace("K7LDM", ""), MAPPING)


def test_a_column_that_was_named_and_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match="there is no column 'slto'"):
        table_of(tmp_path, CODED, MAPPING.replace('slot = "slot"', 'slot = "slto"'))


def test_one_text_holds_slot_order_and_code(tmp_path):
    text = "who,task,answer\np-1,w01-003-X3F9C,4\np-1,w01-004-K7LDM,2\n"
    split = 'ratings = "answer"\n[columns]\nworker = "who"\n[split]\ntask = "{slot}-{order}-{code}"\n'
    mapping = f'schema = "humeval_power/mapping/1"\nplatform = "table"\n{split}'
    frame = table_of(tmp_path, text, mapping).frame
    assert frame[["slot", "order", "code"]].to_numpy().tolist() == [
        ["w01", "003", "X3F9C"],
        ["w01", "004", "K7LDM"],
    ]


def test_codes_in_the_names_of_columns_beside_slots_of_the_assignment(tmp_path):
    text = "who,mine,1_X3F9C,2_K7LDM\np-1,w01,4,2\n"
    mapping = 'schema = "humeval_power/mapping/1"\nplatform = "table"\nratings = "{slot}_{code}"\n'
    frame = table_of(tmp_path, text, mapping + '[columns]\nworker = "who"\nslot = "mine"\n').frame
    assert frame[["slot", "code", "rating"]].to_numpy().tolist() == [
        ["w01", "X3F9C", "4"],
        ["w01", "K7LDM", "2"],
    ]
