"""Outputs that are to be rated, ordinary and hostile, and a study of them."""

import csv
import json
import re
from pathlib import Path

from humeval_power.checking.exports.imported import imported
from humeval_power.files.exports.mapping_file import read_mapping
from humeval_power.files.exports.platforms import read_export

HOSTILE = (
    "</script><script>alert(1)</script>",
    "=1+1",
    "line\u2028separator\u2029paragraph",
    "\u202eright to left\u202c",
    "👩‍🔬 emoji",
    "quotes \"double\" and 'single'",
    "back\\slash \\n ${x} {{y}} $text",
    "two\nlines\n\nand a blank",
    "a,b;c\td",
    "<b>bold</b> & amp",
    "x" * 10_000,
    "\u200bzero width and العربية",
)


def hostile_outputs(
    path: Path, systems: tuple[str, ...] = ("old", "new"), *, source: bool = False
) -> dict[tuple[str, str], str]:
    """Write a table of hostile outputs; the texts by item and system."""
    texts = {
        (f"s{number:02d}", system): f"{text} [{number}.{place}]"
        for number, text in enumerate(HOSTILE, start=1)
        for place, system in enumerate(systems)
    }
    items = list(dict.fromkeys(item for item, _ in texts))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["item", *systems, *(["source"] if source else [])])
        for item in items:
            above = [f"Source of {item} </script>"] if source else []
            writer.writerow([item, *(texts[item, system] for system in systems), *above])
    return texts


def coded(exports, mapping):
    """What comes back of exports by a mapping: a rating a row, under its code."""
    chosen, platform = read_mapping(mapping)
    return imported([read_export(path, platform=platform) for path in exports], chosen).frame


def study_in(page):
    """What a page of the rating form shows and asks."""
    text = page.read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="study">(.*?)</script>', text, re.DOTALL)
    return json.loads(found[1])
