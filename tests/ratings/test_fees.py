"""Fee rules: those that come along, the user's own, and what is wrong with a file."""

import datetime
import json
import tomllib
from decimal import Decimal

import pytest

from humeval_power.errors import InputError
from humeval_power.fees import PlatformFee
from humeval_power.files.file_bytes import default_fee_file, read_fee, read_fees


def written(tmp_path, text, schema='schema = "humeval_power/platform_fees/1"\n'):
    path = tmp_path / "fees.toml"
    path.write_text(schema + text, encoding="utf-8")
    return path


def test_the_rules_that_come_along():
    fees = read_fees()
    assert list(fees) == ["none", "mturk", "prolific", "prolific-academic"]
    assert fees["none"].share == 0
    mturk = fees["mturk"]
    # Amazon's letter to requesters, June 2015: 20 %, at least 0.01, 20 % more from 10 assignments on
    assert (mturk.share, mturk.minimum_per_assignment) == (Decimal("0.2"), Decimal("0.01"))
    assert (mturk.extra_from, mturk.extra_share) == (10, Decimal("0.2"))
    assert mturk.charged_per == "assignment"
    assert mturk.date == datetime.date(2015, 7, 22)


def test_every_rule_that_takes_money_says_its_source_and_date():
    for name, fee in read_fees().items():
        assert fee.source
        assert (fee.date is not None) or name == "none"


def test_the_rule_of_prolific_waits_for_the_user_to_confirm_it():
    for name in ("prolific", "prolific-academic"):
        fee = read_fee(name)
        assert not fee.confirmed
        assert fee.caveat is not None
        assert "is not confirmed: check it with the platform" in fee.caveat
    assert read_fee("mturk").caveat is None


def test_numbers_of_a_file_are_read_without_rounding(tmp_path):
    path = written(tmp_path, "[x]\nshare = 0.1\n")
    assert read_fee("x", path).share == Decimal("0.1")


def test_a_rule_survives_a_document():
    for fee in read_fees().values():
        assert PlatformFee.from_dict(json.loads(json.dumps(fee.as_dict()))) == fee


def test_an_unknown_name_is_answered_with_a_guess_or_the_names():
    with pytest.raises(InputError, match=r"there is no fee rule 'mturc'\. Do you mean 'mturk'"):
        read_fee("mturc")
    with pytest.raises(InputError, match="The file has none, mturk, prolific"):
        read_fee("zzz")


def test_every_problem_of_a_file_is_reported_at_once_with_its_place(tmp_path):
    text = """
stray = 3
[a]
share = 1.2
minimum_per_assignment = -0.01
date = "yesterday"
[b]
fee = 0.2
[c]
share = 0.2
extra_share = 0.2
[d]
share = 0.6
extra_share = 0.5
extra_from = 10
[e]
share = true
extra_from = 1
confirmed = "yes"
charged_per = "hit"
"""
    path = written(tmp_path, text, schema="")
    with pytest.raises(InputError) as caught:
        read_fees(path)
    message = str(caught.value)
    for piece in (
        "has no schema; 'humeval_power/platform_fees/1' is needed",
        "'stray' must be a table",
        "[a], column 'share': value Decimal('1.2'): must be a share",
        "[a], column 'minimum_per_assignment'",
        "[a], column 'date': value 'yesterday': must be a date",
        "[b]: 'fee' is not known",
        "[b]: 'share' is missing",
        "[c]: extra_share and extra_from need each other",
        "[d], column 'extra_share'",
        "[e], column 'share': value True",
        "[e], column 'extra_from'",
        "[e], column 'confirmed'",
        "[e], column 'charged_per'",
    ):
        assert piece in message
    assert str(path) in message


def test_a_minimum_needs_fees_per_assignment(tmp_path):
    path = written(tmp_path, "[x]\nshare = 0.2\nminimum_per_assignment = 0.01\n")
    with pytest.raises(InputError, match="only where fees are charged per assignment"):
        read_fees(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "There is no file"), (b"a = \xff", "is not UTF-8 text"), (b"share = ", "is not TOML")],
)
def test_a_file_that_is_no_fee_file_is_refused(tmp_path, content, words):
    path = tmp_path / "fees.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=words):
        read_fees(path)


def test_a_file_without_rules_is_refused(tmp_path):
    with pytest.raises(InputError, match="has no fee rule"):
        read_fees(written(tmp_path, ""))


def test_the_file_that_comes_along_is_toml_that_people_can_edit():
    text = default_fee_file().read_text(encoding="utf-8")
    assert tomllib.loads(text)["schema"] == "humeval_power/platform_fees/1"
    assert text.startswith("#")
