"""LaTeX that means what the text means: every character escaped, every page compiled where TeX is installed."""

import string

import forms_documents as made
import pytest
from cases import each_case, few_fast
from hypothesis import given, settings
from hypothesis import strategies as st
from latex_run import compiled

from humeval_power.safe_text import latex_text
from humeval_power.saying.render import as_latex
from humeval_power.studies.report.arr import arr_fields, arr_page
from humeval_power.studies.report.heds.criterion import heds_fields, heds_page
from humeval_power.studies.report.paper import PaperReport, paper_latex
from humeval_power.studies.report.prereg import aspredicted_fields, aspredicted_page


@each_case(
    ("text", "escaped"),
    [
        ("50% of a_b & c #1", r"50\% of a\_b \& c \#1"),
        ("{x} $2", r"\{x\} \$2"),
        ("a\\end", r"a\textbackslash{}end"),
        ("~^", r"\textasciitilde{}\textasciicircum{}"),
        ("<b> |", r"\textless{}b\textgreater{} \textbar{}"),
        ("--- ,,", "-{}-{}- ,{},"),
        ("\u2212 \u2013 \u2026", r"$-$ -- \ldots{}"),
        ("café naïve Šimek", r"caf\'{e} na\"{\i}ve \v{S}imek"),
        ("Łódź ß", r"\L{}\'{o}d\'{z} \ss{}"),
        ("Garçon", r"Gar\c{c}on"),
        ("ש", r"\humevalchar{05E9}"),
        ("[0, 1]", "{[}0, 1{]}"),
        ("  a\n\tb\0 ", r"a b\textbackslash{}x00"),
    ],
)
def test_characters_are_escaped(text, escaped):
    assert latex_text(text) == escaped


@pytest.mark.slow
@given(st.text())
def test_what_is_escaped_is_plain_ascii_with_every_brace_closed(text):
    escaped = latex_text(text)
    assert escaped.isascii()
    assert "\n" not in escaped
    depth, places = 0, iter(range(len(escaped)))
    for place in places:
        if escaped[place] == "\\":
            next(places)  # a command or an escaped character
        else:
            depth += {"{": 1, "}": -1}.get(escaped[place], 0)
        assert depth >= 0
    assert depth == 0


@given(st.text(alphabet=string.printable))
def test_no_character_of_tex_is_left_bare(text):
    escaped = latex_text(text).replace("\\%", "").replace("\\&", "").replace("\\#", "")
    escaped = escaped.replace("\\_", "").replace("\\$", "")
    assert not set("%&#_$^~") & set(escaped)


def test_long_words_may_break():
    assert r"\allowbreak{}" in latex_text("c0ffee" * 10)
    assert r"\allowbreak{}" not in latex_text("Satterthwaite")


def whole_paper(documents):
    return as_latex(PaperReport(criteria=(documents,)).document())


def fragment(documents):
    """The fragment in the smallest paper that takes it."""
    head = (
        "\\documentclass[a4paper,11pt]{article}\n\\usepackage[T1]{fontenc}\n\\usepackage{booktabs,array}\n"
    )
    head += "\\usepackage[margin=25mm]{geometry}\n"
    return f"{head}\\emergencystretch=3em\n\\begin{{document}}\n{paper_latex(documents)}\\end{{document}}\n"


def pages():
    yield "heds", as_latex(heds_page(heds_fields(made.DOCUMENTS)).document())
    yield "heds_hostile", as_latex(heds_page(heds_fields(made.HOSTILE_DOCUMENTS)).document())
    yield "fragment", fragment(made.DOCUMENTS)
    yield "fragment_hostile", fragment(made.HOSTILE_DOCUMENTS)
    yield "paper", whole_paper(made.DOCUMENTS)
    yield "paper_hostile", whole_paper(made.HOSTILE_DOCUMENTS)
    yield "arr", as_latex(arr_page(arr_fields(made.HOSTILE_DOCUMENTS)).document())
    yield (
        "aspredicted",
        as_latex(aspredicted_page(aspredicted_fields(made.HOSTILE_DOCUMENTS.plan)).document()),
    )


@few_fast(("name", "source"), list(pages()), ids=[name for name, _ in pages()], fast=1)
def test_every_page_compiles(name, source, tmp_path):
    log = compiled(source, tmp_path)
    assert "Missing character" not in log
    assert (tmp_path / "page.pdf").stat().st_size > 1000
    if "hostile" not in name and name != "arr":
        assert "Overfull \\hbox" not in log


@settings(max_examples=1)
@given(st.lists(st.text(min_size=1), min_size=200, max_size=200))
def test_any_text_compiles(tmp_path_factory, texts):
    lines = "\n\n".join(f"x{latex_text(text)}x" for text in texts)
    source = whole_paper(made.DOCUMENTS).replace("\\end{document}", f"{lines}\n\\end{{document}}")
    compiled(source, tmp_path_factory.mktemp("any"))


def test_a_fragment_has_a_table_with_a_label_of_ones_own():
    text = paper_latex(made.DOCUMENTS, label="tab:ours")
    assert "\\toprule" in text
    assert "\\label{tab:ours}" in text
    assert "\\documentclass" not in text
    assert text.isascii()
