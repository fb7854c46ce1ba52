"""One way to say one thing: a name has one sentence and one kind of value in all commands."""

import re
from collections import defaultdict

import click
from cases import each_case
from option_tree import leaves

from humeval_power.asking.options import DeclaredArgument, DeclaredOption
from humeval_power.fields import Field, own, text
from humeval_power.study import FIELDS

# Another sentence or kind than elsewhere, and why. Add none without a reason that a user would accept.
OTHER_KIND = {
    "start": "asks people, who may answer 'unknown' or '15 an hour'",
}
OTHER_SENTENCE: dict[tuple[str, str], str] = {}
FLAG = re.compile(r"(?<![\w-])--?[a-zA-Z]|`")


def declared() -> list[tuple[str, str, Field]]:
    """Every option of every command: the command, its name, its field; those that are refused left out."""
    return [
        (words, name, option.about)
        for words, command in leaves()
        for option in command.params
        if isinstance(option, DeclaredOption) and not option.about.hidden
        for name in (max(option.opts, key=len),)
    ]


def kind_of(field: Field) -> str:
    """What is typed: a list where another command takes one value is of the same kind."""
    kind = field.kind
    if kind.flag is not None or kind.choices:
        return "flag" if kind.flag is not None else "word"
    schemas = kind.json.get("anyOf", [kind.json])
    types = {one for schema in schemas for one in _listed(schema.get("type"))}
    of_numbers = "array" in types and all(
        schema.get("items", {}).get("type", "number") == "number" for schema in schemas
    )
    return "number" if types & {"integer", "number"} or of_numbers else "text"


def _listed(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]


DECLARED = declared()
NAMES = sorted({name for _, name, _ in DECLARED})


def test_the_options_are_there_and_those_without_a_field_are_of_one_command() -> None:
    assert len(DECLARED) > 2_000
    assert len(NAMES) > 300
    without = [
        max(option.opts, key=len)
        for _, command in leaves()
        for option in command.params
        if isinstance(option, click.Option) and not isinstance(option, DeclaredOption)
    ]
    assert len(set(without)) == len(without)
    assert not set(without) & set(NAMES)


def test_a_name_has_one_sentence_in_all_commands() -> None:
    said: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for words, name, field in DECLARED:
        if (words, name) not in OTHER_SENTENCE:
            said[name][re.sub(r" ?\[[^\]]*\]$", "", field.help)].append(words)
    assert {name: dict(helps) for name, helps in said.items() if len(helps) > 1} == {}


def test_a_name_has_one_kind_of_value_in_all_commands() -> None:
    kinds: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for words, name, field in DECLARED:
        if words not in OTHER_KIND:
            kinds[name][kind_of(field)].append(words)
    assert {name: dict(found) for name, found in kinds.items() if len(found) > 1} == {}


def test_an_argument_has_one_name_by_what_it_holds() -> None:
    """RATINGS are the argument `ratings` in every command, a TABLE is `table`, several are `files`."""
    names: dict[str, set[str]] = defaultdict(set)
    for _, command in leaves():
        for one in command.params:
            if isinstance(one, DeclaredArgument) and one.name != "files":
                names[str(one.metavar or one.name).strip("[].").upper()].add(str(one.name))
    several = {metavar: found for metavar, found in names.items() if len(found) > 1}
    assert several == {}
    assert not names["TABLE"] - {"table"}


def test_the_study_file_says_what_the_options_say() -> None:
    """A field of the study and the option of its name have the same sentence, also in commands without a study."""
    helps = {name: field.help for _, name, field in DECLARED}
    for name, field in FIELDS.items():
        option = f"--{(field.option or name).replace('_', '-')}"
        if option in helps:
            assert helps[option] == field.help, name


def test_help_says_nothing_in_the_words_of_one_door() -> None:
    """The page shows these sentences too: no option with its dashes, no command line in backquotes."""
    arguments = [
        (words, str(one.name), one.about)
        for words, command in leaves()
        for one in command.params
        if isinstance(one, DeclaredArgument)
    ]
    wrong = {
        (name, one)
        for _, name, field in (*DECLARED, *arguments)
        for one in (field.full_help, field.page_help, field.label)
        if FLAG.search(one)
    }
    assert wrong == set()


@each_case(
    ("note", "said"),
    [
        ("", "Sample size."),
        (": items in the test set.", "Sample size: items in the test set."),
        (", as the scenario counts it.", "Sample size, as the scenario counts it."),
        ("; more is better.", "Sample size; more is better."),
        ("of the study.", "Sample size of the study."),
        ("At least 2. [all]", "Sample size. At least 2. [all]"),
        ("[all]", "Sample size. [all]"),
    ],
)
def test_a_note_goes_on_with_the_sentence_or_follows_it(note: str, said: str) -> None:
    assert own(text(), "Sample size.", note=note).full_help == said


# Names with another default in some commands, and why: their help says so, or their words are their own.
OTHER_DEFAULT = {
    "--systems": "no names of columns, else the names of two systems",
    "--efficacy": "items of a test set bring equal information, workers do not",
    "--overlap": "claims are mostly of GLUE's tasks, submissions are to SQuAD",
    "--test": "few judgements of preference need the exact test, mid-p does for a test set's many items",
    "--sd": "in points of 0 to 100, else in the units of a judge",
}


def test_a_name_has_one_default_where_its_values_mean_the_same() -> None:
    """Commands whose words differ (tests, metrics) choose among their own."""
    defaults: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for words, name, field in DECLARED:
        if field.usual is not None and name not in OTHER_DEFAULT:
            meaning = ",".join(field.kind.choices)
            defaults[f"{name} {meaning}"][str(field.usual)].append(words)
    assert {name: dict(found) for name, found in defaults.items() if len(found) > 1} == {}
