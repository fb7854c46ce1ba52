"""Logs in which anything may stand in the place of anything: read, or refused in a sentence, and nothing else."""

import csv
import io
import json
import os
import random
import zipfile
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from cases import few_fast
from harness_logs import (
    WRITERS,
    inspect_header,
    inspect_samples,
    write_inspect,
    write_lm_eval,
    write_zstandard,
)

from humeval_power import extras
from humeval_power.errors import EngineMissingError, InputError
from humeval_power.files.file_bytes import MAX_MB
from humeval_power.files.logs.reading import read_logs

ANYTHING: list[Any] = [
    None,
    True,
    -1,
    1e300,
    "",
    "x",
    [],
    {},
    [1, "a"],
    {"a": [None]},
    float("nan"),
    [[]],
    "\u202e",
]


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every object or list inside of a value, with a key of it."""
    inner = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    found = [(value, key) for key, _ in inner]
    for _, one in inner:
        if isinstance(one, dict | list):
            found += places(one)
    return found


def changed(text: str, chance: random.Random) -> str:
    """The text of a log with some of its values exchanged, or cut."""
    if chance.random() < 0.2:
        return text[: chance.randrange(len(text))]
    if not text.startswith(("{", "[")):
        rows = list(csv.reader(io.StringIO(text)))
        for _ in range(chance.choice([1, 1, 2, 5])):
            row = chance.choice(rows)
            row[chance.randrange(len(row))] = str(chance.choice(ANYTHING))
        written = io.StringIO()
        csv.writer(written).writerows(rows)
        return written.getvalue()
    whole = text.startswith(("[", "{\n"))
    records = [json.loads(text)] if whole else [json.loads(line) for line in text.splitlines()]
    for _ in range(chance.choice([1, 1, 2, 5])):
        holder, key = chance.choice(places(records))
        if isinstance(holder, dict) and chance.random() < 0.3:
            del holder[key]
        elif holder is not records:
            holder[key] = deepcopy(chance.choice(ANYTHING))
    return json.dumps(records[0], indent=1) if whole else "".join(json.dumps(one) + "\n" for one in records)


@pytest.mark.parametrize("harness", WRITERS)
@few_fast("n_logs", [10, 250])
def test_whatever_stands_in_a_log_is_read_or_refused(harness: str, n_logs: int, tmp_path: Path) -> None:
    folder = WRITERS[harness](tmp_path / "logs", {"m/a": [1, 0, 1, 1], "m/b": [0, 0, 1, 1]})
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "stats.json"]
    texts = {path: path.read_text() for path in files}
    chance = random.Random(harness)
    n_refused = n_silent = 0
    for _ in range(n_logs):
        path = chance.choice(files)
        path.write_text(changed(texts[path], chance))
        try:
            found = read_logs(folder)
            assert found is None or len(found.frame)
        except InputError as error:
            n_refused += 1
            n_silent += not all(problem.rule for problem in error.problems)
        path.write_text(texts[path])
    # in lines of one cell each every change is a whole line
    assert 0 < n_refused < n_logs + (harness == "sacrebleu")
    assert not n_silent


def test_links_that_lead_in_circles_and_hidden_folders_are_not_followed(tmp_path: Path) -> None:
    write_lm_eval(tmp_path / "logs", {"m/a": [1, 0]})
    write_lm_eval(tmp_path / "logs" / ".cache", {"m/b": [1, 0]})
    os.symlink(tmp_path / "logs", tmp_path / "logs" / "again")
    found = read_logs(tmp_path / "logs")
    assert found is not None
    assert set(found.frame["system"]) == {"m/a"}


def test_an_archive_that_unpacks_to_more_than_the_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MAX_MB, "1")
    file = tmp_path / "log.eval"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(inspect_header("m")))
        archive.writestr("summaries.json", " " * 3_000_000)
    with pytest.raises(InputError, match="unpacks to more"):
        read_logs(file)


def test_what_is_not_read_of_an_archive_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # transcripts of agents are large; the summaries of the samples are not
    (file,) = write_inspect(tmp_path, {"m": [1, 0, 1]}, packed=True).iterdir()
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/q9_epoch_1.json", " " * 3_000_000)
    monkeypatch.setenv(MAX_MB, "1")
    found = read_logs(file)
    assert found is not None
    assert len(found.frame) == 3


def packed_anew(file: Path, *, method: int) -> None:
    """Let every member of an archive say that it is packed by a method."""
    content = bytearray(file.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):  # in both lists of members
        place = content.find(mark)
        while place >= 0:
            content[place + offset : place + offset + 2] = method.to_bytes(2, "little")
            place = content.find(mark, place + 1)
    file.write_bytes(bytes(content))


def test_a_packing_that_python_does_not_know_names_the_way_out(tmp_path: Path) -> None:
    (file,) = write_inspect(tmp_path, {"m": [1, 0, 1]}, packed=True).iterdir()
    packed_anew(file, method=97)
    with pytest.raises(InputError, match="inspect log convert"):
        read_logs(file)


def test_what_says_to_be_packed_by_zstandard_and_is_not_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("zstandard")
    (file,) = write_inspect(tmp_path, {"m": [1, 0, 1]}, packed=True).iterdir()
    packed_anew(file, method=93)
    with pytest.raises(InputError, match="damaged or cut off"):
        read_logs(file)


def header_of(system: str = "m") -> str:
    return json.dumps(inspect_header(system))


SUMMARIES = json.dumps(inspect_samples([1, 0, 1]))


def test_a_member_packed_by_zstandard_never_unpacks_to_more_than_it_states(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zstandard = pytest.importorskip("zstandard")
    bomb = zstandard.ZstdCompressor().compress(b" " * 50_000_000)
    file = tmp_path / "log.eval"
    write_zstandard(
        file, {"header.json": header_of(), "summaries.json": SUMMARIES}, packed={"summaries.json": bomb}
    )
    with pytest.raises(InputError, match="damaged or cut off"):
        read_logs(file)
    monkeypatch.setenv(MAX_MB, "1")
    write_zstandard(file, {"header.json": header_of(), "summaries.json": " " * 3_000_000})
    with pytest.raises(InputError, match="unpacks to more"):
        read_logs(file)


def test_zstandard_that_is_not_installed_is_said_with_what_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("zstandard")
    file = tmp_path / "log.eval"
    write_zstandard(file, {"header.json": header_of(), "summaries.json": SUMMARIES})
    monkeypatch.setattr(extras, "find_spec", lambda _name: None)
    with pytest.raises(EngineMissingError, match=r"log\.eval .* pip install 'humeval-power\[logs\]'"):
        read_logs(file)


def test_bytes_that_are_changed_in_a_packed_log_are_refused_in_words(tmp_path: Path) -> None:
    pytest.importorskip("zstandard")
    file, chance = tmp_path / "log.eval", random.Random(5)
    write_zstandard(file, {"header.json": header_of(), "summaries.json": SUMMARIES})
    whole = file.read_bytes()
    n_refused = 0
    for _ in range(300):
        content = bytearray(whole)
        content[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        file.write_bytes(bytes(content[: chance.choice([len(whole), len(whole) - 5])]))
        try:
            found = read_logs(file)
        except InputError:
            n_refused += 1
            continue
        assert found is None or found.frame["match"].tolist() == [1, 0, 1]
    assert n_refused > 50


def test_a_member_that_stands_twice_or_outside_of_the_archive_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "log.eval"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("header.json", header_of())
        archive.writestr("summaries.json", SUMMARIES)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("header.json", header_of("n"))
    with pytest.raises(InputError, match=r"'header\.json' 2 times"):
        read_logs(file)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("header.json", header_of())
        archive.writestr("samples/../../x_epoch_1.json", json.dumps(inspect_samples([1])[0]))
    with pytest.raises(InputError, match="leads out of the archive"):
        read_logs(file)
