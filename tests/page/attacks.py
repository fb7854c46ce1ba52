"""Attacks on the page, and the table of what came back.

`python tests/page/attacks.py` makes all of them and writes docs/page-attacks.md.
"""

import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # where pytest finds `places`

from attack import Attack, came_back
from attacks_at_the_door import hosts, methods, origins, paths, smuggled, tokens
from attacks_by_name import links, names
from attacks_by_size import bombs, sizes, slow
from attacks_by_study import fill_studies, studies
from page_server import running

DOCUMENT = Path(__file__).parents[2] / "docs" / "page-attacks.md"
# Caps so low that each attack takes a moment; those of the page itself stand in its documentation.
CAPS = {
    "head_seconds": 0.7,
    "pause_seconds": 0.7,
    "body_seconds": 4.0,
    "answer_seconds": 0.7,
    "connections": 20,
    "upload": 20_000_000,
    "spreadsheet": 5_000_000,
}


def attacks() -> list[Attack]:
    """All of them, by kind."""
    groups = (hosts, origins, tokens, paths, methods, sizes, bombs, names, links, studies, slow, smuggled)
    return [attack for group in groups for attack in group()]


def fill(folder: Path) -> None:
    """The chosen folder, with a file beside it that nothing may show."""
    folder.mkdir()
    secret = "worker,item,system,rating\nSECRET,1,A,3\n"
    (folder.parent / "secret.csv").write_text(secret, encoding="utf-8")
    (folder / ".hidden.csv").write_text(secret, encoding="utf-8")
    (folder / "out.csv").symlink_to("../secret.csv")
    (folder / "logs").mkdir()
    (folder / "logs" / "out.jsonl").symlink_to("../../secret.csv")
    pilot = Path(__file__).parents[2] / "data" / "pilot.csv"
    (folder / "pilot.csv").write_bytes(pilot.read_bytes())
    fill_studies(folder)


def main() -> None:
    """Make every attack, and write what came back."""
    lines = [
        "# Attacks on the page, and what comes back",
        "",
        "Written by `python tests/page/attacks.py`, which makes these attacks on a page that listens; the test "
        "`tests/page/test_attacks.py` makes them again. Times and sizes are lower there than in the page itself.",
        "",
        "| Kind | Attack | What came back |",
        "|---|---|---|",
    ]
    alike: dict[tuple[str, str], list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        chosen = Path(folder, "chosen")
        fill(chosen)
        with running(chosen, **CAPS) as tiny, running(chosen, app="whole_page", **CAPS) as whole:
            for attack in attacks():
                said = came_back(attack.send(whole if attack.is_whole else tiny))
                alike.setdefault((attack.kind, said), []).append(attack.what)
    lines += [f"| {kind} | {'; '.join(what)} | {said} |" for (kind, said), what in alike.items()]
    lines.append(
        "| Load | 50 simulations at once | 503 20 computations wait already, and no more are taken. Wait until "
        "some have ended, or stop them. (for those beyond the 20 that wait) |"
    )
    DOCUMENT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
