"""`--version` tells the commit: of the build, of pip, or of the checkout; and nothing where nobody knows."""

import json
import subprocess
from importlib import metadata
from pathlib import Path

import pytest
from cli import run

from humeval_power.doors.terminal import commit as module
from humeval_power.doors.terminal.commit import commit

HASH = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout without a commit, installed by nobody."""
    package = tmp_path / "humeval_power"
    package.mkdir()
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.setattr(module, "PACKAGE", package)
    monkeypatch.setattr(module, "_of_pip", lambda: None)
    return tmp_path


def test_the_version_is_told_with_the_commit() -> None:
    result = run("--version")
    assert result.stdout.startswith(f"humeval-power {metadata.version('humeval-power')}")


@pytest.mark.usefixtures("place")
def test_a_checkout_without_commits_says_nothing() -> None:
    assert commit() is None


def test_the_commit_of_a_branch_loose_packed_or_detached(place: Path) -> None:
    (place / ".git" / "packed-refs").write_text(f"# pack-refs\n{HASH} refs/heads/main\n")
    assert commit() == HASH[:9]
    loose = place / ".git" / "refs" / "heads" / "main"
    loose.parent.mkdir(parents=True)
    loose.write_text("f" * 40 + "\n")
    assert commit() == "f" * 9
    (place / ".git" / "HEAD").write_text(HASH[::-1] + "\n")
    assert commit() == HASH[::-1][:9]


def test_the_commit_of_a_worktree_is_that_of_its_branch(place: Path) -> None:
    repository = place / ".git"
    repository.rename(place / "repository")
    own = place / "repository" / "worktrees" / "other"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/other\n")
    (own / "commondir").write_text("../..\n")
    (place / "repository" / "packed-refs").write_text(f"{HASH} refs/heads/other\n")
    repository.write_text(f"gitdir: {own}\n")
    assert commit() == HASH[:9]


def test_another_project_around_the_package_is_not_asked(place: Path) -> None:
    (place / ".git" / "HEAD").write_text(HASH + "\n")
    (place / "pyproject.toml").unlink()
    assert commit() is None


def test_the_build_goes_first(place: Path) -> None:
    (place / ".git" / "HEAD").write_text("f" * 40 + "\n")
    (place / "humeval_power" / "commit.txt").write_text(HASH + "\n")
    assert commit() == HASH[:9]


def test_what_pip_wrote_down(monkeypatch: pytest.MonkeyPatch) -> None:
    class Distribution:
        def read_text(self, _name: str) -> str:
            return json.dumps({"vcs_info": {"vcs": "git", "commit_id": HASH}})

    monkeypatch.setattr(module.metadata, "distribution", lambda _name: Distribution())
    assert module._of_pip() == HASH


def test_git_agrees_with_what_is_read_from_its_files() -> None:
    root = Path(module.__file__).parents[3]
    told = subprocess.run(["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True)
    if told.returncode:
        pytest.skip("no checkout")
    assert module._of_checkout(root) == told.stdout.strip()
