"""`humeval-power compare corpus`: two systems by BLEU, chrF and other metrics of a whole test set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from humeval_power.asking.calls import Caller, TypedValues
from humeval_power.asking.declared import Calls, Declaration, Page, Part
from humeval_power.asking.expressions import Call, Code, Value, call
from humeval_power.asking.form import Next
from humeval_power.asking.study_file import EffectRange
from humeval_power.asking.vocabulary import (
    ALPHA,
    CLUSTER,
    FLIPS,
    METRIC_HELP,
    SEED,
    SIZE_OF_SAMPLE,
    SWAPS,
    TEST_HELP,
    TRUE_EFFECT,
)
from humeval_power.choices import (
    DEFAULT_FLIPS,
    DEFAULT_SUBSETS,
    PRESETS,
    CorpusMetric,
    FlipTest,
    Tokenizer,
)
from humeval_power.comparisons.questions import Given, QuestionPage, Questions, Subject
from humeval_power.fields import flag, own, real, text, whole, word
from humeval_power.saying.numbers import percent
from humeval_power.studies.power.wording import Wording

if TYPE_CHECKING:
    from humeval_power.comparisons.corpus.scenario import CorpusStudy


def _words(scenario: CorpusStudy) -> list[str]:
    flips = f"{scenario.n_flips:,} random flips" if scenario.test == "flips" else "normal distribution"
    return [
        f"{scenario.n_sentences:,} sentences; swapping one between the systems changes nothing for "
        f"{percent(scenario.zero_share)} (P0 = {scenario.zero_share:g}), and else moves the metric by about "
        f"{scenario.scale / scenario.n_sentences:.3g} points (b0 / n, b0 = {scenario.scale:g})",
        f"randomisation test ({flips}), alpha {scenario.alpha:g}; "
        f"SD of the difference {scenario.standard_error:.3g}",
    ]


def _said(scenario: CorpusStudy) -> str:
    return f"B - A = {WORDING.shown(scenario.true_effect)} of the metric"


WORDING = Wording(
    "corpus",
    _words,
    "points",
    _said,
    verb="scores",
    sized="sentences",
)


_FILE = text("PATH")
_OUTPUTS = {
    "system_a": own(
        _FILE,
        "Outputs of A.",
        "Outputs of A",
        note=", one segment a line.",
        page_help="One segment a line.",
        needed=True,
    ),
    "system_b": own(
        _FILE,
        "Outputs of B.",
        "Outputs of B",
        note="The effect is B - A.",
        page_help="The same segments; the effect is B - A.",
        needed=True,
    ),
    "references": own(
        replace(_FILE, many=True),
        "References; repeatable.",
        "References",
        page_help="One segment a line; more files for more references.",
        option="reference",
        needed=True,
    ),
    "texts": own(
        _FILE,
        "A table of all texts, a segment a row: outputs and references are then names of its columns, or numbers "
        "where it has no header, as sacreBLEU prints it.",
        "One table of all texts",
        page_help="A segment a row; above then stand the names of its columns, or their numbers where it has no "
        "header, as sacreBLEU prints it.",
    ),
}
_METRIC = {
    "metric": own(
        word(CorpusMetric),
        METRIC_HELP,
        "Metric",
        note=", as sacreBLEU computes it.",
        words={"bleu": "BLEU", "chrf": "chrF", "chrf++": "chrF++"},
        usual="bleu",
    ),
    "tokenizer": own(
        word(Tokenizer),
        "Tokens of BLEU; 'zh' for Chinese, 'char' for characters.",
        "Tokens of BLEU",
        usual="13a",
    ),
    "lowercase": own(
        flag(), "Count upper and lower case alike.", "Count upper and lower case alike", usual=False
    ),
}
_PARTS = (Part("The outputs", tuple(_OUTPUTS)), Part("The metric", tuple(_METRIC)))


def _texts(given: TypedValues, calls: Calls) -> dict[str, Any]:
    """The texts in place of their files, and how they are counted."""
    files = (given["system_a"], given["system_b"], list(given["references"]))
    texts: Any = calls.let("texts", call("hp.corpus.read_corpus", *files, texts=given.given("texts")))
    return {
        **{name: calls.attribute(texts, name) for name in _OUTPUTS if name != "texts"},
        **{name: given.given(name) for name in _METRIC},
        "remarks": texts.notices if isinstance(calls, Caller) else None,
    }


def _estimate(given: TypedValues, calls: Calls) -> None:
    how = {name: given.given(name) for name in ("n_subsets", "seed")}
    calls.let("result", call("hp.corpus.estimate", **_texts(given, calls), **how))


_SWAPS = {"p0": "swaps.zero_share", "b0": "swaps.matched_scale"}
ESTIMATE = Declaration(
    ("corpus", "estimate"),
    """What do swaps do: P0 and b0 for planning, from two systems' outputs.

    Swaps each sentence between A and B and sees how the difference of the metric
    changes; fits P0 (share of swaps that change nothing) and b0 (spread of the
    others). Checks on these data whether such effects add up, as power needs.
    """,
    {
        **_OUTPUTS,
        **_METRIC,
        "n_subsets": own(
            whole(2),
            "Random swaps of half the sentences, to see whether single effects add up.",
            "Random swaps of half the sentences",
            option="subsets",
            usual=DEFAULT_SUBSETS,
        ),
        "seed": SEED,
    },
    _estimate,
    Page(
        "What single sentences do to BLEU",
        "Swaps each sentence between the systems: the two numbers that power and size of a test set follow from.",
        (*_PARTS, Part("The check", ("n_subsets", "seed"))),
        (
            Next(("corpus", "power"), "Power of a test set", fills={**_SWAPS, "n": "n_sentences"}),
            Next(("corpus", "size"), "Sentences that a test set needs", fills=_SWAPS),
        ),
    ),
)


def _test(given: TypedValues, calls: Calls) -> None:
    texts, file = _texts(given, calls), given["cluster"]
    how = {name: given.given(name) for name in ("n_swaps", "alpha", "seed")}
    clusters = None
    if file is not None:
        lines = call("hp.corpus.read_cluster_lines", file, call("len", texts["system_a"]))
        clusters = calls.let("clusters", lines)
    calls.let("result", call("hp.corpus.test", **texts, clusters=clusters, **how))


TEST = Declaration(
    ("corpus", "test"),
    """Is B better than A: the paired randomisation test of a corpus metric.

    Swaps the outputs of a random half of the sentences between the systems,
    computes the metric of both, and counts how often they differ as much as A
    and B do. With --cluster whole documents are swapped.
    """,
    {
        **_OUTPUTS,
        **_METRIC,
        "n_swaps": SWAPS,
        "cluster": own(
            text("FILE"),
            CLUSTER.help,
            "Documents",
            note="of segments, such as documents: a file with one name a line. [none]",
            page_help="A file with the name of its document a line, in the order of the segments: whole documents "
            "are then swapped.",
        ),
        "alpha": ALPHA,
        "seed": SEED,
    },
    _test,
    Page(
        "BLEU or chrF of two systems",
        "Is B better than A? The paired randomisation test of a metric of the whole test set.",
        (*_PARTS, Part("The test", ("alpha", "cluster", "n_swaps", "seed"))),
        (Next(("corpus", "estimate"), "What power needs of these outputs"),),
    ),
)
_LARGEST = 100.0  # points: metrics end there
_USUAL = "card2020"  # what `hp.corpus.CorpusStudy` takes by itself


def _swaps(given: Given, calls: Calls) -> Mapping[str, Any]:
    """What swaps do: as it was said, and the rest as in the published setting."""
    preset, zero_share, scale = (given[name] for name in ("preset", "p0", "b0"))
    if preset != _USUAL and (zero_share is None or scale is None):
        result = calls.unpack("zero_share, scale", Code(f'hp.corpus.PRESETS["{preset}"]'))
        zero_share, scale = (
            usual if said is None else said for said, usual in zip((zero_share, scale), result, strict=True)
        )
    return {"swaps": {"zero_share": zero_share, "scale": scale}}


def _comparison(n: Value, effect: Value, given: Given) -> Call:
    how = {name: given[name] for name in ("test", "n_flips", "alpha")}
    return call("hp.corpus.CorpusStudy", n, difference=effect, **given["swaps"], **how)


QUESTIONS = Questions(
    "corpus",
    WORDING,
    n=replace(
        SIZE_OF_SAMPLE,
        label="Sentences",
        note=": sentences in the test set.",
        unit="sentences",
        slider=(100, 10000),
        step=100,
        start="2000",
    ),
    effect=replace(
        TRUE_EFFECT,
        label="True difference B - A",
        note=", in points of the metric.",
        unit="points of the metric",
        slider=(0, 5),
        step=0.1,
        start="1",
    ),
    fields={
        "preset": own(
            replace(word(PRESETS), metavar="NAME"),
            "P0 and b0 of BLEU from Card et al. (2020): the mean of their Table 3, a row of it, or their example: "
            f"{', '.join(PRESETS)}.",
            "Published setting",
            option="bleu-preset",
            start=_USUAL,
            page_help="Card et al. (2020): card2020, wmt19-tf19-tf18, wmt18-tf18-tf16, wmt17-tf16-conv17, "
            "wmt16-tf16-conv14 or card2020-appendix-g.",
            usual=_USUAL,
        ),
        "p0": own(
            replace(real(), metavar="SHARE"),
            "Share of sentences whose swap changes nothing. [of the preset]",
            "Share of swaps that change nothing",
            slider=(0, 0.9),
            step=0.01,
        ),
        "b0": own(
            replace(real(), metavar="NUMBER"),
            "Laplace scale b0 of the other swaps. [of the preset]",
            "Spread of the others (b0)",
        ),
        "test": own(
            word(FlipTest),
            TEST_HELP,
            "Simulated p-values",
            note="; its p-values in simulations are from the normal distribution, or from random flips.",
            words={"normal": "normal distribution", "flips": "random flips"},
            usual="normal",
        ),
        "n_flips": replace(FLIPS, usual=DEFAULT_FLIPS),
        "alpha": ALPHA,
    },
    before=_swaps,
    comparison=_comparison,
    largest_effect=lambda _given: _LARGEST,
    lists=("p0", "b0"),
    effect_range=lambda _given: EffectRange(
        -_LARGEST,
        _LARGEST,
        f"the metric ends at {_LARGEST:g} points, so that a difference lies between {-_LARGEST:g} and "
        f"{_LARGEST:g}.",
        "The effect is in points of the metric, such as 1.5.",
    ),
    page=QuestionPage(
        "a comparison by BLEU",
        (
            Part("What swapping a sentence does", ("preset", "p0", "b0")),
            Part("The test", ("alpha", "test", "n_flips")),
        ),
    ),
)
SUBJECT = Subject(
    "corpus",
    """Compare two systems by BLEU or chrF: power, sizes, and the test itself.

    A metric of the whole corpus is no mean over sentences. Its test swaps the
    outputs of the two systems at random; power follows from what single swaps
    do (Card et al. 2020). Start with: humeval-power compare corpus estimate, on any two
    systems like yours.
    """,
    (ESTIMATE, TEST, QUESTIONS),
)
command = SUBJECT.command()
