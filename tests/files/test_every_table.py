"""Every kind of table and of text is read in one manner: encodings, names of columns, and what is told."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cases import each_case

from humeval_power.comparisons.accuracy.files import read_claims, read_counts, read_leaderboard
from humeval_power.comparisons.corpus.files import read_corpus, read_labels
from humeval_power.comparisons.judge.files import judged_roles, judged_table
from humeval_power.comparisons.preference.files import read_judgements
from humeval_power.comparisons.scores.files import open_scores, score_table
from humeval_power.comparisons.survey.survey import read_comparisons
from humeval_power.errors import InputError
from humeval_power.files.lines import read_predictions
from humeval_power.files.tables import ratings_of, read_table
from humeval_power.studies.looks.files import score_pairs


@dataclass(frozen=True, kw_only=True)
class Family:
    """A kind of table: how it is read, to values that can be compared, and a table of it.

    alias : a column and another name of it; doubled : a column and one that could be it too; wanted : what
    is missing without the column that `typo` stands for.
    """

    read: Callable[[Path], Any]
    header: str
    rows: tuple[str, ...]
    alias: tuple[str, str]
    doubled: tuple[str, str, str]
    typo: tuple[str, str]

    def renamed(self, name: str, other: str) -> str:
        """The header with another name for a column."""
        return ",".join(other if each == name else each for each in self.header.split(","))

    def text(self, header: str = "", more: str = "") -> str:
        """The table, with another header or with a further column that repeats the first cell of a row."""
        lines = [header or self.header, *self.rows]
        if more:
            lines = [f"{lines[0]},{more}", *(f"{row},{row.split(',')[0]}" for row in self.rows)]
        return "\n".join(lines) + "\n"


def _ratings(path: Path) -> Any:
    found = ratings_of(read_table(path))
    return found.worker_names, found.item_names, found.system_names, found.raw_rating.tolist()


def _scores(path: Path) -> Any:
    found = score_table(open_scores([str(path)]))
    return found.systems, found.scores.tolist()


def _judgements(path: Path) -> Any:
    codes = [(one.preference, one.worker, one.item) for one in read_judgements(path)]
    return [[None if code is None else code.tolist() for code in three] for three in codes]


def _counted(path: Path) -> Any:
    return [(one.name, one.wins, one.ties, one.losses) for one in read_judgements(path)]


def _predictions(path: Path) -> Any:
    found = read_predictions(path)
    return found.values, found.items


def _pool(path: Path) -> Any:
    return [repr(pair) for pair in score_pairs(read_table(path))]


def _judged(path: Path) -> Any:
    found = read_table(path)
    human, judge, extra, what, *_ = judged_table(found, judged_roles(found, named={})).values()
    return human.tolist(), judge.tolist(), extra.tolist(), what


def _labels(path: Path) -> Any:
    found = read_predictions(path, role="label")
    return found.values, found.items


FAMILIES = {
    "ratings": Family(
        read=_ratings,
        header="worker,item,system,rating",
        rows=tuple(f"w{w},i{i},{s},{w + i}" for w in (1, 2) for i in (1, 2) for s in "AB"),
        alias=("worker", "Annotator ID"),
        doubled=("worker", "rater", "annotator"),
        typo=("rating", "ratng"),
    ),
    "claims": Family(
        read=read_claims,
        header="task,n,baseline,accuracy",
        rows=("sst,1821,0.93,0.94", "rte,3000,0.7,0.75"),
        alias=("baseline", "Previous Best"),
        doubled=("baseline", "sota", "previous best"),
        typo=("baseline", "basline"),
    ),
    "leaderboard": Family(
        read=lambda path: repr(read_leaderboard(path)),
        header="system,date,accuracy",
        rows=("m1,2019-01-03,0.88", "m2,2019-05-01,0.89"),
        alias=("accuracy", "Test Accuracy"),
        doubled=("accuracy", "test", "em"),
        typo=("accuracy", "acuracy"),
    ),
    "counts": Family(
        read=read_counts,
        header="name,only_b,only_a,n,both",
        rows=("one,10,5,100,70", "two,3,8,50,30"),
        alias=("only_b", "B"),
        doubled=("n", "items", "size"),
        typo=("only_b", "only_bb"),
    ),
    "judgements": Family(
        read=_judgements,
        header="worker,item,preference",
        rows=("w1,i1,A", "w1,i2,B", "w2,i1,tie"),
        alias=("worker", "Rater"),
        doubled=("item", "prompt", "example_id"),
        typo=("preference", "prefrence"),
    ),
    "counted judgements": Family(
        read=_counted,
        header="name,wins,ties,losses",
        rows=("fluency,45,30,25", "coherence,20,60,20"),
        alias=("ties", " Ties"),
        doubled=("ties", "TIES", "Ties"),
        typo=("wins", "winns"),
    ),
    "survey": Family(
        read=lambda path: read_comparisons(path)[0],
        header="name,effect,items,workers",
        rows=("one,0.1,100,3", "two,0.05,50,10"),
        alias=("workers", "Annotators"),
        doubled=("items", "n items", "n"),
        typo=("", ""),  # every column may be absent
    ),
    "predictions": Family(
        read=_predictions,
        header="id,prediction,model",
        rows=("q1,yes,m", "q2,no,m"),
        alias=("prediction", "PRED"),
        doubled=("prediction", "pred", "label"),
        typo=("prediction", "predction"),
    ),
    "labels": Family(
        read=_labels,
        header="id,label,split",
        rows=("q1,yes,t", "q2,no,t"),
        alias=("label", "Gold"),
        doubled=("id", "idx", "guid"),
        typo=("label", "lable"),
    ),
    "pool": Family(
        read=_pool,
        header="system,rating",
        rows=("A,1", "A,2", "B,3", "B,5"),
        alias=("rating", "Score"),
        doubled=("system", "model", "sys_id"),
        typo=("rating", "ratting"),
    ),
    "judged": Family(
        read=_judged,
        header="item,judge,human",
        rows=("a,0.5,1", "b,0.4,0", "c,0.9,1", "d,0.2,"),
        alias=("judge", "Judge Score"),
        doubled=("judge", "metric", "prediction"),
        typo=("judge", "jugde"),
    ),
    "scores": Family(
        read=_scores,
        header="item,system,score",
        rows=("s1,A,0.1", "s1,B,0.2", "s2,A,0.3", "s2,B,0.1"),
        alias=("system", "Model Name"),
        doubled=("item", "segment", "sentence id"),
        typo=("", ""),  # a table without its columns may be a wide one
    ),
}
ENCODED = {
    "utf-8": lambda text: text.encode(),
    "utf-8 with a mark": lambda text: text.encode("utf-8-sig"),
    "utf-16 of a little-endian machine": lambda text: b"\xff\xfe" + text.encode("utf-16-le"),
    "utf-16 of a big-endian machine": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
    "line ends of Windows": lambda text: text.replace("\n", "\r\n").encode(),
    "line ends of an old Macintosh": lambda text: text.replace("\n", "\r").encode(),
}


EVERY_FAMILY = each_case("family", FAMILIES.values(), ids=FAMILIES)


def read(family: Family, path: Path, content: bytes | str) -> Any:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return family.read(path)


def refusal(family: Family, path: Path, text: str) -> str:
    with pytest.raises(InputError) as refused:
        read(family, path, text)
    return str(refused.value)


@EVERY_FAMILY
@each_case("encoded", ENCODED.values(), ids=ENCODED)
def test_a_table_is_read_alike_in_every_encoding(family: Family, encoded: Any, tmp_path: Path) -> None:
    expected = read(family, tmp_path / "t.csv", family.text())
    assert read(family, tmp_path / "t.csv", encoded(family.text())) == expected


@EVERY_FAMILY
def test_a_column_is_found_by_another_name(family: Family, tmp_path: Path) -> None:
    expected = read(family, tmp_path / "t.csv", family.text())
    name, other = family.alias
    assert read(family, tmp_path / "t.csv", family.text(family.renamed(name, other))) == expected


@EVERY_FAMILY
def test_case_blanks_and_underscores_do_not_count(family: Family, tmp_path: Path) -> None:
    expected = read(family, tmp_path / "t.csv", family.text())
    header = family.header.upper().replace("ONLY_", "Only ")
    assert read(family, tmp_path / "t.csv", family.text(header)) == expected


@EVERY_FAMILY
def test_of_two_columns_that_fit_none_is_taken(family: Family, tmp_path: Path) -> None:
    name, one, other = family.doubled
    told = refusal(family, tmp_path / "t.csv", family.text(family.renamed(name, one), more=other))
    assert f"several columns could be the {'item' if name == 'id' else name}: " in told
    assert f"{one}, {other}" in told
    assert "Say which: " in told or "Rename all but one" in told


@EVERY_FAMILY
def test_a_column_of_the_very_name_goes_before_all_others(family: Family, tmp_path: Path) -> None:
    name, one, _ = family.doubled
    if name == "id":  # itself another name, of the item
        pytest.skip("no column bears the name")
    expected = read(family, tmp_path / "t.csv", family.text())
    assert read(family, tmp_path / "t.csv", family.text(more=one)) == expected


@EVERY_FAMILY
def test_a_missing_column_is_told_with_those_that_are_there(family: Family, tmp_path: Path) -> None:
    name, typo = family.typo
    if not name:
        pytest.skip("no column is needed")
    told = refusal(family, tmp_path / "t.csv", family.text(family.renamed(name, typo)))
    assert typo in told
    for each in family.header.split(","):
        assert each in told
    if "neither" not in told:  # of two kinds of table none can be told from the other
        assert f"no column was found for: {name}. The columns are: " in told
        assert f"Is {typo!r} the {name}?" in told


def _corpus(path: Path) -> Any:
    return read_corpus(str(path), str(path), [str(path)]).system_a


def _labels(path: Path) -> Any:
    """The same labels three times, each in a file of its own, which it must be."""
    copies = [path.with_name(f"{place}.txt") for place in range(2)]
    for copy in copies:
        copy.write_bytes(path.read_bytes())
    return read_labels(str(path), *map(str, copies))


LINES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "outputs": (_corpus, "ein Satz\nnoch einer: ä\n"),
    "labels": (_labels, "a\nb\n"),
    "predictions": (lambda path: read_predictions(path).values, "ja\nnein\n"),
    "scores without a header": (_scores, "0.1 0.2\n0.3 0.1\n"),
}


@each_case("encoded", ENCODED.values(), ids=ENCODED)
@each_case("kind", LINES)
def test_lines_are_read_alike_in_every_encoding(kind: str, encoded: Any, tmp_path: Path) -> None:
    reader, text = LINES[kind]
    path = tmp_path / "t.txt"
    path.write_text(text)
    expected = reader(path)
    path.write_bytes(encoded(text))
    assert reader(path) == expected


@each_case("kind", LINES)
@each_case(
    ("content", "told"),
    [
        (b"a\n\xff\n", "row 2: byte 3 (0xff) is not UTF-8 text. Save"),
        (b"\xff\xfea\0\n", "cut off or not UTF-16"),
        (b"a\nb\0\n", "row 2: there is a NUL byte"),
    ],
)
def test_bytes_that_are_no_text_are_told_alike(
    kind: str, content: bytes, told: str, tmp_path: Path
) -> None:
    path = tmp_path / "t.txt"
    path.write_bytes(content)
    with pytest.raises(InputError) as refused:
        LINES[kind][0](path)
    assert told in str(refused.value)
