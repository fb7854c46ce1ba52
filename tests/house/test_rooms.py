"""Rooms lie in the order of a study's life: numbers and results of a room know the rooms before it only."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "humeval_power"
ORDER = (
    *("fit", "power", "agreement", "scores", "runs", "accuracy", "corpus", "contingency"),
    *("resample", "scenario", "survey", "preference", "judge", "assessment", "rank"),
    *("items", "looks", "plan", "field", "monitor", "analyze", "cite", "report", "release", "start"),
)
# What a person asks for may bring any rooms together: a plan, its form and its ledger.
DOOR = re.compile(r"(ask|calls)(_\w+)?")
WITH_REASON = {
    ("fit", "power"): "a bootstrap interval draws replicates of the fit and fits them",
    ("power", "plan"): "an entry of the library or a pilot may be a sealed plan: its file is read",
}


def room_of(module: str) -> str | None:
    """The room that a module lies in, or None."""
    parts = module.split(".")
    return (
        parts[2]
        if len(parts) > 2 and parts[1] in ("studies", "comparisons") and parts[2] in ORDER
        else None
    )


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements with those below them, but for what is there for types alone."""
    for node in body:
        yield node
        for_types = isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for part in ("orelse",) if for_types else ("body", "orelse", "finalbody"):
            yield from statements(getattr(node, part, []))
        for part in (*getattr(node, "handlers", []), *getattr(node, "cases", [])):
            yield from statements(part.body)


def imports_of(body: list[ast.stmt]) -> Iterator[str]:
    """Modules that statements import, also within functions."""
    for node in statements(body):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (node.module, *(f"{node.module}.{one.name}" for one in node.names))
        elif isinstance(node, ast.Import):
            yield from (one.name for one in node.names)


def test_every_room_is_in_the_order() -> None:
    rooms = {
        p.name
        for kind in ("studies", "comparisons")
        for p in (PACKAGE / kind).iterdir()
        if (p / "__init__.py").exists()
    }
    assert rooms == set(ORDER)


def test_numbers_results_and_formats_know_the_rooms_before_theirs() -> None:
    climbs, seen = [], set()
    for path in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        room = room_of(module)
        if room is None or DOOR.fullmatch(path.stem):
            continue
        for named in set(imports_of(ast.parse(path.read_text("utf-8")).body)):
            other = room_of(named)
            if other is not None and ORDER.index(other) > ORDER.index(room):
                seen.add((room, other))
                if (room, other) not in WITH_REASON:
                    climbs.append(f"{module} imports {named}")
    assert not climbs, "\n".join(climbs)
    assert seen == set(WITH_REASON)


def test_no_class_name_stands_twice() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in PACKAGE.rglob("*.py"):
        for name in re.findall(r"^ *class (\w+)[(:]", path.read_text("utf-8"), re.MULTILINE):
            places[name].append(str(path.relative_to(PACKAGE)))
    assert len(places) > 500
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


@cache
def words_in(place: Path) -> frozenset[str]:
    """The words of a module, or the modules of a package."""
    files = [*place.glob("__init__.py*"), place.with_suffix(".py")]
    texts = (file.read_text(encoding="utf-8") for file in files if file.is_file())
    return frozenset(re.findall(r"\w+", " ".join(texts))) | {path.stem for path in place.glob("*")}


def test_scripts_beside_the_package_import_what_is_there() -> None:
    root, missing = PACKAGE.parent, []
    for script in (each for place in ("examples", "benchmarks") for each in (root / place).rglob("*.py")):
        for node in ast.parse(script.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("humeval_power."):
                has = words_in(root.joinpath(*str(node.module).split(".")))
                names = (one.name for one in node.names if one.name not in has)
                missing += [f"{script.name}: {node.module}.{name}" for name in names]
    assert not missing
