"""The page of a HIT, in a browser, as a worker goes through it; Amazon's own elements are left out."""

import csv
import html
import io
import json
import re

import pytest

from humeval_power.studies.field.uploads import UPLOADERS
from tests.field.browser import dumped, needs_browser
from tests.field.form_cases import form_of
from tests.field.test_upload_files import as_shown

pytestmark = needs_browser

WORKER = """
const form = document.querySelector("crowd-form"), said = { shown: [], early: [] };
const next = document.getElementById("next");
let stopped = 0;
const submit = () => form.onsubmit({ preventDefault() { stopped += 1; } });
submit();
said.stopped = stopped;
const places = [...document.querySelectorAll("section")];
places.forEach((place, at) => {
  next.click();
  said.early.push(document.getElementById("missing").textContent);
  const visible = places.filter((one) => getComputedStyle(one).display !== "none");
  const source = place.querySelector(".source");
  said.shown.push({
    alone: visible.length === 1 && visible[0] === place,
    code: place.dataset.code, order: place.dataset.order, text: place.querySelector(".text").textContent,
    source: source && getComputedStyle(source).display !== "none" ? source.textContent : "",
    progress: document.getElementById("progress").textContent,
  });
  place.querySelectorAll("fieldset").forEach((field, question) => {
    const buttons = field.querySelectorAll("button");
    if (buttons.length) { buttons[0].click(); buttons[(at + question) % buttons.length].click(); return; }
    const slider = field.querySelector(".slider");
    slider.value = at + 10 * question;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  });
  said.last = getComputedStyle(document.getElementById("send")).display !== "none";
  if (at < places.length - 1) { next.click(); }
});
stopped = 0;
submit();
said.stoppedAtEnd = stopped;
said.given = Object.fromEntries([...form.querySelectorAll("input[name]")].map((one) => [one.name, one.value]));
"""


def worked(tmp_path, form, row):
    """What a worker saw and gave of one HIT, filled in as the platform does: names in ${} by the cells."""
    files = UPLOADERS["mturk"].write(form)
    hit = list(csv.DictReader(io.StringIO(files["hits.csv"])))[row]
    page = re.sub(r"\$\{(\w+)\}", lambda found: hit[found[1]], files["template.html"])
    page = re.sub(r'<script src="https://assets.crowd.aws.*?</script>', '<meta charset="utf-8">', page)
    script = (
        f'{WORKER}\nconst left = document.createElement("pre"); left.id = "said";'
        "left.textContent = JSON.stringify(said); document.body.appendChild(left);"
    )
    path = tmp_path / "hit.html"
    path.write_text(f"{page}<script>{script}</script>", encoding="utf-8")
    found = re.search(r'<pre id="said">(.*?)</pre>', dumped(path, tmp_path / "profile"), re.S)
    return json.loads(html.unescape(found[1])), hit


@pytest.mark.parametrize("scale", ["1:5", "0:100"])
@pytest.mark.parametrize("row", [0, 1])  # of 4 and of 3 outputs
def test_a_worker_sees_one_output_after_the_other_and_answers_all(tmp_path, scale, row):
    form = form_of(scale=scale, criteria=("a", "b"), slots=1, load=8, batches=2)
    said, hit = worked(tmp_path, form, row)
    wanted = [one for one in form.of_slot("w001") if one.batch == row + 1]
    assert len(wanted) == 4 - row
    assert said["stopped"] == 1  # nothing was answered yet
    assert said["stoppedAtEnd"] == 0
    assert said["last"]
    assert set(said["early"]) == {"Please answer first."}
    for at, (one, shown) in enumerate(zip(wanted, said["shown"], strict=True)):
        assert shown["alone"]
        assert (shown["code"], shown["order"]) == (one.code, str(one.order))
        assert shown["text"] == (as_shown(one.text) or "\xa0")
        assert shown["source"] == as_shown(one.source)
        assert shown["progress"] == f"{at + 1} / {len(wanted)}"
    names = {f"{name}_{place}" for name in ("q1", "q2", "seconds") for place in range(1, len(wanted) + 1)}
    assert set(said["given"]) == names
    for at in range(len(wanted)):
        answers = (said["given"][f"q1_{at + 1}"], said["given"][f"q2_{at + 1}"])
        points = (at, at + 10) if scale == "0:100" else (1 + at % 5, 1 + (at + 1) % 5)
        assert answers == tuple(map(str, points))
        assert re.fullmatch(r"\d+\.\d", said["given"][f"seconds_{at + 1}"])
    assert {hit[f"code_{place}"] for place in range(len(wanted) + 1, 5)} <= {"none"}
