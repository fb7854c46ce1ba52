"""What each platform takes, filled by a simulated crowd in the shape of its exports, comes back as it was given."""

import csv
import json
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from cases import few_fast

from tests.cli import run
from tests.field.crowd import rows_of
from tests.field.upload_cases import hostile_outputs, study_in

CRITERIA = ("adequacy", "fluency: good?")
QUESTIONS = (
    "--rating-question",
    f"{CRITERIA[0]}=Is it $all there?",
    "--rating-question",
    f'{CRITERIA[1]}=Is it "good" & <b>?',
)


@pytest.fixture
def made(tmp_path):
    """The folder of a platform for a scale, and the rows of its assignment."""
    hostile_outputs(tmp_path / "outputs.csv", source=True)

    def make(platform, *words):
        run(
            *(
                "assign",
                "--workers",
                3,
                "--outputs",
                tmp_path / "outputs.csv",
                "--upload",
                platform,
                "--checks",
                0.1,
            ),
            *("--repeats", 0.1, "--batch-size", 10, "--seed", 3, "--key", tmp_path / "key.csv"),
            *("-o", tmp_path / "up", *words),
        )
        return tmp_path / "up" / platform

    return make


class Crowd:
    """Workers who answer at random and remember what they said of what."""

    def __init__(self, points, n_questions):
        self.rng = np.random.default_rng(1)
        self.points, self.criteria = points, CRITERIA[:n_questions]
        self.given = set()

    def answers(self, worker, slot, order, code):
        found = [int(point) for point in self.rng.choice(self.points, len(self.criteria))]
        for criterion, answer in zip(self.criteria, found, strict=True):
            name = criterion if len(self.criteria) > 1 else ""
            self.given.add((worker, slot, int(order), code, name, answer))
        return found

    def check(self, exports, folder, *, n_shown):
        """Import the exports by the folder's mapping, the assignment and the key; the table."""
        assert len(self.given) == n_shown * len(self.criteria)
        place = folder.parent.parent
        files = ("--map", folder / "mapping.toml", "--assignment", folder.parent / "assignment.csv")
        run("import", *exports, *files, "--key", place / "key.csv", "--keep-ids", "-o", place / "back.csv")
        back, assigned, key = map(
            rows_of, (place / "back.csv", folder.parent / "assignment.csv", place / "key.csv")
        )
        stands_for = {row["code"]: (row["item"], row["system"]) for row in key}
        kinds = {(row["worker_slot"], row["order"]): (row["kind"], row["right"]) for row in assigned}
        found = set()
        for row in back:
            kind, right = kinds[row["slot"], row["order"]]
            assert row["kind"] == kind
            assert (row["item"], row["system"]) == stands_for.get(row["code"], ("", ""))
            assert row["passed"] == (str(int(float(row["rating"]) == float(right))) if right else "")
            worker, slot, order, code = (row[name] for name in ("worker", "slot", "order", "code"))
            found.add((worker, slot, int(order), code, row.get("criterion", ""), int(float(row["rating"]))))
        assert len(back) == len(found)
        assert found == self.given
        return back


SCALES = {"1:5": range(1, 6), "-2:2": range(-2, 3), "0:10": range(11)}
CASES = [(scale, words) for scale in SCALES for words in ((), QUESTIONS)]


def label_studio_exports(folder, crowd, kind):
    """The JSON export of each project: what annotator 7 or 8 chose, and an annotation that was cancelled."""
    config = ElementTree.parse(folder / "config.xml").getroot()
    controls = [one for one in config if one.tag in ("Choices", "Number")]
    exports, n_shown = [], 0
    for who, path in enumerate(sorted((folder / "tasks").glob("*.json")), start=7):
        tasks = json.loads(path.read_text(encoding="utf-8"))
        exported = []
        for number, task in enumerate(tasks, start=1):
            data = task["data"]
            found = crowd.answers(str(who), data["slot"], data["order"], data["code"])
            n_shown += 1
            result = [
                {"from_name": one.get("name"), "to_name": "text", "type": kind, "value": value(one, answer)}
                for one, answer in zip(controls, found, strict=True)
            ]
            annotations = [
                {
                    "id": 100 + number,
                    "completed_by": who,
                    "was_cancelled": False,
                    "lead_time": 3.5,
                    "result": result,
                }
            ]
            if number == 1:
                annotations.append({"id": 1, "completed_by": 99, "was_cancelled": True, "result": []})
            exported.append({"id": number, "data": data, "annotations": annotations})
        exports.append(folder.parent.parent / f"{path.stem}.json")
        exports[-1].write_text(json.dumps(exported), encoding="utf-8")
    return exports, n_shown


def value(control, answer):
    """What Label Studio keeps of an answer: the alias of the choice, or the number."""
    if control.tag == "Number":
        assert int(control.get("min")) <= answer <= int(control.get("max"))
        return {"number": answer}
    return {"choices": [one.get("alias") for one in control if one.get("alias") == str(answer)]}


@few_fast(("scale", "words"), CASES, fast=2)
def test_label_studio(made, scale, words):
    folder = made("label-studio", f"--scale={scale}", *words)
    crowd = Crowd(SCALES[scale], 2 if words else 1)
    exports, n_shown = label_studio_exports(folder, crowd, "choices")
    back = crowd.check(exports, folder, n_shown=n_shown)
    assert {float(row["seconds"]) for row in back} == {3.5}


def test_label_studio_with_a_slider(made):
    folder = made("label-studio", "--scale", "0:100", *QUESTIONS)
    crowd = Crowd(range(101), 2)
    exports, n_shown = label_studio_exports(folder, crowd, "number")
    crowd.check(exports, folder, n_shown=n_shown)


@few_fast(("scale", "words"), [*CASES, ("0:100", QUESTIONS)], fast=3)
def test_html(made, tmp_path, scale, words):
    folder = made("html", f"--scale={scale}", *words)
    crowd = Crowd(SCALES.get(scale, range(101)), 2 if words else 1)
    exports, n_shown = [], 0
    for path in sorted(folder.glob("*.html")):
        study = study_in(path)
        rows = [["worker", "slot", "batch", "order", "code", "kind", "criterion", "rating", "seconds"]]
        for one in study["shown"]:
            found = crowd.answers("Ann, " + path.stem, study["slot"], one["order"], one["code"])
            n_shown += 1
            rows += [
                [
                    "Ann, " + path.stem,
                    study["slot"],
                    one["batch"],
                    one["order"],
                    one["code"],
                    one["kind"],
                    name,
                    answer,
                    2.5,
                ]
                for name, answer in zip([q["criterion"] for q in study["questions"]], found, strict=True)
            ]
        exports.append(tmp_path / f"answers-{path.stem}.csv")
        with exports[-1].open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)
    crowd.check(exports, folder, n_shown=n_shown)


@few_fast("shape", ["pairs", "nested"], fast=1)
@pytest.mark.parametrize(("scale", "words"), CASES)
def test_potato(made, tmp_path, scale, words, shape):
    folder = made("potato", f"--scale={scale}", *words)
    crowd = Crowd(SCALES[scale], 2 if words else 1)
    n_shown = 0
    for path in sorted((folder / "data").glob("*.jsonl")):
        user = f"user {path.stem}"
        labels = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            name = json.loads(line)["id"]
            slot, order, code = name.split("-")
            found = crowd.answers(user, slot, order, code)
            n_shown += 1
            pairs = {f"q{number}": str(answer) for number, answer in enumerate(found, start=1)}
            labels[name] = (
                [[{"schema": schema, "name": answer}, answer] for schema, answer in pairs.items()]
                if shape == "pairs"
                else {schema: {answer: "true"} for schema, answer in pairs.items()}
            )
        state = tmp_path / "annotation_output" / user / "user_state.json"
        state.parent.mkdir(parents=True)
        state.write_text(json.dumps({"user_id": user, "instance_id_to_label_to_value": labels}))
    crowd.check([tmp_path / "annotation_output"], folder, n_shown=n_shown)


@pytest.mark.parametrize("scale", ["1:5", "-2:2"])
def test_the_table_of_potato(made, tmp_path, scale):
    folder = made("potato", f"--scale={scale}", *QUESTIONS)
    crowd = Crowd(SCALES[scale], 2)
    rows, columns = [], []
    for path in sorted((folder / "data").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            name = json.loads(line)["id"]
            found = crowd.answers(f"user {path.stem}", *name.split("-"))
            marks = {f"q{number}.{answer}": answer for number, answer in enumerate(found, start=1)}
            columns += [one for one in marks if one not in columns]  # in the order of their first use
            rows.append({"instance_id": name, "user_id": f"user {path.stem}", **marks})
    with (tmp_path / "annotations.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, ("instance_id", "user_id", *columns), restval="")
        table.writeheader()
        table.writerows(rows)
    crowd.check([tmp_path / "annotations.csv"], folder, n_shown=len(rows))


@few_fast(("scale", "words"), CASES, fast=2)
def test_argilla(made, tmp_path, scale, words):
    folder = made("argilla", f"--scale={scale}", *words)
    crowd = Crowd(SCALES[scale], 2 if words else 1)
    study = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    records, n_shown = [], 0
    for path in sorted((folder / "records").glob("*.json")):
        user = f"uuid-{path.stem}"
        for record in json.loads(path.read_text(encoding="utf-8")):
            found = crowd.answers(user, record["slot"], record["order"], record["code"])
            n_shown += 1
            flat = {**record, "status": "completed"}
            for question, answer in zip(study["questions"], found, strict=True):
                assert str(answer) in question["labels"]
                flat[f"{question['name']}.responses"] = [str(answer), "1"]
                flat[f"{question['name']}.responses.users"] = [user, "someone"]
                flat[f"{question['name']}.responses.status"] = ["submitted", "discarded"]
            records.append(flat)
    named = fetched(folder / "answers.py", records, study)
    (tmp_path / "answers.json").write_text(json.dumps(named), encoding="utf-8")
    crowd.check([tmp_path / "answers.json"], folder, n_shown=n_shown)


def fetched(script, records, study):
    """The records as the script that fetches them names their questions."""
    text = script.read_text(encoding="utf-8")
    inside = {"criteria": {one["name"]: one["criterion"] for one in study["questions"]}}
    start = text.index("def named(")
    exec(text[start : text.index("answers = []")], inside)
    return [{inside["named"](key): value for key, value in record.items()} for record in records]


def test_a_platform_without_sliders_refuses_a_scale_that_needs_one(made):
    for platform, scale in (("potato", "0:100"), ("argilla", "0:20:21")):
        with pytest.raises(AssertionError, match="has no sliders"):
            made(platform, "--scale", scale)


def test_scripts_and_configurations_can_be_read(made):
    folder = made("argilla", "--scale", "1:5", *QUESTIONS)
    for name in ("datasets.py", "answers.py"):
        compile((folder / name).read_text(encoding="utf-8"), name, "exec")
    folder = made("label-studio", "--scale", "1:5", *QUESTIONS, "--labels", '1=<bad> $,5="good"', "--force")
    compile((folder / "projects.py").read_text(encoding="utf-8"), "projects.py", "exec")
    config = ElementTree.parse(folder / "config.xml").getroot()
    assert [one.get("value") for one in config.iter("Header")] == [
        "Is it \uff04all there?",
        'Is it "good" & <b>?',
    ]
    assert next(config.iter("Choice")).get("value") == "1: <bad> \uff04"
