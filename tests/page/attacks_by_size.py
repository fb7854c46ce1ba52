"""Attacks by how much is sent, and how slowly."""

import gzip
import io
import socket
import time
import zipfile
from functools import cache

from attack import Attack, ask, raw, upload
from attacks_at_the_door import GET, NO_HTTP, POST
from page_server import Page, Reply, reply


def sizes() -> list[Attack]:
    """More than the page takes."""
    chunk = b"F4240\r\n" + b"x" * 1_000_000 + b"\r\n"
    many = "".join(f"X-{number}: {'y' * 20}\r\n" for number in range(1_500))
    return [
        Attack(
            "Sizes",
            "a link of 20,000 characters",
            ask(target="/?a=" + "x" * 20_000),
            414,
            "longer than 16,384",
        ),
        Attack("Sizes", "a link of 10 MB", ask(target="/?a=" + "x" * 10_000_000), 400, NO_HTTP),
        Attack("Sizes", "a header of 40,000 bytes", ask(x_long="y" * 40_000), 431, "longer than 32,768"),
        Attack("Sizes", "1,500 headers", raw(GET + many + "\r\n"), 431, "longer than 32,768"),
        Attack(
            "Sizes",
            "headers that do not end",
            raw(GET, *[b"X-A: " + b"y" * 1_000 + b"\r\n"] * 300),
            400,
            NO_HTTP,
        ),
        Attack(
            "Sizes",
            "a post that says it has 100 GB",
            raw(POST + "Content-Length: 100000000000\r\n\r\n"),
            413,
            "more than the 1 MB",
        ),
        Attack(
            "Sizes",
            "a post of 10 MB that does not say so (chunked)",
            raw(POST + "Transfer-Encoding: chunked\r\n\r\n", *[chunk] * 10),
            413,
            "more than the 1 MB",
        ),
        Attack(
            "Sizes",
            "an upload above the cap",
            upload("big.csv", lambda: b"x" * 21_000_000),
            413,
            "more than the 20 MB",
        ),
        Attack(
            "Sizes",
            "an upload above the cap that does not say so",
            raw(
                POST.replace("/echo", "/upload")
                + "X-File-Name: a.csv\r\nTransfer-Encoding: chunked\r\n\r\n",
                *[chunk] * 25,
            ),
            413,
            "20 MB",
        ),
        Attack(
            "Sizes",
            "an upload of 15 MB, which is allowed",
            upload("big.csv", lambda: b"x" * 15_000_000),
            200,
            "15000000",
        ),
        Attack(
            "Sizes",
            "a GET with a body of 10 MB",
            raw(GET + "Content-Length: 10000000\r\n\r\n", *[b"x" * 1_000_000] * 10),
            200,
        ),
    ]


@cache
def _bomb() -> bytes:
    return _archive({"xl/worksheets/sheet1.xml": 250_000_000})


def _archive(members: dict[str, int]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, size in members.items():
            with archive.open(name, "w") as member:
                for start in range(0, size, 1_000_000):
                    member.write(b" " * min(1_000_000, size - start))
    return stream.getvalue()


def bombs() -> list[Attack]:
    """Little that becomes much."""
    many = {f"xl/worksheets/sheet{number}.xml": 0 for number in range(30_000)}
    return [
        Attack(
            "Bombs",
            "a workbook of 250 kB that unpacks to 250 MB",
            upload("bomb.xlsx", _bomb),
            413,
            "unpacks to more than 200 MB",
        ),
        Attack(
            "Bombs",
            "the same, called a table of text",
            upload("bomb.csv", _bomb),
            413,
            "unpacks to more than 200 MB",
        ),
        Attack(
            "Bombs",
            "a workbook of 30,000 members",
            upload("many.xlsx", lambda: _archive(many)),
            413,
            "more than 10,000 members",
        ),
        Attack(
            "Bombs",
            "a workbook above its own cap",
            upload("large.xlsx", lambda: b"PK\x03\x04" + bytes(6_000_000)),
            413,
            "larger than 5 MB",
        ),
        Attack(
            "Bombs",
            "a workbook above that cap, called a table of text",
            upload("large.csv", lambda: b"PK\x03\x04" + bytes(6_000_000)),
            413,
            "larger than 5 MB",
        ),
        Attack(
            "Bombs",
            "an archive with a member ../../evil: it is kept, and no member is unpacked",
            upload("evil.zip", lambda: _archive({"../../evil": 10})),
            200,
            "evil.zip~",
        ),
        Attack(
            "Bombs",
            "a gzip file of 250 kB that unpacks to 250 MB: it is kept packed, and refused when it is read",
            upload("bomb.csv.gz", lambda: gzip.compress(bytes(1_000_000), 6, mtime=0) * 250),
            200,
            "bomb.csv.gz~",
        ),
    ]


def slow() -> list[Attack]:
    """Clients that take their time."""
    return [
        Attack(
            "Slow clients",
            "a head that comes a byte at a time (slowloris)",
            raw("GET / HTTP/1.1\r\n", *[b"x"] * 5, pause=0.3),
            408,
            "took too long",
        ),
        Attack("Slow clients", "a connection that sends nothing", raw(""), 0),
        Attack(
            "Slow clients",
            "a body that stops",
            raw(POST + "Content-Length: 100\r\n\r\n", b"x", b"y", pause=1.5),
            408,
            "took too long",
        ),
        Attack(
            "Slow clients",
            "a body that comes a byte at a time",
            raw(POST + "Content-Length: 100\r\n\r\n", *[b"x"] * 26, pause=0.4),
            408,
            "took too long",
        ),
        Attack(
            "Slow clients", "an answer of 40 MB that nobody reads: the connection breaks off", _unread, 0
        ),
        Attack("Slow clients", "60 idle connections while somebody asks for a page", _crowd, 200),
    ]


def _unread(page: Page) -> Reply:
    with socket.create_connection(("127.0.0.1", page.port), timeout=20) as line:
        line.sendall(page.request(target="/large"))
        time.sleep(2)
        whole = reply(line)
    return Reply(0, {}, b"") if len(whole.body) < 40_000_000 else whole


def _crowd(page: Page) -> Reply:
    lines = [socket.create_connection(("127.0.0.1", page.port)) for _ in range(60)]
    try:
        return page.ask()
    finally:
        for line in lines:
            line.close()
