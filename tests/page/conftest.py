"""What tests of the page in a browser share: a server on an empty folder, and a page that it has let in."""

from __future__ import annotations

import pytest
from browsing import browser_page, page_server


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder that the page is opened for."""
    return tmp_path_factory.mktemp("studies")


@pytest.fixture(scope="module")
def served(folder):
    """The link of a server."""
    with page_server(folder) as link:
        yield link


@pytest.fixture
def page(browser, served):
    """A page that sees no error and asks nobody else."""
    with browser_page(browser, served) as (found, seen):
        found.set_default_timeout(60_000)
        yield found
        assert seen.errors == []
        assert seen.foreign == []
