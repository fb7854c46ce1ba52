"""Tables of battles: what is read, and what is refused with its row."""

import json
from pathlib import Path

import pytest
from cli import run, run_json, text_of
from own_scripts import without_own_scripts

from humeval_power.comparisons.rank.files import read_battles
from humeval_power.errors import InputError


def write(folder: Path, *rows: str, head: str = "model_a,model_b,winner,user") -> Path:
    path = folder / "battles.csv"
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


CYCLE = ("x,y,model_a,u1", "y,z,model_a,u1", "z,x,model_a,u2", "y,x,model_b,u2", "x,z,tie (bothbad),u3")


def test_sides_ties_and_users_are_read(tmp_path: Path) -> None:
    found = read_battles(write(tmp_path, *CYCLE))
    assert found.systems == ("x", "y", "z")
    assert found.outcome.tolist() == [1, 1, 1, -1, 0]
    assert found.clusters is not None
    assert found.clusters.labels == ("u1", "u2", "u3")


def test_winners_by_name_are_the_same_as_by_side(tmp_path: Path) -> None:
    by_side = read_battles(write(tmp_path, *CYCLE))
    by_name = read_battles(write(tmp_path, "x,y,x,u1", "y,z,y,u1", "z,x,z,u2", "y,x,x,u2", "x,z,tie,u3"))
    assert by_name.outcome.tolist() == by_side.outcome.tolist()


def test_systems_that_are_called_like_sides_are_taken_by_name_or_refused(tmp_path: Path) -> None:
    # in row 2 the winner A is the system of the second column, and also the first side
    named = read_battles(write(tmp_path, "B,A,A,u1", "A,B,B,u2", "A,B,A,u2"))
    assert named.outcome.tolist() == [-1, -1, 1]
    assert "1 of 3 battles would have another winner" in named.notices[-1]
    with pytest.raises(InputError, match="name of a system and a side"):
        read_battles(write(tmp_path, "B,A,A,u1", "A,c,B,u2", "A,B,A,u2"))


def test_all_problems_are_told_at_once_with_their_rows(tmp_path: Path) -> None:
    path = write(tmp_path, *CYCLE, "x,x,model_a,u1", "x,,model_a,u1", "x,y,perhaps,u1", "x,y,model_a,")
    with pytest.raises(InputError) as caught:
        read_battles(path)
    said = [str(problem) for problem in caught.value.problems]
    for row, words in ((7, "meets itself"), (8, "blank"), (9, "'perhaps'"), (10, "the user is blank")):
        assert any(f"row {row}" in one and words in one for one in said), (row, said)


def test_systems_of_other_names_are_refused_and_near_ones_offered(tmp_path: Path) -> None:
    rows = [row.replace("x", "atlas").replace("y", "birch").replace("z", "cedar") for row in CYCLE]
    with pytest.raises(InputError, match="Did you mean 'atlas'"):
        read_battles(write(tmp_path, *rows), systems=("atlass", "birch"))


def test_a_system_in_two_spellings_is_refused_also_where_each_has_a_column(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'gpt' and 'GPT' in 'model_a' differ only by case"):
        read_battles(write(tmp_path, "GPT,x,A,u1", "x,gpt,A,u2", "x,gpt,B,u2", "GPT,x,B,u1"))
    assert read_battles(write(tmp_path, "GPT,x,A,u1", "x,GPT,A,u2")).systems == ("GPT", "x")


def test_parts_that_never_met_are_boards_of_their_own(tmp_path: Path) -> None:
    path = write(tmp_path, *CYCLE * 9, *("p,q,model_a,u1", "q,p,model_a,u3", "q,p,model_b,u2") * 20)
    record = run_json("rank", "battles", path)
    assert record["n_parts"] == 2
    assert [(one["system"], one["part"]) for one in record["systems"]][3:] == [("p", 1), ("q", 1)]
    assert all(one["rank_high"] <= 2 for one in record["systems"][3:])
    assert len(record["pairs"]) == 3 + 1
    assert "2 parts that never met, of 3 and 2" in text_of("rank", "battles", path)
    alone = run_json("rank", "battles", path, "--systems", "x,y,z", "--alpha", 0.025)
    for one, other in zip(record["systems"], alone["systems"], strict=False):
        assert (one["rank_low"], one["rank_high"]) == (other["rank_low"], other["rank_high"])


def test_a_system_that_always_wins_is_ranked_with_an_open_interval(tmp_path: Path) -> None:
    wins = [f"best,{'xyz'[k % 3]},model_a,v{k}" for k in range(12)]
    record = run_json("rank", "battles", write(tmp_path, *CYCLE * 5, *wins))
    best = record["systems"][0]
    assert (best["system"], best["high"]) == ("best", None)
    assert record["penalised"]
    assert record["newcomers"] == ["best"]
    text = run("rank", "battles", write(tmp_path, *CYCLE * 5, *wins)).stdout
    assert "above" in text
    rows = [*CYCLE, "best,x,tie,u1", "y,best,model_b,u2"]  # a tie is enough to bound it
    assert not run_json("rank", "battles", write(tmp_path, *rows))["penalised"]


def test_one_system_named_beforehand_has_its_own_pairs_alone(tmp_path: Path) -> None:
    record = run_json("rank", "battles", write(tmp_path, *CYCLE * 9), "--only-system", "y")
    assert len(record["pairs"]) == 2
    assert all("y" in (pair["better"], pair["worse"]) for pair in record["pairs"])
    assert "only:y" in record["signature"]
    run("rank", "battles", write(tmp_path, *CYCLE * 9), "--only-system", "w", code=2)


def test_ties_alone_and_one_battle_are_refused(tmp_path: Path) -> None:
    assert "tie" in run("rank", "battles", write(tmp_path, "x,y,tie,u1", "y,x,tie,u2"), code=2).stderr
    run("rank", "battles", write(tmp_path, "x,y,model_a,u1"), code=2)


def test_an_order_that_always_wins_is_refused(tmp_path: Path) -> None:
    rows = ["x,y,model_a,u1", "y,x,model_a,u2", "y,z,model_a,u1", "z,y,model_a,u2", "z,x,model_a,u3"]
    path = write(tmp_path, *rows)
    assert "--no-position-bias" in run("rank", "battles", path, code=2).stderr
    run("rank", "battles", path, "--no-position-bias")


def test_one_order_throughout_gives_no_effect_of_it(tmp_path: Path) -> None:
    rows = ["x,y,model_a,u1", "x,y,model_b,u2", "x,y,model_b,u3", "x,y,tie,u4"]
    record = run_json("rank", "battles", write(tmp_path, *rows))
    assert record["position_bias"] is None
    assert "both orders" in record["position_reason"]


def test_hostile_names_reach_no_terminal(tmp_path: Path) -> None:
    rows = [row.replace("x", "\x1b[31mred<script>") for row in CYCLE]
    path = write(tmp_path, *rows)
    assert "\x1b" not in run("rank", "battles", path).stdout
    page = without_own_scripts(run("rank", "battles", path, "--format", "html").stdout)
    assert "<script>" not in page.split("</style>")[-1]


def test_text_record_and_frame_say_the_same(tmp_path: Path) -> None:
    path = write(tmp_path, *CYCLE * 6)
    record = run_json("rank", "battles", path)
    text = run("rank", "battles", path).stdout
    csv = run("rank", "battles", path, "--format", "csv").stdout.splitlines()
    order = [each["system"] for each in record["systems"]]
    assert [line.split(",")[0] for line in csv[1:]] == order
    for each in record["systems"]:
        assert f"{each['value']:.4g}" in text
        assert sum(each["chances"]) == pytest.approx(1)
    assert record["signature"] in "".join(line.strip() for line in text.splitlines())
    assert record["independence"][0]["state"] == "accounted"


def test_clusters_of_items_leave_the_workers_to_be_told(tmp_path: Path) -> None:
    rows = [f"{row},i{place % 3}" for place, row in enumerate(CYCLE * 3)]
    found = read_battles(write(tmp_path, *rows, head="model_a,model_b,winner,user,item"), cluster="item")
    assert found.clusters is not None
    assert found.clusters.labels == ("i0", "i1", "i2")
    assert "'user'" in found.suspects[0]


def test_an_array_of_an_arena_is_read_as_lines_are(tmp_path: Path) -> None:
    rows = [
        dict(zip(("model_a", "model_b", "winner", "user"), row.split(","), strict=True)) for row in CYCLE
    ]
    path = tmp_path / "battles.json"
    path.write_text(json.dumps([{**row, "conversation_a": [{"role": "user"}], "turn": 1} for row in rows]))
    found, lines = read_battles(path), read_battles(write(tmp_path, *CYCLE))
    assert found.outcome.tolist() == lines.outcome.tolist()
    assert found.clusters is not None
    assert lines.clusters is not None
    assert found.clusters.labels == lines.clusters.labels
    assert "conversation_a" in found.notices[0]
    path.write_text('[{"model_a": "x"}, 3]')
    with pytest.raises(InputError, match="row 2"):
        read_battles(path)


def test_an_error_of_later_battles_names_their_file_and_row(tmp_path: Path) -> None:
    path, later = write(tmp_path, *CYCLE), tmp_path / "later.csv"
    later.write_text("model_a,model_b,winner,user\nx,y,model_a,u1\nx,y,perhaps,u1\nX,z,model_b,u2\n")
    with pytest.raises(InputError) as caught:
        read_battles(path, append=[later])
    said = [str(problem) for problem in caught.value.problems]
    assert any(one.startswith("later.csv, row 3, column 'winner'") for one in said), said
    assert any(
        f"first in row 2 of {path.name})" in one and "first in row 4 of later.csv)" in one for one in said
    ), said


def test_later_battles_are_appended(tmp_path: Path) -> None:
    path = write(tmp_path, *CYCLE)
    later = tmp_path / "later.csv"
    later.write_text("model_a,model_b,winner,user\nx,new,model_b,u9\nnew,y,model_a,u1\n")
    found = read_battles(path, append=[later])
    assert found.systems == ("new", "x", "y", "z")
    assert found.outcome.tolist() == [1, 1, 1, -1, 0, -1, 1]
    assert found.clusters is not None
    assert found.clusters.n_clusters == 4
    whole = write(tmp_path, *CYCLE, "x,new,model_b,u9", "new,y,model_a,u1")
    one = run_json("rank", "battles", whole, "--look", 2)["systems"]
    two = run_json("rank", "battles", write(tmp_path, *CYCLE), "--append", later, "--look", 2)["systems"]
    assert [each["system"] for each in two] == [each["system"] for each in one]
    assert [each["value"] for each in two] == pytest.approx([each["value"] for each in one], abs=1e-6)
