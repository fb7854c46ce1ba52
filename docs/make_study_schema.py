"""Write what docs/ says of every field of a study: python docs/make_study_schema.py [--check]

docs/study.schema.json, for editors, and the tables of docs/study-file.md come from the fields that
humeval_power/study.py declares. `--check` writes nothing and ends with 1 if a file is not what they give.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from humeval_power.asking.command import StudyCommand
from humeval_power.asking.options import FieldArgument, FieldOption
from humeval_power.doors.terminal.main import main as humeval_power
from humeval_power.study import FIELDS, SECTIONS, in_file
from humeval_power.study_text import schema, toml_value

DOCS = Path(__file__).parent
BEGIN, END = "<!-- made by docs/make_study_schema.py -->\n", "<!-- end of what is made -->\n"


def schema_text() -> str:
    """The JSON Schema as text that ends with a newline."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def tables() -> str:
    """A table for each section of the file."""
    typed = dict(_typed(click.Context(humeval_power), humeval_power))
    parts = []
    for section, group in SECTIONS.items():
        rows = [_row(name, typed.get(name, "")) for name, one in FIELDS.items() if one.section == section]
        head = "| Key | Holds | Default | Option |\n|---|---|---|---|"
        parts.append("\n".join([f"### [{section}]\n", f"{group.title}.\n", head, *rows]))
    return "\n\n".join(parts)


def _typed(context: click.Context, asked: click.Command) -> Iterator[tuple[str, str]]:
    """The fields that the commands take, each with what is typed for it."""
    if isinstance(asked, click.Group):
        for name in asked.list_commands(context):
            below = asked.get_command(context, name)
            assert below is not None
            yield from _typed(context, below)
    elif isinstance(asked, StudyCommand):
        for one in asked.params:
            if isinstance(one, FieldOption):
                sides = [max(names, key=len) for names in (one.opts, one.secondary_opts) if names]
                yield one.field, " / ".join(f"`{side}`" for side in sides)
            elif isinstance(one, FieldArgument):
                yield one.field, "argument"


def _row(name: str, typed: str) -> str:
    one = FIELDS[name]
    found = re.fullmatch(r"(?P<said>.*?)(?: \[(?P<default>[^\]]*)\])?", in_file(one.full_help), re.DOTALL)
    assert found is not None
    said = found["said"]
    if one.kind.choices and not one.kind.many:  # of many, the sentence names them
        said += f" One of {', '.join(f'`{word}`' for word in one.kind.choices)}."
    limits = one.kind.limits
    if limits is not None and (limits.low, limits.high) != (None, None):
        said += f" `{limits}`."
    if one.unit and one.unit.lower() not in said.lower():
        said += f" ({one.unit})"
    default = found["default"] or ("" if one.usual in (None, "") else f"`{toml_value(one.usual)}`")
    cells = (f"`{name}`", said, default, typed)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def page_text(page: str) -> str:
    """The page with the tables as they are now."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n{tables()}\n\n{END}{rest.split(END)[1]}"


def main() -> None:
    """Write the files, or check them."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--check", action="store_true", help="compare with the files and write nothing")
    check = options.parse_args().check
    page = DOCS / "study-file.md"
    made = {DOCS / "study.schema.json": schema_text(), page: page_text(page.read_text(encoding="utf-8"))}
    for path, text in made.items():
        if not check:
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            sys.exit(f"{path.name} is out of date; run: python docs/make_study_schema.py")


if __name__ == "__main__":
    main()
