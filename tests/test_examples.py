"""The worked examples run as a reader would run them, tell their story and save their picture."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
STORIES = {
    "two_system_likert": "The cheapest of 5,115 designs that finds 0.1 in 8 of 10 studies",
    "five_hundred_dollars": "500 USD: ",
    "five_experts": "on any number of items at most",
}


def run(name: str, *arguments: str, folder: Path) -> str:
    command = [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py"), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("name", STORIES)
def test_an_example_tells_its_story_and_saves_its_picture(name, tmp_path):
    story = run(name, str(tmp_path / "pictures"), folder=tmp_path)
    assert STORIES[name] in story
    assert [path.name for path in tmp_path.iterdir()] == ["pictures"]
    assert [path.name for path in (tmp_path / "pictures").iterdir()] == [f"{name}.png"]
    assert (tmp_path / "pictures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_without_a_folder_the_picture_goes_to_example_output(tmp_path):
    run("five_experts", folder=tmp_path)
    assert (tmp_path / "example-output" / "five_experts.png").is_file()


def test_no_plan_of_the_five_hundred_dollars_costs_more_than_its_money(tmp_path):
    story = run("five_hundred_dollars", str(tmp_path), folder=tmp_path)
    lines = re.findall(r"^(\d+) USD: .* ratings each, ([\d.]+) USD\.", story, re.MULTILINE)
    assert [int(money) for money, _ in lines] == [100, 200, 300, 400, 500]
    assert all(float(cost) <= float(money) for money, cost in lines)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_is_shorter_than_sixty_lines(path):
    assert len(path.read_text().splitlines()) < 60
