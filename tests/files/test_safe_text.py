"""Text for every medium: shown as it is, acted on by none, and read back where the program reads it again."""

import csv
import io
import json
import re
import shutil
import subprocess
import tomllib
import unicodedata
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
from cases import each_case
from hypothesis import given
from hypothesis import strategies as st
from latex_run import compiled

from humeval_power.asking.pandoc import READS
from humeval_power.files.text_tables import read_delimited
from humeval_power.safe_text import (
    bibtex_text,
    cut,
    display_width,
    file_stems,
    formula_safe,
    html_text,
    json_text,
    latex_text,
    markdown_code,
    markdown_text,
    one_line,
    original_cells,
    padded,
    picture_text,
    shell_command,
    table_csv,
    toml_text,
    visible,
    wrapped,
)
from humeval_power.saying.document import Table
from humeval_power.saying.render.terminal import table_lines

HIDDEN = "".join(map(chr, [*range(9), 11, 12, *range(14, 32), *range(127, 160)])) + (
    "\u00ad\u061c\u200b\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069"
    "\ufeff\ufff9\ufffe\uffff\ud800\udcff\U000e0041\U0001fffe"
)
NAMES = (
    "\x1b[31mred\x1b[0m",
    "bell\x07",
    "\u202egnp.exe",
    "a\u2028b",
    "half \ud83d",
    "=cmd()",
    "'=quoted",
    "a,b;\"c\"\r'd'",
    "two\nlines",
    "tab\there",
    "$x^2$ \\end{document} % #1 & ~_{}",
    "<b>&amp;</b>",
    "| a ** `b` [c](d)",
    "100%",
    "山田 太郎",
    "שלום",
    "e\u0301\u0302",
    "👩\u200d🔬",
    "-_-",
    "--- # {}",
    "@import",
)
any_text = st.text(st.characters(codec=None), max_size=40) | st.sampled_from(NAMES)


def is_shown(character: str) -> bool:
    """Whether a terminal and a reader get the character as it is: the Unicode categories, not our table."""
    return unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp") and not (
        character
        in "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\u200b\u2060"
        or (ord(character) & 0xFFFE) == 0xFFFE
    )


@each_case(
    ("text", "shown"),
    [
        ("a\x1b[31mb", r"a\x1b[31mb"),
        ("\u202eexe", r"\u202eexe"),
        ("a\x00\x7f\x9b", r"a\x00\x7f\x9b"),
        ("\ud800", r"\ud800"),
        ("\U000e0041", r"\U000e0041"),
        ("a\tb\rc\nd", "a\\tb\\rc\nd"),
        ("a\u200db", r"a\u200db"),
        ("x\ufe0f", r"x\ufe0f"),
        ("👩\u200d🔬 ❤\ufe0f 1\ufe0f\u20e3", "👩\u200d🔬 ❤\ufe0f 1\ufe0f\u20e3"),
        ("می\u200cخواهم", "می\u200cخواهم"),  # noqa: RUF001
        ("naïve 山田 שלום", "naïve 山田 שלום"),
    ],
)
def test_what_cannot_be_seen_is_shown_as_its_code(text, shown):
    assert visible(text) == shown


@each_case("character", HIDDEN)
def test_no_hidden_character_is_dropped_or_kept(character):
    shown = visible(f"a{character}b")
    assert re.fullmatch(r"a\\(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})b", shown)
    assert int(shown[3:-1], 16) == ord(character)
    for medium in (one_line, html_text, picture_text):
        assert medium(f"a{character}b") == shown


@given(any_text)
def test_a_terminal_gets_nothing_to_obey(text):
    shown = visible(text)
    assert all(character == "\n" or is_shown(character) for character in shown)
    assert visible(shown) == shown
    shown.encode()


@given(any_text)
def test_columns_align_by_what_the_screen_shows(text):
    shown = visible(text).replace("\n", " ")
    assert display_width(cut(shown, 12)) <= 12
    assert display_width(padded(cut(shown, 12), 12)) == 12


def test_wide_and_combining_characters_take_the_columns_that_they_take():
    assert display_width("山田") == 4
    assert display_width("e\u0301") == 1
    assert padded("7", 3, right=True) == "  7"
    assert cut("山田太郎さん", 9) == "山田太..."
    table = table_lines(Table(("name", "n"), (("山田", "1"), ("e\u0301", "20"), ("a\x1b\nb", "3"))))
    assert len({display_width(line) for line in table.split("\n")}) == 1
    assert r"a\x1b\nb" in table


def test_wrapped_lines_have_80_columns_of_any_script():
    text = wrapped("山田太郎 " * 30 + "end", bullet="- ")
    assert all(display_width(line) <= 80 for line in text.split("\n"))
    assert text.replace("\n ", "").split() == ["-", *["山田太郎"] * 30, "end"]
    assert wrapped("a\nError: b\x1b") == r"a Error: b\x1b"
    assert wrapped("a  (b)", bullet="  ") == "  a  (b)"
    assert wrapped("x" * 100, bullet="- ") == "- " + "x" * 100


def test_no_line_below_the_first_begins_as_an_error_does():
    for error in ("Error:", "error:", "Warning:", "WARNING:"):
        for before in range(60, 90):
            shown = wrapped(f"{'x' * before} of {error} all is well", bullet="- ")
            assert not any(line.strip().startswith(error) for line in shown.split("\n")), shown
            alone = wrapped(f"{'x' * before} {error} all is well")
            assert not any(line.startswith(error) for line in alone.split("\n")), alone


class Words(HTMLParser):
    """Text and tags of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words = ""

    def handle_starttag(self, tag, attrs):  # noqa: ARG002
        self.tags.append(tag)

    def handle_data(self, data):
        self.words += data


@given(any_text)
def test_html_shows_the_text_and_has_no_markup(text):
    page = Words()
    page.feed(f'<p title="{html_text(text)}">{html_text(text)}</p>')
    page.close()
    assert page.tags == ["p"]
    assert page.words == one_line(text)


@pytest.mark.skipif(shutil.which("pandoc") is None, reason="pandoc is not installed")
@pytest.mark.parametrize("dialect", ["gfm", READS])
def test_markdown_shows_the_text(dialect):
    """All names at once: each in a paragraph, a cell, a heading, bold, and as code."""
    shown = [unicodedata.normalize("NFC", one_line(name)) for name in (*NAMES, *HIDDEN)]  # as pandoc does
    blocks = []
    for name in (*NAMES, *HIDDEN):
        text = markdown_text(name)
        blocks += [text, f"# {text}", f"- **x {text} x**", f"| a |\n| --- |\n| {text} |"]
        blocks += [f"Code {markdown_code(name)}"]
    done = subprocess.run(
        ["pandoc", "--from", f"{dialect}", "--to", "json"],
        input="\n\n".join(blocks).encode(),
        capture_output=True,
        check=True,
    )
    found = json.loads(done.stdout)["blocks"]
    assert b"RawInline" not in done.stdout
    assert b"RawBlock" not in done.stdout
    paragraphs = [plain(one) for one in found if one["t"] == "Para"]
    assert paragraphs == [words for name in shown for words in (name, f"Code {name}")]
    assert [plain(one["c"][2]) for one in found if one["t"] == "Header"] == shown
    assert [plain(one) for one in found if one["t"] == "BulletList"] == [f"x {name} x" for name in shown]
    assert [plain(one) for one in found if one["t"] == "Table"] == [f"a{name}" for name in shown]


def plain(part: object) -> str:
    """The text of a part of pandoc's document, with straight quotation marks."""
    if isinstance(part, list):
        return "".join(map(plain, part))
    if not isinstance(part, dict):
        return ""
    kind, content = part.get("t"), part.get("c")
    if kind == "Str":
        return str(content)
    if kind in ("Space", "SoftBreak"):
        return " "
    if kind in ("Code", "Math"):
        return str(content[1])
    return plain(content)


def test_latex_of_hidden_characters_compiles(tmp_path):
    from humeval_power.safe_text import FONTS, PREAMBLE

    body = "\n\n".join(latex_text(f"x{name}x") for name in (*NAMES, *HIDDEN))
    assert body.isascii()
    assert r"\textbackslash{}u202e" in latex_text("\u202e")
    source = (
        f"\\documentclass{{article}}\n{FONTS}{PREAMBLE}\\begin{{document}}\n{body}\n\\end{{document}}\n"
    )
    assert "Missing character" not in compiled(source, tmp_path)


@pytest.mark.skipif(shutil.which("bibtex") is None, reason="bibtex is not installed")
def test_a_bibtex_field_takes_any_text(tmp_path):
    entries = "\n".join(
        f"@misc{{k{place}, title = {{{bibtex_text(f'a{name}b')}}}, author = {{X}}, year = 2020}}"
        for place, name in enumerate((*NAMES, "{", "}}", 'a"b', "@misc{x,"))
    )
    (tmp_path / "all.bib").write_text(entries, encoding="ascii")
    (tmp_path / "all.aux").write_text(
        "\\citation{*}\n\\bibstyle{plain}\n\\bibdata{all}\n", encoding="ascii"
    )
    done = subprocess.run(["bibtex", "all"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "Warning" not in done.stdout
    assert (tmp_path / "all.bbl").read_text().count("\\bibitem{") == len(NAMES) + 4


@given(st.lists(any_text.filter(lambda text: not re.search("[\ud800-\udfff\0]", text)), min_size=1))
def test_a_column_of_csv_reads_back_and_has_no_formula(names):
    rows = [name if name.strip() else "x" for name in names]
    text = table_csv(pd.DataFrame({"name": rows, "=head": ["1"] * len(rows)}))
    cells = [cell for line in csv.reader(io.StringIO(text, newline="")) for cell in line]
    number = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
    assert not any(cell[:1] in tuple("=+-@\t\r") and not number.fullmatch(cell) for cell in cells)
    frame, _ = read_delimited(text, source="t.csv")
    assert frame["name"].tolist() == rows
    assert list(frame) == ["name", "=head"]


@given(st.lists(st.text("'=a-+", max_size=4)))
def test_reading_a_table_never_makes_two_names_one(names):
    found = original_cells(names)
    assert len(set(found)) == len(set(names))
    assert original_cells([formula_safe(name) for name in names]) == names


def test_the_reader_says_that_it_took_apostrophes_away():
    frame, notices = read_delimited("system,rating\n'=A(),1\nB,2\n'=A(),3\n", source="t.csv")
    assert frame["system"].tolist() == ["=A()", "B", "=A()"]
    assert [one for one in notices if "apostrophe" in one and "2 cells" in one and "'system'" in one]
    raw, notices = read_delimited("system,rating\n'=A(),1\n=A(),2\n", source="t.csv")
    assert raw["system"].tolist() == ["'=A()", "=A()"]
    assert notices == []


def test_a_workbook_that_was_made_from_our_csv_gives_the_names_back(tmp_path: Path):
    from openpyxl import Workbook

    from humeval_power.files.tables import read_table

    names = ["=A()", "'=B", "@c", "+1", "plain"]
    rows = csv.reader(io.StringIO(table_csv(pd.DataFrame({"system": names, "=x": range(5)}))))
    book = Workbook()
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    found = read_table(tmp_path / "t.xlsx")
    assert found.frame["system"].tolist() == names
    assert list(found.frame) == ["system", "=x"]
    assert any("apostrophe" in notice for notice in found.notices)


def test_numbers_and_gaps_stay_numbers_and_gaps_in_csv():
    table = pd.DataFrame({"x": [-0.5, 1 / 3, None], "n": [1, -2, 3], "ok": [True, False, True]})
    assert table_csv(table, digits=3) == "x,n,ok\n-0.5,1,True\n0.333,-2,False\n,3,True\n"
    assert table_csv(pd.DataFrame({"a": pd.Series(["lone \ud800"], dtype=object)})) == "a\nlone \\ud800\n"
    assert table_csv(pd.DataFrame({"a": pd.Series([1, pd.NA], dtype="Int64")})) == 'a\n1\n""\n'


@given(any_text)
def test_json_hides_nothing_and_reads_back(text):
    written = json_text(json.dumps({text: [text]}, ensure_ascii=False, indent=1))
    assert json.loads(written) == {text: [text]}
    assert all(character == "\n" or is_shown(character) for character in written)
    written.encode()


@given(any_text)
def test_toml_reads_back(text):
    bare = re.sub("[\ud800-\udfff]", "?", text)
    assert tomllib.loads(f"{toml_text(bare, key=True)} = {toml_text(bare)}") == {bare: bare}
    shown = toml_text(text)
    shown.encode()
    tomllib.loads(f"x = {shown}")


def test_plain_keys_of_toml_stay_bare():
    assert toml_text("fluency-2_a", key=True) == "fluency-2_a"
    assert toml_text("fluency") == '"fluency"'
    assert toml_text("😀\u202e", key=True) == '"😀\\u202e"'


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_a_command_that_is_pasted_is_the_one_that_was_typed():
    words = [*NAMES, *HIDDEN.replace("\0", ""), "it's", "a b", "\\n", "\udcc3\udc28"]
    # A lone surrogate is no argument, but for those that stand for a byte.
    words = [re.sub("[\ud800-\udbff]|[\udc00-\udc7f]|[\udd00-\udfff]", "", word) for word in words]
    line = shell_command(["printf", "%s\\0", *words])
    assert "\n" not in line
    assert all(map(is_shown, line))
    done = subprocess.run(
        ["bash", "-c", line],
        capture_output=True,
        check=True,
        env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
    )
    assert done.stdout.decode(errors="surrogateescape").split("\0")[:-1] == words


def test_names_of_files_are_names_of_files(tmp_path: Path):
    names = ["../../etc/passwd", "a/b", "CON", "nul.x", "x" * 300, "...", "\x1b[0m", "山田", "Ä b", "ä b"]
    stems = file_stems(names, nameless="criterion")
    assert len({stem.casefold() for stem in stems}) == len(names)
    for stem in stems:
        (tmp_path / f"{stem}.png").write_text("")
    assert len(list(tmp_path.iterdir())) == len(names)
    assert not {"con", "nul.x"} & {stem.casefold() for stem in stems}


def test_a_picture_shows_codes_for_what_its_font_lacks():
    assert picture_text("山田") == r"\u5c71\u7530"
    assert picture_text("naïve שלום → \u2212") == "naïve שלום → \u2212"
    assert picture_text("a\nb\x1b") == r"a b\x1b"
