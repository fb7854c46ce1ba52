"""What is uploaded, answered by a crowd and exported by the platform, comes back as the same ratings."""

from cases import each_case, few_fast

from humeval_power.checking.exports.imported import imported
from humeval_power.files.exports.mapping_file import read_mapping
from humeval_power.files.exports.platforms import read_export
from humeval_power.studies.field.uploads import UPLOADERS
from tests.field import platform_crowd as crowd
from tests.field.form_cases import form_of

BACK = {
    "mturk": ("mturk", "mapping.toml", crowd.mturk_results),
    "qualtrics": ("qualtrics", "mapping.toml", crowd.qualtrics_results),
    "google-forms gathered": ("google-forms", "mapping.toml", crowd.gathered_answers),
    "google-forms one by one": ("google-forms", "mapping-one-form.toml", crowd.form_exports),
}


def come_back(tmp_path, form, name, **how):
    """The table that `import` makes of what the crowd answered; and the answers."""
    platform, mapping, export = BACK[name]
    files = UPLOADERS[platform].write(form)
    answers = crowd.answers_of(form)
    paths = export(files, form, answers, tmp_path, **how)
    return read_back(tmp_path, files[mapping], paths), answers


def read_back(folder, mapping, paths):
    """The exports by the mapping that was written for them."""
    (folder / "mapping.toml").write_text(mapping, encoding="utf-8")
    chosen, named = read_mapping(folder / "mapping.toml")
    return imported([read_export(path, platform=named) for path in paths], chosen)


def rated(form, frame):
    """(slot, order, criterion) -> rating; and what else stands in each row of a place."""
    alone = form.questions[0].criterion
    criteria = frame["criterion"] if "criterion" in frame else [alone] * len(frame)
    keys = list(zip(frame["slot"], frame["order"].astype(int), criteria, strict=True))
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, frame["rating"].astype(float), strict=True))


def same(form, table, answers):
    assert rated(form, table.frame) == answers
    codes = {(one.slot, one.order): one.code for one in form.shown}
    for slot, order, code, worker in table.frame[["slot", "order", "code", "worker"]].itertuples(
        index=False
    ):
        assert code == codes[slot, int(order)]
        assert worker == crowd.worker_of(slot)


@each_case("name", BACK)
@each_case("scale", ["1:5", "0:100", "-3:3"])
@each_case("criteria", [("quality",), ("ad equacy", "slot", '"q"')])
def test_the_same_ratings_come_back_with_codes_slots_repeats_and_checks(tmp_path, name, scale, criteria):
    form = form_of(scale=scale, criteria=criteria, batches=2)
    table, answers = come_back(tmp_path, form, name)
    same(form, table, answers)


@few_fast(("name", "load"), [("mturk", 30), ("google-forms gathered", 30), ("qualtrics", 5)])
def test_three_hundred_workers(tmp_path, name, load):
    form = form_of(slots=300, load=load)
    table, answers = come_back(tmp_path, form, name)
    same(form, table, answers)


def test_answers_in_the_words_of_the_choices_come_back_as_their_points(tmp_path):
    form = form_of(labels={1: "poor", 5: "very good"})
    table, answers = come_back(tmp_path, form, "qualtrics", words=True)
    same(form, table, answers)


def test_seconds_come_back_where_the_page_notes_them(tmp_path):
    form = form_of(batches=2)
    table, _ = come_back(tmp_path, form, "mturk")
    assert table.frame["seconds"].astype(float).tolist()[:5] == [1.5, 2.5, 3.5, 4.5, 1.5]
    assert set(table.frame["batch"]) == {"1", "2"}


def test_answers_of_a_page_that_are_one_json_come_back_too(tmp_path):
    form = form_of(criteria=("a", "b"), batches=2)
    table, answers = come_back(tmp_path, form, "mturk", as_json=True)
    same(form, table, answers)
