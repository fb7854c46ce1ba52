"""Uploads lie under their digest in a private folder; of the chosen folder, nothing outside it is read."""

import asyncio
import hashlib
import io
import os
import stat
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from cases import each_case

pytest.importorskip("starlette")
pytest.importorskip("python_multipart")
from places import ROOT
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from humeval_power.doors.page.serving import uploads as uploads_module
from humeval_power.doors.page.serving.chosen_folder import Folder, PrivateFolder
from humeval_power.doors.page.serving.security import Caps, RefusedError
from humeval_power.doors.page.serving.uploads import Upload, Uploads, safe_name
from humeval_power.errors import InputError
from humeval_power.files.file_bytes import refuse_bomb

TABLE = b"worker,item,system,rating\nw1,i1,A,3\n"


def request(pieces: list[bytes], **headers: str) -> Request:
    messages: list[Message] = [
        {"type": "http.request", "body": piece, "more_body": place < len(pieces)}
        for place, piece in enumerate(pieces, start=1)
    ]

    async def receive() -> Message:
        return messages.pop(0)

    lines = [(name.replace("_", "-").encode(), text.encode()) for name, text in headers.items()]
    return Request({"type": "http", "method": "POST", "path": "/upload", "headers": lines}, receive)


def form(name: str, content: bytes, field: str = "file") -> Request:
    head = f'--edge\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\n\r\n'
    body = head.encode() + content + b"\r\n--edge--\r\n"
    pieces = [body[start : start + 1000] for start in range(0, len(body), 1000)]
    return request(pieces, content_type="multipart/form-data; boundary=edge")


def take(uploads: Uploads, name: str = "pilot.csv", content: bytes = TABLE) -> Upload:
    (found,) = asyncio.run(uploads.take(request([content], x_file_name=name)))
    return found


@pytest.fixture
def uploads(tmp_path: Path) -> Uploads:
    return Uploads(tmp_path / "uploads", Caps())


@pytest.mark.parametrize("way", ["raw", "form"])
def test_an_upload_is_kept_byte_by_byte_under_its_digest(uploads: Uploads, way: str) -> None:
    content = os.urandom(3_000_000)
    pieces = [content[start : start + 70_000] for start in range(0, len(content), 70_000)]
    sent = form("pilot.csv", content) if way == "form" else request(pieces, x_file_name="pilot.csv")
    (found,) = asyncio.run(uploads.take(sent))
    digest = hashlib.sha256(content).hexdigest()
    assert (found.reference, found.size) == (f"pilot.csv~{digest[:16]}", 3_000_000)
    path = uploads.path_of("pilot.csv", digest[:16])
    assert path.read_bytes() == content
    assert [each.name for each in uploads.folder.iterdir()] == [digest]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(uploads.folder.stat().st_mode) == 0o700


def folder(*files: tuple[str, bytes]) -> Request:
    """A form with files and their paths, as a browser sends a folder."""
    head = '--edge\r\nContent-Disposition: form-data; name="file"; filename="{}"\r\n\r\n'
    parts = [head.format(path).encode() + content + b"\r\n" for path, content in files]
    return request([*parts, b"--edge--\r\n"], content_type="multipart/form-data; boundary=edge")


def test_a_folder_is_one_upload_with_the_paths_below_it(uploads: Uploads) -> None:
    files = [("runs/a=1,b/x.json", b"1"), ("runs/c/y.json", b"2"), ("runs/.git/z", b"3"), ("runs/.x", b"4")]
    (found,) = asyncio.run(uploads.take(folder(*files)))
    assert found.name == "runs"
    here = uploads.path_of(found.name, found.sha256[:16])
    inner = {str(path.relative_to(here)): path.read_bytes() for path in here.rglob("*") if path.is_file()}
    assert inner == {"a=1,b/x.json": b"1", "c/y.json": b"2"}
    (again,) = asyncio.run(uploads.take(folder(*reversed(files))))
    assert again.reference == found.reference
    assert [one.name for one in uploads.folder.iterdir()] == [found.sha256]


@pytest.mark.parametrize(
    "path", ["../../evil", "runs/../../evil", "/etc/evil", "runs\\..\\evil", "..", "runs/..\x00/a"]
)
def test_no_path_of_a_folder_leads_out_of_it(uploads: Uploads, path: str, tmp_path: Path) -> None:
    try:
        (found,) = asyncio.run(uploads.take(folder((path, b"1"), ("runs/good.json", b"2"))))
    except RefusedError:
        found = None
    outside = [
        one for one in tmp_path.rglob("*") if one.is_file() and not one.is_relative_to(uploads.folder)
    ]
    assert outside == []
    if found is not None:
        names = [one.name for one in found.path.rglob("*") if one.is_file()]
        assert set(names) <= {"good.json", "evil", "a"}


def test_two_files_stay_two_and_more_are_a_folder(uploads: Uploads) -> None:
    two = asyncio.run(uploads.take(folder(("a.txt", b"1"), ("b.txt", b"2"))))
    assert [one.name for one in two] == ["a.txt", "b.txt"]
    (three,) = asyncio.run(uploads.take(folder(("a.txt", b"1"), ("b.txt", b"2"), ("c.txt", b"3"))))
    assert sorted(one.name for one in three.path.iterdir()) == ["a.txt", "b.txt", "c.txt"]
    with pytest.raises(RefusedError, match="nothing in this folder"):
        asyncio.run(uploads.take(folder(("runs/.a", b"1"), ("runs/.b", b"2"))))


def test_a_digest_without_its_name_and_a_name_that_was_not_given_find_nothing(uploads: Uploads) -> None:
    digits = take(uploads).sha256[:16]
    for name, number in [
        ("other.csv", digits),
        ("../pilot.csv", digits),
        ("pilot.csv", "0" * 16),
        ("", digits),
    ]:
        with pytest.raises(InputError, match="not here any more"):
            uploads.path_of(name, number)


def test_one_file_under_two_names_lies_there_once(uploads: Uploads) -> None:
    first, second = take(uploads), take(uploads, "again.csv")
    assert first.path == second.path
    assert uploads.references() == (second.reference, first.reference)


def test_what_was_not_used_for_longest_goes_when_room_is_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1_000.0]
    monkeypatch.setattr(uploads_module.time, "monotonic", lambda: now[0])
    uploads = Uploads(tmp_path / "uploads", Caps(uploads=2_500))
    one, two = take(uploads, "1.csv", b"1" * 1_000), take(uploads, "2.csv", b"2" * 1_000)
    now[0] += 300
    uploads.path_of("1.csv", one.sha256[:16])
    three = take(uploads, "3.csv", b"3" * 1_000)
    assert uploads.references() == (three.reference, one.reference)
    assert not two.path.exists()
    four = take(
        uploads, "4.csv", b"4" * 1_000
    )  # all others were used a moment ago: nobody's question breaks
    assert uploads.references() == (four.reference, three.reference, one.reference)


@each_case(
    ("sent", "status", "words"),
    [
        (lambda: request([b""], x_file_name="a.csv"), 400, "a.csv is empty"),
        (lambda: request([TABLE]), 400, "There is no file"),
        (lambda: form("", TABLE), 400, "There is no file"),
        (lambda: form("a.csv", TABLE, field="other"), 400, "There is no file"),
        (lambda: request([b"--edge\r\n"], content_type="multipart/form-data"), 400, "boundary"),
        (lambda: request([b"nonsense"], content_type="multipart/form-data; boundary=edge"), 400, "cannot be"),
        (lambda: request([b"x" * 6_000] * 2, x_file_name="a.csv"), 413, "larger than 0 MB"),
        (lambda: request([b"x" * 3_000], x_file_name="a.xlsx"), 413, "The workbook is larger"),
        (lambda: request([b"PK\x03\x04" + b"x" * 3_000], x_file_name="a.csv"), 413, "The workbook is larger"),
    ],
)  # fmt: skip
def test_what_cannot_be_taken_is_refused_and_leaves_nothing(
    tmp_path: Path, sent: Callable[[], Request], status: int, words: str
) -> None:
    uploads = Uploads(tmp_path / "uploads", Caps(upload=10_000, spreadsheet=2_000))
    with pytest.raises(RefusedError, match=words) as refused:
        asyncio.run(uploads.take(sent()))
    assert refused.value.status == status
    assert list(uploads.folder.iterdir()) == []
    assert uploads.references() == ()


def test_an_upload_that_breaks_off_leaves_nothing(uploads: Uploads) -> None:
    sent = request([TABLE], x_file_name="a.csv")

    async def gone() -> Message:
        return {"type": "http.disconnect"}

    sent._receive = gone
    with pytest.raises(ClientDisconnect):
        asyncio.run(uploads.take(sent))
    assert list(uploads.folder.iterdir()) == []


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), OSError(30, "Read-only file system")]
)
def test_a_disk_that_takes_nothing_is_told_in_words(
    uploads: Uploads, monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(uploads_module.os, "replace", fails)
    with pytest.raises(RefusedError, match=error.strerror) as refused:
        take(uploads)
    assert refused.value.status == 507
    assert list(uploads.folder.iterdir()) == []


def test_a_file_of_an_answer_becomes_an_upload_and_follows_its_bytes(
    uploads: Uploads, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text("{}", encoding="utf-8")
    first = uploads.adopt("plan.json", plan)
    assert uploads.adopt("plan.json", plan) is first
    assert uploads.path_of("plan.json", first.sha256[:16]).read_text(encoding="utf-8") == "{}"
    plan.write_text('{"a": 1}', encoding="utf-8")
    assert uploads.adopt("plan.json", plan).sha256 != first.sha256


@each_case(
    ("given", "kept"),
    [
        ("pilot.csv", "pilot.csv"),
        ("Müller's ratings (final).csv", "Müller_s_ratings_final.csv"),
        ("評価.xlsx", "評価.xlsx"),
        ("ratings.csv.gz", "ratings.csv.gz"),
        (r"C:\Users\me\pilot.csv", "pilot.csv"),
        ("../../../etc/passwd", "passwd"),
        (".bashrc", "bashrc"),
        ("--force", "force"),
        ("a~0123456789abcdef", "a_0123456789abcdef"),
        ("", "file"),
        ("..", "file"),
        ("/", "file"),
        ("\u202egnp.csv", "gnp.csv"),
        ("nul.csv", "_nul.csv"),
        ("x" * 500 + ".csv", "x" * 60 + ".csv"),
    ],
)
def test_names_of_uploads_are_names_of_files_and_nothing_else(given: str, kept: str) -> None:
    assert safe_name(given) == kept
    assert safe_name(kept) == kept


# The chosen folder


@pytest.fixture
def chosen(tmp_path: Path) -> Folder:
    inside = tmp_path / "chosen"
    (inside / "data" / "deep").mkdir(parents=True)
    (inside / ".ssh").mkdir()
    (tmp_path / "chosen-not").mkdir()
    for place in ("chosen/pilot.csv", "chosen/data/more.CSV", "chosen/data/deep/a.jsonl", "chosen/.ssh/key.csv",
                  "secret.csv", "chosen-not/other.csv", "chosen/program.py", "chosen/.hidden.csv"):  # fmt: skip
        (tmp_path / place).write_bytes(TABLE)
    (inside / "out.csv").symlink_to(tmp_path / "secret.csv")
    (inside / "beside.csv").symlink_to("../chosen-not/other.csv")
    (inside / "key.csv").symlink_to(".ssh/key.csv")
    (inside / "within.csv").symlink_to("data/more.CSV")
    (inside / "up").symlink_to("..")
    os.mkfifo(inside / "pipe.csv")
    return Folder(inside)


def test_the_listing_shows_tables_that_may_be_read_and_no_others(chosen: Folder) -> None:
    assert chosen.listing() == ("pilot.csv", "within.csv", "data/more.CSV", "data/deep/a.jsonl")
    for named in chosen.listing():
        assert chosen.resolve(named).read_bytes() == TABLE


@each_case(
    "named",
    ["../secret.csv", "data/../../secret.csv", "/etc/passwd", "data//more.CSV", "", ".", "data/.", "pilot.csv/",
     "..\\secret.csv", "pilot.csv\0", "a\nb.csv", ".ssh/key.csv", ".hidden.csv", "~/x.csv", "~root", "C:/x.csv",
     "out.csv", "beside.csv", "key.csv", "up/secret.csv", "up/chosen/../secret.csv", "pipe.csv", "data",
     "missing.csv", "pilot.csv/x", "x" * 2_000],
)  # fmt: skip
def test_nothing_outside_and_nothing_hidden_is_read(chosen: Folder, named: str) -> None:
    with pytest.raises(InputError):
        chosen.resolve(named)


def test_a_folder_reached_by_a_link_is_the_folder_it_leads_to(tmp_path: Path, chosen: Folder) -> None:
    (tmp_path / "link").symlink_to(chosen.path)
    assert Folder(tmp_path / "link").resolve("pilot.csv") == chosen.path / "pilot.csv"


def test_what_is_saved_goes_into_the_folder_and_over_nothing(chosen: Folder) -> None:
    assert chosen.target("new") == chosen.path / "new"
    for named in ("pilot.csv", "out.csv", "../new", "/tmp/new", "up/new", ".new", "data"):
        with pytest.raises(InputError):
            chosen.target(named)


def test_a_large_folder_is_listed_in_part(tmp_path: Path) -> None:
    for number in range(400):
        (tmp_path / f"{number:03}.csv").touch()
    assert Folder(tmp_path).listing() == tuple(f"{number:03}.csv" for number in range(300))


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    for named in (tmp_path / "missing", "a\0b"):
        with pytest.raises(InputError, match="There is no folder"):
            Folder(named)


# The private folder


def test_a_private_folder_ends_with_its_process_or_when_the_next_one_begins(tmp_path: Path) -> None:
    program = (
        "import os, sys, time\n"
        "from humeval_power.doors.page.serving.chosen_folder import PrivateFolder\n"
        "print(PrivateFolder().path, flush=True)\n"
        "sys.stdin.readline()\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-c", program]

    def begun() -> tuple[subprocess.Popen[str], Path]:
        process = subprocess.Popen(
            words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        return process, Path(process.stdout.readline().strip())

    (quiet, first), (killed, second), (lives, third) = begun(), begun(), begun()
    assert stat.S_IMODE(first.stat().st_mode) == 0o700
    quiet.communicate("\n")
    killed.kill()
    killed.communicate()
    assert (first.exists(), second.exists(), third.exists()) == (False, True, True)
    (tmp_path / "humeval-power-page-file").touch()
    (tmp_path / "humeval-power-page-link").symlink_to(tmp_path / "other")
    last, fourth = begun()
    assert (second.exists(), third.exists(), fourth.exists()) == (False, True, True)
    lives.communicate("\n")
    last.communicate("\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "humeval-power-page-file",
        "humeval-power-page-link",
    ]


def test_a_private_folder_closes_twice_without_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    held = PrivateFolder()
    held.close()
    held.close()
    assert list(tmp_path.iterdir()) == []


# Archives, in the terminal too


def archive(members: int, *, size: int = 10) -> bytearray:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as packed:
        for number in range(members):
            packed.writestr(f"{number}", b" " * size)
    return bytearray(stream.getvalue())


def test_an_archive_of_usual_size_is_let_through() -> None:
    refuse_bomb(io.BytesIO(archive(3_000)), source="a.xlsx")


def test_an_archive_of_many_members_is_refused_before_their_list_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    content = archive(45_000, size=0)

    def reads(*_: object) -> None:
        raise AssertionError("the list was read")

    with monkeypatch.context() as patch:
        patch.setattr(zipfile.ZipFile, "__init__", reads)
        with pytest.raises(InputError, match="more than 10,000 members"):
            refuse_bomb(io.BytesIO(content), source="a.xlsx")
        lying = content.copy()
        struct.pack_into(
            "<HH", lying, len(lying) - 22 + 8, 1, 1
        )  # the count of members, not the length of the list
        with pytest.raises(InputError, match="more than 10,000 members"):
            refuse_bomb(io.BytesIO(lying), source="a.xlsx")


def test_members_that_share_their_bytes_are_counted_each() -> None:
    # An archive in which one packed member of 1 MB stands in the list 300 times would unpack to 300 MB.
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("a", b" " * 1_000_000)
        packed.filelist *= 300
    assert len(stream.getvalue()) < 50_000
    with pytest.raises(InputError, match="unpacks to more than 200 MB"):
        refuse_bomb(io.BytesIO(stream.getvalue()), source="a.xlsx")
