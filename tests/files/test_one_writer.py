"""Files are written in one place, so that what is true of sets of files is true of every command."""

import re

from cases import each_case
from places import ROOT

PACKAGE = ROOT / "humeval_power"
WRITING = re.compile(
    r"""\.(?:write_text|write_bytes|touch|mkdir|rename(?!\(columns=)|unlink|rmdir|hardlink_to|symlink_to)\(
    |\.to_(?:csv|excel|parquet|pickle|feather)\((?!index=|\)|'ratings)
    |\bopen\([^)]*["'][rbt]*[wax][rbt+]*["']
    |\bos\.(?:open|replace|rename|remove|unlink|mkdir|makedirs|link|write|truncate|ftruncate)\(
    |\bshutil\.\w+\(|\btempfile\.\w+\(|\.savefig\(|np\.save\w*\(""",
    re.VERBOSE,
)
# what may, and why
ALLOWED = {
    **dict.fromkeys(
        ("files/disk.py", "files/file_sets.py", "files/partial_folder.py", "files/file_sets.py"),
        "the writer",
    ),
    "studies/monitor/files.py": "lines are only ever added to a ledger",
    "asking/pandoc.py": "what pandoc reads lies in a temporary folder",
    "doors/page/answers.py": "links to files lie under their own names in a folder that ends with the answer",
    "doors/page/serving/chosen_folder.py": "a temporary folder that ends with the server of the page",
    "doors/page/serving/uploads.py": "uploads are streamed into that folder",
    "doors/page/workspace/studies.py": "a study gets another name, in the folder that was chosen",
    "doors/mcp/server.py": "a temporary folder that ends with the server of tools",
    "doors/inspect_hooks.py": "logs as JSON lie in a temporary folder",
    "files/file_bytes.py": "opens for reading only, without waiting for a writer",
    "kernels/kernel.py": "where no cache can be written, compiled kernels go to a temporary folder",
    "kernels/once.py": "a lock of this machine, which holds nothing, while a kernel is compiled",
    "saying/figure_style.py": "a picture becomes bytes in memory",
}


def _writes(text: str) -> list[str]:
    found = [match[0].strip() for match in WRITING.finditer(text)]
    return [call for call in found if call not in ("shutil.which(", "shutil.get_terminal_size(")]


def test_only_the_writer_changes_the_disk() -> None:
    found = {
        f"{place}: {call}"
        for path in PACKAGE.rglob("*.py")
        if not (place := path.relative_to(PACKAGE).as_posix()).startswith(tuple(ALLOWED))
        for call in _writes(path.read_text(encoding="utf-8"))
    }
    assert not found, "use asking/output.py: write_set, replace_file"


@each_case(
    ("line", "writes"),
    [
        ('Path(p).write_text("x")', True),
        ("frame.to_csv(path, index=False)", True),
        ("frame.to_csv(index=False)", False),
        ('frame.to_csv(index=False, lineterminator="x")', False),
        ('with open(path, "wb") as file:', True),
        ('with path.open("a") as file:', True),
        ("with open(path) as file:", False),
        ('open(path, encoding="utf-8")', False),
        ("path.rename(other)", True),
        ("frame.rename(columns={})", False),
        ("os.replace(a, b)", True),
        ('figure.savefig("x.png")', True),
        ("text.replace(a, b)", False),
    ],
)
def test_the_search_knows_what_writes(line: str, writes: bool) -> None:
    assert bool(_writes(line)) == writes
