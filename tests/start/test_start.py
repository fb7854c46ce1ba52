"""The guided start: its answers, its files, its words."""

import json
import re
import shlex
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import click
import pytest
from cases import each_case
from cli import run, run_json
from start_paths import paths, write_files

from humeval_power.doors.page.requests import request_of, words_of
from humeval_power.doors.terminal.main import main

PATHS = paths()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("start")
    write_files(place)
    return place


@pytest.fixture(autouse=True)
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def command_of(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that words name, and the words after it."""
    found: click.Command = main
    rest = list(words)
    while isinstance(found, click.Group) and rest:
        below = found.get_command(click.Context(found), rest[0])
        if below is None:
            break
        found = below
        rest.pop(0)
    return found, rest


def values_of(command: click.Command, rest: list[str]) -> dict[str, Any]:
    """What the command's own parser makes of the words."""
    context = click.Context(command)
    values, left, _ = command.make_parser(context).parse_args(list(rest))
    assert not left
    return values


def words_of_link(link: str) -> list[str]:
    """The words that the page makes of a link."""
    parts = urlsplit(link)
    path = tuple(parts.path.strip("/").split("/"))
    return list(words_of(request_of(path, parse_qsl(parts.query, strict_parsing=bool(parts.query)))))


@each_case("name", PATHS)
def test_every_way_has_commands_that_parse_and_links_that_say_the_same(name: str) -> None:
    record = run_json(*PATHS[name])
    assert record["rows"]
    for row in record["rows"]:
        program, *words = row["command"]
        assert program == "humeval-power"
        command, rest = command_of(words)
        typed = values_of(command, rest)
        linked = values_of(*command_of(words_of_link(row["link"])))
        for written in ("output", "template", *(["key"] if words[0] == "assign" else [])):
            typed.pop(written, None)  # no part of a page
        assert typed == linked
        assert shlex.split(row["shown"].replace("\\\n", " ")) == row["command"]
        assert (
            max(map(len, row["shown"].splitlines())) <= 76 or len(row["shown"].splitlines()[-1].split()) < 3
        )


@each_case("name", list(PATHS)[::6])
def test_the_line_that_repeats_it_gives_the_same_commands(name: str) -> None:
    record = run_json(*PATHS[name])
    again = run_json(*record["again"][1:])
    assert again["rows"] == record["rows"]
    assert again["again"] == record["again"]


def test_the_answer_fits_a_terminal_and_says_what_was_assumed() -> None:
    shown = run("start", "--have", "nothing").stdout
    assert max(map(len, shown.splitlines())) <= 80
    assert "Nobody said which difference matters" in shown
    assert "Nobody said what it costs" in shown
    words = "--difference 0.5 --raters students --pay-per-hour 15 --seconds-per-rating 20 --instruction-minutes 3"
    told = run("start", "--have", "nothing", *words.split())
    assert "Nobody said" not in told.stdout


def test_a_file_answers_for_its_scale_its_systems_and_its_criteria() -> None:
    record = run_json("start", "--have", "results", "--file", "criteria.csv")
    analyze = next(row["command"] for row in record["rows"] if "analyze" in row["command"])
    assert {"--criteria", "all", "--all-pairs", "--scale", "1:5"} <= set(analyze)


def test_finished_scores_of_several_systems_lead_to_a_leaderboard(tmp_path: Path) -> None:
    table = tmp_path / "scores.csv"
    known = ("start", "--judgement", "score", "--have", "results", "--assume-rest", "--file", table)
    for head, is_ranked in (("item,a,b,c", True), ("item,a,b", False)):
        rows = [head, *(",".join([str(i), *map(str, range(i, i + head.count(",")))]) for i in range(3))]
        table.write_text("\n".join(rows) + "\n")
        assert ("rank scores" in run(*known).stdout) == is_ranked
    assert (
        "rank scores" not in run(*known, "--comparisons", "baseline", "--baseline", "a", code=None).stdout
    )


def test_of_several_metrics_one_is_named_and_the_others_are_told_of() -> None:
    record = run_json("start", "--judgement", "score", "--have", "results", "--file", "metrics.csv")
    assert record["rows"][0]["command"][3:6] == ["metrics.csv", "--score", "bleurt"]
    assert any("bleurt, comet" in told for told in record["assumptions"])


@each_case(
    ("words", "told"),
    [
        ((), "no terminal"),
        (("--have", "pilot"), "--file is missing"),
        (("--file", "pilot.csv"), "nobody said what it is"),
        (("--have", "nothing", "--file", "pilot.csv"), "nobody said what it is"),
        (("--have", "pilot", "--file", "nowhere.csv"), "nowhere.csv"),
        (("--have", "pilot", "--file", ""), "Name the one file"),
        (("--have", "pilot", "--file", "pilot.csv", "--file", "five.csv"), "the one file"),
        (("--have", "pilot", "--file", "scores.csv"), "Is one judgement 'score'?"),
        (("--have", "pilot", "--file", "pilot.csv", "--judgement", "yes-no"), "'points'"),
        (("--have", "pilot", "--file", "pilot.csv", "--scale", "1:3"), "scale"),
        (("--have", "pilot", "--file", "a.csv", "--judgement", "correct"), "three files, of system A"),
        (("--have", "nothing", "--difference", "9"), "below 4"),
        (("--have", "nothing", "--difference", "0"), "above 0"),
        (("--have", "nothing", "--difference", "nan"), "no number"),
        (("--have", "nothing", "--n-systems", "1"), "from 2 to"),
        (("--have", "nothing", "--n-systems", "99999999999999999999"), "from 2 to"),
        (("--have", "nothing", "--systems", "A"), "different names"),
        (("--have", "nothing", "--systems", "A,A"), "different names"),
        (("--have", "nothing", "--limit", "budget"), ""),
        (("--have", "nothing", "--limit", "money=4"), "none of these"),
        (("--have", "nothing", "--limit", "workers=1e300"), "at most"),
        (("--have", "nothing", "--limit", "workers=2.5"), "whole"),
        (("--have", "nothing", "--limit", "budget=-1"), "at least"),
        (("--have", "nothing", "--pay-per-hour", "x"), "no number"),
        (("--have", "nothing", "--scale", "5:1"), "--scale"),
        (("--have", "nothing", "--sd-difference", "1"), "nothing asks for it"),
        (("--have", "results", "--file", "pilot.csv", "--limit", "items=3"), "nothing asks for it"),
        (("--n-systems", "3", "--systems", "a,b,c"), "not both"),
    ],
)
def test_what_cannot_be_an_answer_is_refused_in_words(words: tuple[str, ...], told: str) -> None:
    code = 0 if not told else 2
    ended = run("start", *words, code=code)
    assert told in re.sub(r"\s+", " ", ended.stderr)
    assert "Traceback" not in ended.output


def test_all_wrong_answers_are_told_at_once() -> None:
    refused = run("start", "--have", "nothing", "--difference", "9", "--limit", "items=1", code=2).stderr
    assert "--difference" in refused
    assert "--amount" not in refused
    assert "--limit" in refused


def test_one_system_is_too_few(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("worker,item,system,rating\nw1,i1,a,1\nw2,i2,a,4\nw1,i2,a,5\nw2,i1,a,3\n")
    assert "one system only" in run("start", "--have", "pilot", "--file", path, code=2).stderr


def test_hostile_names_stay_text_in_commands_and_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = "-x; touch hacked $(touch hacked) `touch hacked` 'é\".csv"
    Path(name).write_bytes(_pilot().read_bytes())
    record = run_json("start", "--have", "results", f"--file={name}")
    check = record["rows"][0]
    assert check["command"][2] == f"./{name}"
    assert shlex.split(check["shown"].replace("\\\n", " ")) == check["command"]
    run("start", "--have", "results", f"--file={name}", "-o", "go.sh")
    assert "hacked" in Path("go.sh").read_text()


def _pilot() -> Path:
    from places import ROOT

    return ROOT / "data" / "pilot.csv"


def test_windows_line_ends_and_decimal_commas_are_understood(tmp_path: Path) -> None:
    path = tmp_path / "crlf.csv"
    path.write_bytes(_pilot().read_bytes().replace(b"\n", b"\r\n"))
    record = run_json(
        "start", "--have", "pilot", "--file", path, "--difference", "0,5", "--limit", "budget=1,500"
    )
    assert record["answers"]["difference"] == "0.5"
    assert record["answers"]["amount"] == "1500"


@each_case("text", ["500", "$500", "500 USD", "500 dollars", "budget=500"])
def test_a_sum_alone_is_a_budget(text: str) -> None:
    answers = run_json("start", "--have", "nothing", "--limit", text)["answers"]
    assert (answers["limit"], answers["amount"]) == ("budget", "500")


@pytest.mark.usefixtures("terminal")
def test_a_sum_is_understood_where_a_terminal_asks_what_is_short() -> None:
    asked = run(
        "start", "--json", stdin="\n".join(["", "", "", "1", "2", "", "", "", "", "", "500"]) + "\n"
    )
    answers = json.loads(asked.stdout)["answers"]
    assert (answers["limit"], answers["amount"], answers["academic"]) == ("budget", "500", "yes")


def planned(*words: str) -> list[str]:
    """The command that plans."""
    rows = run_json("start", "--have", "nothing", *words)["rows"]
    return next(row["command"] for row in rows if row["command"][1] == "plan")


def test_an_academic_account_has_its_own_fee() -> None:
    usual, academic = (planned("--raters", "prolific", "--academic", one) for one in ("no", "yes"))
    assert usual[usual.index("--fee") + 1] == "prolific"
    assert academic[academic.index("--fee") + 1] == "prolific-academic"
    # money for preferences is divided by the pay alone
    words = ("--have", "nothing", "--judgement", "preference", "--raters", "prolific")
    assert "academic" not in run_json("start", *words)["answers"]


@pytest.mark.parametrize(
    ("scale", "entry"), [("1:5", "points"), ("0:100", "slider"), ("-25:0", "penalties")]
)
def test_without_a_pilot_what_is_typical_of_such_a_scale_is_tried_first(scale: str, entry: str) -> None:
    from humeval_power.studies.power.files import shipped_library

    rows = run_json("start", "--have", "nothing", f"--scale={scale}", "--difference", "1")["rows"]
    power = next(row["command"] for row in rows if row["command"][1] == "power")
    tried = next(each for each in shipped_library() if each.name == power[power.index("--preset") + 1])
    assert (tried.kind, tried.standing) == (entry, "typical")


def test_what_nobody_said_limits_no_plan() -> None:
    wide = planned("--raters", "prolific", "--limit", "500")
    assert "--workers" not in wide
    assert int(wide[wide.index("--max-workers") + 1]) >= 162
    narrow = planned("--raters", "prolific", "--limit", "workers=12")
    assert narrow[narrow.index("--workers") + 1].split(":")[1] == "12"


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who can be asked."""
    monkeypatch.setattr("humeval_power.studies.start.ask.has_terminal", lambda: True)


@pytest.mark.usefixtures("terminal")
def test_a_terminal_asks_and_gives_what_options_give() -> None:
    typed = ["", "2", "nowhere.csv", "pilot.csv", "students", "", "20", "", "", "9", "0.5", "1", "$300"]
    asked = run("start", "--json", stdin="\n".join(typed) + "\n")
    record = json.loads(asked.stdout)
    words = (
        "--judgement points --have pilot --file pilot.csv --raters students --pay-per-hour 15 --scale 1:5"
    )
    same = run_json(
        "start",
        *words.split(),
        "--seconds-per-rating",
        20,
        "--difference",
        0.5,
        "--limit",
        "budget=300",
        "--assume-rest",
    )
    assert record["rows"] == same["rows"]
    assert max(map(len, asked.stderr.splitlines())) <= 80
    assert "nowhere.csv" in asked.stderr
    assert "below 4" in asked.stderr
    assert "60 items; 10 workers; 2 systems: baseline, new; scale 1:5" in asked.stderr


@pytest.mark.usefixtures("terminal")
def test_b_goes_back_as_far_as_one_likes_and_the_new_answer_counts() -> None:
    typed = ["b", "2", "2", "yes.csv", "b", "b", "b", "4", "1", "0.3", "b", "?", "nothing"]
    asked = run("start", "--json", stdin="\n".join(typed) + "\n")
    record = json.loads(asked.stdout)
    assert record["answers"]["judgement"] == "score"
    assert record["answers"]["difference"] == "unknown"
    assert "file" not in record["answers"]


@pytest.mark.usefixtures("terminal")
def test_what_options_say_is_not_asked() -> None:
    words = "--judgement corpus --have nothing --limit items=90"
    asked = run("start", *words.split(), "--json", stdin="2\n")
    record = json.loads(asked.stdout)
    assert record["answers"] == {
        "judgement": "corpus",
        "have": "nothing",
        "difference": "2",
        "limit": "items",
        "amount": "90",
    }
    assert "What is one judgement" not in asked.stderr


@pytest.mark.usefixtures("terminal")
def test_whoever_stops_is_told_that_nothing_was_written() -> None:
    stopped = run("start", "-o", "never.sh", stdin="1\n", code=130)
    assert "nothing was written" in stopped.stderr
    assert not Path("never.sh").exists()


@pytest.mark.usefixtures("terminal")
def test_questions_without_colour_have_no_codes_of_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run("start", "--judgement", "score", stdin="1\n?\n4\nnothing\n").output


def test_piped_answers_are_not_taken_for_somebody() -> None:
    assert "no terminal" in re.sub(r"\s+", " ", run("start", stdin="1\n1\n", code=2).stderr)


@pytest.mark.parametrize(
    ("judgement", "pilot", "called"),
    [
        ("points", "pilot.csv", "ratings.csv"),
        ("points", "pilot.csv", "answers.csv"),
        ("preference", "choices.csv", "preferences.csv"),
        ("score", "scores.csv", "scores.csv"),
    ],
)
def test_a_pilot_is_never_taken_for_what_is_still_to_come(
    judgement: str, pilot: str, called: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(called).write_bytes((folder / pilot).read_bytes())
    rows = run_json("start", "--judgement", judgement, "--have", "pilot", "--file", called)["rows"]
    later = [row["command"] for row in rows if row["phase"] == "later"]
    assert any(f"study-{called}" in words for words in later)
    assert not any(called in words for words in later)


def test_a_study_of_a_pilot_called_ratings_can_be_planned(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ratings.csv").write_bytes((folder / "pilot.csv").read_bytes())
    run("start", "--have", "pilot", "--file", "ratings.csv", "--limit", "items=40", "-o", "study.toml")
    study = Path("study.toml").read_text(encoding="utf-8")
    assert 'pilot = "ratings.csv"' in study
    assert 'ratings = "study-ratings.csv"' in study
    run("plan", "study.toml", "--simulations", "20", "--jobs", "1", code=None)
    assert Path("plan", "plan.json").exists()
    both = study.replace("study-ratings.csv", "ratings.csv")
    Path("both.toml").write_text(both, encoding="utf-8")
    refused = run("plan", "both.toml", "-o", "another", code=2).stderr
    assert "Give [files] ratings another name." in " ".join(refused.split())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--limit 300€", "Amounts are in US dollars here; got '300€'."),
        ("--limit budget=300EUR", "--currency EUR"),
        (
            "--n-systems 8 --baseline A",
            "--baseline A: the systems have no names. Name them all with --systems",
        ),
        ("--have results", "'more survey' and 'power' what it could have found."),
        ("--n-systems 2 --baseline A", "--baseline: with the other answers nothing asks for it."),
    ],
)
def test_an_answer_that_cannot_be_taken_says_what_to_give(words: str, told: str) -> None:
    assert told in " ".join(run("start", "--have", "nothing", *words.split(), code=2).stderr.split())


def test_a_file_with_columns_of_its_own_is_led_to_import(tmp_path: Path) -> None:
    path = tmp_path / "umfrage.csv"
    path.write_text("Teilnehmer;Satz;System;Note\na;1;A;k.A.\n", encoding="utf-8")
    refused = " ".join(run("start", "--have", "pilot", "--file", path, code=2).stderr.split())
    assert "no column was found for: worker, item, rating" in refused
    assert "--from table --draft -o mapping.toml" in refused
    assert "--worker" not in refused  # which this command has not
