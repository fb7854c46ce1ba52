"""Make docs/images/one-study.png: the worked example as it looks, from the files that it writes.

    python docs/make_pictures.py [FOLDER]     FOLDER keeps the files of the example; Chromium is needed

The pages are photographed by a browser; the figures are those that `plan` and `analyze` wrote.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.image
from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# Panels by place: left, bottom, width and height as shares of the picture.
PANELS = (
    ("1  plan: what does the money buy?", "plan/front.png", (0.01, 0.57, 0.36, 0.38)),
    ("3  report: sentences for the paper", "paper.png", (0.01, 0.01, 0.36, 0.51)),
    ("2  analyze: do workers agree?", "diagnostics/workers.png", (0.385, 0.01, 0.25, 0.94)),
    ("4  report: what is filled, what is open", "report.png", (0.65, 0.01, 0.34, 0.94)),
)


def photograph(page: Path, *, width: int, height: int) -> None:
    """A PNG beside an HTML page, as a browser shows it."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit(f"A browser is needed to photograph pages: {', '.join(BROWSERS)}.")
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += [f"--user-data-dir={profile}", f"--window-size={width},{height}"]
        command += [f"--screenshot={page.with_suffix('.png')}", page.as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=120)


def compose(folder: Path) -> Figure:
    """The panels side by side, each under its title."""
    figure = Figure(figsize=(15, 9), facecolor="white")
    for title, name, place in PANELS:
        axes = figure.add_axes(place)
        axes.imshow(matplotlib.image.imread(folder / name), interpolation="lanczos")
        axes.set_anchor("N")
        axes.set_title(title, loc="left", fontsize=15, color="#1d1d1f")
        axes.set_xticks([])
        axes.set_yticks([])
        for spine in axes.spines.values():
            spine.set_color("#d9d9de")
    return figure


def main(folder: Path) -> None:
    """Run the example, photograph its pages and write the picture."""
    folder.mkdir(parents=True, exist_ok=True)
    beside = str(Path(sys.executable).parent)
    paths = {**os.environ, "PATH": f"{beside}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(["bash", ROOT / "examples" / "one_study.sh", folder], check=True, env=paths)
    study = ("--analysis", "analysis.json", "--plan", "plan/plan.json")
    command = ["humeval-power", "report", *study, "--form", "paper", "-o", "paper.html", "--force"]
    subprocess.run(command, check=True, cwd=folder, env=paths)
    photograph((folder / "paper.html").resolve(), width=900, height=738)
    photograph((folder / "report.html").resolve(), width=860, height=1400)
    target = ROOT / "docs" / "images" / "one-study.png"
    compose(folder).savefig(target, dpi=100, metadata={"Software": None})
    print(f"Written: {target.relative_to(ROOT)}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as scratch:
            main(Path(scratch))
