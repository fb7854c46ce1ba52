"""Forms speak in the words of the page: no option of the terminal, and what holds where nothing is chosen."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette")

from every_command import write_inputs

from humeval_power.doors.page.answers import Answer, Work, answer
from humeval_power.doors.page.requests import FORMS, CommandRequest, html_by_labels
from humeval_power.doors.page.views import PageField, answered, field_groups


def fields() -> Iterator[tuple[str, PageField]]:
    for path, form in FORMS.items():
        for group in field_groups(form, CommandRequest(path), ()):
            for one in group.fields:
                yield f"{' '.join(path)}: {one.name}", one


OPTION = re.compile(r"--[a-z][\w-]*")


def test_no_form_names_an_option_of_the_terminal() -> None:
    said = {where: " ".join((one.label, one.help, one.nothing)) for where, one in fields()}
    for path, form in FORMS.items():
        steps = (step.label for step in form.next)
        said["/".join(path)] = " ".join((form.title, form.lead, *(one.note for one in form.groups), *steps))
    assert not {where: found for where, text in said.items() if (found := OPTION.findall(text))}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            "corpus test --system-a a.txt --system-b b.txt --reference reference.txt --swaps 50",
            "\u201cDocuments\u201d",
        ),
        ("judge bias judged.csv --own A --cluster no", "\u201cClusters of items\u201d"),
        ("accuracy power --n 100 --effect 0.02", "\u201cAgreement\u201d"),
        ("rank battles battles.csv", "\u201cWhose battles go together\u201d"),
        ("preference power --n 100 --effect 3", "\u201c"),
    ],
)
def test_what_a_command_says_has_the_labels_of_its_form(tmp_path: Path, words: str, told: str) -> None:
    write_inputs(tmp_path)
    typed = tuple(words.split())
    files = tuple((one.name, str(one)) for one in tmp_path.iterdir())
    found = answer(Work(typed, files), lambda _: None)
    form = FORMS[typed[:2]]
    before, after = (_read(found), _read(answered(found, form)))
    assert OPTION.search(before)
    assert not OPTION.search(after)
    assert told in after


def _read(found: Answer) -> str:
    """What a person reads of an answer, but for commands to type."""
    shown = re.sub(r"<(pre|code)\b.*?</\1>|<[^>]*>", " ", found.html, flags=re.DOTALL)
    said = (shown, *found.notes, *(one.text for one in found.problems))
    return "\n".join(re.sub(r"'humeval-power [^']*'|humeval-power .*", "", one) for one in said)


def test_code_and_commands_stay_as_one_types_them() -> None:
    html = "<p>Use --b &lt; 1.</p><pre>x --b</pre><code>--b</code><td>humeval-power a --b 1</td>"
    assert html_by_labels(html, {"b": "B <of A>"}) == html.replace(
        "--b &lt; 1", "\u201cB &lt;of A&gt;\u201d &lt; 1"
    )


def test_a_choice_says_what_holds_where_nothing_is_chosen() -> None:
    choices = {where: one for where, one in fields() if one.kind == "choice"}
    assert len(choices) > 200
    assert not [where for where, one in choices.items() if not one.nothing]
    assert choices["power: paired"].nothing == "as usual: The same workers"
    assert choices["accuracy power: overlap"].nothing == "as usual: halfway of what is possible"
    assert choices["compare scores: question"].nothing == "choose one"
