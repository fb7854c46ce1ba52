"""What all tests share: the real tables, where they are present, and the profile of hypothesis."""

import base64
import functools
import gc
import importlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

# Two processes of tests on two cores: threads of linear algebra on small matrices would only wait for each other.
# Before NumPy is imported, and for the processes that tests start.
for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
pytest_plugins = ["browsing", "cpu_budget"]

# Thousands of tests and their modules stay until the end: going through them for garbage, again and again, would
# take a third of the time.
gc.disable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("r") and shutil.which("Rscript") is None:
        pytest.skip("Rscript is not installed")
    if item.get_closest_marker("browser") and not any(map(shutil.which, BROWSERS)):
        pytest.skip("there is no Chromium")


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(100_000, 20, 50)  # whole documents and trees of pages die young
    gc.enable()


# Hypothesis reads the source of every module for constants to try: ten seconds of each process, and a changed line
# of it would change the examples.
providers._get_local_constants = providers.Constants

# A cold compiled kernel is slow once; the same examples on every run.
settings.register_profile("humeval_power", deadline=None, derandomize=True)
# The first of them: make test.
settings.register_profile("quick", settings.get_profile("humeval_power"), max_examples=10)
settings.load_profile("humeval_power")


@pytest.fixture(scope="session", autouse=True)
def no_settings_of_ones_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests neither see nor change the library and the remembered answers of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("settings")))
        yield


@pytest.fixture(scope="session", autouse=True)
def no_waiting_for_the_disk() -> Iterator[None]:
    """Ten thousand waits of milliseconds; nobody pulls the plug. A handle that is none is refused as before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", os.fstat)
        yield


@pytest.fixture(scope="session", autouse=True)
def resamples_drawn_once() -> Iterator[None]:
    """Every measure of agreement draws the same thousand resamples of as many items."""
    agreement = importlib.import_module("humeval_power.comparisons.agreement.agreement")
    cached = functools.lru_cache(maxsize=16)(agreement.item_resamples)

    def resamples_of(n_items: int, *, n_resamples: int, seed: int) -> object:
        counts = cached(n_items, n_resamples=n_resamples, seed=seed)
        counts.flags.writeable = False
        return counts

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agreement, "item_resamples", resamples_of)
        yield


@pytest.fixture(scope="session", autouse=True)
def shares_solved_once() -> Iterator[None]:
    """Hundreds of tests rate in the same few boxes, with the same deviations."""
    kernel = importlib.import_module("humeval_power.kernels.latent.shares")
    solve, solved = kernel.latent_of_shares, {}

    def solved_once(
        shares: Any, scores: Any, difference: float, observed: dict[str, Any], *, logit: bool
    ) -> Any:
        key = shares.tobytes(), scores.tobytes(), difference, tuple(observed.items()), logit
        if key not in solved:
            solved[key] = solve(shares, scores, difference, observed, logit=logit)
            solved[key].thresholds.flags.writeable = False
        return solved[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "latent_of_shares", solved_once)
        yield


@pytest.fixture(scope="session")
def shared() -> Path:
    """The directory of shared material: HUMEVAL_SHARED, or ../shared beside the repository."""
    default = Path(__file__).resolve().parents[2] / "shared"
    directory = Path(os.environ.get("HUMEVAL_SHARED", default))
    if not directory.is_dir():
        pytest.skip(f"there is no shared material at {directory} (set HUMEVAL_SHARED)")
    return directory


@pytest.fixture(scope="session")
def shared_data(shared: Path) -> Path:
    """The directory of real rating tables."""
    directory = shared / "data"
    if not directory.is_dir():
        pytest.skip(f"there are no real rating tables at {directory}")
    return directory


# Folders and modules whose tests look at words and forms of analyses, not at the simulated rate of their errors.
WITH_FEW_NULL_STUDIES = {
    *("analyze", "compare", "field", "files", "items", "latent", "monitor", "page", "plan", "release"),
    *("report", "start", "study", "study_file"),
}
# Whose plans need no exact power.
WITH_FEW_PROOFS = {"analyze", "field", "monitor", "page", "report"}
# And whose plans from a pilot need no exact share of possible variances.
WITH_FEW_DRAWS = {"test_cli_plan", "test_studies"}
# And whose plans with looks need no exact levels.
WITH_ROUGH_LEVELS = {"analyze", "field", "files", "monitor", "test_docs_files", "test_planned_judges"}
# And whose corrections by max-t and intervals of agreement need no more than two digits.
WITH_ROUGH_NUMBERS = {
    *("analyze", "field", "files", "items", "latent", "monitor", "page", "plan", "release", "report"),
    *(
        "start",
        "study_file",
        "test_answer_first",
        "test_cli_many_systems",
        "test_family_of_tests",
        "test_findings",
    ),
    *("test_cli_systems", "test_joint_diagnostics", "test_names_not_roles"),
}
# Whose comparisons of several systems need no check by the other model.
WITHOUT_OTHER_MODEL = {
    *("monitor", "test_answer_first", "test_cli_structure", "test_criteria_tables", "test_family_error"),
    *("test_findings", "test_joint_diagnostics", "test_planned_systems"),
}
# And that look at the names and places of pictures: others look at what is drawn.
WITH_BLANK_PICTURES = {
    *("analyze", "field", "monitor", "page", "plan", "report"),
    *("test_cli_check", "test_cli_fit", "test_docs_files", "test_every_command", "test_findings"),
    *("test_hostile_media", "test_joint_diagnostics", "test_names_not_roles", "test_net"),
}
WITH_PICTURES = {"test_workers"}  # which compare them with those of other processes
BLANK = {
    "png": base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
    ),
    "svg": b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>',
    "pdf": b"%PDF-1.4",
}


@pytest.fixture(scope="module", autouse=True)
def no_waiting_for_what_nobody_looks_at(request: pytest.FixtureRequest) -> Iterator[None]:
    """Analyses by the joint model simulate how often max-t errs: 200 studies, of which these wait for 10. Those of
    several systems are checked by the other model where that is no more than a certain work, here none. Plans
    with looks simulate their levels: 1,000 to 20,000 studies for each of six SDs, these a tenth; plans are proved
    by 2,000 studies, here by 200. Critical values of max-t are means over 32,768 directions, here over 2,048;
    intervals of agreement come from 1,000 resamples, here from 50, those with other raters from 100,000 draws, here
    from 4,000; chances of ranks from 4,000 variances, here from 400; the power that a pilot leaves possible from
    4,000, here from 500. A figure is made as ever, but not turned into dots and outlines, which takes a tenth of a
    second each."""
    names = {request.path.parent.name, request.path.stem}
    with pytest.MonkeyPatch.context() as patch:
        if names & WITH_FEW_NULL_STUDIES:
            patch.setattr("humeval_power.studies.fit.joint_comparison._N_STUDIES", 10)
            agreement = importlib.import_module("humeval_power.comparisons.agreement.agreement").agreement
            patch.setitem(agreement.__kwdefaults__, "n_resamples", 50)
        if names & WITHOUT_OTHER_MODEL:
            patch.setattr("humeval_power.studies.fit.joint_comparison.MOST_WORK", 0)
        if names & WITH_ROUGH_LEVELS:
            looks = "humeval_power.studies.looks"
            patch.setattr(f"{looks}.rating_looks.SLOW_LOOK_SIMULATIONS", 200)
            patch.setattr(f"{looks}.rating_looks.DEFAULT_LOOK_SIMULATIONS", 2000)
            for module in ("systems_looks", "dropping"):  # which has names of its own for them
                patch.setattr(f"{looks}.{module}.SLOW_SYSTEMS_LOOKS", 100)
                patch.setattr(f"{looks}.{module}.DEFAULT_SYSTEMS_LOOKS", 1000)
        if names & WITH_FEW_PROOFS:
            patch.setattr("humeval_power.studies.plan.search_and_prove.DEFAULT_SIMULATIONS", 200)
        if names & WITH_FEW_DRAWS:
            assurance = importlib.import_module("humeval_power.studies.power.assurance").assurance
            patch.setitem(assurance.__kwdefaults__, "n_draws", 500)
        if names & WITH_ROUGH_NUMBERS:
            max_t = importlib.import_module("humeval_power.studies.fit.max_t")
            fresh_cache = functools.lru_cache(maxsize=32)(max_t._critical_values.__wrapped__)
            ranks = importlib.import_module("humeval_power.studies.fit.ranks")
            patch.setitem(ranks.draw_means.__kwdefaults__, "n_variances", 400)
            patch.setattr(max_t, "_LOG2_DIRECTIONS", 11)
            patch.setattr(max_t, "_critical_values", fresh_cache)
            strata = importlib.import_module("humeval_power.comparisons.agreement.strata")
            draw = strata.drawn_variances
            patch.setattr(strata, "drawn_variances", lambda table, rng, n: draw(table, rng, min(n, 4000)))
        if names & WITH_BLANK_PICTURES and not names & WITH_PICTURES:
            content = "humeval_power.saying.figure_style.figure_bytes"
            patch.setattr(content, lambda _figure, kind: BLANK[kind])
        yield
