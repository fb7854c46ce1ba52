"""Write docs/plan.schema.json from the models of plan.json: python docs/make_plan_schema.py [--check]

`--check` writes nothing and ends with 1 if the file is not what the models give.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from humeval_power.studies.plan.sealed_schema import json_schema

FILE = Path(__file__).with_name("plan.schema.json")


def schema_text() -> str:
    """The JSON Schema as text that ends with a newline."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write the file, or check it."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--check", action="store_true", help="compare with the file and write nothing")
    if not options.parse_args().check:
        FILE.write_text(schema_text(), encoding="utf-8")
    elif not FILE.is_file() or FILE.read_text(encoding="utf-8") != schema_text():
        sys.exit(f"{FILE.name} is out of date; run: python docs/make_plan_schema.py")


if __name__ == "__main__":
    main()
