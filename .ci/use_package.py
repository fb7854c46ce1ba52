"""Use the installed package as a stranger does, and print the numbers that it found; run by the Python that has it.

    python use_package.py DATA COMMIT

DATA is the folder of shipped tables. No test of the checkout is needed: it must not be seen.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

TEXTS = ("a.txt", "b.txt", "r.txt")


def run(*words: str, code: int = 0) -> str:
    """What a command prints; it must end with this code, without a traceback or a warning of Python's."""
    program = Path(sys.executable).with_name("humeval-power")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run([program, *words], capture_output=True, text=True, env=environment, check=False)
    said = f"humeval-power {' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}"
    if done.returncode != code or "Traceback" in said or "Warning:" in said:
        sys.exit(said)
    return done.stdout + (done.stderr if code else "")


def must(holds: bool, what: str) -> None:
    if not holds:
        sys.exit(f"{sys.executable}: {what}")


def missing_extras() -> None:
    """The core alone is installed: what needs more says how to get it."""
    for name in TEXTS:
        Path(name).write_text("one line\nand another\n")
    texts = ("--system-a", "a.txt", "--system-b", "b.txt", "--reference", "r.txt")
    for extra, words in {"mt": ("corpus", "test", *texts), "page": ("page", "--no-browser")}.items():
        told = " ".join(run(*words, code=1).split())
        must(f"pip install 'humeval-power[{extra}]'" in told, f"no word of [{extra}]: {told}")


def metadata_and_types(package: Path) -> None:
    about = metadata.metadata("humeval-power")
    must(about["License-Expression"] == "MIT", "no licence")
    must("Typing :: Typed" in about.get_all("Classifier", []), "not classified as typed")
    must("# humeval_power" in str(about.get_payload()), "no README in the metadata")
    must((package / "py.typed").is_file(), "no py.typed")
    must((package / "__init__.pyi").is_file(), "no types of the names that load late")
    must(not [path for path in package.parent.glob("tests*") if path.is_dir()], "tests are installed too")


def main() -> None:
    data, commit = Path(sys.argv[1]).resolve(), sys.argv[2]
    os.chdir(tempfile.mkdtemp())
    import humeval_power as hp

    package = Path(hp.__file__).parent
    must(package.is_relative_to(sys.prefix), f"another copy is used: {package}")
    metadata_and_types(package)
    must(commit[:9] in run("--version"), "--version does not tell the commit")
    must("@" in run("cite"), "cite prints no entry")
    must("humeval-power" in run("completion", "bash"), "no completion")
    missing_extras()
    pilot = str(data / "pilot.csv")
    run("check", pilot, "--scale", "1:5")
    run("fit", pilot, "--scale", "1:5", "-o", "parameters.json")
    fit = json.loads(run("fit", pilot, "--scale", "1:5", "--json"))
    study = (
        "--parameters",
        "parameters.json",
        "--workers",
        "7",
        "--items",
        "20",
        "--ratings-per-item",
        "3",
    )
    run("simulate", *study[:6], "--seed", "1", "--scale", "1:5", "-o", "study.csv")
    drawn = ("--effect", "0.1", "--simulations", "200", "--seed", "3")
    power = json.loads(run("power", *study, *drawn, "--json"))  # compiles the kernels
    run(
        "surface",
        "--preset",
        "high",
        "--workers",
        "3,10",
        "--items",
        "50",
        "--effect",
        "0.2",
        "-o",
        "surface/",
    )
    run("report", "parameters.json", "surface", "--form", "card2020", "-o", "report.html")
    must(Path("surface", "surface.png").stat().st_size > 1000, "no picture")
    must(
        "Effect new - baseline" in str(hp.fit(hp.read_ratings(pilot, scale="1:5"))),
        "hp.fit does not print itself",
    )
    print(json.dumps(numbers({"fit": fit, "power": power})))


def numbers(record: object, path: str = "") -> dict[str, float]:
    """Every number of a record by its place, but those of versions and times."""
    if isinstance(record, bool) or record is None:
        return {}
    if isinstance(record, int | float):
        return {path: float(record)}
    found: dict[str, float] = {}
    if isinstance(record, dict):
        for key, value in record.items():
            if not re.search("version|second|created|package", key):
                found |= numbers(value, f"{path}.{key}")
    if isinstance(record, list):
        for place, value in enumerate(record):
            found |= numbers(value, f"{path}[{place}]")
    return found


if __name__ == "__main__":
    main()
