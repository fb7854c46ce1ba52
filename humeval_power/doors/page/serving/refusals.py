"""What the page says where it refuses a request, and the headers that every answer has."""

from __future__ import annotations

import json
from dataclasses import dataclass
from http import HTTPStatus

from humeval_power.safe_text import html_text

# How much of everything a client of the page may send, and how long it may take for that.

MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Caps:
    """What a single request and all of them together may take.

    link, head : bytes of the link, and of all header lines together.
    body : bytes of what is posted, but for uploads.
    upload : bytes of an uploaded file. The default is what commands read at most (`file_bytes`), so that nothing
        is taken that is refused afterwards.
    spreadsheet : bytes of an uploaded workbook or other archive: these grow manyfold when they are unpacked.
    uploads : bytes of all uploads that are kept.
    head_seconds : until the head of a request is there.
    pause_seconds, body_seconds : between two pieces of a body, and for all of it.
    answer_seconds : in which a client that does not read must take something of the answer.
    requests, connections : at the same time.
    """

    link: int = 16_384
    head: int = 32_768
    body: int = MEGABYTE
    upload: int = 200 * MEGABYTE
    spreadsheet: int = 30 * MEGABYTE
    uploads: int = 1_000 * MEGABYTE
    head_seconds: float = 10
    pause_seconds: float = 15
    body_seconds: float = 180
    answer_seconds: float = 30
    requests: int = 256
    connections: int = 400


Headers = list[tuple[bytes, bytes]]

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# Browsers hide the origin of a plain form where the policy of referrers is no-referrer; same-origin tells other
# sites nothing either.
_OF_EVERY_ANSWER = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), usb=(), serial=(), payment=()",
    "x-dns-prefetch-control": "off",
}
_TITLES = {403: "This browser was not let in"}  # and others by the name that HTTP has for them
_STORED = b"private, max-age=3600"
_NEVER_STORED = b"no-store"
_DROPPED = (b"server", b"cache-control", b"set-cookie")


class RefusedError(Exception):
    """A request that the page does not answer.

    status : of HTTP.
    text : what is wrong with it and what to do, for a reader.
    headers : more of the answer.
    """

    def __init__(self, status: int, text: str, headers: Headers | None = None) -> None:
        super().__init__(text)
        self.status, self.text, self.headers = status, text, headers or []


def safe_headers(headers: Headers, *, is_kept: bool = False, own: Headers | None = None) -> Headers:
    """The headers of an answer with those that every answer has, in place of the app's.

    With `is_kept` this browser may keep it for an hour, which no other answer is. None lets another origin read it.
    """
    names = {name.encode() for name in _OF_EVERY_ANSWER}
    kept = [
        (name, value)
        for name, value in headers
        if (low := name.lower()) not in names
        and low not in _DROPPED
        and not low.startswith(b"access-control-")
    ]
    stored = _STORED if is_kept else _NEVER_STORED
    ours = [(name.encode(), value.encode()) for name, value in _OF_EVERY_ANSWER.items()]
    return [*kept, *ours, (b"cache-control", stored), *(own or [])]


def refusal(error: RefusedError, *, as_json: bool) -> tuple[Headers, bytes]:
    """The headers and the body of a refusal: a page, or for a script the problems as JSON.

    The connection ends with it, so that nothing more of the request is read.
    """
    title = _TITLES.get(error.status, HTTPStatus(error.status).phrase)
    back = "" if error.status == HTTPStatus.FORBIDDEN else '<p><a href="/">To the start of the page</a></p>'
    if as_json:
        kind, text = "application/json", json.dumps({"problems": [{"text": error.text, "option": ""}]})
    else:
        kind = "text/html; charset=utf-8"
        text = (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{html_text(title)}</title></head>"
            f"<body><main><h1>{html_text(title)}</h1><p>{html_text(error.text)}</p>"
            f"{back}</main></body></html>\n"
        )
    body = text.encode()
    headers = [
        (b"content-type", kind.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    return safe_headers(headers, own=error.headers), body


def too_large(most: int) -> RefusedError:
    """The refusal of what is larger than so many bytes."""
    return RefusedError(
        413,
        f"That is more than the {most / MEGABYTE:,.0f} MB that the page takes at once. Large files open by their "
        "path in the folder of the page; 'humeval-power page --max-upload' allows larger uploads.",
    )


def raw_refusal(error: RefusedError) -> bytes:
    """The whole answer as it goes over the wire, where no request was understood."""
    headers, body = refusal(error, as_json=False)
    first = f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}\r\n".encode()
    return first + b"".join(name + b": " + value + b"\r\n" for name, value in headers) + b"\r\n" + body
