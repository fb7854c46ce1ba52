"""A model in lme4's syntax: what it names, and what is refused with what is offered instead."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from cases import each_case
from cli import run, run_json
from places import ROOT

import humeval_power as hp
from humeval_power.checking.formula import TOO_BOLD, model_formula
from humeval_power.errors import InputError

PILOT = ROOT / "data" / "pilot.csv"
WORKER, ITEM = "(1 + system || worker)", "(1 + system || item)"
PLAIN = f"rating ~ system + {WORKER} + {ITEM}"


def problems_of(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        model_formula(text)
    return [str(problem) for problem in caught.value.problems]


def test_the_columns_are_taken_from_where_they_stand() -> None:
    found = model_formula(
        "rating ~ system + position + (1 + system || worker) + (1 + system | item) + (1 | document)"
    )
    roles = ("worker", "item", "system", "rating", "document")
    assert found.columns == {**{role: role for role in roles}, "covariates": ("position",)}
    assert found.correlated == ("item",)
    assert not found.worker_item
    assert found.assumed == (
        "The documents' slope is fitted beside (1 | document): without it the test would take what these documents "
        "say of the systems for what all do.",
    )


@each_case(
    ("text", "columns"),
    [
        (
            "score ~ model + (1+model||annotator) + (1+model||segment)",
            ("annotator", "segment", "model", "score"),
        ),
        (  # names decide before the order does
            "score ~ model + (1+model||segment) + (1+model||annotator)",
            ("annotator", "segment", "model", "score"),
        ),
        ("y ~ x + (x||a) + (x||b)", ("a", "b", "x", "y")),
        ("y ~ x + (1|a) + (0+x|a) + (1|b) + (x-1|b)", ("a", "b", "x", "y")),
        ("y ~ 1 + x + z + (x||a) + (x||b)", ("a", "b", "x", "y")),
        (
            "`my score` ~ `the | system` + (1 + `the | system` || `w id`) + (`the | system` || `a:b`)",
            ("w id", "a:b", "the | system", "my score"),
        ),
        ("wért_1 ~ x.y + (x.y||a) + (x.y||b)", ("a", "b", "x.y", "wért_1")),
    ],
)
def test_columns_of_many_formulas(text: str, columns: tuple[str, ...]) -> None:
    found = model_formula(text)
    assert (found.worker, found.item, found.system, found.rating) == columns
    assert found.correlated == ()
    assert found.document is None


def test_names_that_say_nothing_are_read_in_order_and_that_is_said() -> None:
    assert model_formula("y ~ x + (x||b) + (x||a)").assumed == (
        "Of the groups in the formula b is read as the worker, a as the item.",
    )
    said, _ = model_formula(f"{PLAIN} + (1 | session2)").assumed
    assert "session2 the document" in said


@pytest.mark.parametrize(
    ("term", "correlated"),
    [("(1 + system | worker)", ("worker",)), ("(system | worker)", ("worker",)), (WORKER, ())],
)
def test_one_bar_correlates_and_two_do_not(term: str, correlated: tuple[str, ...]) -> None:
    assert model_formula(f"rating ~ system + {term} + {ITEM}").correlated == correlated


@pytest.mark.parametrize(
    ("term", "slope"),
    [
        ("(1 | document)", False),
        ("(1 + system || document)", True),
        ("(1 | document) + (0 + system | document)", True),
    ],
)
def test_a_third_factor_is_the_document(term: str, slope: bool) -> None:
    found = model_formula(f"{PLAIN} + {term}")
    assert (found.document, found.nested) == ("document", False)
    assert bool(found.assumed) != slope
    assert (found.worker, found.item) == ("worker", "item")


@pytest.mark.parametrize(
    ("terms", "slope"),
    [
        ("(1 + system || document/item)", True),
        ("(1 | document) + (1 + system || document:item)", False),
        ("(1 | document) + (1 + system || item:document)", False),
    ],
)
def test_items_within_documents(terms: str, slope: bool) -> None:
    found = model_formula(f"rating ~ system + {WORKER} + {terms}")
    assert (found.document, found.item, found.worker) == ("document", "item", "worker")
    assert found.nested
    assert bool(found.assumed) != slope


@pytest.mark.parametrize("pair", ["worker:item", "item:worker"])
def test_what_a_worker_and_an_item_share(pair: str) -> None:
    assert model_formula(f"{PLAIN} + (1 | {pair})").terms == {"worker_item": True, "correlated": ()}


@each_case(
    ("text", "said"),
    [
        ("rating ~ system*position + {w} + {i}", "system:position: interactions of fixed effects"),
        ("rating ~ system + bs(t, 3) + {w} + {i}", "bs(t, 3): it is computed; splines"),
        ("rating ~ system + system:offset(z) + {w} + {i}", "offset(z) is computed"),
        ("log(rating) ~ system + {w} + {i}", "log(rating): the left side is one column"),
        ("rating ~ 0 + system + {w} + {i}", "0 (or - 1): the model has an intercept."),
        ("rating ~ system - 1 + {w} + {i}", "0 (or - 1): the model has an intercept."),
        ("rating ~ system - x + {w} + {i}", "- x: a term is taken away"),
        ("rating ~ . + system + {w} + {i}", ".: columns are not named one by one"),
        ("rating ~ system + (a + b)^2 + {w} + {i}", "(a + b)^2: columns are not named one by one"),
        ("rating ~ system + 2 + {w} + {i}", "2: 2 is no column"),
        ("rating ~ system + item + {w} + {i}", "item: the column stands in two places"),
        (
            "rating ~ system + {w} + {i} + {i}",
            "(1 + system || item): something of it is in the formula twice",
        ),
        ("rating ~ system + {w} + {i} + (1 | a) + (1 | b)", "(1 | b): b is a further factor"),
        ("rating ~ system + {w} + {i} + (1 | worker:day)", "(1 | worker:day): of two columns"),
        (
            "rating ~ system + {w} + {i} + (system | worker:item)",
            "(system | worker:item): what a worker and",
        ),
        ("rating ~ system + {w} + {i} + (1 | worker:item:z)", "(1 | worker:item:z): these groups"),
        ("rating ~ system + {w} + {i} + (1 | worker:system)", "Write (1 + system || worker)."),
        ("rating ~ system + z + (system + z || worker) + {i}", "a slope of z is not fitted"),
        ("rating ~ system + (system * z || worker) + {i}", "a slope of system:z is not fitted"),
        ("rating ~ system + (0 + system | worker) + {i}", "the workers have a slope and no intercept"),
        ("rating ~ system + {w} + {i} + (system | document)", "(1 + system | document): of documents"),
        ("rating ~ system + {w}", "no term says how the items differ. Add (1 + system || COLUMN)"),
        ("rating ~ system + {i}", "no term says how the workers differ. Add (1 + system || COLUMN)"),
        ("rating ~ {w} + {i}", "system varies by groups and has no fixed effect"),
        ("rating ~ a + b + (1 | worker) + (1 | item)", "several columns could be the system: a, b."),
        ("rating ~ system + {w} * {i}", "a term with a bar is only added"),
        ("rating ~ system - {w} + {i}", "(1 + system || worker): a term is taken away"),
        (
            "rating ~ system + us(1 | worker) + {i}",
            "us(1 | worker): a '+' is missing before the bracket, or",
        ),
    ],
)
def test_a_term_that_is_not_fitted_is_named_with_what_is_offered(text: str, said: str) -> None:
    found = problems_of(text.format(w=WORKER, i=ITEM))
    assert any(said in problem for problem in found)
    assert all(problem.startswith("--formula: ") for problem in found)


@each_case(
    ("text", "said"),
    [
        ("", "it is empty"),
        ("rating", "there is no '~'"),
        ("~ system", "'~' is incorrectly used"),
        ("a ~ b ~ c", "there are two '~'"),
        ("rating ~ system + 1 | worker", "'|' stands outside of brackets"),
        ("rating ~ system (1 | worker)", "missing operator between 'system' and '1'"),
        ("rating ~ system + (1 | worker", "could not find matching bracket"),
        ("rating ~ `system", "ended before it was closed"),
        ("rating ~ x$system", "unknown operator '$'"),
        ("rating ~ f(a b)", "a call of a function is none"),
        ("rating ~ " + "+".join("x" * 1500), "it is longer than 2,000 characters"),
        ("rating ~ " + "-(" * 900 + "x" + ")" * 900, "longer"),
    ],
)
def test_text_that_is_no_formula_is_refused_in_a_line_with_an_example(text: str, said: str) -> None:
    (problem,) = problems_of(text)
    assert said in problem
    assert problem.endswith("(1 + system || worker) + (1 + system || item).")
    assert problem.isprintable()


def test_everything_that_is_wrong_is_said_at_once() -> None:
    found = problems_of("log(rating) ~ 0 + system*z + s(t) + (1 | worker) + (1 | item) + (1 | a) + (1 | b)")
    marks = ("log(rating)", "s(t)", "0 (or - 1)", "system:z", "(1 | b)", "(1 | worker)", "(1 | item)")
    assert [mark for mark in marks if any(mark in problem for problem in found)] == list(marks)


@pytest.mark.parametrize(("role", "seed"), [("worker", 1), ("item", 2)])
def test_how_bold_a_test_without_slopes_is(role: str, seed: int) -> None:
    claimed = int(re.findall(r"in (\d+) %", TOO_BOLD[role])[0])
    rng = np.random.default_rng(seed)
    n_workers, n_items, n_studies, residual, slope = 10, 100, 2000, 0.2, 0.1
    found = 0
    for _ in range(n_studies):
        shape = (n_workers, 1, 1) if role == "worker" else (1, n_items, 1)
        x = np.array([-0.5, 0.5])
        y = slope * rng.standard_normal(shape) * x
        y = y + residual * rng.standard_normal((n_workers, n_items, 2))
        left = (
            y
            - y.mean((1, 2), keepdims=True)
            - y.mean((0, 2), keepdims=True)
            - y.mean((0, 1))
            + 2 * y.mean()
        )
        df = 2 * n_workers * n_items - n_workers - n_items
        error = math.sqrt(2 * float((left**2).sum()) / df / (n_workers * n_items))
        found += abs(y[:, :, 1].mean() - y[:, :, 0].mean()) > 1.96 * error
    share = 100 * found / n_studies
    assert share == pytest.approx(claimed, abs=4 * 100 * math.sqrt(0.25 / n_studies))


def renamed(folder: Path) -> Path:
    path = folder / "renamed.csv"
    header, *rows = PILOT.read_text().splitlines()
    assert header == "worker,item,system,rating"
    path.write_text("\n".join(["annotator,segment,model,score", *rows]) + "\n")
    return path


def test_a_formula_is_all_that_a_fit_needs(tmp_path: Path) -> None:
    text = "score ~ model + (1 + model || annotator) + (1 + model || segment)"
    named = run_json("fit", renamed(tmp_path), "--scale", "1:5", "--formula", text)
    plain = run_json("fit", PILOT, "--scale", "1:5")
    assert named["parameters"] == plain["parameters"]
    assert named["effect"] == plain["effect"]


@pytest.fixture(scope="module")
def with_term() -> dict[str, float]:
    """What a fit of the pilot with the term of worker and item estimates."""
    return run_json("fit", PILOT, "--scale", "1:5", "--worker-item")["parameters"]


def test_a_formula_brings_the_term_of_worker_and_item(with_term: dict[str, float]) -> None:
    text = f"{PLAIN} + (1 | worker:item)"
    named = run_json("fit", PILOT, "--scale", "1:5", "--formula", text)
    assert named["parameters"] == with_term


def test_one_bar_of_a_formula_is_the_option_of_correlated_factors() -> None:
    text = f"rating ~ system + (1 + system | worker) + {ITEM}"
    named = run_json("fit", PILOT, "--scale", "1:5", "--formula", text)
    plain = run_json("fit", PILOT, "--scale", "1:5", "--correlated", "worker")
    assert named["parameters"] == plain["parameters"]
    assert named["effect"] == plain["effect"]
    told = run("fit", PILOT, "--formula", text, "--correlated", "worker,item", code=2).output
    assert "--correlated asks for correlated items, which its '||' deny." in " ".join(told.split())


SENTENCES = ROOT / "data" / "sentences.csv"


def test_a_formula_brings_documents_and_covariates() -> None:
    plain = run_json("fit", SENTENCES, "--scale", "1:5", "--document", "document", "--covariate", "place")
    for within in ("(1 + system || document) + (1 + system || item)", "(1 + system || document/item)"):
        text = f"rating ~ system + place + {WORKER} + {within}"
        named = run_json("fit", SENTENCES, "--scale", "1:5", "--formula", text)
        assert named["parameters"] == plain["parameters"], within
        assert named["effect"] == plain["effect"], within
    assert plain["effect"] != run_json("fit", SENTENCES, "--scale", "1:5")["effect"]


def test_the_order_of_showing_is_a_covariate_that_an_option_calls_so() -> None:
    text = f"rating ~ system + place + {WORKER} + {ITEM}"
    named = run_json("fit", SENTENCES, "--scale", "1:5", "--formula", text, "--order-column", "place")
    plain = run_json("fit", SENTENCES, "--scale", "1:5", "--order-column", "place")
    assert named["effect"] == plain["effect"]
    told = run(
        "fit", SENTENCES, "--formula", PLAIN, "--order-column", "place", "--document", "document", code=2
    )
    said = " ".join(told.output.split())
    assert "it lacks the column 'place', which an option names. Add + place." in said
    assert "it lacks the document of --document document. Add (1 + system || document)." in said


def test_items_within_documents_have_names_of_their_own(tmp_path: Path) -> None:
    header, *rows = SENTENCES.read_text().splitlines()
    assert header.startswith("worker,document,item,")
    path = tmp_path / "sentences.csv"
    path.write_text("\n".join([header, *(re.sub(r",d\d+-s", ",s", row) for row in rows)]))
    text = f"rating ~ system + {WORKER} + (1 + system || document/item)"
    told = run("fit", path, "--scale", "1:5", "--formula", text, code=2).output
    assert "item 's1' occurs in 'd1' and in 'd2'. Give every item" in " ".join(told.split())
    run(
        "fit", path, "--scale", "1:5", "--formula", text.replace("document/item", "document") + f" + {ITEM}"
    )


def test_options_that_say_something_else_than_the_formula_are_refused() -> None:
    told = run("fit", PILOT, "--formula", PLAIN, "--item", "segment", "--worker-item", code=2).output
    said = " ".join(told.split())
    assert "it names 'item' as the item, and --item segment another column. Leave out --item" in said
    assert "--worker-item asks for a term that it lacks: (1 | worker:item). Add it." in said
    run("fit", PILOT, "--scale", "1:5", "--formula", PLAIN, "--item", "item")


@pytest.mark.slow
def test_an_analysis_takes_a_formula_too() -> None:
    text = f"rating ~ system + place + (system | worker) + {ITEM} + (1 + system || document)"
    words = ("--document", "document", "--covariate", "place", "--correlated", "worker")
    named = run_json("analyze", SENTENCES, "--scale", "1:5", "--formula", text)
    plain = run_json("analyze", SENTENCES, "--scale", "1:5", *words)
    assert {**named, "command": ""} == {**plain, "command": ""}
    told = run("analyze", SENTENCES, "--formula", f"{PLAIN} + (1 | worker:item)", code=2).output
    assert "(1 | worker:item): this command does not fit it. 'fit' does" in " ".join(told.split())


def test_refusals_fit_the_terminal() -> None:
    told = run(
        "fit", PILOT, "--formula", "rating ~ system + (1 | worker) + s(t) + (1 | item)", code=2
    ).output
    assert max(map(len, told.splitlines())) <= 80
    assert "Traceback" not in told


def test_from_python_a_formula_gives_what_the_calls_take(
    tmp_path: Path, with_term: dict[str, float]
) -> None:
    model = hp.model_formula(
        "score ~ model + (model || annotator) + (model || segment) + (1 | annotator:segment)"
    )
    found = hp.fit(hp.read_ratings(renamed(tmp_path), scale="1:5", **model.columns), **model.terms)
    assert found.parameters.as_dict() == with_term
    assert found.parameters.sd_worker_item > 0
