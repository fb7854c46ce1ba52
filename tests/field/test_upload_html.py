"""The rating form: one page that works offline, keeps what was done, and gives back what the worker chose."""

import base64
import csv
import hashlib
import io
import json
import re

import pytest

from tests.cli import run
from tests.field.browser import downloads, driven, dumped, needs_browser
from tests.field.upload_cases import HOSTILE, coded, hostile_outputs, study_in

QUESTIONS = (
    "--rating-question",
    "adequacy=Is it <b>complete</b>?",
    "--rating-question",
    "-fluency=Is it fluent?",
)

# Rates everything: question q of the text at place n gets (n + q) % points; `most` screens at most.
RATE = """
const points = %(points)s, most = %(most)s;
let steps = 0, at = 0;
const worker = document.getElementById("worker");
if (!worker.readOnly) { worker.value = %(worker)s; worker.dispatchEvent(new Event("input")); }
const first = document.getElementById("start");
window.begun = first.textContent;
first.click();
while (steps++ < 1000) {
  const next = document.getElementById("next");
  if (next) {
    if (at++ >= most) break;
    const place = Number(/Text (\\d+) of/.exec(document.body.textContent)[1]);
    document.querySelectorAll("fieldset").forEach((field, question) => {
      const slider = field.querySelector("input[type=range]");
      const point = points[(place + question) %% points.length];
      if (slider) { slider.value = point; slider.dispatchEvent(new Event("input")); }
      else field.querySelector("input[value='" + point + "']").click();
    });
    next.click();
  } else if (document.getElementById("hand-in")) break;
  else document.querySelector("button.main").click();
}
const answers = document.getElementById("answers");
window.said = JSON.stringify({ begun: window.begun, csv: answers ? answers.value : null });
"""


def rate(page, profile, *, points=(1, 2, 3, 4, 5), worker="Ann", most=10_000, query=""):
    script = RATE % {"points": list(points), "most": most, "worker": json.dumps(worker)}
    return json.loads(driven(page, profile, script, query=query))


@pytest.fixture
def made(tmp_path):
    texts = hostile_outputs(tmp_path / "outputs.csv", source=True)

    def make(*words):
        run(
            *(
                "assign",
                "--workers",
                3,
                "--outputs",
                tmp_path / "outputs.csv",
                "--upload",
                "html",
                "--checks",
                0.1,
            ),
            *("--repeats", 0.1, "--batch-size", 10, "--seed", 3, "--key", tmp_path / "key.csv"),
            *("-o", tmp_path / "up", *words),
        )
        return tmp_path / "up" / "html"

    make.texts = texts
    return make


def test_the_page_holds_the_texts_as_they_are_and_no_markup_of_theirs(made):
    folder = made("--scale", "1:5", *QUESTIONS)
    page = (folder / "w01.html").read_text(encoding="utf-8")
    assert page.count("</script>") == 2
    assert "alert(1)</" not in page
    assert "\u202e" not in page
    assert "http://" not in page
    assert "https://" not in page
    shown = [one["text"] for one in study_in(folder / "w01.html")["shown"] if one["kind"] == "rating"]
    assert sorted(shown) == sorted(made.texts.values())


def test_the_policy_lets_the_pages_own_script_and_style_run_and_nothing_else(made):
    page = (made("--scale", "1:5") / "w01.html").read_text(encoding="utf-8")
    for name in ("script", "style"):
        inside = re.findall(f"<{name}>(.*?)</{name}>", page, re.DOTALL)
        assert len(inside) == 1
        digest = base64.b64encode(hashlib.sha256(inside[0].encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in page
    assert "default-src 'none'" in page


def test_a_changed_study_does_not_go_on_with_old_answers(made):
    one = study_in(made("--scale", "1:5") / "w01.html")["id"]
    other = study_in(made("--scale", "1:5", "--labels", "1=bad", "--force") / "w01.html")["id"]
    assert one != other


@needs_browser
def test_the_page_starts_under_its_own_policy(made, tmp_path):
    page = made("--scale", "1:5", "--title", "A <i>study</i>") / "w02.html"
    found = dumped(page, tmp_path / "profile", query="?PROLIFIC_PID=abc%22%3E%3Cb%3E")
    assert "Your name or number" in found
    assert "A &lt;i&gt;study&lt;/i&gt;" in found
    assert "<i>study" not in found
    assert "readonly" in found


@needs_browser
def test_what_a_worker_chooses_comes_back_through_import(made, tmp_path):
    folder = made("--scale", "1:5", *QUESTIONS)
    exports, wanted = [], []
    for slot, worker in (("w01", '=cmd, "A"'), ("w03", "Bob")):
        study = study_in(folder / f"{slot}.html")
        found = rate(folder / f"{slot}.html", tmp_path / "profile", worker=worker)
        rows = list(csv.DictReader(io.StringIO(found["csv"])))
        assert {row["slot"] for row in rows} == {slot}
        assert len(rows) == 2 * len(study["shown"])
        exports.append(tmp_path / f"answers-{slot}.csv")
        exports[-1].write_text(found["csv"], encoding="utf-8", newline="")
        wanted += [
            (worker, slot, str(one["order"]), one["kind"], one["code"], name, str((place + number) % 5 + 1))
            for place, one in enumerate(study["shown"], start=1)
            for number, name in enumerate(("adequacy", "-fluency"))
        ]
    rows = [line for path in exports for line in csv.reader(io.StringIO(path.read_text(encoding="utf-8")))]
    assert not any(cell[:1] in "=+@" and cell for row in rows for cell in row)
    table = coded(exports, folder / "mapping.toml")
    columns = ["worker", "slot", "order", "kind", "code", "criterion", "rating"]
    assert sorted(table[columns].itertuples(index=False, name=None)) == sorted(wanted)
    assert (table["seconds"].astype(float) >= 0).all()


@needs_browser
def test_work_is_taken_up_again_where_it_was_left(made, tmp_path):
    page = made("--scale", "1:5") / "w01.html"
    n_shown = len(study_in(page)["shown"])
    first = rate(page, tmp_path / "profile", most=13)
    assert (first["begun"], first["csv"]) == ("Start", None)
    other = rate(page, tmp_path / "profile", worker="Other", most=0)
    assert other["begun"] == "Start"
    second = rate(page, tmp_path / "profile", most=n_shown - 13)
    assert second["begun"] == "Continue"
    assert len(second["csv"].splitlines()) == n_shown + 1


@needs_browser
def test_a_slider_gives_whole_numbers_and_is_no_row_of_buttons(made, tmp_path):
    page = made("--scale", "0:100") / "w01.html"
    found = rate(page, tmp_path / "profile", points=(0, 37, 100), query="?worker=Zoe")
    rows = list(csv.DictReader(io.StringIO(found["csv"])))
    assert {row["worker"] for row in rows} == {"Zoe"}
    assert [row["rating"] for row in rows] == [str((0, 37, 100)[n % 3]) for n in range(1, len(rows) + 1)]
    study = study_in(page)
    rights = re.findall(r"please answer (\d+)\.", " ".join(one["text"] for one in study["shown"]))
    assert set(rights) <= {"0", "100"}
    assert rights


@needs_browser
def test_nothing_goes_on_without_an_answer_and_keys_choose(made, tmp_path):
    page = made("--scale", "1:5") / "w01.html"
    script = """
    document.getElementById("worker").value = "Key";
    document.getElementById("start").click();
    const seen = [];
    const press = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: key, bubbles: true }));
    const place = () => /Text (\\d+) of/.exec(document.body.textContent)[1];
    press("Enter"); seen.push(place(), document.querySelector("[role=alert]").textContent);
    press("9"); press("Enter"); seen.push(place());
    press("4"); press("Enter"); seen.push(place());
    document.getElementById("back").click();
    seen.push(place(), document.querySelector("input:checked").value);
    window.said = JSON.stringify(seen);
    """
    seen = json.loads(driven(page, tmp_path / "profile", script))
    assert seen == ["1", "Choose an answer first.", "1", "2", "1", "4"]


@needs_browser
def test_every_text_is_shown_as_text(made, tmp_path):
    page = made("--scale", "1:5") / "w01.html"
    script = """
    document.getElementById("worker").value = "Eye";
    document.getElementById("start").click();
    const seen = [];
    for (let step = 0; step < 200 && !document.getElementById("hand-in"); step += 1) {
      const text = document.querySelector("section.text .said");
      if (text) {
        seen.push(text.textContent);
        if (document.querySelector(".said b, .said script")) throw new Error("markup");
        document.querySelector("input[type=radio]").click();
      }
      document.querySelector("button.main").click();
    }
    window.said = JSON.stringify(seen);
    """
    seen = json.loads(driven(page, tmp_path / "profile", script))
    assert seen == [one["text"] for one in study_in(page)["shown"]]
    assert all(any(hostile in text for text in seen) for hostile in HOSTILE)


@needs_browser
def test_the_answers_come_as_a_file_under_the_pages_policy(made, tmp_path):
    page = made("--scale", "1:5") / "w01.html"
    script = RATE % {"points": [1, 2, 3, 4, 5], "most": 10_000, "worker": json.dumps("Ann / B.")}
    found = downloads(
        page, tmp_path / "profile", script + 'document.getElementById("hand-in").click();', tmp_path / "got"
    )
    assert len(found) == 1
    assert re.fullmatch(r"answers-w01-[a-z0-9]{1,6}\.csv", found[0].name)  # nobody's id in it
    rows = list(csv.DictReader(io.StringIO(found[0].read_text(encoding="utf-8"))))
    assert len(rows) == len(study_in(page)["shown"])
    assert {row["worker"] for row in rows} == {"Ann / B."}


# What a form kept of a worker before its file had a token of its own.
BEFORE = """
const about = JSON.parse(document.getElementById("study").textContent);
const answers = about.shown.map(() => ({ given: about.questions.map(() => null), seconds: 0 }));
const state = { worker: "Ann", at: 0, paused: false, handed: false, answers: answers };
localStorage.setItem("humeval-power " + about.id + " Ann", JSON.stringify(state));
(function () { %s })();
document.getElementById("hand-in").click();
"""


@needs_browser
def test_work_that_was_begun_before_files_had_tokens_is_handed_in_under_one(made, tmp_path):
    page = made("--scale", "1:5") / "w01.html"
    script = RATE % {"points": [1, 2, 3, 4, 5], "most": 10_000, "worker": json.dumps("Ann")}
    found = downloads(page, tmp_path / "profile", BEFORE % script, tmp_path / "got")
    assert len(found) == 1
    assert re.fullmatch(r"answers-w01-[a-z0-9]{1,6}\.csv", found[0].name)
