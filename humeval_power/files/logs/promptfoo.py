"""Results of promptfoo (version 0.123, `promptfoo eval -o results.json`): {evalId, results: {results: [...]}}, or
one of the inner objects a line. A system is a provider with a prompt, and an item what the variables of a test say:
testIdx counts a test anew for each time that it is repeated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from humeval_power.checking.logs.log import Log, LogSample
from humeval_power.errors import refusal
from humeval_power.files.exports.json_parts import JsonParts
from humeval_power.files.logs.lm_eval import TOTALS
from humeval_power.files.logs.score_rows import (
    Harness,
    RawLog,
    canonical,
    digest_of,
    item_names,
    number_of,
    run_numbers,
    text_of,
    texts_in,
)

_KEYS = {"promptIdx", "testIdx", "vars"}
_TABLE = re.compile(rb'[^\n]*\[.+\] .*,"?Status"?,"?Score"?,"?Named Scores"?,')
_ERROR = 2  # failureReason: 1 is an assertion that failed
_OWN_VARIABLES = ("sessionId", "_conversation")  # new for each answer
_LONGEST = 40  # characters of a prompt's label
_REPEATED = "The run of an answer is the repetition of its test: the item was answered anew (--nested)."
Result = tuple[int, dict[str, Any]]


def _known_by(raw: RawLog) -> str | None:
    if raw.first.keys() >= _KEYS:
        return f"its results have {', '.join(sorted(_KEYS))}"
    if raw.head.startswith(b"{") and re.match(rb'\{\s*"evalId"\s*:', raw.head) and b'"results"' in raw.head:
        return "it has evalId and results"
    return TOTALS if _TABLE.match(raw.head) else None


def _read(raw: RawLog) -> Iterator[Log]:
    if not raw.head.startswith(b"{"):
        rule = "is promptfoo's table, whose scores are rounded to two digits."
        raise refusal(rule, "Write JSON: promptfoo eval -o results.json.", raw.source)
    parts = JsonParts(raw.source)
    whole, results = _results(raw, parts)
    pairs = _systems(results, parts)
    samples = _samples(results, pairs, parts)
    parts.refuse()
    notices = []
    n_failed = sum(_has_failed(one) for _, one in results)
    if n_failed:
        notices.append(f"{n_failed:,} of {len(results):,} results are errors, and have no score.")
    if any(sample.run for those in samples.values() for sample in those):
        notices.append(_REPEATED)
    reported = _reported(whole)
    for pair, those in samples.items():
        yield Log(
            pairs[pair],
            "",
            tuple(those),
            created=text_of(whole.get("timestamp")) or "",
            notices=tuple(notices),
            reported=reported.get(pair, {}),
        )


def _results(raw: RawLog, parts: JsonParts) -> tuple[dict[str, Any], list[Result]]:
    """What stands beside the results, and these, each with its line or its place.
    Raises InputError: no results, or what is none."""
    whole: dict[str, Any] = {}
    if raw.first.keys() >= _KEYS:
        results = raw.records
    else:
        whole = parts.object_of(
            parts.object_of(raw.json, row=None).get("results"), row=None, field="results"
        )
        results = list(parts.records_of(whole.get("results")))
    parts.refuse()
    if not results:
        raise refusal("holds no results.", "Has the evaluation ended?", raw.source)
    lacking = [row for row, one in results if not isinstance(one.get("vars"), dict)]
    if lacking:
        rule = "has no 'vars', an object: what was asked cannot be known."
        raise refusal(rule, "Is the file complete?", raw.source, lacking[0])
    return whole, results


def _systems(results: list[Result], parts: JsonParts) -> dict[str, str]:
    """The name of each pair of a provider and a prompt: the provider's alone where there is one prompt."""
    providers: dict[str, str] = {}
    prompts: dict[str, str] = {}
    for row, one in results:
        pair, provider = _pair(one), one.get("provider")
        named = provider if isinstance(provider, dict) else {"id": provider}
        label = next(filter(None, (text_of(named.get(key)) for key in ("label", "id"))), "")
        providers.setdefault(pair, label or "provider")
        prompt = parts.object_of(one.get("prompt") or {}, row=row, field="prompt")
        prompts.setdefault(pair, text_of(prompt.get("label")) or text_of(prompt.get("raw")) or "")
    number = {label: place for place, label in enumerate(dict.fromkeys(prompts.values()), start=1)}
    names = {}
    for pair, provider in providers.items():
        label = prompts[pair]
        short = label if len(label) <= _LONGEST and "\n" not in label else f"prompt {number[label]}"
        names[pair] = f"{provider}/{short}" if len(number) > 1 else provider
    counts = list(names.values())
    return {pair: name if counts.count(name) == 1 else f"{name} #{pair}" for pair, name in names.items()}


def _pair(result: Mapping[str, Any]) -> str:
    return text_of(result.get("promptIdx")) or ""


def _samples(
    results: list[Result], systems: Mapping[str, str], parts: JsonParts
) -> dict[str, list[LogSample]]:
    """The samples of each system."""
    tests = [parts.object_of(one.get("testCase") or {}, row=row, field="testCase") for row, one in results]
    variables = [
        {name: value for name, value in one["vars"].items() if name not in _OWN_VARIABLES}
        for _, one in results
    ]
    questions = [
        canonical([values, test.get("assert")]) for values, test in zip(variables, tests, strict=True)
    ]
    named = [
        text_of(test.get("description"))
        or ", ".join(f"{name}={canonical(value)}" for name, value in values.items())
        for values, test in zip(variables, tests, strict=True)
    ]
    short = item_names([("", name) for name in named])
    items = item_names(list(zip(short, questions, strict=True)))
    runs = run_numbers([(_pair(one), item) for item, (_, one) in zip(items, results, strict=True)])
    sample: dict[str, list[LogSample]] = {pair: [] for pair in systems}
    for (row, one), test, values, item, run in zip(results, tests, variables, items, runs, strict=True):
        response = one.get("response")
        answer = response.get("output") if isinstance(response, dict) else None
        sample[_pair(one)].append(
            LogSample(
                item,
                {} if _has_failed(one) else dict(_scores(row, one, parts)),
                run,
                row,
                {**texts_in(values), **texts_in(test.get("metadata"))},
                digest_of(canonical(values)),
                prediction=text_of(answer),
                uuid=text_of(one.get("id")) or "",
            )
        )
    return sample


def _scores(row: int, result: Mapping[str, Any], parts: JsonParts) -> Iterator[tuple[str, float | None]]:
    """The metrics by name, the score of the test, and whether it passed."""
    named = parts.object_of(result.get("namedScores") or {}, row=row, field="namedScores")
    for name, value in [("score", result.get("score")), ("pass", result.get("success")), *named.items()]:
        yield str(name), parts.score_of(value, row=row, field=str(name))


def _has_failed(result: Mapping[str, Any]) -> bool:
    """Whether a result is an error of the provider, which counts as a score of 0 there."""
    return result.get("failureReason") == _ERROR


def _reported(whole: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """The means of each pair: sums over its tests that are no errors."""
    prompts = whole.get("prompts")
    result: dict[str, dict[str, float]] = {}
    for place, one in enumerate(prompts if isinstance(prompts, list) else []):
        metrics = one.get("metrics") if isinstance(one, dict) else None
        if not isinstance(metrics, dict):
            continue
        passed, failed = (number_of(metrics.get(f"test{name}Count")) or 0 for name in ("Pass", "Fail"))
        sums, counts, weights = (
            metrics.get(f"namedScore{end}") or {} for end in ("s", "sCount", "Weights")
        )
        means: dict[str, tuple[object, object]] = {
            "score": (metrics.get("score"), passed + failed),
            "pass": (passed, passed + failed),
        }
        if isinstance(sums, dict) and isinstance(counts, dict) and weights in ({}, counts):
            means |= {str(name): (value, counts.get(name)) for name, value in sums.items()}
        result[str(place)] = {
            name: total / n
            for name, (value, count) in means.items()
            if (total := number_of(value)) is not None and (n := number_of(count))
        }
    return result


PROMPTFOO = Harness(
    "promptfoo",
    _known_by,
    _read,
    files="`results.json`, or JSON lines",
    written_by="`promptfoo eval -o results.json`",
    item="the variables of a test; its repetition",
    proved="0.123.1, 2026-11-25",
)
