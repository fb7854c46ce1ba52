"""Responses that many requests share: the way back, what is not there, what is refused, what is broken."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from humeval_power.interfaces.page import views
from humeval_power.interfaces.page.working.crew import TooManyError

_HERE = Path(__file__).parent
_DOCUMENT_STYLE = _HERE.parents[1] / "reporting" / "render" / "templates" / "page.css"
_STATIC = {
    "page.css": (_HERE / "static" / "page.css", "text/css"),
    "page.js": (_HERE / "static" / "page.js", "text/javascript"),
    "icon.svg": (_HERE / "static" / "icon.svg", "image/svg+xml"),
    "document.css": (_DOCUMENT_STYLE, "text/css"),
}


def back(request: Request, **options: str) -> Response:
    """To where a form was, with these options set; only to pages of this application."""
    place = urlsplit(request.query_params.get("back", "/"))
    path = "/" + place.path.lstrip("/\\")
    query = [(name, value) for name, value in parse_qsl(place.query) if name not in options]
    text = urlencode([*query, *options.items()])
    return RedirectResponse(path + (f"?{text}" if text else ""), status_code=303)


async def static(request: Request) -> Response:
    """A file of every page: its style, its script, its icon."""
    found = _STATIC.get(request.path_params["name"])
    if found is None:
        return not_there(request, None)
    path, kind = found
    return Response(path.read_bytes(), media_type=kind)


def not_there(_request: Request, _error: Exception | None) -> Response:
    """No page has this name."""
    text = "There is no page of this name. Begin at the start: every page is named there."
    return HTMLResponse(views.error_page("Not found", text), status_code=404)


def refused(request: Request, error: Exception) -> Response:
    """What was asked is wrong, or more than this machine takes: in words, for the script as JSON."""
    status = 503 if isinstance(error, TooManyError) else getattr(error, "status", 422)
    return _told(request, "This does not work", str(error), status)


def broken(request: Request, _error: Exception) -> Response:
    """A fault of the page: nothing of it is shown but that it is one."""
    text = "Something went wrong in the page itself; nothing of yours is lost. Go back and try again."
    return _told(request, "A fault of the page", text, 500)


def _told(request: Request, title: str, text: str, status: int) -> Response:
    if request.headers.get("accept", "").startswith("application/json"):
        return JSONResponse({"problems": [{"text": text, "option": ""}]}, status_code=status)
    return HTMLResponse(views.error_page(title, text), status_code=status)
