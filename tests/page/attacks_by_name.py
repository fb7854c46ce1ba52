"""Attacks by what uploads are called and what links say: these reach the application."""

from attack import Attack, ask, upload


def names() -> list[Attack]:
    """What uploads are called."""
    names = {
        "the way to another folder": ("../../etc/cron.d/evil.csv", "evil.csv~"),
        "the way to another folder in Windows": ("..%5C..%5Cevil.csv", "evil.csv~"),
        "the way to another folder in codes": ("..%2F..%2Fevil.csv", "evil.csv~"),
        "an option": ("--output=x.csv", "output_x.csv~"),
        "markup": ("%3Cscript%3Ealert(1)%3C%2Fscript%3E.csv", "script.csv~"),
        "a line end": ("a%0D%0ASet-Cookie:%20x.csv", "a_Set-Cookie_x.csv~"),
        "a NUL": ("a.csv%00.exe", "a.csv.exe~"),
        "a device of Windows": ("con.csv", "_con.csv~"),
        "the mark between a name and its digest": ("a~0123456789abcdef.csv", "a_0123456789abcdef.csv~"),
        "nothing but dots": ("...", "file~"),
        "3,000 letters": ("x" * 3_000 + ".csv", "x" * 60 + ".csv~"),
    }
    return [
        Attack("Names of uploads", what, upload(name, lambda: b"a,b\n1,2\n"), 200, said)
        for what, (name, said) in names.items()
    ] + [
        Attack("Names of uploads", f"a folder with {what}", folder(paths), status, said)
        for what, (paths, status, said) in FOLDERS.items()
    ]


FOLDERS = {
    "a way out": (("runs/../../../etc/cron.d/evil", "runs/a.json"), 200, "runs~"),
    "nothing but ways out": (("../../evil", "../evil"), 200, "file~"),
    "a hidden folder": (("runs/.ssh/key", "runs/.git/config"), 400, "nothing in this folder"),
    "the root": (("/etc/passwd", "/etc/shadow"), 200, "file~"),
    "2,001 files": (tuple(f"runs/{number}" for number in range(2_001)), 400, "Too many files"),
}


def folder(paths: tuple[str, ...]):
    """Files with their paths, as a browser sends a folder."""
    head = '--edge\r\nContent-Disposition: form-data; name="file"; filename="{}"\r\n\r\n1\r\n'
    body = "".join(map(head.format, paths)).encode() + b"--edge--\r\n"
    return ask("POST", "/upload", body, content_type="multipart/form-data; boundary=edge")


LINKS = {
    "an option that writes": ("/power?output=/etc/x", "has no option &#39;output&#39;"),
    "an option that computes elsewhere": ("/power?on=tcp://evil.example", "has no option &#39;on&#39;"),
    "an option that writes over": ("/power?force=1", "has no option &#39;force&#39;"),
    "an option that rewrites a plan": ("/power?plan=plan.json&amend=x", "has no option &#39;amend&#39;"),
    "an option as the value of another": (
        "/power?effect=--output%3D/etc/x&STUDY",
        "give a number such as 0.05",
    ),
    "an option as the name of a file": ("/check?ratings=--output%3Dx", "no file"),
    "standard input as a file": ("/check?ratings=-", "no file"),
    "a file outside the folder": ("/check?ratings=/etc/passwd", "no path within the folder"),
    "a file above the folder": ("/check?ratings=../secret.csv", "no path within the folder"),
    "the same in codes": ("/check?ratings=..%2Fsecret.csv", "no path within the folder"),
    "a link that leads out of the folder": ("/check?ratings=out.csv", "leads out of the folder"),
    "a hidden file": ("/check?ratings=.hidden.csv", "no path within the folder"),
    "a device": ("/check?ratings=/dev/zero", "no path within the folder"),
    "a folder above the folder": ("/check?ratings=..", "no path within the folder"),
    "a folder of logs with a link that leads out": ("/import?exports=logs", "leads out of the folder"),
    "a file outside as a column of clusters": (
        "/accuracy/test?files=pilot.csv&files=pilot.csv&cluster=/etc/passwd",
        "no path within the folder",
    ),
    "a file outside as the right answers": (
        "/accuracy/test?files=pilot.csv&files=pilot.csv&gold=../secret.csv",
        "no path within the folder",
    ),
    "a file outside as scores": (
        "/compare/scores?files=../secret.csv&question=mean",
        "no path within the folder",
    ),
    "an option as the name of a column of scores": (
        "/compare/scores?files=pilot.csv&item=--config%3D/etc/passwd&question=mean",
        "there is no column",
    ),
    "an upload that nobody made": ("/check?ratings=a.csv~0123456789abcdef", "not here any more"),
    "an upload with a way as its name": ("/check?ratings=../a.csv~0123456789abcdef", "not here any more"),
    "markup as a value": ("/power?effect=%3Cscript%3Ealert(1)%3C/script%3E&STUDY", "&lt;script&gt;"),
    "markup as the name of an option": ("/power?%3Cscript%3E=1&STUDY", "&lt;script&gt;"),
    "a value of 3,000 letters": ("/power?preset=" + "x" * 3_000, "more than 2,000 letters"),
    "code in a formula": ("/fit?ratings=pilot.csv&scale=1:5&formula=rating~__import__('os')", "formula"),
}


SCORES = {
    "scores of a file outside": ("/scores?files=../secret.csv", 303),
    "scores of no file": ("/scores", 422),
    "an option that writes as what a column is": ("/compare/scores?files=pilot.csv&is=output:/etc/x", 303),
    "a way to another site as what a column is": ("/compare/scores?files=pilot.csv&is=//evil.example", 303),
}


def links() -> list[Attack]:
    """What links ask that they may not; "shown" is what must stand on the page."""
    study = "preset=high&workers=4&items=8"
    return [
        Attack("Links", what, ask(target=link.replace("STUDY", study)), 200, shown, is_whole=True)
        for what, (link, shown) in LINKS.items()
    ] + [
        Attack(
            "Links", "a command that runs code of one's own", ask(target="/scenario"), 404, is_whole=True
        ),
        Attack("Links", "the program's own files", ask(target="/static/page.py"), 404, is_whole=True),
        Attack(
            "Links",
            "the key of a download that nobody made",
            ask(target="/take/0123.zip"),
            422,
            is_whole=True,
        ),
        *(
            Attack("Links", what, ask(target=link), status, is_whole=True)
            for what, (link, status) in SCORES.items()
        ),
        Attack(
            "Links",
            "back to another site after an upload",
            ask("POST", "/upload?back=//evil.example/", b"a,b\n1,2\n", x_file_name="a.csv"),
            303,
            is_whole=True,
        ),
    ]
