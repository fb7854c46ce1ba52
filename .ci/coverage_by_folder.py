"""Lines and branches that tests reach, a row for each folder of the package.

python .ci/coverage_by_folder.py .coverage.json
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path, PurePath

COUNTS = ("covered_lines", "num_statements", "covered_branches", "num_branches")


def main() -> None:
    files = json.loads(Path(sys.argv[1]).read_text())["files"]
    folders: dict[str, list[int]] = defaultdict(lambda: [0] * len(COUNTS))
    for name, file in files.items():
        folder = "/".join(
            PurePath(name).parts[:2] if len(PurePath(name).parts) > 2 else PurePath(name).parts[:1]
        )
        for key in (folder, "all"):
            for place, count in enumerate(COUNTS):
                folders[key][place] += file["summary"][count]
    print(f"{'folder':<32}{'lines':>9}{'%':>7}{'branches':>10}{'%':>7}")
    for folder, (lines, of_lines, branches, of_branches) in sorted(folders.items()):
        shares = [
            100 * part / max(whole, 1) for part, whole in ((lines, of_lines), (branches, of_branches))
        ]
        print(f"{folder:<32}{of_lines:>9,}{shares[0]:>7.1f}{of_branches:>10,}{shares[1]:>7.1f}")


if __name__ == "__main__":
    main()
