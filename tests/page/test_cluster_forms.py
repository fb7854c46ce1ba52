"""Clusters of items on the page: a column, or a file where what is read has no columns, and never one outside."""

import re

import numpy as np
import pytest

pytest.importorskip("starlette", reason="The page needs the extra [page].")
from in_process_parts import InProcess, brought, words_of
from starlette.testclient import TestClient

from humeval_power.asking.options import takes_column_or_file
from humeval_power.doors.page.app import make_app
from humeval_power.doors.page.requests import FORMS, CommandRequest, PageParts, file_names, offered
from humeval_power.doors.page.serving.chosen_folder import Folder
from humeval_power.doors.page.serving.security import Caps
from humeval_power.doors.page.serving.uploads import Uploads


def judged(rng: np.random.Generator) -> str:
    """A judge's scores of outputs of two systems in twelve passages; humans rated the first half of them."""
    rows = ["item,system,judge,human,passage"]
    for item in range(48):
        for effect, system in enumerate("AB"):
            value = rng.normal() + 0.4 * effect
            human = f"{value + rng.normal(0, 0.3):.3f}" if item % 2 else ""
            rows.append(f"i{item},{system},{value + rng.normal(0, 0.5):.3f},{human},p{item // 4}")
    return "\n".join(rows) + "\n"


def test_a_judge_is_estimated_by_clusters(client):
    file = brought(client, "judged.csv", judged(np.random.default_rng(2)))
    found = client.post("/job/judge/estimate", params={"table": file, "cluster": "passage"}).json()
    assert found["state"] == "done", found["problems"]
    text = words_of(found["html"])
    assert "--cluster passage" in text
    assert "passage" in text.replace("--cluster passage", "")


def test_answers_are_tested_by_clusters_of_a_file_and_of_a_column(client):
    rng = np.random.default_rng(4)
    right, a, b = rng.integers(0, 2, (3, 60))
    passages = [f"p{item // 5}" for item in range(60)]
    lines = {
        name: brought(client, f"{name}.txt", "\n".join(map(str, values)) + "\n")
        for name, values in {"a": a, "b": b, "gold": right, "passages": passages}.items()
    }
    query = [("files", lines["a"]), ("files", lines["b"]), ("gold", lines["gold"])]
    of_files = client.get("/run/accuracy/test", params=[*query, ("cluster", lines["passages"])]).text
    assert "--gold gold.txt --cluster passages.txt" in words_of(of_files)
    rows = "".join(f"{q},{x},{y},{p}\n" for q, x, y, p in zip(right, a, b, passages, strict=True))
    table = brought(client, "table.csv", "gold,A,B,passage\n" + rows)
    asked = {"files": table, "gold": "gold", "systems": "A,B", "cluster": "passage"}
    of_table = client.get("/run/accuracy/test", params=asked).text
    assert "--gold gold" in words_of(of_table)
    tested = [re.findall(r"p = [0-9.]+", words_of(page)) for page in (of_files, of_table)]
    assert tested[0] == tested[1] != []


def test_scores_are_compared_by_clusters_of_a_column(client):
    rng = np.random.default_rng(7)
    rows = [f"i{i},{rng.normal():.3f},{rng.normal() + 0.5:.3f},p{i // 4}" for i in range(60)]
    table = brought(client, "scores.csv", "item,A,B,passage\n" + "\n".join(rows) + "\n")
    asked = {"files": table, "question": "mean", "cluster": "passage", "simulations": "100"}
    alone = words_of(client.get("/compare/scores", params={**asked, "cluster": ""}).text)
    by_passages = words_of(client.get("/compare/scores", params=asked).text)
    assert "--cluster passage" in by_passages
    p_values = [re.findall(r"p = [0-9.]+", text)[:1] for text in (alone, by_passages)]
    assert p_values[0] != p_values[1] != []


def test_documents_are_swapped_as_a_whole(client):
    words = [
        "a",
        "the",
        "cat",
        "dog",
        "sat",
        "ran",
        "on",
        "mat",
        "grass",
        "here",
        "there",
        "often",
        "never",
    ]
    rng = np.random.default_rng(8)
    lines = [" ".join(rng.choice(words, 8)) for _ in range(24)]
    worse = [" ".join(rng.permutation(line.split())) for line in lines]
    texts = {"a": worse, "b": lines, "right": lines, "documents": [f"d{i // 4}" for i in range(24)]}
    files = {name: brought(client, f"{name}.txt", "\n".join(each) + "\n") for name, each in texts.items()}
    asked = {"system-a": files["a"], "system-b": files["b"], "reference": files["right"], "swaps": "200"}
    found = client.post("/job/corpus/test", params={**asked, "cluster": files["documents"]}).json()
    assert "--cluster documents.txt" in words_of(found["html"]), found["problems"]
    assert "document" in words_of(found["html"]).replace("documents.txt", "")


COLUMN_OR_FILE = {
    (command, name)
    for command in FORMS
    for name, option in offered(command).items()
    if takes_column_or_file(option)
}


@pytest.mark.parametrize("value", ["passage", "doc id", "v1.2"])
def test_a_name_of_a_column_is_no_file(value):
    for command, option in COLUMN_OR_FILE:
        assert not file_names(CommandRequest(command, ((option, value),)))


@pytest.mark.parametrize("value", ["/etc/passwd", "../secret.csv", ".hidden", "a\\b", "clusters.txt"])
def test_what_may_be_a_path_is_looked_up_in_the_folder_of_the_page(value, tmp_path):
    chosen = tmp_path / "chosen"
    chosen.mkdir()
    (tmp_path / "secret.csv").write_text("p1\n" * 4)
    for name in ("a.txt", "b.txt"):
        (chosen / name).write_text("1\n0\n1\n1\n")
    parts = PageParts(
        InProcess(), Uploads(tmp_path / "up", Caps()), tmp_path / "own", "form-token", Folder(chosen)
    )
    client = TestClient(make_app(parts))
    for command, option in COLUMN_OR_FILE:
        files = [("files", "a.txt"), ("files", "b.txt")]
        if command[0] == "contingency":
            files = [("gold", "b.txt"), ("system-a", "a.txt"), ("system-b", "b.txt")]
        if command == ("compare", "gate"):
            files = [("baseline", "a.txt"), ("candidate", "b.txt")]
        query = [(name, place) for name, place in files if name != option]
        page = words_of(client.get("/run/" + "/".join(command), params=[*query, (option, value)]).text)
        assert "in the folder of the page" in page or "within the folder of the page" in page, command


def test_every_option_that_may_be_a_file_is_known_as_one():
    for command in FORMS:
        for name, option in offered(command).items():
            both = {"FILE", "COLUMN"} <= set(re.split(r"\W+", option.metavar or ""))
            assert not both or (command, name) in COLUMN_OR_FILE, (command, name)
    assert {(("compare", "scores"), "cluster"), (("accuracy", "test"), "gold")} <= COLUMN_OR_FILE
