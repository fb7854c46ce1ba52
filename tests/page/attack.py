"""One attack on the page: what it sends, and what must come back."""

import html
import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from page_server import Page, Reply


@dataclass(frozen=True)
class Attack:
    """One attack.

    what : in words, for the table.
    send : does it.
    status : of what must come back; 0 where the connection must end without an answer.
    words : that must stand in it.
    is_whole : whether it is made on the whole application, and not on a tiny one.
    """

    kind: str
    what: str
    send: Callable[[Page], Reply]
    status: int
    words: str = ""
    is_whole: bool = False


def ask(
    method: str = "GET", target: str = "/", body: bytes | None = None, **headers: str | None
) -> Callable[[Page], Reply]:
    return lambda page: page.ask(
        method,
        target.replace("TOKEN", page.token),
        body,
        **{name: value and value.replace("PORT", str(page.port)) for name, value in headers.items()},
    )


def raw(text: str, *more: bytes, pause: float = 0.0) -> Callable[[Page], Reply]:
    """The lines of a head, with HOST and COOKIE filled in, and what follows it."""
    return lambda page: page.send(
        text.replace("HOST", page.host).replace("COOKIE", page.cookie).encode("latin-1"), *more, pause=pause
    )


def upload(name: str, content: Callable[[], bytes]) -> Callable[[Page], Reply]:
    return lambda page: page.upload(name, content())


def came_back(found: Reply) -> str:
    """A reply in a few words, as a cell of Markdown."""
    if not found.status:
        return "the connection ends"
    text = found.body.decode("utf-8", "replace")
    if found.status == 303:
        said = f"to {found.headers['location']}"
    elif text.startswith("{"):
        record = json.loads(text)
        said = record["problems"][0]["text"] if "problems" in record else record.get("file", "")
    else:
        problem = re.search(r'class="problems?".*?<(?:li|p)>(.*?)</(?:li|p)>', text, re.DOTALL)
        words = problem or re.search(r"<h1>.*?<p[^>]*>(.*?)</p>", text, re.DOTALL)
        said = html.unescape(words[1]) if words else ""
    cell = " ".join(said.split()).replace("|", "\\|").replace("<", "&lt;")
    return f"{found.status} {cell[:300]}".rstrip()
