"""Clusters of items on the page: a column, or a file where what is read has no columns, and never one outside."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest

pytest.importorskip("starlette", reason="The page needs the extra [page].")
from in_process_parts import in_process_parts
from starlette.testclient import TestClient

from humeval_power.interfaces.page.app import make_app


@pytest.fixture
def client(tmp_path):
    return TestClient(make_app(in_process_parts(tmp_path)), raise_server_exceptions=True)


def brought(client, name: str, text: str) -> str:
    """The value of a file that was brought to the page."""
    return client.post("/upload", files={"file": (name, text.encode())}).json()["value"]


def said(page: str) -> str:
    """The words of a page, without its marks."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


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
    found = client.post("/job/judge/estimate", params={"file": file, "cluster": "passage"}).json()
    assert found["state"] == "done", found["problems"]
    text = said(found["html"])
    assert "--cluster passage" in text
    assert "passage" in text.replace("--cluster passage", "")
