"""What a process wrote may be torn or damaged anywhere: what is whole is used, nothing crashes."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from venturi.capture.clock import Beginning
from venturi.capture.merge import JobFacts, merge
from venturi.capture.process_file import ProcessFile, read_process_file
from venturi.capture.tracer import Settings, configure, environment

FACTS = JobFacts(Beginning("host", 1, 1), "", 1.0, ("calls",))
MUTATIONS = 500


@pytest.fixture(scope="module")
def written(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a process as the tracer leaves it."""
    spool = tmp_path_factory.mktemp("spool")
    here = spool / "here"
    here.mkdir()
    configure(spool, Settings())
    subprocess.run([str(programs / "calls")], cwd=here, env=environment(spool), check=True)
    [path] = spool.glob("*.vtrace")
    return path


def count(file: ProcessFile | None) -> int:
    return merge([file] if file else [], FACTS, "x", "1").trace.operation_count


def test_each_part_of_a_torn_file_is_used(written: Path, tmp_path: Path) -> None:
    content = written.read_bytes()
    torn = tmp_path / "torn.vtrace"
    seen = set()
    for size in range(0, len(content), 3001):
        torn.write_bytes(content[:size])
        seen.add(count(read_process_file(torn)))
    assert min(seen) == 0
    assert max(seen) == count(read_process_file(written)) > 50


def test_damage_is_an_error_or_less_data(written: Path, tmp_path: Path) -> None:
    content = written.read_bytes()
    damaged = tmp_path / "damaged.vtrace"
    chance = random.Random(1)
    for _ in range(MUTATIONS):
        changed = bytearray(content)
        for _ in range(chance.randint(1, 8)):
            # Most of a file is empty: damage falls where something is.
            at = chance.choice((chance.randrange(400), 4096 + chance.randrange(40_000)))
            changed[at] = chance.choice((0, 1, 0x7F, 0xFF, chance.randrange(256)))
        damaged.write_bytes(changed)
        try:
            file = read_process_file(damaged)
        except ValueError:
            continue
        count(file)
