"""Formatted text: what a program prints and scans is the same, and its computing is no I/O."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from capture.conftest import Capture, Run
from venturi.model.operation import Kind
from venturi.model.trace import Layer

HEAD = """
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#define PRINT(...) do { errno = 2; int got = fprintf(out, __VA_ARGS__); \\
    fprintf(said, "%d %d\\n", got, got < 0 ? errno : 0); } while (0)
int main(void) {
  FILE* said = fopen("said", "w");
  FILE* out = fopen("out", "w");
  FILE* wide = fopen("wide", "w");
  FILE* in = fopen("said", "r");
  FILE* full = fopen("/dev/full", "w");
  char name[9000];
  memset(name, 'n', sizeof name);
  int at = 0;
  fwide(wide, 1);
"""
TAIL = """
  FILE* kept = out;
  out = wide; PRINT("%d", 7);
  out = in; PRINT("%d", 7);
  out = full; setvbuf(full, NULL, _IONBF, 0); PRINT("%d", 7); PRINT("%.2000d", 7);
  fclose(kept);
  fclose(said);
  return 0;
}
"""


def _printing(draw: random.Random) -> str:
    """A call that prints something; some texts are longer than what is made at once."""
    width = draw.choice(["", str(draw.randint(1, 40)), str(draw.randint(900, 3000))])
    whole, number = draw.randint(-(10**9), 10**9), draw.uniform(-1e9, 1e9)
    length = draw.choice([0, 1, 30, 1022, 1023, 1024, 1025, 8999])
    return draw.choice(
        [
            f'PRINT("%{width}d %s\\n", {whole}, "x");',
            f'PRINT("%-{width or 3}.{draw.randint(0, 12)}g|", {number!r});',
            f'PRINT("%.{length}s", name);',
            f'PRINT("%m %{width}s", "after");',
            f'PRINT("%d%n%c", {whole}, &at, 65 + at % 20);',
            f'PRINT("%2$s %1$ls\\n", L"w{whole}", "second");',
            'PRINT("%s", "");',
            'PRINT("%ls", L"\\xd800");',
            f"setvbuf(out, NULL, {draw.choice(['_IOFBF', '_IOLBF'])}, {draw.randint(64, 9000)});",
        ]
    )


def _built(place: Path, source: str, *words: str) -> Path:
    (place / "p.c").write_text(source, "utf-8")
    subprocess.run(["gcc", "-w", *words, "-o", place / "p", place / "p.c"], check=True)
    return place / "p"


@pytest.mark.parametrize("words", [("-O0",), ("-O2", "-D_FORTIFY_SOURCE=2")])
@pytest.mark.parametrize("seed", [3, 4, 5])
def test_what_is_printed_is_the_same(
    capture: Capture, tmp_path: Path, seed: int, words: tuple[str, ...]
) -> None:
    draw = random.Random(seed)
    calls = [_printing(draw) for _ in range(150)]
    program = _built(tmp_path, HEAD + "\n".join(calls) + TAIL, *words)
    alone = tmp_path / "alone"
    alone.mkdir()
    before = subprocess.run([program], cwd=alone, check=False).returncode
    run = capture(str(program))
    assert run.done.returncode == before
    for name in ("out", "said", "wide"):
        assert (capture.here / name).read_bytes() == (alone / name).read_bytes()
    assert run.count("stdio")[("write", "out")] > 60


COMPUTING = """
#include <stdio.h>
int main(void) {
  FILE* out = fopen("numbers", "w");
  for (int i = 0; i < 200000; ++i) fprintf(out, "%.17g %.17g %.17g\\n", i / 7., i / 11., i / 13.);
  fclose(out);
  FILE* in = fopen("numbers", "r");
  double a, b, c;
  while (fscanf(in, "%lf %lf %lf", &a, &b, &c) == 3) {}
  fclose(in);
  return 0;
}
"""


def _seconds(run: Run, kind: Kind) -> float:
    operations = run.captured.operations
    assert operations is not None
    chosen = operations.is_kind(kind) & operations.is_layer(Layer.STDIO)
    return float((operations.end_ns - operations.start_ns)[chosen].sum()) / 1e9


def test_making_text_of_numbers_is_no_io(capture: Capture, tmp_path: Path) -> None:
    run = capture(str(_built(tmp_path, COMPUTING, "-O2")))
    assert run.count("stdio")[("write", "numbers")] == 200000
    assert run.count("stdio")[("read", "numbers")] >= 200000
    for kind in (Kind.WRITE, Kind.READ):
        assert _seconds(run, kind) < 0.25 * run.trace.job.seconds
