"""What a study that is under way should collect next: `assign --next`, by counts and never by a rating."""

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import each_case

import humeval_power as hp
from humeval_power.checking.exports.assigned import assigned_of, check_key, key_of
from humeval_power.checking.exports.mapping import Export, Mapping, RatingColumns, Template
from humeval_power.costs import CostModel, cost_of
from humeval_power.designs import counterbalanced, crossed, workers_nested
from humeval_power.errors import InputError
from humeval_power.fees import PlatformFee
from humeval_power.files.exports.platforms import read_export
from humeval_power.studies.field.calls import rehearse
from humeval_power.studies.monitor.files import read_ledger
from humeval_power.studies.plan.calls import assign_work, next_ratings
from humeval_power.study_counts import StudyCounts
from tests.cli import run
from tests.field import planned_studies as plans
from tests.field.crowd import answers, assigned, mapping, rows_of, write

LAYOUT = {"batch_size": 12, "check_rate": 0.1, "repeat_rate": 0.1}
COLUMNS = {name: Template(name) for name in ("worker", "code", "slot", "order")}
GIVEN = Mapping(ratings=(RatingColumns(Template("rating")),), columns=COLUMNS)


def answered(table: pd.DataFrame, keep, *, ratings=None) -> Export:
    """What the platform gave back of the rows that `keep` says, each with a rating."""
    rows = table[table.apply(keep, axis=1)]
    frame = pd.DataFrame(
        {
            "worker": "p-" + rows["worker_slot"],
            "code": rows["code"],
            "slot": rows["worker_slot"],
            "order": rows["order"].astype(str),
            "kind": rows["kind"],
            "rating": "3" if ratings is None else ratings(len(rows)),
        }
    ).reset_index(drop=True)
    frame.index = pd.Index(np.arange(len(frame)) + 2, name="row")
    mapped = replace(GIVEN, columns={**COLUMNS, "kind": Template("kind")})
    return Export(frame, mapped, "collected", "test", "answers.csv")


def under_way(
    study,
    keep,
    n,
    *,
    blind=True,
    ratings=None,
    more=(),
    layout=LAYOUT,
    changed=lambda frame: frame,
    **asked,
):
    """The next ratings of a study of which these rows are answered, and the table that it began with."""
    how = {**layout, **({"blind": True, "bits": plans.BITS} if blind else {})}
    begun = assign_work(study, **how)
    table = begun.to_frame()
    assignment = assigned_of([(table, "assignment.csv"), *more])
    export = answered(table, keep, ratings=ratings)
    export = replace(export, frame=changed(export.frame))
    return begun, next_ratings(study, n, assignment=assignment, exports=[export], **how, **asked)


def half_of_w03(row) -> bool:
    return row["worker_slot"] != "w03" or row["batch"] == 1


def cells_of(result) -> pd.DataFrame:
    rows = result.rows
    return rows[rows["kind"] == "rating"]


PLANS = {
    "two": lambda: plans.of_two(),
    "four systems with hostile names": lambda: plans.of_systems(),
    "criteria": lambda: plans.of_systems(("a", "b", "c"), criteria=("fluency", "=adequacy")),
    "documents": plans.of_documents,
    "documents of systems": lambda: plans.of_systems(("a", "b", "c"), n_documents=4),
    "categories": plans.in_categories,
    "apart": lambda: plans.of_two(StudyCounts(8, 12, 2, paired=False)),
    "looks": lambda: plans.of_two(StudyCounts(8, 12, 3)),
}


@each_case("name", PLANS)
def test_what_comes_next_goes_on_with_the_study_and_asks_nobody_twice(name) -> None:
    study = PLANS[name]()
    n = 24
    begun, found = under_way(study, half_of_w03, n, dropouts=["w03"])
    cells, before = cells_of(found), begun.rows
    k = len(study.systems)
    whole = study.counts.paired
    assert len(cells) == (n // k * k if whole else n) == found.n_ratings
    assert "w03" not in set(cells["worker_slot"])
    # the table goes on after the last batch and order of each slot, under the codes of the key
    table = found.to_frame()
    both = assigned_of([(begun.to_frame(), "one"), (table, "two")])
    check_key(key_of(begun.key(), source="key"), both)
    for slot, mine in table.groupby("worker_slot"):
        old = before[before["worker_slot"] == slot]
        assert mine["order"].tolist() == list(
            range(old["order"].max() + 1, old["order"].max() + 1 + len(mine))
        )
        assert mine["batch"].min() == old["batch"].max() + 1
    # nobody meets an item again, and all systems of an item stay together
    met = set(zip(before["worker_slot"], before["item"], strict=True))
    assert not met & set(zip(cells["worker_slot"], cells["item"], strict=True))
    if whole:
        assert (cells.groupby(["worker_slot", "item"]).size() == k).all()
    # what a worker did not do is given to others first
    lost = before[(before["worker_slot"] == "w03") & (before["batch"] > 1) & (before["kind"] == "rating")]
    wanted = lost.groupby(["item"]).size()
    given = cells.groupby(["item"]).size().reindex(wanted.index).fillna(0)
    assert (given >= np.minimum(wanted, given.max())).all() or len(cells) < len(lost)
    power = {one.name: one.power for one in found.ways}
    assert power["stands"] < power["next"] < 1
    assert found.counts["lost"] == len(lost)


def test_no_rating_is_read() -> None:
    """Scrambled ratings, words in the place of numbers, and no column of ratings give the same bytes."""
    rng = np.random.default_rng(1)
    study = plans.of_two()
    made = {}
    for name, ratings in {
        "plain": lambda n: [str(1 + one % 5) for one in range(n)],
        "scrambled": lambda n: rng.integers(1, 6, n).astype(str).tolist(),
        "worst for the second": lambda n: ["5", "1"] * (n // 2) + ["5"] * (n % 2),
        "words": lambda n: ["very good"] * n,
    }.items():
        _, found = under_way(study, half_of_w03, 12, dropouts=["w03"], ratings=ratings)
        made[name] = (found.artefact(".csv"), json.dumps(found.content()))
    without = {"changed": lambda frame: frame.drop(columns="rating")}
    _, found = under_way(study, half_of_w03, 12, dropouts=["w03"], **without)
    made["no column"] = (found.artefact(".csv"), json.dumps(found.content()))
    assert len(set(made.values())) == 1


def test_an_answer_that_is_missing_counts_as_not_given() -> None:
    study = plans.of_two()

    def ratings(n):
        return ["" if one < 4 else "3" for one in range(n)]

    _, all_given = under_way(study, half_of_w03, 12)
    _, some = under_way(study, half_of_w03, 12, ratings=ratings)
    assert some.counts["done"] < all_given.counts["done"]
    assert sum(some.counts[name] for name in ("done", "expected")) == all_given.counts["planned"]


def test_who_is_excluded_counts_no_more_and_who_dropped_out_still_does() -> None:
    study = plans.of_two()
    _, dropped = under_way(study, half_of_w03, 12, dropouts=["w03"])
    _, excluded = under_way(study, half_of_w03, 12, excluded=["w03"])
    assert dropped.counts["left_out"] == 0 < excluded.counts["left_out"]
    assert dropped.counts["lost"] == excluded.counts["lost"]
    assert excluded.counts["done"] + excluded.counts["left_out"] == dropped.counts["done"]
    assert excluded.way("stands").n_workers == dropped.way("stands").n_workers - 1
    assert excluded.way("stands").power < dropped.way("stands").power


def test_a_worker_who_withdrew_and_a_late_starter() -> None:
    study = plans.of_two()
    # w05 has not begun: its work is still expected, and it may get more
    _, late = under_way(study, lambda row: row["worker_slot"] != "w05", 12)
    assert late.counts["lost"] == 0
    assert late.counts["expected"] > 0
    _, gone = under_way(study, lambda _: True, 12, withdrawn=["p-w02"])
    assert gone.counts["withdrawn_or_refused"] == 1
    assert gone.counts["lost"] > 0
    assert "w02" not in gone.assignment.slots


def test_new_workers_take_what_is_lacking_and_get_no_more_than_a_slot_of_the_plan() -> None:
    study = plans.of_two(costs=CostModel(price_per_rating="0.10", cost_per_worker="0.50"))
    _, found = under_way(study, half_of_w03, 8, dropouts=["w03"], new_workers=1)
    assert found.new_slots == ("w07",)
    assert found.assignment.slots == ("w07",)
    names = [one.name for one in found.ways]
    assert names == ["stands", "next", "left", "planned"]
    # 8 ratings, a check and a repeat at 0.10 each, and recruiting
    assert found.way("next").cost == Decimal("1.50")
    _, many = under_way(study, half_of_w03, 40, dropouts=["w03"], new_workers=3)
    usual = int(study.design().worker_loads.max())
    assert max(one["ratings"] for one in many.content()["slots"] if one["new"]) <= usual
    assert "by 3 new workers" in many.body().title
    assert "As many by those who are left would give" in " ".join(found.body().lead.split())


def test_a_crossed_study_needs_new_workers() -> None:
    study = crossed(3, 6)
    with pytest.raises(InputError, match=r"can give 0, since.*new_workers=1") as caught:
        under_way(study, half_of_w03, 12, dropouts=["w03"], layout={})
    assert "have met every item" in str(caught.value)
    _, found = under_way(study, half_of_w03, 12, dropouts=["w03"], new_workers=1, layout={})
    assert found.assignment.slots == ("w04",)
    assert not found.ways  # no plan: nothing is priced
    assert "Without a plan" in found.body().lead


def test_designs_in_which_workers_see_one_system_go_on_so() -> None:
    nested = workers_nested(6, 8)
    begun, found = under_way(nested, half_of_w03, 4, dropouts=["w03"], new_workers=1, layout={})
    new = cells_of(found)
    assert new.groupby("worker_slot")["system"].nunique().max() == 1
    lost = begun.rows.loc[begun.rows["worker_slot"] == "w03", "system"].unique()
    assert set(new.loc[new["worker_slot"] == "w07", "system"]) <= set(lost)
    # in the batch after it they stay with it
    more = [(found.to_frame(), "next.csv")]
    _, later = under_way(nested, half_of_w03, 4, dropouts=["w03"], layout={}, more=more)
    assert later.assignment.slots == ("w07",)
    both = pd.concat([begun.rows, new, cells_of(later)])
    assert both.groupby("worker_slot")["system"].nunique().max() == 1
    both = counterbalanced(6, 8)
    begun, found = under_way(both, half_of_w03, 4, dropouts=["w03"], new_workers=1, layout={})
    assert (cells_of(found).groupby(["worker_slot", "item"]).size() == 1).all()


def test_the_limit_of_a_worker_holds_with_checks_and_repeats() -> None:
    study = plans.of_two(max_ratings_per_worker=20)
    begun, found = under_way(study, half_of_w03, 20, dropouts=["w03"])
    shown = pd.concat([begun.to_frame(), found.to_frame()]).groupby("worker_slot").size()
    assert shown.max() <= 20
    with pytest.raises(InputError, match=r"can give \d+, since .* shown more than 20 texts"):
        under_way(study, half_of_w03, 80, dropouts=["w03"])


def test_a_budget_holds_at_the_prices_of_the_plan() -> None:
    study = plans.of_two(costs=CostModel(price_per_rating="0.10"))
    _, found = under_way(study, half_of_w03, 12, dropouts=["w03"], budget=Decimal(100))
    cost = found.way("next").cost
    with pytest.raises(InputError, match=r"These ratings cost .* are left of the budget"):
        under_way(study, half_of_w03, 12, dropouts=["w03"], budget=cost)
    with pytest.raises(InputError, match="prices"):
        under_way(plans.of_two(), half_of_w03, 12, budget=cost)
    # what is shown is what is paid: rows at 0.10
    assert cost == Decimal(len(found.to_frame())) / 10
    dear = CostModel(
        price_per_rating="0.10",
        fee=PlatformFee("a platform", charged_per="assignment", share="0.2", minimum_per_assignment="0.01"),
    )
    _, by_hit = under_way(plans.of_two(costs=dear), half_of_w03, 12, dropouts=["w03"])
    assert by_hit.way("next").cost == Decimal("1.44")  # 12 ratings and the fee of each HIT


def test_batches_follow_each_other_and_none_is_given_twice() -> None:
    study = plans.of_two()
    begun, first = under_way(study, half_of_w03, 8, dropouts=["w03"])
    more = [(first.to_frame(), "next.csv")]
    _, second = under_way(study, half_of_w03, 8, dropouts=["w03"], more=more)
    shown = [
        set(zip(one["worker_slot"], one["item"], strict=True)) for one in map(cells_of, (first, second))
    ]
    assert not shown[0] & shown[1]
    assert second.counts["expected"] == first.counts["expected"] + 8
    assigned_of([(begun.to_frame(), "1"), *more, (second.to_frame(), "3")])


def test_a_spare_that_took_over_stays_and_who_it_replaced_does_not() -> None:
    study = plans.of_two()
    how = {**LAYOUT, "blind": True, "bits": plans.BITS, "replacements": 2}
    spare = assign_work(study, **how, takeovers=[("r01", "w03", 2)]).to_frame()
    _, found = under_way(
        study, half_of_w03, 48, more=[(spare, "r01.csv")], layout={**LAYOUT, "replacements": 2}
    )
    assert found.counts["taken_over"] == 1
    assert "w03" not in found.assignment.slots
    assert found.counts["lost"] == 0
    assert "r01" in found.assignment.slots
    rows = cells_of(found)
    mine = rows[rows["worker_slot"] == "r01"]
    theirs = spare[(spare["kind"] == "rating") & (spare["batch"] >= 2)]
    assert not set(mine["item"]) & set(theirs["item"])
    assert mine["order"].min() > theirs["order"].max()


@each_case("by_spare", (False, True))
def test_a_rehearsal_draws_what_was_added_and_changes_nothing_of_the_others(by_spare: bool) -> None:
    study = plans.of_two(StudyCounts(6, 30, 4)) if by_spare else plans.with_looks()
    how = {**LAYOUT, "replacements": 2} if by_spare else LAYOUT
    table, tables = assign_work(study, **how).to_frame(), []
    if by_spare:
        tables = [(assign_work(study, **how, takeovers=[("r01", "w03", 2)]).to_frame(), "r01.csv")]
    asked = {} if by_spare else {"dropouts": ["w03"], "new_workers": 1}
    begun, found = under_way(study, half_of_w03, 24, blind=False, more=tables, layout=how, **asked)
    tables = [(begun.to_frame(), "assignment.csv"), *tables]
    added = found.to_frame()
    assert ("r01" in set(added["worker_slot"])) is by_spare
    before = rehearse(study, assigned_of(tables), seed=3).to_frame()
    after = rehearse(study, assigned_of([*tables, (added, "next.csv")]), seed=3).to_frame()
    place = ["slot", "order"]
    both = before.merge(after, on=place, suffixes=("", "_after"))
    assert len(both) == len(before) == len(after) - len(added)
    for name in ("item", "system", "rating", "seconds"):
        assert both[name].equals(both[f"{name}_after"].rename(name))
    new = after.merge(before[place], how="left", on=place, indicator=True)
    new = new[(new["_merge"] == "left_only") & (new["kind"] == "rating")]
    assert len(new) == found.n_ratings == 24
    assert new["rating"].notna().all()
    strange = added.assign(item=added["item"].where(added["kind"] == "check", "elsewhere"))
    with pytest.raises(InputError, match="ratings of items were added that it does not have: elsewhere"):
        rehearse(study, assigned_of([*tables, (strange, "next.csv")]))
    with pytest.raises(InputError, match=r"the plan has|rows are missing"):  # of one table
        rehearse(study, assigned_of([(pd.concat([table, added]), "one.csv")]))


def test_one_person_in_two_slots_meets_no_item_twice() -> None:
    study = plans.of_two()
    begun, found = under_way(
        *(study, half_of_w03, 24),
        dropouts=["w03"],
        changed=lambda frame: frame.assign(worker=frame["worker"].replace("p-w02", "p-w01")),
    )
    rows = cells_of(found)
    mine = rows[rows["worker_slot"].isin(["w01", "w02"])]
    theirs = begun.rows[begun.rows["worker_slot"].isin(["w01", "w02"])]
    assert not set(mine["item"]) & set(theirs["item"])


def test_what_does_not_fit_is_refused_with_its_place() -> None:
    study = plans.of_two()
    with pytest.raises(InputError, match=r"'w99'.*is no slot of the assignment"):
        under_way(study, half_of_w03, 8, dropouts=["w99"])
    with pytest.raises(InputError, match="Slot w03 is among the dropouts"):
        under_way(study, half_of_w03, 8, dropouts=["w03"], excluded=["w03"])
    with pytest.raises(
        InputError, match=r"1 rating asked for; what one worker rates together, all of an item, is 2"
    ):
        under_way(study, half_of_w03, 1)
    with pytest.raises(InputError, match="at least 1"):
        under_way(study, half_of_w03, 0)
    begun = assign_work(study, **LAYOUT, blind=True, bits=plans.BITS)
    table = assigned_of([(begun.to_frame(), "assignment.csv")])
    export = answered(begun.to_frame(), half_of_w03)
    with pytest.raises(InputError, match=r"the key of the study can tell.*Give the key"):
        next_ratings(study, 8, assignment=table, exports=[export], **LAYOUT)
    with pytest.raises(InputError, match=r"have a code that this study does not have.*same plan or size"):
        next_ratings(study, 8, assignment=table, exports=[export], **LAYOUT, blind=True, bits=bytes(16))


# By commands: files in, files out, the ledger, and what is typed wrongly.


@pytest.fixture
def study(tmp_path):
    """A study at Label Studio of three workers and six items, of which w03 did nothing."""
    rows = assigned(tmp_path, "--ratings-per-item", 2, checks=False)
    write(tmp_path / "answers.csv", [one for one in answers(rows) if one["slot"] != "w03"])
    mapping(tmp_path, "slot", "order")
    return tmp_path


def without_w03(files, **more):
    """The answers of all slots of a written study but w03."""
    return [
        {
            "worker": f"p-{slot}",
            "slot": slot,
            **more,
            **{name: row[name] for name in ("order", "code", "kind")},
        }
        for row in rows_of(files.assignment)
        if (slot := row["worker_slot"]) != "w03"
    ]


def asked(
    folder, *words, code=0, exports=("answers.csv",), begin=("--workers", 3, "--ratings-per-item", 2)
):
    files = [word for name in exports for word in ("--exports", folder / name)]
    return run(
        *("assign", "--outputs", folder / "outputs.csv", "--upload", "label-studio", *begin),
        *("--scale", "1:5", "--seed", 7, "--repeats", 0.25, "--key", folder / "key.csv"),
        *("--assignment", folder / "assignment.csv", *files, *words),
        code=code,
    )


def test_the_batch_is_written_as_the_platform_takes_it(study) -> None:
    found = asked(study, "--next", 8, "--dropouts", "w03", "--new-workers", 1, "-o", study / "next")
    assert found.stdout.startswith("The next 8 ratings: ")
    rows = rows_of(study / "next" / "assignment.csv")
    assert list(rows[0]) == list(rows_of(study / "assignment.csv")[0])
    assert (study / "next" / "label-studio" / "README.md").exists()
    before = (study / "key.csv").read_bytes()
    status = run(
        *("collect", "status", study / "answers.csv", "--scale", "1:5", "--key", study / "key.csv"),
        *(
            "--assignment",
            study / "assignment.csv",
            "--assignment",
            study / "next" / "assignment.csv",
            "--json",
        ),
    )
    total = len(rows) + len(rows_of(study / "assignment.csv"))
    assert json.loads(status.stdout)["n_expected"] == total
    assert (study / "key.csv").read_bytes() == before
    again = asked(study, "--next", 8, "--dropouts", "w03", "--new-workers", 1, "-o", study / "again")
    assert again.stdout == found.stdout
    for path in (study / "next").rglob("*.*"):
        assert path.read_bytes() == (study / "again" / path.relative_to(study / "next")).read_bytes()
    table = (study / "next" / "assignment.csv").read_text()
    assert not {"old", "new"} & set(table.split(","))  # codes alone


def test_files_without_ratings_twice_and_half_written(study) -> None:
    words = ("--next", 8, "--dropouts", "w03", "--new-workers", 1, "--json", "-o")
    asked(study, *words, study / "one")
    table = pd.read_csv(study / "answers.csv", dtype=str)
    table.drop(columns="rating").to_csv(study / "none.csv", index=False)
    for name, exports in {"none": ("none.csv",), "twice": ("answers.csv", "answers.csv")}.items():
        asked(study, *words, study / name, exports=exports)
        for path in (study / "one").rglob("*.*"):
            assert path.read_bytes() == (study / name / path.relative_to(study / "one")).read_bytes(), name
    text = (study / "answers.csv").read_text()
    (study / "cut.csv").write_text(text[: text.rindex(",")])  # the last line lacks a cell
    cut = asked(study, *words, study / "cut", exports=("cut.csv",), code=2)
    assert "cut.csv" in cut.stderr
    (study / "empty.csv").write_text("")
    empty = asked(study, *words, study / "empty", exports=("empty.csv",), code=2)
    assert "empty.csv" in empty.stderr
    assert not (study / "cut").exists()


@each_case(
    "words, said",
    [
        (("--dropouts", "w03"), "--dropouts: of a study that is under way; add --next N."),
        (("--next", 8, "--replace", "r01=w03"), "two ways to go on"),
        (("--next", 0), "0"),
        (("--next", 8, "--dropouts", "w09"), "'w09'"),
        (("--next", 400, "--dropouts", "w03"), "--new-workers"),
        (("--next", 8, "--budget", 3), "--budget needs prices"),
    ],
)
def test_what_is_typed_wrongly_is_said_once(tmp_path, words, said) -> None:
    rows = assigned(tmp_path, "--ratings-per-item", 2, checks=False)
    write(tmp_path / "answers.csv", [one for one in answers(rows) if one["slot"] != "w03"])
    found = asked(tmp_path, *words, "-o", tmp_path / "next", code=2)
    assert said in " ".join(found.stderr.split())
    assert not (tmp_path / "next").exists()


def test_python_asks_the_same_of_a_study_and_of_its_parts(study) -> None:
    names = ("answers.csv", "assignment.csv")
    answers_file, table = (str(study / name) for name in names)
    names_file = study / "items.txt"
    names_file.write_text("".join(f"i{number}\n" for number in range(1, 7)))
    size = {"workers": 3, "items": 6, "ratings_per_item": 2, "key": str(study / "key.csv")}
    of_study = hp.assign(
        hp.Study(**size, systems=("old", "new")),
        next=8,
        assignment=[table],
        exports=[answers_file],
        dropouts="w03",
        new_workers=1,
        item_names=str(names_file),
        repeats=0.25,
        seed=7,
    )
    of_parts = hp.assign(
        hp.designs.k_per_item(3, 6, ratings_per_item=2),
        next=8,
        assignment=hp.exports.read_assignment(table),
        exports=[read_export(answers_file)],
        dropouts=["w03"],
        new_workers=1,
        systems=("old", "new"),
        item_names=names_file.read_text().split(),
        repeat_rate=0.25,
        blind=True,
        key=hp.exports.read_key(study / "key.csv"),
        seed=7,
    )
    assert of_study.to_frame().equals(of_parts.to_frame())
    assert of_study.n_ratings == 8


def test_a_study_file_says_it_too_and_its_assignment_stays_as_it_is(study, monkeypatch) -> None:
    monkeypatch.chdir(study)
    (study / "study.toml").write_text(
        'schema = "humeval_power/study/1"\n[files]\noutputs = "outputs.csv"\nkey = "key.csv"\n'
        'assignment = "assignment.csv"\nexports = "answers.csv"\n[design]\nworkers = 3\nratings_per_item = 2\n'
        '[form]\nupload = "label-studio"\n[ratings]\nscale = "1:5"\n'
    )
    before = (study / "assignment.csv").read_bytes()
    words = ("assign", "study.toml", "--seed", 7, "--repeats", 0.25, "--next", 8, "--dropouts", "w03")
    run(*words, "--new-workers", 1, "--force", "-o", "more/")
    assert (study / "more" / "assignment.csv").exists()
    assert (study / "assignment.csv").read_bytes() == before
    said = run("assign", "study.toml", "--seed", 7, "--repeats", 0.25, "-o", "anew/").stderr
    assert "exports" not in said  # of a study that begins they are not asked for


def test_the_budget_of_the_study_file_holds_beside_its_plan(tmp_path, monkeypatch) -> None:
    costs = CostModel(price_per_rating="0.10")
    priced = plans.of_two(costs=costs)
    plan = replace(priced, cost=cost_of(priced.design(), costs).total)
    files = plans.written(tmp_path / "study", plan)
    write(files.plan.parent / "answers.csv", without_w03(files))
    monkeypatch.chdir(files.plan.parent)
    words = ("assign", "study.toml", "--batch-size", 8, "--checks", 0.1, "--repeats", 0.2, "--next", 8)
    for budget, code in ((100, 0), (7, 2)):
        Path("study.toml").write_text(
            'schema = "humeval_power/study/1"\n[files]\nplan = "plan.json"\nkey = "key.csv"\n'
            f'assignment = "assignment.csv"\nexports = "answers.csv"\n[cost]\nbudget = {budget}\n'
        )
        found = run(*words, "--dropouts", "w03", code=code)
    assert "left of the budget of 7.00 USD" in " ".join(found.stderr.split())


def test_exports_and_an_assignment_are_needed() -> None:
    found = run("assign", "--workers", 3, "--items", 4, "--next", 4, code=2)
    assert "--assignment FILE and --exports FILE" in " ".join(found.stderr.split())


def test_the_ledger_says_how_many_and_why_and_nothing_else(tmp_path) -> None:
    files = plans.written(tmp_path / "study", plans.with_looks())
    given = without_w03(files, rating=3)
    words = (
        *("assign", "--plan", files.plan, "--key", files.key, "--batch-size", 8),
        *("--checks", 0.1, "--repeats", 0.2, "--assignment", files.assignment),
        *("--exports", write(tmp_path / "answers.csv", given), "--next", 24, "--dropouts", "w03"),
        *("--new-workers", 1),
    )
    ledger = tmp_path / "study" / "plan.looks.jsonl"
    run(*words)
    run(*words, "-o", tmp_path / "page.md")
    assert not ledger.exists()  # what is only shown is not added
    run(*words, "-o", tmp_path / "next.csv")
    start, cells = read_ledger(ledger)
    assert (start.kind, cells.kind) == ("start", "cells")
    counts = {"n_ratings": 24, "n_new_workers": 1, "rule": "fewest first"}
    assert {name: cells.content[name] for name in counts} == counts
    assert cells.content["counts"]["dropouts"] == 1
    assert set(cells.content) == {*counts, "counts", "before", "added", "time"}
    assert "w03" not in ledger.read_text()
    run(*words, "-o", tmp_path / "again.csv")
    assert len(read_ledger(ledger)) == 2  # the same batch once
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "next.csv").read_bytes()
    status = run("monitor", "--plan", files.plan, "--status")
    assert "no look" in status.stdout.lower()
    added = "24 ratings added by counts of who rated what, not by what was rated, some of new workers (1)."
    assert added in " ".join(status.stderr.split())
    secret = ledger.with_suffix(".secret")
    secret.rename(tmp_path / "lost")
    lost = run(*words[:-1], 2, "-o", tmp_path / "more.csv", code=2)
    assert "plan.looks.secret" in " ".join(lost.stderr.split())
    assert not (tmp_path / "more.csv").exists()


def test_a_batch_replaces_no_table_that_is_read_and_is_told_only_where_it_is_written(tmp_path) -> None:
    files = plans.written(tmp_path / "study", plans.with_looks())
    given = without_w03(files, rating=3)
    given[0]["code"] = "QQQQQ"
    there = tmp_path / "there"
    there.mkdir()
    own = there / "table.csv"
    own.write_bytes(files.assignment.read_bytes())
    (tmp_path / "gone.txt").write_text("nobody\n")
    words = (
        *("assign", "--plan", files.plan, "--key", files.key, "--batch-size", 8),
        *("--checks", 0.1, "--repeats", 0.2, "--assignment", own, "--withdrawn", tmp_path / "gone.txt"),
        *("--exports", write(tmp_path / "answers.csv", given), "--next", 24, "--dropouts", "w03,"),
        *("--new-workers", 1),
    )
    ledger = tmp_path / "study" / "plan.looks.jsonl"
    for force in ((), ("--force",)):
        refused = run(*words, "-o", there, *force, code=2)
        assert "table.csv" in " ".join(refused.stderr.split())
        assert own.read_bytes() == files.assignment.read_bytes()
        assert not ledger.exists()
    answer = " ".join(run(*words).stdout.split())
    assert "1 answer fits nothing in the assignment" in answer
    assert "Of those who withdrew, 1 gave nothing in these exports" in answer
    assert "The ledger of looks has no line of these ratings" in answer
    written = run(*words, "-o", tmp_path / "next").stdout
    assert "has no line" not in written
    assert len(read_ledger(ledger)) == 2
