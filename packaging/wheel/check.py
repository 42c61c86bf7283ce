"""Check what a wheel holds: `check.py WHEEL` exits with 1 and says each rule that is broken.

Which libraries and symbols its programs need is auditwheel's to check: where one is not on every
Linux, it would put it into a folder of libraries, which is refused here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile, ZipInfo

MOST_BYTES = 15_000_000
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_28_aarch64")
PROGRAMS = ("venturi-engine", "libventuri-tracer.so")
ROOT = Path(__file__).resolve().parents[2]
LINKED = ("fmt", "libc++", "liburing", "nlohmann-json")
_ELF = b"\x7fELF"
_EXECUTABLE = 0o111


def problems(wheel: Path, root: Path = ROOT) -> Iterator[str]:
    """Each rule that the wheel breaks, in a sentence; `root` is the checkout it was made from."""
    name, version, *tags = wheel.name.removesuffix(".whl").split("-")
    if tags[:2] != ["py3", "none"] or tags[2:] not in [[platform] for platform in PLATFORMS]:
        yield f"its tag is {'-'.join(tags)}: expected py3-none-{' or '.join(PLATFORMS)}"
    if (size := wheel.stat().st_size) > MOST_BYTES:
        yield f"it has {size} bytes: at most {MOST_BYTES} are allowed"
    with ZipFile(wheel) as archive:
        entries = {entry.filename: entry for entry in archive.infolist()}
        base = f"{name}-{version}"
        yield from _programs(archive, entries, base, str(root).encode())
        yield from _sources(entries, root)
        yield from _papers(archive, entries, base)
        yield from _manual(entries, base, root)
    for entry in entries:
        if "__pycache__" in entry or entry.startswith(("tests/", "examples/")):
            yield f"{entry} does not belong into a wheel"
        if entry.split("/")[0].endswith(".libs"):
            yield f"{entry} is a library that a program needs, and that not every Linux has"


def _programs(
    archive: ZipFile, entries: dict[str, ZipInfo], base: str, built_in: bytes
) -> Iterator[str]:
    """The engine and the tracer: there, programs, and without the name of where they were built."""
    for program in PROGRAMS:
        path = f"{base}.data/scripts/{program}"
        if path not in entries:
            yield f"{path} is missing"
            continue
        content = archive.read(path)
        if not content.startswith(_ELF):
            yield f"{path} is no program"
        is_executable = (entries[path].external_attr >> 16) & _EXECUTABLE
        if not is_executable and not program.endswith(".so"):
            yield f"{path} is not executable"
        if built_in in content:
            yield f"{path} names the folder {built_in.decode()}, in which it was built"


def _sources(entries: dict[str, ZipInfo], root: Path) -> Iterator[str]:
    """What `venturi build-engine` builds from: every source, and the libraries' headers."""
    wanted = [root / "CMakeLists.txt"]
    for folder in ("cmake", "engine", "tracer"):
        wanted += [path for path in sorted((root / folder).rglob("*")) if path.is_file()]
    paths = [f"venturi/source/{path.relative_to(root)}" for path in wanted]
    headers = ("fmt/format.h", "nlohmann/json.hpp", "liburing.h")
    paths += [f"venturi/source/third_party/include/{header}" for header in headers]
    yield from (f"{path} is missing" for path in paths if path not in entries)


def _papers(archive: ZipFile, entries: dict[str, ZipInfo], base: str) -> Iterator[str]:
    """Licences, ours and those of what is linked, and the list of what is linked."""
    info = f"{base}.dist-info"
    licences = ["LICENSE", *(f"third_party/{name.replace('+', 'x')}.txt" for name in LINKED)]
    yield from (
        f"{info}/licenses/{name} is missing"
        for name in licences
        if f"{info}/licenses/{name}" not in entries
    )
    bill = f"{info}/sboms/venturi.cdx.json"
    if bill not in entries:
        yield f"{bill} is missing"
        return
    listed = sorted(part["name"] for part in json.loads(archive.read(bill))["components"])
    if listed != sorted(LINKED):
        yield f"{bill} lists {', '.join(listed)}: expected {', '.join(sorted(LINKED))}"


def _manual(entries: dict[str, ZipInfo], base: str, root: Path) -> Iterator[str]:
    """The manual pages, where `man` finds them beside the commands."""
    pages = sorted((root / "packaging/man").glob("*.1"))
    paths = [f"{base}.data/data/share/man/man1/{page.name}" for page in pages]
    yield from (f"{path} is missing" for path in paths if path not in entries)


def main() -> int:
    wheel = Path(sys.argv[1])
    found = list(problems(wheel))
    for problem in found:
        print(f"{wheel.name}: {problem}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
