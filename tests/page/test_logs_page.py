"""The page of those who have logs: every program whose logs are read, and the questions that take them."""

import re

import pytest

pytest.importorskip("starlette", reason="The page needs the extra [page].")

from humeval_power.files.logs.reading import HARNESSES


def test_whoever_has_logs_finds_the_tool_and_a_question_that_takes_them(client):
    assert 'href="/logs"' in client.get("/all").text
    page = client.get("/logs").text
    assert re.findall(r'<th scope="row">(.*?)</th>', page) == [one.title for one in HARNESSES]
    assert "<code>samples_TASK_DATE.jsonl</code>, with <code>results_DATE.json</code> beside it" in page
    for path in re.search(r'<ul class="doors">.*?</ul>', page, re.DOTALL)[0].split('href="')[1:]:
        assert client.get(path.split('"')[0]).status_code == 200
