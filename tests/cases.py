"""One test of many cases: a loop that goes on after a failure, and reports every case that failed.

`each_case` stands where `pytest.mark.parametrize` would, for a property of many cheap cases: one test instead of
hundreds, which is collected, scheduled and reported once. Each case has a `tmp_path` and a `monkeypatch` of
its own.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from hypothesis import settings

# Cases that were tried since the start of this process: what `cpu_budget.py` adds up.
n_tried = 0

Values = Iterable[Any] | Callable[[], Iterable[Any]]


class Cases:
    """Cases that are tried one after the other."""

    def __init__(self) -> None:
        self.n = 0
        self.skipped: list[str] = []
        self.failed: list[str] = []

    @contextmanager
    def case(self, name: object) -> Iterator[None]:
        """Note what fails within, and go on."""
        global n_tried
        n_tried += 1
        self.n += 1
        try:
            yield
        except pytest.skip.Exception as skipped:
            self.skipped.append(f"{name}: {skipped}")
        except (Exception, pytest.fail.Exception) as error:
            found = pytest.ExceptionInfo.from_exception(error)
            shown = str(found.getrepr(style="short")) if len(self.failed) < 5 else found.exconly()
            self.failed.append(f"--- {name}\n{shown}")

    def judge(self) -> None:
        """Fail with all cases that failed, or because there were none; skip if all were skipped."""
        if not self.n:
            pytest.fail("There are no cases.", pytrace=False)
        if self.failed:
            told = "\n".join(self.failed)
            pytest.fail(f"{len(self.failed)} of {self.n} cases failed:\n{told}", pytrace=False)
        if len(self.skipped) == self.n:
            pytest.skip(self.skipped[0])


@contextmanager
def every_case() -> Iterator[Cases]:
    """`with every_case() as cases: for ...: with cases.case(name): assert ...`."""
    cases = Cases()
    yield cases
    cases.judge()


def each_case(names: str | Sequence[str], values: Values, *, ids: Any = None) -> Callable[[Any], Any]:
    """Try the function with every value, as `parametrize` does, but in one test.

    `values` may be a function, which is called when the test runs, and not when it is collected. Several
    decorators try every combination.
    """
    listed = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)

    kept = values if callable(values) else list(values)

    def decorate(function: Any) -> Any:
        inner = getattr(function, "one_case", function)
        axes = [(listed, kept, ids), *getattr(function, "axes", [])]
        own = {name for listed, _, _ in axes for name in listed}
        signature = inspect.signature(inner)
        fixtures = [
            parameter.replace(kind=parameter.KEYWORD_ONLY)
            for name, parameter in signature.parameters.items()
            if name not in own
        ]

        @functools.wraps(inner)
        def every(**given: Any) -> None:
            with every_case() as cases:
                for place, case in enumerate(product(*(_cases(*axis) for axis in axes))):
                    label = " | ".join(label for label, _ in case)
                    arguments = {name: value for _, named in case for name, value in named.items()}
                    with cases.case(label), _own(given, place) as fresh:
                        inner(**fresh, **arguments)

        every.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
        every.one_case, every.axes = inner, axes  # type: ignore[attr-defined]
        return every

    return decorate


def _cases(names: list[str], values: Values, ids: Any) -> list[tuple[str, dict[str, Any]]]:
    """The name of every case, and its arguments."""
    labels = None if ids is None or callable(ids) else list(ids)
    found = []
    for place, value in enumerate(values() if callable(values) else values):
        row = [value] if len(names) == 1 else list(value)
        assert len(row) == len(names), f"{names}: {row}"
        shown = labels[place] if labels else "-".join(str((ids or repr)(one)) for one in row)
        found.append((str(shown)[:200], dict(zip(names, row, strict=True))))
    return found


@contextmanager
def _own(given: dict[str, Any], place: int) -> Iterator[dict[str, Any]]:
    """Fixtures of a test, with a folder and patches of the case's own."""
    fresh = dict(given)
    with pytest.MonkeyPatch.context() as patches:
        if "tmp_path" in given:
            folder: Path = given["tmp_path"] / f"case_{place}"
            folder.mkdir()
            fresh["tmp_path"] = folder
        if "monkeypatch" in given:
            fresh["monkeypatch"] = patches
        yield fresh


def few_fast(
    names: str | Sequence[str], values: Iterable[Any], *, fast: int = 1, ids: Any = None
) -> pytest.MarkDecorator:
    """`parametrize`, where the first `fast` values are for every run; the rest, of the same property, is slow."""
    several = not isinstance(names, str) or "," in names
    marked = [
        value if place < fast else pytest.param(*(value if several else (value,)), marks=pytest.mark.slow)
        for place, value in enumerate(values)
    ]
    return pytest.mark.parametrize(names, marked, ids=ids)


def examples(most: int) -> settings:
    """So many examples of a property, of which the profile `quick` tries no more than of others."""
    from hypothesis import settings

    quick = settings.get_profile("quick").max_examples
    return settings(max_examples=min(most, quick) if settings.default.max_examples == quick else most)
