"""A study that is assigned, and what its workers give back under codes."""

import csv
import functools
import tempfile
from pathlib import Path

from tests.cli import run

TEXTS = ("i1", "i2", "i3", "i4", "i5", "i6")


def assigned(
    folder: Path, *words: object, systems: str = "old,new", checks: bool = True
) -> list[dict[str, str]]:
    """Assign three workers to six items, with repeats and checks, and their files; the rows of the assignment.

    Who asks for the same in one process gets the same files: the codes are random, and no test may rest on them.
    """
    for name, content in _assigned(words, systems, checks).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return rows_of(folder / "assignment.csv")


@functools.cache
def _assigned(words: tuple[object, ...], systems: str, checks: bool) -> dict[Path, bytes]:
    """The files of such an assignment."""
    with tempfile.TemporaryDirectory() as name:
        _assign(Path(name), words, systems.split(","), checks)
        files = [path for path in Path(name).rglob("*") if path.is_file()]
        return {path.relative_to(name): path.read_bytes() for path in files}


def _assign(folder: Path, words: tuple[object, ...], names: list[str], checks: bool) -> None:
    with (folder / "outputs.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["item", *names])
        writer.writerows([item, *(f"{item} of {name}" for name in names)] for item in TEXTS)
    extra = ("--repeats", 0.25, *(("--checks", 0.25) if checks else ()))
    run(
        *("assign", "--outputs", folder / "outputs.csv", "--upload", "label-studio", "--workers", 3),
        *("--scale", "1:5", "--seed", 7, *extra, *words),
        *("--key", folder / "key.csv", "-o", folder / "up"),
    )
    (folder / "assignment.csv").write_bytes((folder / "up" / "assignment.csv").read_bytes())


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    """Write rows as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def answers(rows: list[dict[str, str]], *, passed: bool = True) -> list[dict[str, object]]:
    """What a worker of each slot, p-w01 of w01, answers, in order.

    Ratings depend on slot, order and kind, never on the code, which is random.
    """
    return [
        {
            "worker": f"p-{row['worker_slot']}",
            "slot": row["worker_slot"],
            "order": row["order"],
            "code": row["code"],
            "rating": _rating(row, passed=passed),
            "seconds": 5 + at % 7,
        }
        for at, row in enumerate(rows)
    ]


def _rating(row: dict[str, str], *, passed: bool) -> int:
    if row["kind"] == "check":
        return int(row["right"]) if passed else 1 + int(row["right"]) % 5
    return 1 + (3 * int(row["order"]) + int(row["worker_slot"][1:]) + (row["kind"] == "repeat")) % 5


MAPPING = """schema = "humeval_power/mapping/1"
platform = "table"
ratings = "rating"
[columns]
worker = "worker"
code = "code"
"""


def mapping(folder: Path, *parts: str) -> Path:
    """A mapping that reads the answers, with these columns too."""
    path = folder / "mapping.toml"
    path.write_text(MAPPING + "".join(f'{part} = "{part}"\n' for part in parts))
    return path
