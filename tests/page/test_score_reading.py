"""How scores are read: what is recognised, what a link says of columns, and what stands on the page."""

import re

import pytest
import score_shapes

pytest.importorskip("starlette", reason="The page needs the extra [page].")

from humeval_power.doors.page.score_reading import (
    COMPARE,
    JUDGE,
    RANK,
    RUNS,
    link_of,
    score_columns,
    with_roles,
)


def columns(tmp_path, text: str, *more: str):
    paths = []
    for number, each in enumerate((text, *more)):
        path = tmp_path / f"{number}.csv"
        path.write_text(each)
        paths.append(str(path))
    return score_columns(paths)


LONG = "item,system,score\n" + "".join(
    f"i{i},{s},{(i * 7 + k) % 5}\n" for i in range(9) for k, s in enumerate("abc")
)


def test_seeds_documents_and_systems_under_names_of_ones_own_are_recognised(tmp_path):
    found = columns(tmp_path, score_shapes.with_seeds())
    expected = {
        "segment": "item",
        "engine": "system",
        "seed": "run",
        "bleu": "score",
        "document": "cluster",
    }
    assert found.compared == expected
    assert found.ask == RUNS
    assert found.sizes == {"segment": 60, "document": 10, "engine": 2, "seed": 3} | {
        name: found.sizes[name] for name in ("bleu", "comet")
    }


def test_a_column_of_words_beside_each_item_alone_is_no_system(tmp_path):
    lines = ["item,topic,score", *(f"i{i},t{i % 3},{i}" for i in range(30))]
    assert "system" not in columns(tmp_path, "\n".join(lines) + "\n").compared.values()


def test_what_is_brought_leads_to_what_it_is_for(tmp_path):
    assert columns(tmp_path, score_shapes.six_side_by_side()).ask == RANK
    assert columns(tmp_path, score_shapes.judged()).ask == JUDGE
    assert columns(tmp_path, LONG).ask == RANK
    assert (
        columns(tmp_path, "\n".join(line for line in LONG.split("\n") if ",c," not in line)).ask == COMPARE
    )
    assert score_columns([str(score_shapes.logs(tmp_path))]).ask == COMPARE
    two = columns(tmp_path, score_shapes.numbers_alone(0.5), score_shapes.numbers_alone(0.6))
    assert (two.ask, two.columns) == (COMPARE, ())


def test_what_is_chosen_for_columns_becomes_options_of_the_command():
    said = [
        ("files", "a.csv"),
        ("item", "old"),
        ("is", "item:q"),
        ("is", "system:m"),
        ("is", ""),
        ("is", "score:x:y"),
    ]
    command, options = with_roles(COMPARE, [*said, ("ticks", "3"), ("tick", "A"), ("tick", "B")])
    assert command == COMPARE
    assert options == [
        ("files", "a.csv"),
        ("item", "q"),
        ("system", "m"),
        ("score", "x:y"),
        ("systems", "A,B"),
    ]
    _, all_ticked = with_roles(COMPARE, [*said, ("ticks", "2"), ("tick", "A"), ("tick", "B")])
    assert ("systems", "A,B") not in all_ticked
    command, options = with_roles(
        COMPARE, [*said, ("question", "mean"), ("alpha", "0.01"), ("is", "run:seed")]
    )
    assert command == RUNS
    assert dict(options) == {
        "table": "a.csv",
        "alpha": "0.01",
        "item": "q",
        "system": "m",
        "score": "x:y",
        "run": "seed",
    }
    assert with_roles(RUNS, [("table", "a.csv"), ("is", "item:q")])[0] == COMPARE
    assert with_roles(COMPARE, [("is", "output:/etc/x")]) == (COMPARE, [])
    assert with_roles(("power",), [("is", "item:q")]) == (("power",), [("is", "item:q")])


def test_a_proposal_as_a_link_is_read_as_the_command_reads_it(tmp_path):
    found = columns(tmp_path, score_shapes.judged())
    assert (
        link_of(JUDGE, ["x"], found)
        == "/judge/check?table=x&item=item&system=system&human=human&judge=judge_a"
    )
    assert link_of(COMPARE, ["a", "b"], None).startswith("/compare/scores?files=a&files=b&question=mean")


def test_a_table_that_is_brought_opens_the_page_that_it_is_for(client):
    sent = {"file": ("runs.csv", score_shapes.with_seeds())}
    response = client.post("/upload?option=files&back=/scores", files=sent)
    assert response.url.path == "/runs/test"
    assert "60 items, 2 systems, 3 runs, 10 groups of items" in response.text
    assert "--run seed" in response.text  # the command below the answer reads the file in the same way
    assert 'id="field-item"' not in response.text  # what is chosen beside the answer is no field besides


BATTLES = "annotator,item,winner,model_a,model_b\n" + "".join(
    f"p{k % 4},q{k % 9},{('model_a', 'model_b', 'tie')[k % 7 % 3]},{'abc'[k % 3]},{'bca'[k % 3]}\n"
    for k in range(90)
)


@pytest.mark.parametrize("back", ["/scores", "/have"])
def test_who_won_of_two_opens_the_leaderboard_of_battles(client, back):
    option = "files" if back == "/scores" else "ratings"
    sent = {"file": ("battles.csv", BATTLES)}
    response = client.post(f"/upload?option={option}&back={back}", files=sent)
    assert response.url.path == "/rank/battles"
    answer = " ".join(re.sub(r"<[^>]*>", " ", response.text).split())
    assert "90 battles" in answer


def test_a_table_without_two_systems_is_said_to_be_so(client):
    sent = {"file": ("one.csv", "item,system,score\n1,a,2\n2,a,3\n")}
    response = client.post("/upload?option=files&back=/scores", files=sent)
    assert "two systems are needed" in response.text
    assert 'data-name="columns" open' in response.text


def test_a_leaderboard_of_means_is_refused_with_the_shape_that_is_needed(client):
    sent = {"file": ("board.csv", "model,bleu,comet\ngpt,31.2,0.8\nbart,28.4,0.79\nt5,27.9,0.78\n")}
    response = client.post("/upload?option=files&back=/scores", files=sent)
    assert "a row for each system is a leaderboard of means" in response.text
    assert "Bring the scores of each item that these are means of" in response.text
    assert "--item" not in response.text.partition("<pre")[0]


def test_a_link_to_assign_without_a_seed_gets_one_that_nobody_knows(client):
    seeds = {client.get("/assign").url.params["seed"] for _ in range(3)}
    assert len(seeds) == 3
    kept = client.get("/assign?workers=4&items=12&seed=7")
    assert kept.url.params["seed"] == "7"
    assert "--seed 7" in kept.text or 'value="7"' in kept.text


def test_names_of_columns_and_systems_stay_text(client):
    text = 'item,"<b>""sys\'",score\n' + "".join(
        f"i{i},<i>{s}&amp;,{i % 3}\n" for i in range(6) for s in "ab"
    )
    response = client.post("/upload?option=files&back=/scores", files={"file": ("<u>.csv", text)})
    for markup in ("<b>", "<i>", "<u>"):
        assert markup not in response.text
    assert "&lt;b&gt;" in response.text
    assert "&lt;i&gt;a&amp;amp;" in response.text


def test_a_thousand_systems_are_read_and_not_ticked(tmp_path):
    rows = [f"i{item},s{system},{(item * system) % 7}" for item in range(3) for system in range(1_000)]
    found = columns(tmp_path, "\n".join(["item,system,score", *rows, ""]))
    assert found.sizes["system"] == 1_000
    assert found.values["system"] == ()
    assert found.ask == RANK


def test_numbers_are_items_and_no_system_unless_they_count_the_rows(tmp_path):
    wide = "".join(f"{k},0.{k},0.{k + 1}\n" for k in range(1, 9))
    assert columns(tmp_path, f"Nr,old,new\n{wide}").compared == {
        "Nr": "item",
        "old": "systems",
        "new": "systems",
    }
    rows = [(i, s) for i in range(8) for s in ("old", "new")]
    long = "".join(f"{k},q{i},{s},0.{k}\n" for k, (i, s) in enumerate(rows, start=10))
    assert columns(tmp_path, f"Nr,prompt,system,score\n{long}").compared == {
        "prompt": "item",
        "system": "system",
        "score": "score",
    }
