"""The signature line says how a study was analysed, and reading it gives the same back."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import forms_documents as made
import pytest
from cases import each_case
from hypothesis import given
from hypothesis import strategies as st

from humeval_power.errors import InputError
from humeval_power.families import Correction
from humeval_power.rules import WITH_MARGIN, Alternative, Analysis, DecisionRule, DegreesOfFreedom
from humeval_power.studies.report.documents import Documents
from humeval_power.studies.report.signature import Fit, Signature, parse_signature, signature_of

EXAMPLE = (
    "humeval_power|v:0.1.0|model:lmm-xs|coding:b-a|df:kr|alpha:.05|two|n:40x200x3|sim:2000|seed:7"
    "|data:sha256:ab12ab12ab12"
)
hashes = st.text("0123456789abcdef", min_size=1, max_size=64)
counts = st.integers(1, 10**6)
sizes = st.one_of(
    st.just((None, None, None)),
    st.tuples(counts, counts, st.floats(0.01, 1e4, allow_nan=False)),
)


@st.composite
def signatures(draw) -> Signature:
    estimator = draw(st.sampled_from(["reml", "ml"]))
    words = get_args(DegreesOfFreedom) if estimator == "reml" else ("satterthwaite", "normal", "min")
    workers, items, per_item = draw(sizes)
    alternative = draw(st.sampled_from(get_args(Alternative)))
    has_margin = alternative in WITH_MARGIN
    return Signature(
        rule=DecisionRule(
            estimator=estimator,
            df=draw(st.sampled_from(words)),
            alternative=alternative,
            alpha=draw(st.floats(1e-6, 0.499 if has_margin else 0.999)),
            analysis=draw(st.sampled_from(get_args(Analysis))),
            margin=draw(st.floats(1e-6, 1.0)) if has_margin else None,
        ),
        version=draw(st.none() | st.just("0.1.0") | st.just("1.2.dev3+abc")),
        n_workers=workers,
        n_items=items,
        ratings_per_item=per_item,
        n_simulations=draw(st.none() | counts),
        seed=draw(st.none() | st.integers(0, 2**63)),
        data_sha256=draw(st.none() | hashes),
        plan_sha256=draw(st.none() | hashes),
        n_systems=draw(st.none() | counts),
        fit=draw(st.none() | st.sampled_from(get_args(Fit))),
        correction=draw(st.none() | st.sampled_from(get_args(Correction))),
        n_tests=draw(st.none() | counts),
    )


@given(signatures())
def test_what_is_written_is_read_back(signature):
    line = str(signature)
    assert parse_signature(line) == signature
    assert str(parse_signature(f" {line}\n")) == line


def test_the_example_of_the_documentation_is_the_line_of_its_values():
    rule = DecisionRule()
    signature = Signature(rule, "0.1.0", 40, 200, 3.0, 2000, 7, "ab12" * 3)
    assert str(signature) == EXAMPLE
    assert parse_signature(EXAMPLE) == signature


def test_a_signature_is_that_of_the_documents():
    signature = signature_of(made.DOCUMENTS)
    assert str(signature) == (
        "humeval_power|v:0.1.0|model:lmm-xs|coding:b-a|df:kr|alpha:.05|two|n:12x50x3|sim:2000|seed:7"
        "|plan:sha256:c0ffeec0ffee"
    )


def test_without_simulation_nothing_is_said_of_one():
    signature = signature_of(Documents(analysis=made.ANALYSIS))
    assert signature.n_simulations is None
    assert signature.seed is None


def test_a_plan_alone_has_the_signature_of_what_is_planned():
    assert str(signature_of(Documents(plan=made.PLAN))) == (
        "humeval_power|model:lmm-xs|coding:b-a|df:kr|alpha:.05|two|n:14x60x3|sim:2000|seed:7"
    )


def test_no_test_no_signature():
    assert signature_of(Documents()) is None


@each_case(
    ("line", "words"),
    [
        ("sacrebleu|nrefs:1", "starts with humeval_power"),
        (EXAMPLE + "|seed:8", "twice"),
        (EXAMPLE + "|colour:red", "not an entry"),
        (EXAMPLE.replace("df:kr", "df:xx"), "cannot be read"),
        (EXAMPLE.replace("|two", ""), "cannot be read"),
        (EXAMPLE.replace("40x200x3", "40x200"), "cannot be read"),
        (EXAMPLE.replace("coding:b-a", "coding:a-b"), "coding"),
        (EXAMPLE.replace("alpha:.05", "alpha:1.5"), "alpha"),
        (EXAMPLE.replace("sha256:ab", "md5:ab"), "SHA-256"),
        (EXAMPLE.replace("sha256:ab", "sha256:xy"), "SHA-256"),
        ("humeval_power|model:lmm-xs|df:boot|est:ml|alpha:.05|two", "REML"),
        ("", "starts with"),
    ],
)
def test_a_line_that_is_not_a_signature_is_refused(line, words):
    with pytest.raises(InputError, match=words):
        parse_signature(line)


def test_a_signature_has_its_size_whole_or_not():
    with pytest.raises(InputError, match="none of them"):
        Signature(DecisionRule(), n_workers=3)


def test_a_hash_is_cut_to_its_start():
    signature = Signature(DecisionRule(), data_sha256="ab" * 32)
    assert signature.data_sha256 == "ab" * 6
    assert replace(signature) == signature
