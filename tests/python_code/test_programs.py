"""Every command that has a Python program gives what the program gives."""

import ast
import contextlib
import shlex
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from cases import each_case
from cli import run
from every_command import write_inputs
from programs import both, differences, python_of

from humeval_power.asking.expressions import WIDTH, call, written
from humeval_power.doors.page.answers import Work, answer
from humeval_power.doors.terminal.main import main

CLASSES = "--prevalence 0.1 --recall 0.7 --precision 0.65 --correctness-correlation 0.5"
SMALL = "--workers 6 --items 24"
QUICK = "--simulations 40 --seed 3"
ASKED = f"power --preset low {SMALL} {QUICK}"

# name: a command line; together they say everything that a program of these commands can say.
LINES = {
    "power points": f"{ASKED} --scale 1:5 --effect-raw 0.5 --strict",
    "power lower is better": f"{ASKED} --scale 1:5 --lower-is-better --effect-raw -0.5 --method simulate",
    "power unpaired": f"{ASKED} --effect 0.1 --ratings-per-item 2 --unpaired --max-ratings-per-worker 30",
    "power design": f"{ASKED} --effect 0.1 --design counterbalanced",
    "power documents": f"{ASKED} --effect 0.1 --items-per-document 5",
    "power likert": f"{ASKED} --effect 0.1 --response likert --scale 1:5",
    "power losses": f"{ASKED} --effect 0.1 --lost 0.1 --careless 0.2 --exclusion suspicious",
    "power rule": f"{ASKED} --effect 0.1 --df satterthwaite --alternative greater --analysis differences",
    "power margin": f"{ASKED} --scale 0:10 --alternative non-inferior --margin-raw 1 --effect 0.02",
    "power shares": f"{ASKED} --effect 0.1 --shares .1,.2,.4,.2,.1 --method analytic",
    "power values": f"power --values sd_worker_slope=.1,sd_residual=.2 {SMALL} {QUICK} --effect .1",
    "power card": f"power --preset high {SMALL} {QUICK} --effect 0.05 --compat card2020 --half-width 0.2",
    "power file": f"power --parameters parameters.json {SMALL} --effect 0.1 --method analytic",
    "power systems": f"power --preset low {SMALL} {QUICK} --systems a,b,c --effect 0.1 --goal all --baseline b",
    "power means": f"power --preset low {SMALL} {QUICK} --system-means .5,.6,.7 --correction none",
    "mde points": f"mde --preset low {SMALL} --scale 1:7 --method analytic --power 0.9",
    "mde margin": f"mde --preset low {SMALL} --alternative equivalent --effect 0.01 --method analytic",
    "mde systems": f"mde --preset low {SMALL} --n-systems 3 --pattern steps --method analytic",
    "size points": f"size --preset low --find workers --items 60 --scale 1:5 --effect-raw 0.5 {QUICK}",
    "size documents": "size --preset low --find documents --items-per-document 4 --workers 9 --effect "
    f"0.2 {QUICK}",
    "size systems": f"size --preset low --find items --workers 9 --n-systems 3 --effect 0.2 {QUICK}",
    "surface points": "surface --preset low,high --workers 4,6 --items 20 --scale 1:5 --effect-raw "
    f"0.5,1 {QUICK}",
    "surface card": f"surface --preset low --workers 4,6 --items 20 --effect 0.1 --compare card2020 {QUICK}",
    "surface margin": "surface --preset low --workers 4 --items 20 --alternative equivalent --margin "
    f"0.2 {QUICK}",
    "surface systems": f"surface --preset low --workers 4,5 --items 20 --n-systems 3 --effect 0.1,0.2 {QUICK}",
    "fit formula": "fit pilot.csv --formula 'rating ~ system + (1 + system || worker) + (1 + system || item)'",
    "fit options": "fit pilot.csv --missing 9 --scale 1:5 --worker-item --systems baseline,new",
    "fit margin": "fit pilot.csv --scale 1:5 --alternative equivalent --margin-raw 0.4 --alpha 0.1",
    "check options": "check pilot.csv --scale 1:5 --systems new,baseline",
    "analyze": "analyze pilot.csv --effect-of-interest 0.1 --correlated worker",
    "analyze points": "analyze pilot.csv --scale 1:5 --effect-of-interest-raw 0.4 --exclude-if agreement=0.1",
    "analyze many": "analyze five.csv --scale 1:5 --baseline base --correction bonferroni",
    "plan presets": "plan --preset high,low --effect .15 --items 20:100:20 --max-workers 12 --cost-per-rating .1 "
    f"--robust --research-question 'Is B better?' --exclude 'late' --date 2026-01-02 {QUICK}",
    "plan pilot": "plan pilot.csv --scale 1:5 --effect-raw 0.6 --items 30,60 --workers 8:20 --pay-per-hour 9 "
    f"--seconds-per-rating 30 --fee prolific --budget 900 --ratings-per-item 2,3 --safe 0.8 {QUICK}",
    "plan file": "plan --parameters parameters.json --effect .2 --items 40:80:10 --max-workers 12 --assurance .6 "
    f"--cost-per-rating 1 --cost-per-worker 2.5 --fee-share 0.2 --exclude-if agreement=0.2 {QUICK}",
    "plan looks": "plan --preset low --effect 0.2 --items 40:80:10 --max-workers 12 --cost-per-rating 1 "
    f"--looks 2 --efficacy pocock {QUICK}",
    "plan usual": f"plan --scale 1:5 --effect 0.2 --items 40:80:10 --max-workers 12 --cost-per-rating 1 {QUICK}",
    "plan shares": "plan --preset low --shares .1,.2,.4,.2,.1 --effect 0.2 --items 60 --workers 12 "
    f"--cost-per-rating 1 {QUICK}",
    "plan systems": "plan --preset low --systems a,b,c --effect 0.2 --items 40:80:20 --max-workers 9 "
    f"--cost-per-rating 1 --goal best --correction none {QUICK}",
    "plan criteria": "plan --preset low --criteria fluency,adequacy --effect 0.2 --items 40:80:20 --max-workers 9 "
    f"--cost-per-rating 1 --scale 1:5 {QUICK}",
    "looks study": f"looks study --preset high {SMALL} --effect 0.2 --looks 0.5,1 --futility p:0.5 {QUICK}",
    "looks points": f"looks study --preset high {SMALL} --scale 1:5 --effect-raw 0.8 --looks-by workers {QUICK}",
    "looks scores": f"looks scores --n 90 --effect 5 --systems old,new --looks 2 --alpha 0.1 {QUICK}",
    "looks preference": f"looks preference --n 90 --effect 0.1 --tie-rule kept --tie-share 0.1 {QUICK}",
    "looks accuracy": f"looks accuracy --n 90 --effect 0.1 --agreement 0.8 --test exact {QUICK}",
    "simulate": f"simulate --preset low {SMALL} --scale 1:5 --effect 0.1 --lost 0.1 --response likert --seed 4",
    "simulate systems": f"simulate --preset low {SMALL} --n-systems 3 --effect 0.1 --pattern steps",
    "calibrate": f"calibrate --preset low {SMALL} --ratings-per-item 2 --alternative greater {QUICK}",
    "calibrate systems": f"calibrate --preset low {SMALL} --n-systems 3 --baseline A {QUICK}",
    "assign": "assign --workers 4 --items 6 --ratings-per-item 2 --batch-size 4 --checks 0.2 --order blocked",
    "assign systems": "assign --workers 4 --items 6 --systems a,b,c --replacements 1 --replace r01=w02:1",
    "assign key": "assign --workers 4 --items 6 --systems a,b,c --replacements 1 --replace r01=w02:1 --key k.csv",
    "parameters list": "parameters list",
    "parameters show": "parameters show pplm-fluency-rerank",
    "start": "start --have nothing --judgement points --difference 0.5 --assume-rest --n-systems 3",
    "accuracy power": "accuracy power --n 90 --effect 0.04 --baseline-accuracy 0.9 --test exact --alpha 0.1 "
    f"{QUICK}",
    "accuracy unpaired": f"accuracy power --n 90 --effect 0.04 --baseline-accuracy 0.9 --test unpaired {QUICK}",
    "accuracy mde": f"accuracy mde --n 300 --agreement 0.9 --power 0.9 --method analytic {QUICK}",
    "accuracy mde unpaired": "accuracy mde --n 300 --baseline-accuracy 0.8 --test unpaired",
    "accuracy size": "accuracy size --effect 0.05 --baseline-accuracy 0.9 --overlap squad --highest 5000",
    "accuracy surface": f"accuracy surface --n 100:300:100 --effect 0.02,0.05 --agreement 0.9 {QUICK}",
    "accuracy test files": "accuracy test a_labels.csv b_labels.csv --gold gold.csv --alpha 0.1",
    "accuracy test counts": "accuracy test --only-b 16 --only-a 6 --n 161",
    "accuracy estimate": "accuracy estimate a_labels.csv b_labels.csv --gold gold.csv --column label",
    "runs test": "runs test generations.csv --run generation --item item --system system --score score "
    "--systems new,old --cluster passage --nested --family gaussian --alternative equivalent --margin 0.1 "
    "--alpha 0.1 --drop-missing",
    "compare runs": "compare scores generations.csv --run generation --score score --cluster passage",
    "accuracy runs": "accuracy test prompts.csv --run prompt --systems new,old --alpha 0.1",
    "runs check": "runs check prompts.csv",
    "accuracy bounds": "accuracy bounds --n 147 --baseline-accuracy 0.945 --power 0.9 --test mid-p",
    "accuracy claims": "accuracy claims claims.csv --overlap middle",
    "accuracy overlap": "accuracy overlap system_pairs.csv",
    "accuracy leaderboard": "accuracy leaderboard board.csv --n 1000 --alpha 0.1",
    "preference power": "preference power --n 60 --effect 0.1 --tie-rule kept --tie-share 0.2 --test mid-p "
    f"{QUICK}",
    "preference panel": "preference power --n 60 --effect 0.1 --workers 6 --sd-worker 0.4 --method analytic",
    "preference mde panel": "preference mde --n 60 --workers 6 --sd-worker 0.4 --method analytic",
    "preference size panel": "preference size --effect 0.2 --workers 9 --items 40 --sd-worker 0.3 --sd-item 0.3 "
    "--method analytic",
    "preference test": "preference test --wins 40 --losses 22 --ties 10 --alpha 0.1",
    "preference test table": "preference test choices.csv --link logit",
    "rank scores": "rank scores scores.csv --alpha 0.1 --seed 5",
    "rank scores clusters": "rank scores five_scores.csv --cluster passage --lower-is-better "
    "--systems one,two,five",
    "rank power": f"rank power --n 600 --effect 0.1 --n-systems 4 --tie-share 0.2 --alpha 0.1 {QUICK}",
    "rank mde": "rank mde --n 900 --n-systems 4 --design-effect 1.3 --method analytic",
    "rank size scores": "rank size --effect 0.1 --n-systems 4 --sd-difference 0.3 --method analytic",
    "rank battles": "rank battles battles.csv --tie-model rao-kupper --no-position-bias --cluster item --alpha 0.1 "
    "--seed 5",
    "rank battles some": "rank battles battles.csv --systems atlas,birch,delta",
    "corpus power": "corpus power --n 300 --effect 1 --p0 0.2 --bleu-preset wmt19-tf19-tf18 --test flips "
    f"--flips 50 {QUICK}",
    "corpus mde": "corpus mde --n 300 --b0 30 --method analytic",
    "corpus test": "corpus test --system-a a.txt --system-b b.txt --reference reference.txt "
    "--metric chrf --swaps 50",
    "contingency power": f"contingency power {{CLASSES}} --n 90 --effect 0.05 --metric mcc {QUICK}",
    "contingency files": "contingency mde --gold gold.txt --system-a a_labels.txt --system-b b_labels.txt --n 90 "
    "--method analytic",
    "contingency classes": "contingency power --class-shares .5,.3,.2 "
    "--class-recalls .8,.7,.6 --label-agreement 0.8 --n 60 "
    f"--effect 0.03 --metric macro-f1 --flips 20 {QUICK}",
    "contingency test": "contingency test --gold gold.txt --system-a a_labels.txt --system-b "
    "b_labels.txt --positive 0",
    "compare scores": "compare scores.csv --question mean --test t --effect 0.02 --margin 0.1 "
    f"--resamples 50 {QUICK}",
    "compare units": "compare scores scores.csv --question mean --unit-size 2 --unit-by median "
    f"--shuffle-seed 3 {QUICK}",
    "compare clusters": f"compare scores passages.csv --question better --cluster passage {QUICK}",
    "compare power": "compare power --n 60 --effect 0.05 --sd-difference 0.2 --test wilcoxon "
    f"--alternative greater {QUICK}",
    "compare mde": "compare mde --n 60 --sd-difference 0.2 --alpha 0.01",
    "compare prospective": "compare prospective --effect 0.02 --sd-difference 0.1 --power 0.9 --margin 0.05",
    "compare primer": "compare primer --n 500 --helped 10 --hurt 7",
    "compare primer-table": "compare primer-table --n 100,200 --hurt-share 0.1",
    "assessment power": "assessment power --n 60 --effect 0.4 --scale 1:5 --mean 3 --sd 1 --test welch "
    f"{QUICK}",
    "assessment mde": "assessment mde --n 600 --no-continuity",
    "judge mean": "judge mean --n 100 --extra 1000 --correlation 0.7 --sd 2 --sd-judge 3",
    "judge study": "judge study --preset low --workers 10 --items 100 --scale 1:5 --effect-raw 0.4 --extra 500 "
    "--correlation 0.6 --ratings-per-item 3",
    "judge check": "judge check judged_by_workers.csv --cluster passage --label-origin random --half-width 0.2 "
    "--human human --judge judge",
    "judge words": "judge check graded.csv --words pass=1,fail=0",
    "judge estimate": "judge estimate judged.csv --confidence 0.9",
    "judge workers": "judge estimate judged_by_workers.csv --systems A,B --cluster passage --worker worker",
    "judge systems": "judge estimate judged_by_workers.csv --average-workers --own A --baseline C --seed 3",
    "judge plan": "judge plan --preset low --scale 1:5 --effect-raw 0.8 --max-extra 200 --correlation 0.8 "
    "--power 0.7 --cost-per-rating 0.1 --cost-per-score 0.01 --min-workers 5 --max-workers 6 "
    "--max-ratings-per-item 2 --max-ratings-per-worker 90 --simulations 15 --seed 2",
    "judge budget": "judge plan --preset low --effect 0.1 --max-extra 300 --correlation 0.8,0.6 --between 0.4 "
    "--reliability 0.7 --cost-per-rating 0.1 --cost-per-worker 3 --cost-per-score 0.002,0.001 --budget 40 "
    "--max-workers 6 --simulations 2",
    "judge sample": "judge sample judged.csv --n 20 --judge judge --seed 3",
    "judge length": "judge length lengths.csv --length words --confidence 0.9",
    "judge position": "judge position verdicts.csv --confidence 0.9",
    "judge agreement": "judge agreement judged_by_workers.csv --systems A,B --cluster passage --confidence 0.9",
    "judge bias": "judge bias judged_by_workers.csv --own A --same-scale --cluster passage --confidence 0.9",
    "resample": "resample pilot.csv --scale 1:5 --shift-raw 0.4 --unit item --items 20,30 --tests "
    f"wilcoxon,mixed {QUICK}",
    "survey": "survey papers.csv --preset high,low --scale 1:5 --effect 0.1 --if-no-workers 5",
}
SLOW = {
    "judge plan",
    "plan usual",
    "mde systems",
    "power file",
    "surface systems",
    "power unpaired",
    "surface card",
    "analyze many",
    "power card",
    "plan file",
    "plan looks",
    "plan shares",
    "plan systems",
    "power systems",
    "resample",
    "preference size panel",
    "preference test table",
    "analyze",
    "plan pilot",
    "plan criteria",
    "power losses",
    "corpus power",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("programs")
    write_inputs(place)
    with contextlib.chdir(place):
        run("fit", "pilot.csv", "--scale", "1:5", "-o", "parameters.json")
        run("assign", "--workers", 4, "--items", 6, "--systems", "a,b,c", "--key", "k.csv")
    return place


@pytest.fixture
def there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    return folder


def words_of(line: str) -> list[str]:
    return shlex.split(line.replace("{CLASSES}", CLASSES))


@pytest.mark.long
@pytest.mark.usefixtures("there")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in SLOW or place % 3 else [])
        for place, name in enumerate(LINES)
    ],
)
def test_the_program_gives_what_the_command_gives(name: str) -> None:
    assert differences(*both(*words_of(LINES[name]))) == []


@pytest.mark.usefixtures("there")
@each_case("name", LINES)
def test_a_program_is_ready_to_paste(name: str) -> None:
    program = python_of(words_of(LINES[name]))
    ast.parse(program)
    assert program.startswith("import humeval_power as hp\n") or "\nimport humeval_power as hp\n" in program
    assert program.endswith("\nprint(result)\n")
    assert max(map(len, program.splitlines())) <= WIDTH


HOSTILE = [
    "it's",
    'a "quote"',
    "back\\slash",
    "new\nline",
    "')\nimport os #",
    "{x}",
    "ümläut 漢字 🦉",
    "x" * 300,
    "'\"" * 90,
    "\u202etxt",
    "a b\t\x1b[31m",
]


@each_case("text", HOSTILE)
def test_a_text_stays_what_it_is_in_a_program(text: str) -> None:
    line = written(call("f", text, [text, text], a={text: (text,)}, b=text))
    assert max(map(len, line.splitlines())) <= WIDTH or len(text) < 100
    found = eval(line, {"f": lambda *given, **named: (given, named)})
    assert found == ((text, [text, text]), {"a": {text: (text,)}, "b": text})


@each_case("text", HOSTILE)
def test_a_hostile_name_cannot_leave_its_quotes(text: str) -> None:
    program = python_of(["fit", f"--worker={text}", f"--missing={text}", "--", f"{text}.csv"])
    constants = {node.value for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Constant)}
    assert {text, f"{text}.csv"} <= constants
    assert {node.id for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Name)} <= {
        "hp",
        "study",
        "result",
        "print",
    }


def commands_with_code(
    command: click.Command, context: click.Context, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """All commands that print programs, by their words."""
    if any(option.name == "code" for option in command.params):
        yield path, command
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from commands_with_code(inner, context, (*path, name))


def test_every_command_has_a_program_or_a_reason_why_not() -> None:
    found = dict(commands_with_code(main, click.Context(main)))
    assert len(found) > 80
    has = {path: getattr(one, "program", None) for path, one in found.items()}
    why = {path: getattr(one, "no_program", "") for path, one in found.items()}
    assert [path for path in found if bool(has[path]) == bool(why[path])] == []
    assert sum(map(bool, why.values())) <= 15


def test_a_command_without_a_program_says_why(tmp_path: Path) -> None:
    refused = run("cite", str(tmp_path), "--code", "python", code=2)
    assert "hp.cite takes records" in " ".join(refused.stderr.split())
    assert python_of(["cite", str(tmp_path)]) == ""


def test_a_program_is_written_in_no_time() -> None:
    words = words_of(f"{ASKED} --effect 0.1")
    python_of(words)
    start = time.process_time()
    for _ in range(20):
        python_of(words)
    assert (time.process_time() - start) / 20 < 0.025  # 4 ms here; the page asks for it at each answer


def test_the_page_tells_the_program() -> None:
    words = words_of(f"{ASKED} --effect 0.1 --method analytic")
    assert answer(Work(tuple(words)), lambda _told: None).python == python_of(words)


@each_case(
    "words",
    [
        [],
        ["power"],
        ["nothing"],
        ["power", "--help"],
        ["--version"],
        ["power", "--workers", "x"],
        ["accuracy"],
    ],
)
def test_words_that_are_no_command_have_no_program(words: list[str]) -> None:
    assert python_of(words) == ""


@pytest.mark.usefixtures("there")
def test_an_option_that_no_program_says_leaves_none() -> None:
    line = f"{ASKED} --effect 0.1 --plan plan.json --amend reason"
    assert python_of(words_of(line)) == ""
    refused = run(*words_of(line), "--code", "python", code=2)
    assert "amend" in refused.stderr


@pytest.mark.usefixtures("there")
def test_the_terminal_prints_or_writes_the_program_and_computes_nothing(tmp_path: Path) -> None:
    words = words_of(f"{ASKED} --effect 0.1")
    printed = run(*words, "--code", "python").stdout
    assert printed == python_of(words)
    target = tmp_path / "power.py"
    assert run(*words, "--code", "python", "-o", str(target)).stdout == ""
    assert target.read_text() == printed
    assert "PY" in run(*words, "--code", "python", "-o", "power.json", code=2).stderr


def test_a_command_below_more_is_called_by_its_own_name() -> None:
    said = run(
        "calibrate", "--preset", "low", "--workers", 4, "--items", 20, "--no-study", "--code", "python"
    )
    assert "result = hp.calibrate(study)" in said.stdout


def test_where_a_result_goes_is_no_part_of_a_program() -> None:
    words = words_of(f"{ASKED} --effect 0.1")
    assert python_of([*words, "-o", "x.html", "--json", "--jobs", "2", "--force", "-q"]) == python_of(words)
