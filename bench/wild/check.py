"""Whether programs of the catalogue are fit for it: what each does, seen in two runs of it.

Each has to move 50 MB or make 5000 calls, spend 0.02 to 5 s in I/O, in both runs by as many ranks,
and move the same bytes in both, within a thousandth; and the capture has to see what it does.
Prints a line for each; ends with 1 where one is not fit.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from entry import ROOT, STYLES, Entry, entries, install

sys.path[:0] = [str(ROOT / "src"), str(ROOT / "bench" / "validation")]

from matrix import said, venturi  # noqa: E402

from venturi.model.trace import Layer  # noqa: E402
from venturi.predict.account import Account, account_of  # noqa: E402
from venturi.sources.open import read_capture  # noqa: E402

LEAST_BYTES, LEAST_CALLS = 50_000_000, 5000
LEAST_S, MOST_S = 0.02, 5.0
ALIKE = 1e-3


def _checked(entry: Entry, where: Path, keep: str | None) -> str:
    """`fit` and what it does, or what is wrong."""
    case = entry.case
    seen: list[Account] = []
    with tempfile.TemporaryDirectory(dir=where, prefix="wild.") as name:
        place = Path(name)
        (place / "input").mkdir()
        if case["prepare"]:
            done = subprocess.run(
                ["sh", "-c", case["prepare"]],
                cwd=place / "input",
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode != 0:
                return f"prepare ends with {done.returncode}: {done.stderr.strip()[-200:]}"
        for number in (1, 2):
            here = place / f"run{number}"
            shutil.copytree(place / "input", here, symlinks=True)
            trace = place / f"{number}.trace"
            words = ("capture", "-q", "-o", trace, "--", "sh", "-c", case["command"])
            done = venturi(*words, where=here)
            if done.returncode != 0:
                return f"it ends with {done.returncode}: {said(done)}; {done.stderr.strip()[-300:]}"
            captured = read_capture(trace)
            if unseen := [gap.what for gap in captured.trace.gaps if "not seen" in gap.what]:
                return f"not fit: {unseen[0]}"
            account = account_of(captured, (Layer.POSIX, Layer.STDIO), entry.name)
            if account is None:
                return "nothing was seen of its I/O"
            seen.append(account)
            if keep and number == 1:
                shutil.copytree(trace, Path(keep) / f"{entry.name}.trace", dirs_exist_ok=True)
            shutil.rmtree(here)
    return _judged(seen)


def _judged(seen: list[Account]) -> str:
    first, second = seen
    moved = [(one.activity.bytes_written, one.activity.bytes_read) for one in seen]
    text = (
        f"{first.ranks} ranks, {moved[0][0] / 1e6:.1f} MB written, "
        f"{moved[0][1] / 1e6:.1f} MB read, {first.calls} calls, {first.seconds:.2f} s of I/O "
        f"in {first.run_seconds:.1f} s"
    )
    wrong = []
    pairs = zip(*moved, strict=True)
    if any(abs(one - other) > ALIKE * max(one, other) for one, other in pairs):
        wrong.append(f"the runs write and read {moved[0]} and {moved[1]} bytes")
    if sum(moved[0]) < LEAST_BYTES and first.calls < LEAST_CALLS:
        wrong.append("it does too little")
    if first.ranks != second.ranks:
        wrong.append(f"{first.ranks} ranks do its I/O, then {second.ranks}")
    if not LEAST_S <= min(first.seconds, second.seconds) <= MOST_S:
        wrong.append(f"its I/O takes {first.seconds:.3f} and {second.seconds:.3f} s")
    return f"not fit: {'; '.join(wrong)} ({text})" if wrong else f"fit: {text}"


def main() -> None:
    """Checks those that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="of entries (default: all)")
    parser.add_argument("-d", "--dir", default="/var/tmp", help="where they run (/var/tmp)")
    parser.add_argument("--keep", help="folder for their traces")
    wanted = parser.parse_args()
    known = entries()
    chosen = [one for one in known if not wanted.names or one.name in wanted.names]
    lacking = install(chosen)
    bad = 0
    for one in chosen:
        text = lacking.get(one.name) or _checked(one, Path(wanted.dir), wanted.keep)
        bad += not text.startswith("fit")
        print(f"{one.name}: {text}", flush=True)
    if not wanted.names:
        there = Counter(one.style for one in known)
        for style, least in STYLES.items():
            if there[style] < least:
                print(f"style {style}: {there[style]} of {least}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
