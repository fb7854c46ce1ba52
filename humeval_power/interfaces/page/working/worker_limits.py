"""What a worker process may take: so much memory, and so much time of the processor."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def resident(pid: int | str) -> int | None:
    """Bytes of memory that a process holds; None where the system does not say."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None


def cap_memory(more: int) -> None:
    """Let this process take so many bytes more than now. What would take more raises MemoryError, in words.

    The limit is of data, not of the address space: compilers and thread stacks reserve far more addresses than
    they ever use. Where the system has no such limit the server watches alone.
    """
    import resource

    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/self/status").read_text().splitlines()
        data = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData:"))
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (data + more, hard))


def cap_time(seconds: float) -> None:
    """Let this process use so many seconds of the processor from now: the system ends it then, even while it
    hears nobody."""
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime + seconds) + 1, hard))


def no_core_dump() -> None:
    """Nothing of what was uploaded may lie on the disk after a crash."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
