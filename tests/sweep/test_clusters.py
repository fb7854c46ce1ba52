"""Clusters: how they are asked for, what is refused, and the same results by dask's workers."""

import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
from blocks_for_tests import fails, normal_blocks, total
from cases import each_case
from cli import run

from humeval_power.asking import dask_clusters
from humeval_power.asking.dask_clusters import CLUSTER_SCHEMA, SlurmJobs, read_cluster, slurm_of
from humeval_power.errors import EngineMissingError, InputError
from humeval_power.sweep import dask_engine
from humeval_power.sweep.blocks import Block, run_blocks, sweeping
from humeval_power.sweep.dispatch import BlocksFailedError
from humeval_power.sweep.versions import Machine, OtherVersionsError, versions_here

distributed = pytest.importorskip("distributed")

SLURM = f"""
schema = "{CLUSTER_SCHEMA}"
jobs = 20
cores = 32
memory = "64 GB"
walltime = "04:00:00"
partition = "short"
account = "nlp"
directives = ["--exclusive"]
prologue = ["module load python/3.12"]
python = "/home/me/venv/bin/python"
log_folder = "logs"
tls = false
"""
SURFACE = [
    *["surface", "--preset", "high", "--workers", "5,10", "--items", "20", "--effect", "0.1"],
    *["--ratings-per-item", "2", "--simulations", "60", "--json"],
]


@pytest.fixture(scope="module")
def client():
    """A scheduler and two workers as threads of this process: the protocol, without processes."""
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as found,
    ):
        warnings.simplefilter("ignore")
        yield found


def test_dask_finds_what_this_process_finds(client):
    array = np.arange(5000.0)
    blocks = [*normal_blocks(60), *(Block(total, (array, n)) for n in range(20))]
    plain = [block.run() for block in blocks]
    with sweeping(dask_engine.DaskEngine(client)):
        assert list(run_blocks(blocks)) == plain
    assert client.futures == {} or all("array" in str(key) for key in client.futures)


def test_a_block_that_fails_on_dask_is_named_and_the_rest_is_done(client):
    blocks = [(str(n), block) for n, block in enumerate([*normal_blocks(5), Block(fails, (3,))])]
    found = dask_engine.DaskEngine(client).run(blocks)
    assert sorted(next(found)[0] for _ in range(5)) == list("01234")
    with pytest.raises(BlocksFailedError, match=r"1 of 6 blocks failed 3 times.*fails\(3\)"):
        next(found)


def test_workers_of_other_versions_are_refused_before_anything_is_computed(client, monkeypatch):
    other = Machine("node7", "x86_64 zen4", {**versions_here(), "numba": "0.1"})
    monkeypatch.setattr(dask_engine, "machine_here", _Constant(other))
    with pytest.raises(OtherVersionsError, match=r"node7 .*numba 0\.1 instead of"):
        list(dask_engine.DaskEngine(client).run([("a", normal_blocks(1)[0])]))


class _Constant:
    def __init__(self, value):
        self.value = value

    def __call__(self):
        return self.value


def test_the_job_script_is_what_slurm_can_run(tmp_path):
    (tmp_path / "slurm.toml").write_text(SLURM)
    jobs = read_cluster(tmp_path / "slurm.toml")
    assert jobs.slots == 640
    with slurm_of(jobs) as cluster:
        lines = cluster.job_script().splitlines()
    assert lines[0].startswith("#!")
    for line in (
        "#SBATCH -p short",
        "#SBATCH -A nlp",
        "#SBATCH -n 1",
        "#SBATCH --cpus-per-task=32",
        "#SBATCH --mem=60G",  # 64 GB of 10^9 bytes, in GiB
        "#SBATCH -t 04:00:00",
        "#SBATCH --exclusive",
        "module load python/3.12",
    ):
        assert line in lines
    assert sum("OMP_NUM_THREADS=1" in line for line in lines) == 1
    worker = lines[-1]
    assert worker.startswith("/home/me/venv/bin/python -m distributed.cli.dask_worker tcp://")
    assert "--nthreads 1 " in worker
    assert "--nworkers 32 " in worker
    subprocess.run(["bash", "-n"], input="\n".join(lines), text=True, check=True)


def test_jobs_talk_by_tls_unless_it_is_switched_off(tmp_path):
    jobs = SlurmJobs(jobs=1, cores=2, memory="4 GB", walltime="00:10:00", shared_folder=str(tmp_path))
    with slurm_of(jobs) as cluster:
        worker = cluster.job_script().splitlines()[-1]
        (key,) = tmp_path.glob("*key*")
        assert key.stat().st_mode & 0o077 == 0  # the user's alone
    assert "tls://" in worker
    assert f"--tls-key {key}" in worker


def test_all_problems_of_a_cluster_file_are_told_at_once(tmp_path):
    path = tmp_path / "slurm.toml"
    path.write_text('jobs = 0\ncores = true\nmemori = "4 GB"\nwalltime = "soon"\nprologue = "x"\ntls = 1\n')
    with pytest.raises(InputError) as error:
        read_cluster(path)
    told = str(error.value)
    for part in (
        "schema",
        "'memori': there is no such key. Do you mean 'memory'?",
        "'memory': is missing",
        "'jobs': value 0: must be a whole number from 1",
        "'cores': value True",
        "'walltime': value 'soon': must be a time",
        "'prologue': value 'x': must be a list",
        "'tls': value 1: must be true or false",
    ):
        assert part in told
    assert len(error.value.problems) == 8


@each_case(
    ("typed", "said"),
    [
        (["--on", "local:0"], "local:N takes 1 to 1,024 processes; got 'local:0'"),
        (["--on", "local:-3"], "local:N takes"),
        (["--on", "local:many"], "local:N takes"),
        (["--on", "tcp://host"], "an address has a host and a port"),
        (["--on", "tcp://host:99999"], "an address has a host and a port"),
        (["--on", "elsewhere"], "say where: local:8"),
        (["--on", "no-such-file.toml"], "There is no file 'no-such-file.toml'"),
        (["--on", "local:2", "--jobs", "2"], "give one of them"),
    ],
)
def test_what_on_cannot_mean_is_refused(typed, said):
    done = run(*SURFACE, *typed, code=2)
    assert said in " ".join(done.output.split())


def test_nobody_at_an_address_is_told(monkeypatch):
    monkeypatch.setattr(dask_clusters, "_PATIENCE", 1)
    began = time.monotonic()
    done = run(*SURFACE, "--on", "tcp://127.0.0.1:9", code=75)
    said = " ".join(done.output.split())
    assert "No dask scheduler answers at tcp://127.0.0.1:9 within 1 s" in said
    assert ".." not in said
    assert ".)" not in said
    assert time.monotonic() - began < 30  # a client that was never connected is not waited for


def test_without_dask_one_sentence_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = run(*SURFACE, "--on", "local:2", code=EngineMissingError.exit_code)
    assert "pip install 'humeval-power[cluster]'" in " ".join(done.output.split())


def test_sbatch_that_is_missing_is_told(tmp_path, monkeypatch):
    (tmp_path / "slurm.toml").write_text(SLURM)
    monkeypatch.setenv("PATH", str(tmp_path))
    done = run(*SURFACE, "--on", tmp_path / "slurm.toml", code=75)
    assert "There is no sbatch here" in " ".join(done.output.split())


def test_a_job_that_slurm_refuses_is_told(tmp_path, monkeypatch):
    (tmp_path / "slurm.toml").write_text(SLURM)
    sbatch = tmp_path / "sbatch"
    sbatch.write_text("#!/bin/sh\necho 'sbatch: error: Invalid account' >&2\nexit 1\n")
    sbatch.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    done = run(*SURFACE, "--on", tmp_path / "slurm.toml", code=75)
    assert "SLURM refuses the job: sbatch: error: Invalid account" in " ".join(done.output.split())
