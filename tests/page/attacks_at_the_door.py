"""Attacks by who asks, for what, and in which words: all of them end before the application hears of them."""

from attack import Attack, ask, raw

NOT_HERE = "The page is not at this address"
LET_IN = "This page opens by the link"
FOREIGN = "Another site has sent this request"
NO_LINK = "There is no such link"
NO_HTTP = "This is no request that the page understands"
METHODS = "The page knows GET, HEAD and POST only"
OTHER_PORT = "http://127.0.0.1:1"
POST = "POST /echo HTTP/1.1\r\nHost: HOST\r\nCookie: COOKIE\r\nOrigin: http://HOST\r\nX-Humeval: 1\r\n"
GET = "GET / HTTP/1.1\r\nHost: HOST\r\nCookie: COOKIE\r\n"
UPGRADE = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
UPGRADE += "Sec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==\r\n"


def hosts() -> list[Attack]:
    """What a request takes the page for."""
    forged = {
        "a foreign Host": "evil.example",
        "DNS rebinding: a foreign name that leads to 127.0.0.1, with the right port": "rebind.evil.example:PORT",
        "a Host that begins with ours": "127.0.0.1:PORT.evil.example",
        "a Host that ends with ours": "evil.localhost:PORT",
        "our Host without its port": "127.0.0.1",
        "our Host with another port": "127.0.0.1:1",
        "an address of all interfaces": "0.0.0.0:PORT",
    }
    return [
        *(Attack("Host", what, ask(host=host), 400, NOT_HERE) for what, host in forged.items()),
        Attack("Host", "HTTP/1.1 without a Host", raw("GET / HTTP/1.1\r\n\r\n"), 400, NO_HTTP),
        Attack("Host", "HTTP/1.0 without a Host", raw("GET / HTTP/1.0\r\n\r\n"), 400, NOT_HERE),
        Attack("Host", "two Hosts", raw("GET / HTTP/1.1\r\nHost: HOST\r\nHost: evil.example\r\n\r\n"), 400),
        Attack(
            "Host",
            "a whole address in the place of the link",
            raw(GET.replace(" / ", " http://evil.example/ ") + "\r\n"),
            400,
            NO_LINK,
        ),
        Attack(
            "Host",
            "another Host that a proxy is said to have seen",
            ask(host="evil.example", x_forwarded_host="127.0.0.1:PORT"),
            400,
            NOT_HERE,
        ),
    ]


def origins() -> list[Attack]:
    """Which site a request comes from."""
    own, evil = "http://127.0.0.1:PORT", "https://evil.example"
    return [
        Attack("Origin", "a script of another site reads a page", ask(origin=evil), 403, FOREIGN),
        Attack("Origin", "a script of another port reads a page", ask(origin=OTHER_PORT), 403, FOREIGN),
        Attack(
            "Origin",
            "a script without an origin, as in a sandboxed frame",
            ask(origin="null"),
            403,
            FOREIGN,
        ),
        Attack(
            "Origin", "our origin, but by https", ask(origin=own.replace("http", "https")), 403, FOREIGN
        ),
        Attack(
            "Origin",
            "another site shows an answer as a picture",
            ask(sec_fetch_site="cross-site", sec_fetch_mode="no-cors", sec_fetch_dest="image"),
            403,
            FOREIGN,
        ),
        Attack(
            "Origin",
            "another port of this machine shows an answer in a frame",
            ask(sec_fetch_site="same-site", sec_fetch_mode="navigate", sec_fetch_dest="iframe"),
            403,
            FOREIGN,
        ),
        Attack(
            "Origin",
            "another site posts a form",
            ask("POST", "/echo", b"a=1", origin=evil, x_humeval=None),
            403,
            FOREIGN,
        ),
        Attack(
            "Origin",
            "another site posts, with the secret header",
            ask("POST", "/echo", b"a=1", origin=evil),
            403,
            FOREIGN,
        ),
        Attack("Origin", "a post without Origin", ask("POST", "/echo", b"a=1", origin=None), 403, FOREIGN),
        Attack(
            "Origin",
            "a post from our own origin without the secret header",
            ask("POST", "/echo", b"a=1", x_humeval=None),
            403,
            FOREIGN,
        ),
        Attack(
            "Origin",
            "the same with a guessed token of a form",
            ask("POST", "/echo?_form=guess", b"a=1", x_humeval=None),
            403,
            FOREIGN,
        ),
        Attack(
            "Origin",
            "another site asks whether it may post (CORS preflight)",
            ask("OPTIONS", "/echo", origin=evil, access_control_request_method="POST"),
            405,
            METHODS,
        ),
        Attack(
            "Origin",
            "a WebSocket from another site",
            raw(GET + UPGRADE + "Origin: https://evil.example\r\n\r\n"),
            400,
            "uses no WebSockets",
        ),
        Attack(
            "Origin",
            "a WebSocket from our own origin",
            raw(GET + UPGRADE + "Origin: http://HOST\r\n\r\n"),
            400,
            "uses no WebSockets",
        ),
    ]


def tokens() -> list[Attack]:
    """Whether whoever asks may come in."""
    return [
        Attack("Token", "no token and no cookie", ask(cookie=None), 403, LET_IN),
        Attack("Token", "a wrong token", ask(target="/?token=guess", cookie=None), 403, LET_IN),
        Attack("Token", "an empty token", ask(target="/?token=", cookie=None), 403, LET_IN),
        Attack(
            "Token",
            "the token of the page at another port",
            ask(target="/?token=7yN0PpXQ3rS1u2VwXy", cookie=None),
            403,
            LET_IN,
        ),
        Attack(
            "Token",
            "a cookie with the token in the place of its value",
            lambda page: page.ask(cookie=f"humeval-power-{page.port}={page.token}"),
            403,
            LET_IN,
        ),
        Attack(
            "Token",
            "the right cookie under the name of another port",
            lambda page: page.ask(cookie=f"humeval-power-1={page.cookie.partition('=')[2]}"),
            403,
            LET_IN,
        ),
        Attack(
            "Token",
            "a post with the token, without a cookie",
            ask("POST", "/echo?token=TOKEN", b"a", cookie=None),
            403,
            LET_IN,
        ),
        Attack(
            "Token",
            "static files without a cookie",
            ask(target="/static/page.css", cookie=None),
            403,
            LET_IN,
        ),
        Attack(
            "Token",
            "an upload without a cookie",
            ask("POST", "/upload", b"a,b\n", cookie=None, x_file_name="a.csv"),
            403,
            LET_IN,
        ),
        Attack(
            "Token",
            "the token before the name of another host",
            ask(target="//evil.example/?token=TOKEN", cookie=None),
            400,
            NO_LINK,
        ),
        Attack(
            "Token",
            "the same with a backslash",
            ask(target="/%5Cevil.example/?token=TOKEN", cookie=None),
            400,
            NO_LINK,
        ),
        Attack(
            "Token",
            "the token and a header of one's own in the link",
            ask(target="/%0d%0aSet-Cookie:%20a=b/?token=TOKEN", cookie=None),
            400,
            NO_LINK,
        ),
    ]


def paths() -> list[Attack]:
    """Ways out of what the page serves."""
    ways = {
        "dots": "/static/../../../../etc/passwd",
        "dots as codes": "/static/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "slashes as codes": "/static/..%2f..%2f..%2fetc%2fpasswd",
        "backslashes": "/static/..%5c..%5cetc%5cpasswd",
        "two slashes": "/static//etc/passwd",
        "a NUL": "/static/page.css%00.html",
        "a NUL in the query": "/?ratings=a.csv%00",
        "the key of a download": "/take/..%2f..%2fetc%2fpasswd.zip",
    }
    return [
        *(
            Attack("Paths", f"out of the folder by {what}", ask(target=path), 400, NO_LINK)
            for what, path in ways.items()
        ),
        Attack("Paths", "dots as codes of codes", ask(target="/static/%252e%252e%252fpasswd"), 404),
    ]


def methods() -> list[Attack]:
    """What a request wants to do."""
    return [
        Attack("Methods", method, ask(method), 405, METHODS)
        for method in ("TRACE", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT", "PROPFIND")
    ]


def smuggled() -> list[Attack]:
    """Requests that two readers read differently."""
    inner = "GET /secret HTTP/1.1\r\nHost: HOST\r\n\r\n"
    return [
        Attack(
            "Smuggling",
            "Content-Length and Transfer-Encoding",
            raw(POST + f"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{inner}"),
            400,
            "says twice",
        ),
        Attack(
            "Smuggling",
            "two lengths",
            raw(POST + f"Content-Length: 0\r\nContent-Length: 44\r\n\r\n{inner}"),
            400,
            NO_HTTP,
        ),
        Attack(
            "Smuggling",
            "another Transfer-Encoding",
            raw(POST + f"Transfer-Encoding: xchunked\r\n\r\n{inner}"),
            400,
            NO_HTTP,
        ),
        Attack(
            "Smuggling",
            "a blank before the colon",
            raw(POST + "Content-Length : 3\r\n\r\nabc"),
            400,
            NO_HTTP,
        ),
        Attack(
            "Smuggling",
            "a header on two lines",
            raw(GET + "Connection: close\r\nX-A: b\r\n Cookie: c\r\n\r\n"),
            200,
        ),
        Attack("Smuggling", "a NUL in a header", raw(GET + "X-A: \0\r\n\r\n"), 400, NO_HTTP),
        Attack(
            "Smuggling",
            "no HTTP at all (TLS)",
            lambda page: page.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500)),
            400,
            NO_HTTP,
        ),
    ]
