"""A file of scores without a header is never read as if its first scores were names."""

from __future__ import annotations

import pytest

from humeval_power.comparisons.scores.files import open_scores, score_table
from humeval_power.errors import InputError


def opened(tmp_path, text):
    path = tmp_path / "scores.tsv"
    path.write_text(text)
    return open_scores([str(path)])


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("sys1\tdoc1\t1\t0.5\nsys1\tdoc1\t2\t0.6\nsys2\tdoc1\t1\t0.7\n", "sys1, doc1, 0.5"),
        ("newstest\tA\t1\t3\nnewstest\tB\t1\t4\n", "newstest"),
        ("i1,0.25,0.5\ni2,0.5,0.75\n", "0.25, 0.5"),
    ],
)
def test_a_first_line_of_data_is_refused(tmp_path, text, named):
    with pytest.raises(InputError) as refused:
        opened(tmp_path, text)
    said = str(refused.value)
    assert f"looks like data and not like the names of columns: {named}" in said
    assert "Write names above the columns" in said


@pytest.mark.parametrize("header", ["item,1,2", "item,A,B", "item,system 1.5,x", "name,a,b"])
def test_names_that_are_whole_numbers_are_names(tmp_path, header):
    source = opened(tmp_path, f"{header}\ni1,1,2\ni2,2,1\ni3,1,1\n")
    assert score_table(source).n_items == 3


def test_labels_are_sent_to_accuracy(tmp_path):
    with pytest.raises(InputError, match="Predicted labels are compared by accuracy"):
        opened(tmp_path, "id,gold,A,B\n1,pos,neg,pos\n2,neg,neg,pos\n")
