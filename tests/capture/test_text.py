"""Text, wide characters, words and printing to descriptors: each byte of a file is seen."""

from __future__ import annotations

import random
import subprocess
from collections import Counter

import pytest

from capture.conftest import Capture

PROGRAM = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <wchar.h>
static wchar_t wide[400];
static char text[400];
static int number;
static void to_descriptor(int fd, const char* format, ...) {
  va_list list;
  va_start(list, format);
  vdprintf(fd, format, list);
  va_end(list);
}
static void to_stream(FILE* stream, const wchar_t* format, ...) {
  va_list list;
  va_start(list, format);
  vfwprintf(stream, format, list);
  va_end(list);
}
int main(void) {
  if (setlocale(LC_ALL, "C.UTF-8") == NULL) return 9;
  int fd = open("descriptor", O_CREAT | O_WRONLY, 0600);
  FILE* words = fopen("words", "w");
  FILE* file = fopen("wide", "w");
%s
  fclose(words);
  fclose(file);
  file = fopen("wide", "a");
%s
  fclose(file);
  file = fopen("wide", "r");
%s
  while (fgetwc(file) != WEOF) {}
  fclose(file);
  words = fopen("words", "r");
  do getw(words); while (!feof(words));
  fclose(words);
  if (freopen("descriptor", "r", stdin) == NULL) return 8;
  while (scanf("%%399s", text) == 1) {}
  return 0;
}
"""
PRINT = (
    'dprintf(fd, "%d\\n", {n});',
    'dprintf(fd, "%0*d\\n", {n} %% 300, 7);',
    'to_descriptor(fd, "%s\\n", "text");',
    "putw({n}, words);",
    "putw(-1, words);",
)
WIDE = (
    "fputwc(L'x', file);",
    "putwc(0xe9, file);",
    "fputwc(0x1f600, file);",
    'fputws(L"h\\xe9llo\\n", file);',
    'fwprintf(file, L"%ls %d\\n", L"\\x6f22\\x5b57", {n});',
    'to_stream(file, L"%0*d\\n", {n} %% 300, 1);',
    "fputwc_unlocked(L'\\n', file);",
)
READ = (
    "fgetwc(file);",
    "getwc(file);",
    "fgetws(wide, 400, file);",
    'fwscanf(file, L"%399ls", wide);',
    'fwscanf(file, L"%d", &number);',
)


@pytest.mark.parametrize("flags", [("-std=gnu89",), ("-O2", "-D_FORTIFY_SOURCE=2")])
@pytest.mark.parametrize("seed", range(3))
def test_all_bytes_of_text_are_seen(capture: Capture, seed: int, flags: tuple[str, ...]) -> None:
    draw = random.Random(seed)

    def lines(*choices: str) -> str:
        some = [draw.choice(choices) for _ in range(draw.randint(1, 60))]
        return "\n".join(line.replace("{n}", str(draw.randint(1, 10**6))) for line in some)

    parts = (lines(*PRINT, *WIDE), lines(*WIDE), lines(*READ))
    source, program = capture.place / "text.c", capture.place / "text"
    source.write_text(PROGRAM % tuple(part.replace("%%", "%") for part in parts), "utf-8")
    subprocess.run(["gcc", "-w", *flags, "-o", str(program), str(source)], check=True)
    run = capture(str(program))
    moved: Counter[tuple[str, str]] = Counter()
    for _, kind, name, _, size, error in run.rows():
        if kind in ("read", "write") and not error:
            moved[kind, name] += size
    for name in ("descriptor", "words", "wide"):
        size = (capture.here / name).stat().st_size
        assert (moved["write", name], moved["read", name]) == (size, size), name
    assert run.trace.gaps == []
