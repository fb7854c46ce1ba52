"""What tests of the page share: one in this process, and in a browser a server on an empty folder."""

import pytest
from browsing import browser_page, page_server


@pytest.fixture
def client(tmp_path):
    """The page in this process, opened without a folder."""
    return _client(tmp_path)


@pytest.fixture(scope="module")
def client_of_all(tmp_path_factory):
    """The same for all tests of a file, which keeps what it has answered."""
    return _client(tmp_path_factory.mktemp("page"))


def _client(place):
    pytest.importorskip("starlette", reason="The page needs the extra [page].")
    from in_process_parts import in_process_parts
    from starlette.testclient import TestClient

    from humeval_power.doors.page.app import make_app

    return TestClient(make_app(in_process_parts(place)))


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
