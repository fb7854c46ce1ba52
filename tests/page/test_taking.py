"""What can be taken of an answer: what is handed on holds no secret, and what is forgotten cannot be taken."""

import html
import io
import re
import stat
import zipfile
from urllib.parse import parse_qsl, urlsplit

import pytest

pytest.importorskip("starlette", reason="The page needs the extra [page].")
from in_process_parts import InProcess, in_process_parts
from places import ROOT
from starlette.testclient import TestClient

from humeval_power.doors.page.app import make_app
from humeval_power.doors.page.requests import PageParts
from humeval_power.doors.page.serving.chosen_folder import Folder
from humeval_power.doors.page.serving.security import Caps
from humeval_power.doors.page.serving.uploads import Uploads

PILOT = (ROOT / "data" / "pilot.csv").read_bytes()
POWER = "preset=high&workers=12&items=30&effect=0.1&simulations=100"


def imported(client) -> dict:
    """The answer to an import of a table."""
    file = client.post("/upload", files={"file": ("export.csv", PILOT)}).json()["values"][0]
    found = client.post("/job/import", params={"exports": file, "from": "table"}).json()
    assert found["state"] == "done", found
    return found


def zipped(client, name: str) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(client.get(f"/take/{name}.zip").content)) as archive:
        return {each: archive.read(each) for each in archive.namelist()}


def test_the_secret_of_an_import_is_not_in_what_is_handed_on(tmp_path):
    client = TestClient(make_app(in_process_parts(tmp_path)))
    found = imported(client)
    key = found["key"]
    public, private = zipped(client, key), zipped(client, f"{key}-private")
    assert list(private) == ["beside/import.secret"]
    assert "answer/ratings.csv" in public
    assert not [name for name in public if name.endswith(".secret")]
    secret = re.search(rb"[0-9a-f]{32,}", private["beside/import.secret"])
    assert secret is not None
    assert not [name for name, content in public.items() if secret[0] in content]
    shown = re.search(r"In the zip: ([^<]*)", found["html"])
    assert shown is not None
    assert "secret" not in shown[1]
    assert "import.secret" in found["html"]


def test_a_secret_that_is_saved_lies_beside_and_nobody_else_reads_it(tmp_path):
    chosen = tmp_path / "chosen"
    chosen.mkdir()
    parts = PageParts(
        InProcess(), Uploads(tmp_path / "up", Caps()), tmp_path / "own", "form-token", Folder(chosen)
    )
    client = TestClient(make_app(parts))
    key = imported(client)["key"]
    client.post(f"/save/{key}", params={"back": "/import"}, data={"name": "mine"})
    assert (chosen / "mine" / "ratings.csv").is_file()
    assert not list((chosen / "mine").rglob("*.secret"))
    kept = chosen / "mine-private" / "import.secret"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


@pytest.mark.slow
def test_what_was_asked_is_forgotten_with_its_job(tmp_path):
    parts = in_process_parts(tmp_path)
    client = TestClient(make_app(parts))
    key = client.post(f"/job/power?{POWER}").json()["key"]
    assert client.get(f"/job/{key}").json()["state"] == "done"
    assert client.get(f"/take/{key}.zip").status_code == 200
    parts.workers.jobs.clear()
    for path in (f"/job/{key}", f"/take/{key}.zip"):
        found = client.get(path)
        assert found.status_code == 422
        assert "not here any more" in found.text


def test_two_uploads_of_one_name_lead_on_each_as_itself(tmp_path):
    client = TestClient(make_app(in_process_parts(tmp_path)))
    texts = (b"a cat\na dog\n", b"a cat\nthe dog\n", b"a cat\na dog too\n")
    files = [
        client.post("/upload", files={"file": ("outputs.txt", text)}).json()["values"][0] for text in texts
    ]
    assert len(set(files)) == 3
    query = [("judgement", "corpus"), ("have", "results"), *(("file", file) for file in files)]
    page = client.get("/start", params=query).text
    part = re.search(r'<nav class="next".*?</nav>', page, re.DOTALL)
    assert part is not None
    links = [html.unescape(link) for link in re.findall(r'href="([^"]+)"', part[0])]
    compared = next(link for link in links if link.startswith("/corpus/test"))
    named = [
        value for name, value in parse_qsl(urlsplit(compared).query) if "~" in value or "again" in value
    ]
    assert named == files
