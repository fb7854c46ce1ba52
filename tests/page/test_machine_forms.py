"""The forms of evaluations by machines: repeated runs, leaderboards, logs of harnesses."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette", reason="The page needs the extra [page].")
from in_process_parts import InProcess, brought, next_links, words_of
from starlette.testclient import TestClient

from humeval_power.doors.page.app import make_app
from humeval_power.doors.page.requests import PageParts
from humeval_power.doors.page.serving.chosen_folder import Folder
from humeval_power.doors.page.serving.security import Caps
from humeval_power.doors.page.serving.uploads import Uploads


def answered(client, command: str, **options: str) -> dict:
    found = client.post(f"/job/{command}", params=options).json()
    assert '<div class="document">' in found["html"], words_of(found["html"])
    assert found["problems"] == []
    return found


def generations(n_items: int = 24, n_runs: int = 3) -> str:
    """Scores of two systems, some answers an item, four items a passage."""
    rng = np.random.default_rng(5)
    rows = ["item,system,generation,score,passage"]
    for item in range(n_items):
        for effect, system in enumerate("AB"):
            level = rng.normal() + 0.5 * effect
            for run in range(n_runs):
                rows.append(f"i{item},{system},{run + 1},{level + rng.normal(0, 0.5):.3f},p{item // 4}")
    return "\n".join(rows) + "\n"


def test_generations_are_compared_and_their_table_looked_at(client):
    file = brought(client, "runs.csv", generations())
    found = answered(client, "runs/test", table=file, nested="1", cluster="passage")
    assert "--nested" in words_of(found["html"])
    assert "passage" in words_of(found["html"])
    looked = next_links(found)["runs/check"]
    assert looked == {"table": file, "cluster": "passage"}
    assert next_links(answered(client, "runs/check", **looked))["runs/test"] == looked


def test_battles_are_ranked(client):
    rng = np.random.default_rng(6)
    rows = ["model_a,model_b,winner,user"]
    for battle in range(240):
        a, b = rng.choice(4, 2, replace=False)
        wins = rng.random() < 1 / (1 + np.exp(0.5 * (b - a)))
        winner = "tie" if rng.random() < 0.2 else ("model_a" if wins else "model_b")
        rows.append(f"m{a},m{b},{winner},u{battle % 30}")
    table = brought(client, "battles.csv", "\n".join(rows) + "\n")
    found = answered(client, "rank/battles", table=table)
    assert found["html"].count("<figure") >= 1
    assert all(f"m{system}" in words_of(found["html"]) for system in range(4))


@pytest.fixture
def chosen(tmp_path):
    """A folder that the page is opened in, and its page."""
    folder = tmp_path / "chosen"
    folder.mkdir()
    parts = PageParts(
        InProcess(), Uploads(tmp_path / "up", Caps()), tmp_path / "own", "form-token", Folder(folder)
    )
    return folder, TestClient(make_app(parts), raise_server_exceptions=True)


def lm_eval(folder: Path, model: str, scores: str, *, folder_name: str) -> None:
    """What lm-evaluation-harness writes of a model: its samples, and the results that name it."""
    place = folder / folder_name
    place.mkdir(parents=True)
    stamp = "2026-03-01T10-00-00.123456"
    samples = [
        {"doc_id": item, "doc": {"passage": f"p{item // 2}"}, "target": "x", "filter": "none"}
        | {"resps": [["x"]], "filtered_resps": ["x"], "metrics": ["acc"], "doc_hash": str(item)}
        | {"prompt_hash": str(item), "target_hash": "t", "arguments": {}, "acc": float(score)}
        for item, score in enumerate(scores)
    ]
    lines = "\n".join(json.dumps(sample) for sample in samples)
    (place / f"samples_bridges_{stamp}.jsonl").write_text(lines + "\n")
    (place / f"results_{stamp}.json").write_text(json.dumps({"model_name": model, "results": {}}))


def test_a_folder_of_logs_is_named_in_the_folder_of_the_page(chosen):
    folder, client = chosen
    lm_eval(folder / "logs", "acme/base", "100101001010", folder_name="first")
    lm_eval(folder / "logs", "acme/tuned", "110111011011", folder_name="second")
    page = client.get("/run/compare/scores", params={"files": "logs", "question": "mean"}).text
    assert "acme/tuned" in words_of(page)
    assert "humeval-power compare scores logs --question mean" in words_of(page)
    found = answered(client, "import", exports="logs")
    assert next_links(found)["compare/scores"]["files"].startswith("scores.csv~")


def test_of_a_folder_of_logs_nothing_outside_is_read(chosen):
    folder, client = chosen
    lm_eval(folder.parent, "acme/secret", "1010", folder_name="outside")
    (folder / "logs").mkdir()
    (folder / "logs" / "link.jsonl").symlink_to(next((folder.parent / "outside").glob("*.jsonl")))
    (folder / "there").symlink_to(folder.parent / "outside")
    (folder / ".hidden").mkdir()
    for named in ("logs", "there", ".hidden", "../outside", str(folder.parent / "outside")):
        page = words_of(client.get("/run/import", params={"exports": named}).text)
        assert "folder of the page" in page or "Copy the file into it" in page, named
        assert "acme/secret" not in page


def test_a_folder_without_logs_is_told(chosen):
    folder, client = chosen
    (folder / "tables").mkdir()
    (folder / "tables" / "a.csv").write_text("a,b\n1,2\n")
    page = words_of(client.get("/run/check", params={"ratings": "tables"}).text)
    assert "holds no logs" in page


def rated(client) -> str:
    """Ratings of three systems by four workers, with the scores of a judge that is fond of C."""
    rng = np.random.default_rng(9)
    rows = ["item,worker,system,human,judge,passage"]
    for item in range(20):
        for effect, system in enumerate("ABC"):
            level = rng.normal() + 0.3 * effect
            judge = level + rng.normal(0, 0.4) + (system == "C")
            for worker in range(4):
                human = level + rng.normal(0, 0.4)
                rows.append(f"i{item},w{worker},{system},{human:.3f},{judge:.3f},p{item // 2}")
    return brought(client, "rated.csv", "\n".join(rows) + "\n")


def test_a_judge_is_held_against_people_and_its_own_family(client):
    file = rated(client)
    found = answered(client, "judge/agreement", table=file, cluster="passage")
    bias = next_links(found)["judge/bias"]
    assert bias == {"table": file, "cluster": "passage"}
    assert "--own C" in words_of(answered(client, "judge/bias", **bias, own="C")["html"])


@pytest.mark.slow
def test_labels_with_a_judge_are_planned(client):
    asked = {"preset": "low", "effect": "0.2", "max-extra": "500", "correlation": "0.7", "no-proof": "1"}
    found = answered(client, "judge/plan", **asked, **{"cost-per-rating": "0.1", "max-workers": "10"})
    assert "--cost-per-rating 0.1" in words_of(found["html"])


def test_scores_are_ranked_and_compared_in_pairs(client):
    rng = np.random.default_rng(10)
    rows = ["item,m1,m2,m3,passage"]
    for item in range(60):
        values = ",".join(f"{rng.normal(system / 3, 1):.3f}" for system in range(3))
        rows.append(f"i{item},{values},p{item // 3}")
    file = brought(client, "scores.csv", "\n".join(rows) + "\n")
    found = answered(client, "rank/scores", files=file, cluster="passage", systems="m1,m2,m3")
    assert "--cluster passage" in words_of(found["html"])
    assert found["html"].count("<figure") >= 1
    pairs = next_links(found)["compare/scores"]
    assert (pairs["files"], pairs["cluster"]) == (file, "passage")


@pytest.mark.parametrize(("kind", "counted"), [("nested", "runs"), ("crossed", "prompts")])
def test_runs_lead_to_the_power_and_the_budget_of_the_next_comparison(client, kind, counted):
    file = brought(client, "runs.csv", generations())
    onward = next_links(answered(client, "runs/test", table=file, family="gaussian", **{kind: "1"}))
    power, budget = onward["runs/power"], onward["runs/budget"]
    assert power["pilot"].startswith("record.json~")
    assert {"runs", "prompts"} & set(power) == {counted}
    assert power["n"] == "24"
    planned = client.get("/live/runs/power", params={**power, "effect": "0.3"}).json()
    assert planned["problems"] == []
    assert "Computed power" in words_of(planned["html"]) or "power" in words_of(planned["html"]).lower()
    split = answered(client, "runs/budget", **{**budget, "effect": "0.3"})
    best = next_links(split)["runs/power"]
    assert {"runs", "prompts"} & set(best) == {counted}
    assert client.get("/live/runs/power", params=best).json()["problems"] == []
