"""The files of one study, written by the commands themselves: pilot, plan, power, surface and analysis."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from click.testing import CliRunner, Result
from seven import seven

from humeval_power.designs import k_per_item
from humeval_power.doors.terminal.main import main
from humeval_power.scales import RatingScale
from humeval_power.simulation.study import simulate

TRUTH = seven(0.55, 0.1, 0.08, 0.05, 0.12, 0.1, 0.18)
N_WORKERS, N_ITEMS = 8, 24


class Names(NamedTuple):
    """What workers, items, systems and the criterion are called; names are numbered where there are many."""

    worker: Sequence[str]
    item: Sequence[str]
    systems: tuple[str, str]
    criterion: str


PLAIN = Names(("w",), ("i",), ("old", "new"), "fluency")


def run(*words: object, code: int = 0) -> Result:
    """A command that ends as it should."""
    result = CliRunner().invoke(main, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def write_ratings(path: Path, names: Names = PLAIN, *, seed: int = 5, lost: int = 0) -> Path:
    """A table of ratings on 1 to 5; the first `lost` are left out."""
    design = k_per_item(N_WORKERS, N_ITEMS, ratings_per_item=3)
    drawn = simulate(TRUTH, design, seed=seed, response="likert", points=5)
    table = drawn.to_frame(RatingScale(1, 5, points=5))
    table["worker"] = [_name(names.worker, code) for code in drawn.worker]
    table["item"] = [_name(names.item, code) for code in drawn.item]
    table["system"] = [names.systems[code] for code in drawn.system]
    table["criterion"] = names.criterion
    table["rating"] = table["rating"].astype(int)
    table.iloc[lost:].to_csv(path, index=False)
    return path


def _name(stems: Sequence[str], code: int) -> str:
    return f"{stems[code % len(stems)]}{code + 1:02d}"


def write_study(folder: Path, names: Names = PLAIN) -> Path:
    """pilot.csv, ratings.csv, parameters.json, plan.json, power.json, surface/ and analysis.json.

    Modules of a process that ask for the same names get copies of one study.
    """
    if names not in _written:
        letter = "abcdefgh"[len(_written)]  # no number, which a report would be asked about
        _written[names] = folder.with_name(f"study-{letter}")
        _written[names].mkdir()
        _write_study(_written[names], names)
    return Path(shutil.copytree(_written[names], folder, dirs_exist_ok=True))


_written: dict[Names, Path] = {}


def _write_study(folder: Path, names: Names) -> None:
    pilot = write_ratings(folder / "pilot.csv", names)
    run("fit", pilot, "--scale", "1:5", "-o", folder / "parameters.json")
    study = ("--workers", "8,10", "--items", "24", "--ratings-per-item", "3", "--effect", "0.1,0.2")
    fitted = ("--parameters", folder / "parameters.json", "--simulations", "60")
    run("surface", *fitted, *study, "-o", folder / "surface")
    run(
        *("power", *fitted, "--workers", "8", "--items", "24", "--ratings-per-item", "3"),
        *("--effect", "0.1", "--json", "-o", folder / "power.json"),
    )
    run(
        *("plan", pilot, "--scale", "1:5", "--effect", "0.12", "--items", "20:60:4", "--max-workers", "20"),
        *("--ratings-per-item", "1:3", "--cost-per-rating", "0.12", "--cost-per-worker", "2"),
        *(
            "--fee",
            "mturk",
            "--simulations",
            "200",
            "--research-question",
            f"Is {names.systems[1]} better?",
        ),
        *("--exclude", f"Ratings of {names.worker[0]}.", "-o", folder / "plan.json"),
    )
    write_ratings(folder / "ratings.csv", names, seed=6, lost=5)
    run(*analysis(folder), "-o", folder / "analysis.json")


def analysis(folder: Path) -> tuple[object, ...]:
    """The words that analyse the study."""
    return ("analyze", folder / "ratings.csv", "--scale", "1:5", "--plan", folder / "plan.json")


def write_pictures(folder: Path) -> Path:
    """The folder of the analysis with its pictures, pictures/, beside the files of a study."""
    run(*analysis(folder), "-o", folder / "pictures")
    return folder / "pictures"


OPTIONS = {"analysis": "findings", "power": "power-file"}


def given(folder: Path, *kinds: str) -> list[object]:
    """The options that name files of the study."""
    paths = {
        "parameters": folder / "parameters.json",
        "analysis": folder / "analysis.json",
        "plan": folder / "plan.json",
        "power": folder / "power.json",
        "surface": folder / "surface",
    }
    return [word for kind in kinds for word in (f"--{OPTIONS.get(kind, kind)}", paths[kind])]


FORMS = {
    "card2020": ("analysis", "plan", "power", "surface"),
    "heds": ("analysis", "plan", "power", "surface"),
    "arr": ("analysis", "plan"),
    "paper": ("analysis", "plan", "power"),
    "aspredicted": ("plan",),
    "osf": ("plan",),
}
FORMATS = ("md", "html", "tex")
