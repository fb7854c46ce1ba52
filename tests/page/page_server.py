"""A page that really listens, and requests to it byte by byte: what a browser would never send is sent too."""

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from places import ROOT

ANSWERED = 60.0  # seconds


@dataclass(frozen=True)
class Reply:
    """What came back: status 0 where the connection ended without an answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def words(self) -> str:
        """The text of a page of words, without its markup and its title."""
        text = self.body.decode("utf-8", "replace")
        found = re.search(r"<p>(.*?)</p>", text, re.DOTALL)
        return found[1] if found else text


@dataclass
class Page:
    """A page under test."""

    process: subprocess.Popen[str]
    port: int
    token: str
    folder: Path
    cookie: str = field(default="")

    @property
    def host(self) -> str:
        """What browsers send as Host."""
        return f"127.0.0.1:{self.port}"

    def request(
        self, method: str = "GET", target: str = "/", body: bytes | None = None, **headers: str | None
    ) -> bytes:
        """A request as the page's own browser sends it, but for `headers`: None leaves one out."""
        lines: dict[str, str | None] = {"host": self.host, "cookie": self.cookie, "connection": "close"}
        if method == "POST":
            lines |= {"origin": f"http://{self.host}", "x-humeval": "1"}
        if body is not None:
            lines["content-length"] = str(len(body))
        lines |= {name.replace("_", "-"): value for name, value in headers.items()}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value is not None)
        return f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode() + (body or b"")

    def send(self, *pieces: bytes, pause: float = 0.0) -> Reply:
        """Send bytes as they are, with pauses between them, and read until the end."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=ANSWERED) as line:
            try:
                for number, piece in enumerate(pieces):
                    time.sleep(pause if number else 0)
                    line.sendall(piece)
            except OSError:
                pass  # the page has closed: what it said is still to be read
            return reply(line)

    def ask(
        self, method: str = "GET", target: str = "/", body: bytes | None = None, **headers: str | None
    ) -> Reply:
        """Send such a request."""
        return self.send(self.request(method, target, body, **headers))

    def upload(self, name: str, content: bytes) -> Reply:
        """Upload a file as scripts do."""
        return self.ask("POST", "/upload", content, x_file_name=name)


def reply(line: socket.socket) -> Reply:
    """What comes until the connection ends."""
    content = b""
    try:
        while piece := line.recv(1 << 16):
            content += piece
    except OSError:
        pass
    head, _, body = content.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    if not first.startswith("HTTP/1.1 "):
        return Reply(0, {}, content)
    headers = {name.lower(): value for name, value in (one.split(": ", 1) for one in rest)}
    if headers.get("transfer-encoding") == "chunked":
        body = b"".join(_chunks(body))
    return Reply(int(first.split()[1]), headers, body)


def _chunks(body: bytes) -> Iterator[bytes]:
    while body:
        size, _, body = body.partition(b"\r\n")
        yield body[: int(size, 16)]
        body = body[int(size, 16) + 2 :]


@contextmanager
def running(folder: Path, *, app: str = "tiny_page", idle: float = 5, **caps: float) -> Iterator[Page]:
    """A page in a process of its own, with these caps; `app` is a module of `make_app`."""
    program = (
        "import importlib, json, sys\n"
        "from humeval_power.doors.page.serving.security import Caps\n"
        "from humeval_power.doors.page.serving.server import serve\n"
        "app, folder, idle, caps = sys.argv[1:]\n"
        "def tell(text):\n    print(text, flush=True)\n"
        "if __name__ == '__main__':\n"
        "    serve(importlib.import_module(app).make_app, host='127.0.0.1', port=0, idle=float(idle),\n"
        "          folder=folder, open_browser=False, tell=tell, caps=Caps(**json.loads(caps)))\n"
    )
    start = folder / ".start.py"
    start.write_text(program, encoding="utf-8")
    with started(
        [sys.executable, str(start), app, str(folder), str(idle), json.dumps(caps)], folder
    ) as page:
        yield page


@contextmanager
def started(words: list[str], folder: Path) -> Iterator[Page]:
    """The page that a command opens, with its cookie; it is ended by Ctrl-C."""
    paths = os.pathsep.join([str(ROOT), str(Path(__file__).parent)])
    environment = {**os.environ, "PYTHONPATH": paths, "TMPDIR": str(folder.parent)}
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=folder
    )
    try:
        assert process.stdout is not None
        told = ""
        while not (found := re.search(r"http://\S+?:(\d+)/\?token=(\S+)", told)):
            line = process.stdout.readline()
            assert line, process.communicate()[1]
            told += line
        page = Page(process, int(found[1]), found[2], folder)
        page.cookie = (
            page.ask(target=f"/?token={page.token}", cookie=None).headers["set-cookie"].split(";")[0]
        )
        yield page
    finally:
        process.send_signal(2)
        try:
            process.wait(10)
        finally:
            process.kill()
            process.communicate()
