"""One document, four renderers: they say the same, fit where they are shown, and act on nothing."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from browser import dumped
from latex_run import compiled
from own_scripts import SORT, without_own_scripts

from humeval_power.safe_text import display_width
from humeval_power.saying.document import (
    Document,
    Facts,
    FormLine,
    Listing,
    Paragraph,
    Picture,
    Points,
    Section,
    Table,
)
from humeval_power.saying.render import (
    as_html,
    as_html_part,
    as_latex,
    as_markdown,
    as_notebook,
    as_terminal,
)

HOSTILE = (
    "<script>alert(1)</script> \x1b[31m \u202e $x_1$ | `a` \\input{x} # * {{ 7*7 }} {% x %} & \u4f60\u597d"
)


def document(name: str = "system A") -> Document:
    words = Table(("quantity", "words", "value"), (("Estimate", name, "0.1"),), in_words=True)
    table = Table(
        ("system", "mean", "SE"), ((name, "0.5", "-0.1"), ("total", "1.5", "0.1")), name, has_total=True
    )
    return Document(
        title=f"Power of a study of {name}",
        lead=f"Effect 0.3 points of the scale 1 to 5, for {name}.",
        headline=(("Power", "0.289"),),
        caveats=(f"Three workers are few, says {name}.",),
        sections=(
            Section("", (Facts((("Study", f"crossed, {name}"), ("", "and more"))),)),
            Section(
                "Systems",
                (table, words, Paragraph(name)),
            ),
            Section(
                "Form",
                (
                    FormLine("open", f"Which {name}?", "open", advice=f"Say {name}."),
                    FormLine("filled", "How many?", "filled", "12", "plan.json", table=table),
                ),
            ),
            Section(
                "Fine print",
                (Points((name, "two")), Listing(f"humeval-power power {name}")),
                is_detail=True,
            ),
        ),
        provenance=(("Command", f"humeval-power power {name}"),),
        signature=f"power|{name}",
    )


@pytest.mark.parametrize("width", [60, 72, 80, 120])
def test_a_terminal_is_never_wider_than_it_is(width):
    text = as_terminal(document(HOSTILE), width=width, details=True)
    copied = f"humeval-power power {HOSTILE}".split()[0]  # lines to copy are never broken
    too_wide = [line for line in text.splitlines() if display_width(line) > width and copied not in line]
    assert not too_wide


def test_a_terminal_below_60_columns_is_refused():
    with pytest.raises(ValueError, match="at least 60"):
        as_terminal(document(), width=59)


def test_a_terminal_shows_details_only_where_asked():
    assert "Fine print" not in as_terminal(document())
    assert "Fine print" in as_terminal(document(), details=True)


def test_a_table_that_is_too_wide_becomes_a_list_of_its_cells():
    wide = Table(tuple(f"column {i}" for i in range(12)), (tuple(f"value {i}" for i in range(12)),))
    text = as_terminal(Document("Wide", sections=(Section("", (wide,)),)), width=60)
    assert max(map(len, text.splitlines())) <= 60
    assert all(f"column {i}" in text and f"value {i}" in text for i in range(1, 12))


def test_a_row_that_becomes_a_list_says_what_its_first_cell_is():
    wide = Table(("effect", *(f"column {i}" for i in range(12))), (("0", *12 * ("0.025",)),))
    assert "\neffect 0\n" in as_terminal(Document("Wide", sections=(Section("", (wide,)),)), width=60)


def test_a_label_above_columns_that_are_narrower_than_it_is_shown_whole():
    table = Table(
        ("system", "mean", "mean"), (("new", "3.80", "3.83"),), spans=(("fluency", 1), ("adequacy", 1))
    )
    lines = as_terminal(Document("Means", sections=(Section("", (table,)),))).splitlines()
    assert lines[-3:] == [
        "        fluency  adequacy",
        "system     mean      mean",
        "new        3.80      3.83",
    ]


def test_markdown_sets_the_lines_of_one_label_apart():
    facts = Facts((("Study", "500 items"), ("", "alpha 0.05"), ("", "Two-sided."), ("", "By formula")))
    text = as_markdown(Document("Power", sections=(Section("", (facts,)),)))
    assert "- Study: 500 items; alpha 0.05; Two-sided. By formula" in text


def test_no_renderer_prints_what_a_terminal_obeys():
    for render in (as_terminal, as_markdown, as_html, as_latex):
        assert not re.search(
            "[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", render(document(HOSTILE))
        )


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag, _attributes):
        self.seen.add(tag)
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("render", [as_html, as_html_part, as_notebook])
def test_html_is_well_formed_and_holds_no_foreign_script_whatever_the_names(render):
    page = _Tags()
    page.feed(without_own_scripts(render(document(HOSTILE))))
    assert not page.open
    assert not page.seen & {"script", "iframe", "link", "form", "a"}
    assert "<script>alert(1)</script>" in page.text  # shown, not run
    assert "{{ 7*7 }}" in page.text
    assert "49" not in page.text


def test_all_renderers_say_the_same_words():
    words = [
        "0.289",
        "Three workers are few",
        "crossed",
        "plan.json",
        "Which system A?",
        "-0.1",
        "Say system A",
    ]
    for render in (as_markdown, as_html, as_latex, lambda d: as_terminal(d, details=True)):
        text = render(document()).replace("$-$", "-").replace("\u2212", "-")
        text = re.sub(r"[{}]|\\allowbreak", "", text)
        missing = [word for word in words if word not in text]
        assert not missing or (render not in (as_markdown, as_html, as_latex) and missing == ["plan.json"])


def test_a_signature_is_cut_between_its_entries_and_joins_again():
    signature = "humeval_power|" + "|".join(f"entry{place}:{place}" for place in range(12))
    lines = as_terminal(Document("Power", signature=signature), width=60).splitlines()[2:]
    assert max(map(len, lines)) <= 60
    assert "".join(line[11:] for line in lines) == signature


def test_a_cell_without_a_number_leaves_its_column_one_of_numbers():
    rows = (("a", "1.5", "-", "no"), ("b", "none possible", "-2", "1"), ("c", "", "-", "2"))
    assert Table(("name", "x", "y", "z"), rows).numbers == {1, 2}
    assert Table(("name", "x"), (("a", "none"), ("b", "-"))).numbers == frozenset()


def test_a_total_is_set_apart_and_numbers_are_set_to_the_right():
    table = document().tables[0]
    assert table.numbers == {1, 2}
    assert "| **total** | **1.5** | **0.1** |" in as_markdown(document())
    assert "| --- | --: | --: |" in as_markdown(document())


def test_a_picture_is_drawn_only_where_it_is_shown():
    drawn = []

    def draw():
        from matplotlib.figure import Figure

        drawn.append(1)
        return Figure(figsize=(1, 1))

    picture = Picture("curve", draw, words="a curve", caption="Power")
    shown = replace(document(), sections=(Section("Picture", (picture,)),))
    for render in (as_terminal, as_markdown, as_latex):
        render(shown)
    assert not drawn
    assert "data:image/svg+xml;base64," in as_html(shown)
    as_html(shown)
    assert drawn == [1]
    assert shown.pictures == (picture,)


def test_latex_aligns_a_column_of_numbers_at_the_point_and_sets_other_cells_apart(tmp_path):
    rows = (
        ("a", "1,200", "-0.07", "0.1 to 0.2"),
        ("b", "20", "13.4", "none"),
        ("c", "none", "0.25", "1 to 2"),
    )
    page = as_latex(
        Document("Sizes", sections=(Section("", (Table(("", "n", "mean", "interval"), rows),)),))
    )
    assert "{@{}lN{4}N{-2.2}r@{}}" in page
    assert "a & 1200 & -0.07 & 0.1 to 0.2" in page
    assert "c & \\multicolumn{1}{r}{none} & 0.25" in page
    compiled(page, tmp_path)


def test_only_a_page_with_a_table_of_some_rows_sorts_it():
    rows = (("a", "1"), ("b", "2"), ("c", "3"))
    for n, is_sorted in ((2, False), (3, True)):
        page = as_html(Document("Few", sections=(Section("", (Table(("x", "y"), rows[:n]),)),)))
        assert (SORT in page) is is_sorted


@pytest.mark.browser
def test_a_click_on_a_heading_sorts_numbers_as_numbers_and_keeps_the_total_last(tmp_path):
    rows = (("b", "1,200"), ("c", "none"), ("a", "30"), ("d", "-2"), ("all", "9"))
    table = Table(("x", "n"), rows, has_total=True)
    page = as_html(Document("Few", sections=(Section("", (table,)),)))
    click = "document.querySelectorAll('th button')[1].click();"
    for clicks, order in ((1, "d a b c all"), (2, "c b a d all")):
        file = tmp_path / f"{clicks}.html"
        file.write_text(page.replace("</body>", f"<script>{click * clicks}</script></body>"), "utf-8")
        shown = dumped(file, tmp_path / "profile")
        assert " ".join(re.findall(r"<tr[^>]*><td>(\w+)</td>", shown)) == order


def test_sections_of_pages_are_made_for_pages_alone():
    made = []

    def pages():
        made.append(1)
        return (Section("Pictures", (Paragraph("what pages show"),)),)

    one = Document("A title", sections=(Section("", (Paragraph("what all show"),)),), pages=pages)
    assert "what pages show" not in as_terminal(one)
    assert made == []
    for shown in (
        as_html(one),
        as_html_part(one),
        as_markdown(one),
        as_latex(one),
        as_terminal(one, details=True),
    ):
        assert "what pages show" in shown
    assert made == [1]
