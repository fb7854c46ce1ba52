"""Make docs/images/one-study.png, the two pictures that decide a plan, as the worked example writes them,
docs/images/ranking.png, the findings of docs/many-systems.md, and docs/images/compare.png, with which the README
begins.

python docs/make_pictures.py [FOLDER]     FOLDER keeps the files of the examples
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.image
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ("plan/power.png", "plan/front.png")
WHITE = 1.0


def beside(folder: Path) -> np.ndarray:
    """The pictures side by side, the shorter one filled up with white below."""
    found = [matplotlib.image.imread(folder / name)[..., :3] for name in PICTURES]
    tallest = max(len(picture) for picture in found)
    filled = [
        np.pad(picture, ((0, tallest - len(picture)), (20, 20), (0, 0)), constant_values=WHITE)
        for picture in found
    ]
    return np.concatenate(filled, axis=1)


def findings(folder: Path, paths: dict[str, str]) -> None:
    """Make the table of docs/many-systems.md, compare its systems, and keep the picture of the findings."""
    page = (ROOT / "docs" / "many-systems.md").read_text("utf-8")
    script = re.search(r"<!-- setup\n(.*?)-->", page, re.DOTALL)
    assert script is not None
    subprocess.run([sys.executable, "-c", script[1]], check=True, cwd=folder)
    words = "analyze five.csv --scale 1:5 --all-pairs --model joint --criteria all -o five/ --force -q"
    subprocess.run(["humeval-power", *words.split()], check=True, cwd=folder, env=paths)
    target = ROOT / "docs" / "images" / "ranking.png"
    shutil.copy(folder / "five" / "ranking.png", target)
    print(f"Written: {target.relative_to(ROOT)}")


def two_tests(folder: Path, paths: dict[str, str]) -> None:
    """Power by the rule of Card et al. (2020) and by the default test."""
    words = "surface --preset high,low --workers 3,10 --items 50,100,500 --effect 0.05:0.4:0.05 --compare card2020"
    more = "--simulations 10000 -o two-tests/ --force -q"
    subprocess.run(["humeval-power", *words.split(), *more.split()], check=True, cwd=folder, env=paths)
    target = ROOT / "docs" / "images" / "compare.png"
    shutil.copy(folder / "two-tests" / "surface.png", target)
    print(f"Written: {target.relative_to(ROOT)}")


def main(folder: Path) -> None:
    """Run the examples; the pictures of the plan stand beside each other."""
    folder.mkdir(parents=True, exist_ok=True)
    programs = str(Path(sys.executable).parent)
    paths = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    two_tests(folder, paths)
    findings(folder, paths)
    subprocess.run(["bash", ROOT / "examples" / "one_study.sh", folder], check=True, env=paths)
    target = ROOT / "docs" / "images" / "one-study.png"
    matplotlib.image.imsave(target, beside(folder), metadata={"Software": None})
    print(f"Written: {target.relative_to(ROOT)}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as scratch:
            main(Path(scratch))
