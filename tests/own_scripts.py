"""Pages without the scripts of the package, so that a test sees whether there are others."""

from importlib import resources

_TEMPLATES = resources.files("humeval_power.saying.render") / "templates"
SORT, SEARCH = ((_TEMPLATES / name).read_text("utf-8") for name in ("sort.js", "search.js"))


def without_own_scripts(page: str) -> str:
    """The page without the scripts that sort and search tables."""
    for script in (SORT, SEARCH):
        page = page.replace(f"<script>\n{script}</script>\n", "")
    return page
