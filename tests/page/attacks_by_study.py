"""Attacks on studies: names that lead elsewhere, files that they name, writes that nobody of the page asked for."""

from pathlib import Path
from urllib.parse import urlencode

from attack import Attack, ask

HEAD = 'schema = "humeval_power/study/1"\n'
_TYPE = "application/x-www-form-urlencoded"


def fill_studies(folder: Path) -> None:
    """A study, one that names a file outside, one whose file is a link to outside, and a folder that is one."""
    (folder / "mine").mkdir()
    (folder / "mine" / "study.toml").write_text(
        HEAD + "[design]\nworkers = 20\nitems = 50\n", encoding="utf-8"
    )
    (folder / "leads").mkdir()
    (folder / "leads" / "study.toml").write_text(
        HEAD + '[files]\npilot = "../../secret.csv"\n[design]\nworkers = 20\nitems = 50\n', encoding="utf-8"
    )
    outside = folder.parent / "outside"
    outside.mkdir()
    (folder / "leaves").mkdir()
    (folder / "leaves" / "study.toml").write_text(
        HEAD + '[files]\nratings = "../../secret.csv"\n', encoding="utf-8"
    )
    (folder / "reads").mkdir()
    (folder / "reads" / "study.toml").write_text(HEAD + '[files]\nratings = "a.csv"\n', encoding="utf-8")
    (folder / "reads" / "a.csv").write_text("who,what,which,mark\nx,1,a,2\n", encoding="utf-8")
    (folder / "reads" / "mapping.toml").symlink_to("../../outside/study.toml")
    (folder / "picks").mkdir()
    (folder / "picks" / "study.toml").write_text(
        HEAD + '[files]\noutputs = "../../secret.csv"\n', encoding="utf-8"
    )
    (outside / "study.toml").write_text(HEAD + '[question]\nquestion = "SECRET"\n', encoding="utf-8")
    (folder / "away").symlink_to("../outside")
    (folder / "linked").mkdir()
    (folder / "linked" / "study.toml").symlink_to("../../outside/study.toml")


def posted(target: str, values: dict[str, str] | bytes, **headers: str | None):
    body = values if isinstance(values, bytes) else urlencode(values).encode()
    return ask("POST", target, body, **{"content_type": _TYPE, **headers})


OPENED = {
    "above the folder by dots as codes": ("/study/%2e%2e/size", 400, "There is no such link"),
    "above the folder by slashes as codes": ("/study/..%2f..%2fetc/size", 400, "There is no such link"),
    "a folder that is a link to outside": ("/study/away/question", 422, "leads out of the folder"),
    "a study file that is a link to outside": ("/study/linked/question", 422, "leads out of the folder"),
    "a study that names a file outside": ("/study/leads/size", 200, "no path within the folder"),
    "a hidden folder": ("/study/.git/size", 422, "no path within the folder"),
    "a folder of the home": ("/study/~/size", 422, "no path within the folder"),
    "a control character": ("/study/a%07b/size", 400, "There is no such link"),
    "a stage that there is not": ("/study/mine/secret", 404, "no page of this name"),
    "a file outside as what is typed": (
        "/study/mine/size?pilot=../../secret.csv",
        200,
        "Choose one of the list",
    ),
    "markup as what is typed": ("/study/mine/size?workers=%3Cscript%3E", 200, "&lt;script&gt;"),
}
NAMES = {
    "dots and a slash": "../evil",
    "a slash": "a/b",
    "a backslash": "a\\b",
    "nothing but dots": "..",
    "a hidden folder": ".evil",
    "a control character": "a\x07b",
    "a line end": "a\nb",
    "a NUL": "\0x",
    "3,000 letters": "x" * 3_000,
    "an option": "--force",
}


def studies() -> list[Attack]:
    """All of them."""
    opened = [
        Attack("Studies", f"open {what}", ask(target=link), status, words, is_whole=True)
        for what, (link, status, words) in OPENED.items()
    ]
    refused = "cannot be the name of a study"
    begun = [
        Attack(
            "Studies",
            f"begin one called {what}",
            posted("/studies/new", {"name": name}),
            422,
            refused,
            is_whole=True,
        )
        for what, name in NAMES.items()
        if "\0" not in name
    ]
    save = {"version": "0", "workers": "21"}
    others = {
        "rename one to a way out": (posted("/rename/mine", {"name": "../evil"}), 422, refused),
        "rename a folder outside": (
            posted("/rename/away", {"name": "evil"}),
            422,
            "leads out of the folder",
        ),
        "save over what another tab has saved": (posted("/study/mine/size", save), 409, "In the file now"),
        "save a file outside as the pilot": (
            posted("/study/mine/size", {**save, "pilot": "../../secret.csv"}),
            409,
            "In the file now",
        ),
        "save 10 MB": (
            posted("/study/mine/size", b"question=" + b"x" * 10_000_000),
            413,
            "more than the 1 MB",
        ),
        "save by another site": (
            posted("/study/mine/size", save, origin="http://evil.example"),
            403,
            "Another site has sent this request",
        ),
        "save without the token": (
            posted("/study/mine/size", save, x_humeval=None),
            403,
            "Another site has sent this request",
        ),
        "save without a cookie": (
            posted("/study/mine/size", save, cookie=None),
            403,
            "This page opens by the link",
        ),
        "begin one without the token": (
            posted("/studies/new", {}, x_humeval=None),
            403,
            "Another site has sent this request",
        ),
        "do something that no button does": (posted("/act/delete/mine", {}), 404, "no page of this name"),
        "do something with a study that names a file outside": (
            posted("/act/analyze/leads", {}),
            422,
            "no path within the folder",
        ),
        "do something by a link": (ask(target="/act/seal/mine"), 404, "no page of this name"),
        "take a folder outside as a zip": (ask(target="/zip/away"), 422, "leads out of the folder"),
        "take a study that names a file outside as a zip": (
            ask(target="/zip/leads"),
            422,
            "no path within the folder",
        ),
        "keep an answer whose name is a line of TOML": (
            posted("/answers/mine", {"a = 1\nb": "x"}),
            422,
            "There is no answer called",
        ),
        "keep an answer without the token": (
            posted("/answers/mine", {"paper": "x"}, x_humeval=None),
            403,
            "Another site has sent this request",
        ),
        "keep an answer in a folder outside": (
            posted("/answers/away", {"paper": "x"}),
            422,
            "leads out of the folder",
        ),
        "read a file outside as the ratings": (
            posted("/table/leaves", {"do": "take"}),
            422,
            "no path within the folder",
        ),
        "keep how a file is read over a link to outside": (
            posted("/table/reads", {"do": "read"}),
            422,
            "leads out of the folder",
        ),
        "keep how a file is read without the token": (
            posted("/table/reads", {"do": "read"}, x_humeval=None),
            403,
            "Another site has sent this request",
        ),
        "keep how a file is read in a folder outside": (
            posted("/table/away", {"do": "undo"}),
            422,
            "leads out of the folder",
        ),
        "keep 10,000 columns of how a file is read": (
            posted("/table/reads", b"&".join(b"role-%d=rating" % place for place in range(10_000))),
            400,
            "",
        ),
        "take a file of a study that it does not list": (
            ask(target="/file/mine?path=study.toml"),
            404,
            "no page of this name",
        ),
        "take a file outside as one of a study": (
            ask(target="/file/mine?path=../../secret.csv"),
            404,
            "no page of this name",
        ),
        "take a file of a folder outside": (
            ask(target="/file/away?path=key.csv"),
            422,
            "leads out of the folder",
        ),
        "say what the columns of no texts are": (posted("/texts/mine", {}), 422, "Bring it first"),
        "say what columns of texts are without the token": (
            posted("/texts/mine", {}, x_humeval=None),
            403,
            "Another site has sent this request",
        ),
        "say what columns of texts are in a folder outside": (
            posted("/texts/away", {}),
            422,
            "leads out of the folder",
        ),
        "stop what a study computes without the token": (
            posted("/leave/mine", {}, x_humeval=None),
            403,
            "Another site has sent this request",
        ),
        "stop what a study computes by a link": (ask(target="/leave/mine"), 404, "no page of this name"),
        "take ratings that no file holds": (posted("/act/read/mine", {}), 422, "Bring it first"),
        "rehearse what is not sealed": (
            posted("/act/rehearse/mine", {}),
            422,
            "A sealed plan and its assignment are rehearsed",
        ),
        "rehearse in a folder outside": (posted("/act/rehearse/away", {}), 422, "leads out of the folder"),
        "rehearse by a link": (ask(target="/act/rehearse/mine"), 404, "no page of this name"),
        "write the forms of a stage that no look began": (
            posted("/act/next/mine", {}),
            422,
            "The next stage begins with a look",
        ),
        "write the forms of the next stage without the token": (
            posted("/act/next/mine", {}, x_humeval=None),
            403,
            "Another site has sent this request",
        ),
        "choose items from no texts": (
            posted("/act/choose/mine", {"n": "5"}),
            422,
            "There are no texts to choose from",
        ),
        "choose items from a file outside": (
            posted("/act/choose/picks", {"n": "5"}),
            422,
            "no path within the folder",
        ),
        "choose an option as the number of items": (
            posted("/act/choose/picks", {"n": "--output=/etc/x"}),
            422,
            "There are no texts to choose from",
        ),
        "choose items without the token": (
            posted("/act/choose/mine", {"n": "5"}, x_humeval=None),
            403,
            "Another site has sent this request",
        ),
        "take out nobody's ratings from a file outside": (
            posted("/act/withdraw/leaves", {"withdrawn": "w01"}),
            422,
            "no path within the folder",
        ),
        "begin one of answers that are no study": (
            posted("/studies/answers", {"study": "no = [toml"}),
            422,
            "study.toml",
        ),
        "begin one of answers with a file outside": (
            posted(
                "/studies/answers", {"study": HEAD + '[files]\nratings = "a"\n', "file": "../../secret.csv"}
            ),
            422,
            "no path within the folder",
        ),
        "begin one of answers with an upload that nobody made": (
            posted(
                "/studies/answers",
                {"study": HEAD + '[files]\nratings = "a"\n', "file": "a.csv~0123456789abcdef"},
            ),
            422,
            "not here any more",
        ),
        "begin one of answers that name an option of no study": (
            posted("/studies/answers", {"study": HEAD + "[design]\nforce = true\n"}),
            422,
            "force",
        ),
        "begin one of answers without the token": (
            posted("/studies/answers", {"study": HEAD}, x_humeval=None),
            403,
            "Another site has sent this request",
        ),
        "begin one of an upload that nobody made": (
            posted("/studies/ratings", {"ratings": "a.csv~0123456789abcdef"}),
            422,
            "not here any more",
        ),
    }
    return [
        *opened,
        *begun,
        *(
            Attack("Studies", what, send, status, words, is_whole=True)
            for what, (send, status, words) in others.items()
        ),
    ]
