"""Addresses of a site's pages: from names that may hold anything to names of files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import quote

STATUS = "index.html"
MACHINES = "machines.html"
WORKLOADS = "workloads.html"
RUNS = "runs.html"
EXPLORE = "explore.html"
COMPARE = "compare.html"
CALIBRATION = "calibration.html"
LISTS = "io500/index.html"
_LONGEST = 80
_DIGITS = 8


def plain(name: str) -> str:
    """A name as a file's: letters, digits, `_`, `.` and `-`.

    A name that had to be changed ends in a digest of what it was, so no two become one. So do
    names with capital letters: some file systems do not tell these from small ones.
    """
    short = re.sub(r"[^a-z0-9_.-]+", "-", name.lower())[:_LONGEST].strip(".-")
    if short and short == name:
        return short
    return f"{short or 'x'}-{hashlib.sha256(name.encode()).hexdigest()[:_DIGITS]}"


def machine(name: str) -> str:
    """The page of a machine."""
    return f"machine/{plain(name)}.html"


def workload(name: str) -> str:
    """The page of a workload."""
    return f"workload/{plain(name)}.html"


def explore(name: str) -> str:
    """The page on which a workload is explored."""
    return f"explore/{plain(name)}.html"


def choose(name: str) -> str:
    """The page on which two sides of a workload are chosen."""
    return f"choose/{plain(name)}.html"


def data(name: str) -> str:
    """The data of a workload, as a script."""
    return f"data/{plain(name)}.js"


def run_data(subject: str) -> str:
    """The figures of single runs of a subject, as a script; it is called as `group` calls it."""
    return f"runs/{subject}.js"


def choose_run(name: str, run_id: str) -> str:
    """The page on which a workload's run is set beside another one."""
    return f"{choose(name)}#first-run={quote(run_id, safe='')}"


def parquet(name: str) -> str:
    """The data of a workload, for other programs."""
    return f"data/{plain(name)}.parquet"


@lru_cache(maxsize=1 << 17)
def run(run_id: str) -> str:
    """The page of a run."""
    return f"run/{plain(run_id)}.html"


def contrast(key: str) -> str:
    """The page of a comparison."""
    return f"compare/{key}.html"


def run_list(number: int) -> str:
    """A page of the list of all runs."""
    return f"runs-{number}.html"


def io500_list(key: str) -> str:
    """A list of IO500."""
    return f"io500/{key}.html"


def io500_list_csv(key: str) -> str:
    """The table of a list of IO500, for other programs."""
    return f"io500/{key}.csv"


def system(owner: Sequence[str]) -> str:
    """The page of a system, by what its results name: institution, system, file system."""
    return f"io500/system-{plain(' '.join(owner))}.html"


def probe(machine_name: str, target: str) -> str:
    """The page of a probe's target."""
    return f"probe/{plain(f'{machine_name} {target}')}.html"


def group(machine_name: str, name: str) -> str:
    """What the data of a subject are called."""
    return plain(f"{machine_name} {name}")
