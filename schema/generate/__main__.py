"""Writes or checks all generated files: `python schema/generate [--check]`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(PROJECT / "schema"), str(PROJECT / "src")]
if __name__ == "__main__":
    os.environ["VENTURI_DOCUMENTED_MODELS"] = "1"  # before any of them is imported

from generate import (  # noqa: E402
    command,
    cpp,
    finding,
    interface,
    json_schema,
    kernel,
    manual,
    reference,
)
from generate.documents import available  # noqa: E402


def generated() -> Iterator[tuple[Path, str]]:
    """Every generated file, relative to the project, with the text that it should have.

    The interfaces come first: the documents name them.
    """
    yield interface.MODULE, interface.text()
    yield kernel.MODULE, kernel.text()
    yield Path("docs/command/index.md"), command.index()
    yield Path("docs/findings.md"), finding.text()
    for name in command.NAMES:
        yield Path("docs/command", f"{name}.md"), command.text(name)
    yield from manual.pages()
    for kind in available():
        yield Path("schema", f"{kind.name}.schema.json"), json_schema.text(kind)
        yield Path("docs/reference", f"{kind.name}.md"), reference.text(kind)
        if kind.engine:
            yield Path("engine/schema", f"{kind.name}.hpp"), cpp.header(kind)
            yield Path("engine/schema", f"{kind.name}.cpp"), cpp.source(kind)


def stale(project: Path) -> list[Path]:
    """The generated files that are missing or differ from what would be written."""
    return [path for path, text in generated() if _read(project / path) != text]


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


def main() -> int:
    """0 if all is written or up to date, 1 if `--check` found stale files."""
    parser = argparse.ArgumentParser(prog="generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; name stale files")
    parser.add_argument("--project", type=Path, default=PROJECT, help="folder to write to")
    arguments = parser.parse_args()
    if arguments.check:
        old = stale(arguments.project)
        for path in old:
            print(f"{path} is stale: run `make gen`", file=sys.stderr)
        return 1 if old else 0
    for path, text in generated():
        target = arguments.project / path
        if _read(target) != text:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            print(f"wrote {path}", flush=True)
            if target == PROJECT / interface.MODULE:  # all else is made from it: begin again
                os.execv(sys.executable, sys.orig_argv)
    return 0


if __name__ == "__main__":
    sys.exit(main())
