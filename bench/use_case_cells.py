"""Where each use case runs: all cells of use case, interface and way to start ranks, by running.

    bench/use_case_cells.py [--only NAME,...] [--workers 2] [--log FILE] [-o docs/use-cases.md]

Each cell is one `venturi run` at the tests' small sizes. It runs (exit 0, nothing left behind), is
refused before anything runs (exit 2 or 5, with its message), or fails, which is a bug: exit code 1.
The table is Markdown; with `-o` it stands in the page between its two marks. What a `--log` has of
an earlier call is not run again, so a call that was ended goes on there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from library.test_use_case_run import SMALL  # noqa: E402
from venturi.model.plan import Interface  # noqa: E402

WAYS = ("one", "forked", "openmpi", "mpich")
"""One process, forked ranks, and the two MPIs."""
BEGIN, END = "<!-- cells -->", "<!-- end of cells -->"
REFUSALS = (2, 5)
_LIMIT_S = 300


@dataclass(frozen=True)
class Cell:
    """One way to run a use case."""

    name: str
    interface: str
    way: str

    def words(self) -> list[str]:
        """What is typed behind `venturi run`."""
        sets = [f"{key}={value}" for key, value in SMALL[self.name].items()]
        if self.interface != "own":
            sets.append(f"interface={self.interface}")
        words = [word for each in sets for word in ("--set", each)]
        if self.way == "one":
            return [*words, "--on", "local", *self._one_rank()]
        return [*words, "--on", "local" if self.way == "forked" else self.way]

    def _one_rank(self) -> list[str]:
        """Groups that run at once have a rank each, which is the least."""
        least = {
            "ecmwf": {"members": 1, "writers": 1, "readers": 1, "steps": 1},
            "cryoem-stream": {},
            "tsmp-a": {"cosmo_ranks": 1, "parflow_ranks": 1},
            "tsmp-b": {"cosmo_ranks": 1, "parflow_ranks": 1},
        }
        if self.name not in least:
            return ["-n", "1"]
        return [
            word for key, value in least[self.name].items() for word in ("--set", f"{key}={value}")
        ]


@dataclass(frozen=True)
class Seen:
    """How a cell ended."""

    code: int
    said: str
    left: bool

    @property
    def word(self) -> str:
        """For the table."""
        if self.code == 0 and not self.left:
            return "runs"
        return "refused" if self.code in REFUSALS and not self.left else "FAILS"


def run(cell: Cell) -> Seen:
    """The cell, in a directory and a store of its own."""
    with tempfile.TemporaryDirectory(prefix="venturi-cell-") as folder:
        target = Path(folder, "target")
        target.mkdir()
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "venturi",
                "run",
                cell.name,
                "-d",
                str(target),
                "--repeat",
                "1",
                *cell.words(),
            ],
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
            check=False,
            env={
                **os.environ,
                "VENTURI_STORE": str(Path(folder, "store")),
                "PYTHONPATH": str(ROOT / "src"),
                "NO_COLOR": "1",
            },
        )
        lines = (done.stderr or done.stdout).splitlines()
        said = "; ".join(line.strip() for line in lines if line.strip())
        return Seen(done.returncode, said, any(target.iterdir()))


def logged(log: Path | None) -> dict[Cell, Seen]:
    """The cells that earlier calls ran."""
    if log is None or not log.exists():
        return {}
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    return {Cell(**line["cell"]): Seen(**line["seen"]) for line in lines}


def keep(log: Path | None, cell: Cell, seen: Seen) -> None:
    """Add a cell to the log."""
    if log is None:
        return
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"cell": asdict(cell), "seen": asdict(seen)}) + "\n")


def table(seen: dict[Cell, Seen], names: Sequence[str], interfaces: Sequence[str]) -> str:
    """A row for each use case and interface; what is refused everywhere alike says why."""
    lines = ["| use case | interface | one process | forked | Open MPI | MPICH | refused because |"]
    lines.append("|---|---|---|---|---|---|---|")
    for name, interface in product(names, interfaces):
        found = [seen[Cell(name, interface, way)] for way in WAYS]
        why = next((one.said for one in reversed(found) if one.word == "refused"), "")
        cells = " | ".join(one.word for one in found)
        lines.append(f"| `{name}` | {interface} | {cells} | {_short(why)} |")
    return "\n".join(lines)


def _short(said: str) -> str:
    """The refusal without its beginning, cut where it says what to do."""
    text = said.removeprefix("venturi: ").replace("|", "/")
    return text if len(text) <= 110 else text[:107].rsplit(" ", 1)[0] + " ..."


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="use cases, separated by commas")
    parser.add_argument("--interfaces", default="", help="interfaces, separated by commas")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--log", type=Path, help="cells that were run; made, and added to")
    parser.add_argument("-o", dest="page", type=Path, help="the page that has the table")
    asked = parser.parse_args()
    names = [name for name in asked.only.split(",") if name] or sorted(SMALL)
    own = ["own", *(one.value for one in Interface)]
    interfaces = [one for one in asked.interfaces.split(",") if one] or own
    cells = [Cell(*key) for key in product(names, interfaces, WAYS)]
    seen = logged(asked.log)
    missing = [cell for cell in cells if cell not in seen]
    with ThreadPoolExecutor(asked.workers) as pool:
        for cell, found in zip(missing, pool.map(run, missing), strict=True):
            seen[cell] = found
            keep(asked.log, cell, found)
            print(
                f"{len(seen)}/{len(cells)} {cell.name} {cell.interface} {cell.way}: {found.word}",
                file=sys.stderr,
            )
            if found.word == "FAILS":
                print(f"    exit {found.code}: {found.said[-300:]}", file=sys.stderr)
    text = table(seen, names, interfaces)
    if asked.page:
        page = asked.page.read_text("utf-8")
        before, after = page.split(BEGIN)[0], page.split(END)[1]
        asked.page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", "utf-8")
    else:
        print(text)
    return int(any(one.word == "FAILS" for one in seen.values()))


if __name__ == "__main__":
    sys.exit(main())
