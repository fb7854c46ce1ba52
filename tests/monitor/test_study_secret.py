"""The secret of a study, and what a ledger gives away without it."""

import hashlib
import itertools
import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pandas as pd
import pytest
from cases import each_case

from humeval_power.errors import InputError
from humeval_power.files.private_files import private_kind
from humeval_power.ratings import Ratings, ratings_from_table
from humeval_power.studies.monitor.files import StudySecret, kept_secret, read_secret, row_digests
from humeval_power.studies.monitor.ledger_fields import LOOK
from humeval_power.studies.monitor.state import LookData, TakenLook


def study() -> Ratings:
    rows = [
        (f"w{w:02}", f"i{i:02}", system, 1 + (w * 7 + i * 3 + (system == "new")) % 5)
        for w in range(1, 7)
        for i in range(1, 11)
        for system in ("old", "new")
    ]
    return ratings_from_table(pd.DataFrame(rows, columns=["worker", "item", "system", "rating"]))


def recovered(digests: dict[str, str]) -> int:
    """How many ratings one finds who tries all workers, items, systems and points of a scale."""

    def digest(text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    found = 0
    for w, i, system in itertools.product(range(1, 100), range(1, 100), ("old", "new")):
        place = digest("\0".join((f"w{w:02}", f"i{i:02}", system, "0")))
        if place in digests:
            found += any(digests[place] == digest(f"{place}\0{value}") for value in range(8))
    return found


def test_ratings_cannot_be_found_by_trying_without_the_secret(tmp_path: Path) -> None:
    ratings = study()
    plain: dict[str, str] = {}
    for row in range(ratings.n_ratings):
        names = (
            ratings.worker_names[ratings.worker[row]],
            ratings.item_names[ratings.item[row]],
            ratings.system_names[ratings.system[row]],
        )
        place = hashlib.sha256("\0".join((*names, "0")).encode()).hexdigest()[:16]
        value = f"{place}\0{ratings.raw_rating[row]:.10g}"
        plain[place] = hashlib.sha256(value.encode()).hexdigest()[:16]
    assert recovered(plain) == ratings.n_ratings == 120  # the search is one that finds what is not secret
    assert (
        recovered(dict(row_digests(ratings, ratings.system_names, kept_secret(tmp_path / "secret")))) == 0
    )


def test_digests_hang_on_the_secret_and_not_on_the_order_of_rows() -> None:
    ratings = study()
    one, other = StudySecret(b"1" * 32), StudySecret(b"2" * 32)
    assert dict(row_digests(ratings, ratings.system_names, one)) == dict(
        row_digests(ratings, ratings.system_names, StudySecret(b"1" * 32))
    )
    assert not set(dict(row_digests(ratings, ratings.system_names, one))) & set(
        dict(row_digests(ratings, ratings.system_names, other))
    )
    values = [value for _, value in row_digests(ratings, ratings.system_names, one)]
    assert len(set(values)) == len(values)  # equal ratings do not look equal


def test_a_secret_is_for_its_owner_alone_and_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "new" / "plan.looks.secret"
    made = kept_secret(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_secret(path) == made == kept_secret(path)
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    assert made.key.hex() not in repr(made)
    assert made.fingerprint not in made.key.hex()
    assert kept_secret(tmp_path / "other").fingerprint != made.fingerprint


@each_case(
    "content",
    [
        b"",
        b"my password",
        b"humeval_power/secret/1 abc",
        b"ab" * 32,
        b"\xff\xfe",
        b"a" * 10_000_000,
        b"\0" * 80,
    ],
    ids=lambda content: f"{len(content)} bytes",
)
def test_a_file_that_holds_no_secret_is_refused_and_kept(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s"
    path.write_bytes(content)
    with pytest.raises(InputError, match="is no secret: it must be one line"):
        kept_secret(path)
    assert path.read_bytes() == content


THREE_AT_ONCE = """
import os, sys
from humeval_power.studies.monitor.files import kept_secret

secrets, answers = sys.argv[1:]
wait, start = os.pipe()
children = []
for who in range(3):
    child = os.fork()
    if not child:
        os.close(start)
        os.read(wait, 1)  # until nobody holds the other end
        said = [kept_secret(f"{secrets}/s{n}").fingerprint for n in range(200)]
        with open(f"{answers}/{who}", "w") as file:
            print(*said, file=file)
        os._exit(0)
    children.append(child)
os.close(wait)
os.close(start)
sys.exit(any(os.waitpid(child, 0)[1] for child in children))
"""


@pytest.mark.slow
def test_two_who_make_a_secret_at_once_get_the_same(tmp_path: Path) -> None:
    secrets, answers = tmp_path / "secrets", tmp_path / "answers"
    secrets.mkdir()
    answers.mkdir()
    subprocess.run([sys.executable, "-c", THREE_AT_ONCE, secrets, answers], check=True, timeout=300)
    said = [(answers / str(who)).read_text().split() for who in range(3)]
    assert len(said[0]) == 200
    assert said[0] == said[1] == said[2]
    assert len(list(secrets.iterdir())) == 200


def test_the_rules_of_a_look_name_all_its_fields() -> None:
    look = LOOK["look"]
    assert isinstance(look, dict)
    assert set(look) == {field.name for field in fields(TakenLook)}
    assert set(look["data"]) == {field.name for field in fields(LookData)}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_secrets_and_ledgers_are_told_by_what_is_in_them(tmp_path: Path, encoding: str) -> None:
    secret = tmp_path / "s"
    kept_secret(secret)
    line = json.dumps({"content": {}, "schema": "humeval_power/look_ledger/3"})
    assert private_kind(secret.read_text().encode(encoding)) == "secret"
    assert private_kind(f"notes\n{line}\n".encode(encoding)) == "ledger"
    assert private_kind("The schema of a ledger is humeval_power/look_ledger/3.".encode(encoding)) is None
