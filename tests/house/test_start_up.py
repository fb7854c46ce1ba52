"""What a start imports: help, completion and wrong options nothing heavy, a command only what it uses.

Modules are counted, never time, which depends on the machine. One fresh interpreter serves all checks of what is
light; a command that computes needs one of its own.
"""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
from cases import few_fast
from places import ROOT

from humeval_power import choices
from humeval_power.comparisons.accuracy.claims import PRIORS
from humeval_power.doors.terminal.main import COMMANDS
from humeval_power.files.exports.platforms import PLATFORMS
from humeval_power.files.logs.reading import HARNESSES
from humeval_power.studies.field.uploads import UPLOADERS

HEAVY = (
    *(
        "numpy",
        "pandas",
        "scipy",
        "numba",
        "statsmodels",
        "matplotlib",
        "pyarrow",
        "pydantic",
        "rich",
        "jinja2",
    ),
    *("sacrebleu", "formulaic", "openpyxl"),
)

LIGHT_STARTS = f"""
import contextlib, importlib.util, io, json, sys

heavy = lambda: [name for name in {HEAVY!r} if name in sys.modules]
ours = lambda: [name for name in sys.modules if name.startswith("humeval_power.")]
found = {{}}

import humeval_power
found["package"] = ours() + heavy() + [name for name in ("click",) if name in sys.modules]
humeval_power.InputError
found["name"] = heavy() + [name for name in ("click",) if name in sys.modules]

from humeval_power.asking.command_groups import FOLDED
from humeval_power.doors.terminal.main import COMMANDS, main, module_of
found["program"] = heavy()

import click
from click.shell_completion import ShellComplete

def shown(*words):
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        main([*words], prog_name="humeval-power", standalone_mode=False)
    return told.getvalue()

found["help"] = shown("--help")
found["modules of help"] = len(sys.modules)
found["commands of help"] = [name for name in COMMANDS | FOLDED if module_of(name) in sys.modules]
found["after help"] = heavy()

helps, completed, refused, brought = {{}}, {{}}, {{}}, {{}}

def note(what):
    for name in heavy():
        brought.setdefault(name, what)

def look(command, *words):
    typed = " ".join(words)
    helps[typed] = shown(*words, "--help")
    note(f"{{typed}} --help")
    asked = ShellComplete(main, {{}}, "humeval-power", "_HUMEVAL_POWER_COMPLETE")
    completed[typed] = [item.value for item in asked.get_completions([*words], "--")]
    note(f"completion of {{typed}} --")
    if isinstance(command, click.Group):
        if any(isinstance(each, click.Argument) and each.required for each in command.params):
            words += ("study:make",)
        context = click.Context(command)
        for name in command.list_commands(context):
            look(command.get_command(context, name), *words, name)
        return
    try:
        shown(*words, "--no-such-option")
    except click.UsageError as error:
        refused[typed] = error.exit_code
    note(f"{{typed}} --no-such-option")

for name in COMMANDS:
    look(main.get_command(click.Context(main), name), name)
found |= {{"helps": helps, "completed": completed, "refused": refused, "brought": brought}}
found["modules of all helps"] = len(sys.modules)

if all(importlib.util.find_spec(name) for name in ("starlette", "uvicorn")):
    import humeval_power.doors.page.app
    found["page"] = heavy()

import humeval_power.studies.plan.ask_held, humeval_power.studies.plan.files
found["plan file"] = "pydantic" in sys.modules
print(json.dumps(found))
"""


def in_a_fresh_interpreter(code: str, *words: str) -> Any:
    """What a program prints last, as JSON."""
    ended = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return json.loads(ended.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def started() -> dict[str, Any]:
    found: dict[str, Any] = in_a_fresh_interpreter(LIGHT_STARTS)
    return found


def test_importing_the_package_loads_none_of_its_modules_and_no_heavy_package(started):
    assert started["package"] == ["humeval_power.lazy_names"]


def test_one_name_loads_only_what_it_needs(started):
    assert started["name"] == []


def test_the_first_help_lists_the_commands_and_imports_none_of_them_nor_what_they_need(started):
    assert all(f"\n  {name} " in started["help"] for name in COMMANDS)
    assert started["commands of help"] == []
    assert started["program"] == started["after help"] == []


def test_help_completion_and_wrong_options_of_every_command_import_nothing_heavy(started):
    helps, completed, refused = (started[name] for name in ("helps", "completed", "refused"))
    assert {words.split()[0] for words in helps} == set(COMMANDS)
    assert len(helps) > len(refused) > 90  # groups, and commands that take options
    for words, text in helps.items():
        assert text.startswith("Usage: humeval-power "), words
        assert f" {words.split()[-1]} " in text.splitlines()[0], words
        assert "--help" in completed[words], words
    assert set(refused.values()) == {2}
    assert set(helps) - set(refused) == {
        words for words in helps if any(w.startswith(f"{words} ") for w in helps)
    }
    assert started["brought"] == {}, "what brought each heavy package first"


def test_help_imports_few_modules(started):
    # Python's own, click and a dozen of ours: 143 with Python 3.11; all 112 helps together 458
    assert started["modules of help"] < 175
    assert started["modules of all helps"] < 520


def test_the_servers_process_loads_nothing_heavy(started):
    if "page" not in started:
        pytest.skip("the page's packages are not installed")
    assert set(started["page"]) <= {"jinja2"}  # of its templates


def test_pydantic_is_imported_only_when_a_plan_is_read_or_written(started):
    assert started["plan file"] is False


RUN = f"""
import contextlib, io, json, sys, types
from humeval_power.doors.terminal.main import main
with contextlib.redirect_stdout(io.StringIO()) as told:
    main(sys.argv[1:], prog_name="humeval-power", standalone_mode=False)
print(json.dumps({{
    "told": told.getvalue(),
    "heavy": [name for name in {HEAVY!r} if name in sys.modules],
    "ours": len([name for name in sys.modules if name.partition(".")[0] == "humeval_power"]),
    "all": len(sys.modules),
    "loaded": [name for name in ("numpy.f2py", "numpy.testing") if type(sys.modules.get(name)) is types.ModuleType],
}}))
"""
STUDY = "--preset high --workers 6 --items 20 --ratings-per-item 3 --effect 0.1 --method analytic"


# Bounds of our own modules and of all: what was counted, and a tenth more for other versions of the packages.
@few_fast(
    ("line", "says", "needs", "ours", "modules"),
    [
        (f"power {STUDY}", "By formula", {"numpy", "scipy"}, 205, 845),
        ("check data/pilot.csv --scale 1:5", "360", {"numpy", "pandas", "pyarrow", "scipy"}, 195, 1090),
        (
            "fit data/pilot.csv --scale 1:5",
            "new - baseline",
            {"numpy", "pandas", "pyarrow", "scipy"},
            285,
            1295,
        ),
        (
            "compare scores {scores} --question mean --resamples 100 --power-by formula",
            "B - A",
            {"numpy", "pandas", "pyarrow", "scipy"},
            240,
            1115,
        ),
    ],
    fast=2,
)
def test_a_command_imports_only_what_it_uses(
    line: str, says: str, needs: set[str], ours: int, modules: int, tmp_path: Path
) -> None:
    scores = tmp_path / "scores.csv"
    scores.write_text("item,A,B\n" + "".join(f"i{i},{i % 7 / 7},{i % 5 / 5}\n" for i in range(40)))
    found = in_a_fresh_interpreter(RUN, *shlex.split(line.format(scores=scores)))
    assert says in found["told"]
    assert set(found["heavy"]) <= needs
    assert found["ours"] < ours
    assert found["all"] < modules
    assert found["loaded"] == []  # what SciPy names and nobody uses is postponed


def test_the_names_that_options_offer_are_those_of_what_they_name() -> None:
    assert get_args(choices.PlatformName) == tuple(one.name for one in PLATFORMS)
    assert get_args(choices.HarnessName) == tuple(one.name for one in HARNESSES)
    assert get_args(choices.UploaderName) == tuple(UPLOADERS)
    assert get_args(choices.Prior) == tuple(PRIORS)
