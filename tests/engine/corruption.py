"""Spoils files from outside, in ways that storage does, and remembers what it did."""

from __future__ import annotations

import ctypes
import os
import random
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

BLOCK = 4096
_PUNCH = 0x02 | 0x01  # FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE


@dataclass(frozen=True)
class Spoiled:
    """One block that is not what was written, and what its damage may be called."""

    name: str
    offset: int
    names: frozenset[str]


class Spoiler:
    """Damages whole or parts of blocks of 4 KiB, each at most once."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder = folder
        self._random = random.Random(seed)
        self.done: list[Spoiled] = []

    def flip(self, name: str, block: int) -> None:
        """One bit."""
        with (self._folder / name).open("r+b") as file:
            file.seek(block * BLOCK + (at := self._random.randrange(BLOCK)))
            byte = file.read(1)[0] ^ (1 << self._random.randrange(8))
            file.seek(block * BLOCK + at)
            file.write(bytes([byte]))
        self._note(name, block, "flipped")

    def overwrite(self, name: str, block: int) -> None:
        """Other bytes over a part of a block, by dd."""
        length = self._random.randrange(1, BLOCK + 1)
        at = block * BLOCK + self._random.randrange(BLOCK - length + 1)
        with (self._folder / name).open("rb") as file:
            file.seek(at)
            noise = bytes(byte ^ self._random.randrange(1, 256) for byte in file.read(length))
        command = ["dd", f"of={self._folder / name}", "bs=64K", "conv=notrunc", "status=none"]
        command += [f"seek={at}", "oflag=seek_bytes"]
        subprocess.run(command, input=noise, check=True)
        # One odd byte may look like a flipped bit.
        self._note(name, block, "corrupt", "flipped")

    def punch(self, name: str, block: int) -> None:
        """A hole in place of the block."""
        libc = ctypes.CDLL(None, use_errno=True)
        descriptor = os.open(self._folder / name, os.O_RDWR)
        try:
            offset, length = ctypes.c_long(block * BLOCK), ctypes.c_long(BLOCK)
            if libc.fallocate(descriptor, _PUNCH, offset, length) != 0:
                raise OSError(ctypes.get_errno(), "fallocate")
        finally:
            os.close(descriptor)
        self._note(name, block, "hole")

    def swap(self, name: str, block: int, other: int) -> None:
        """Two blocks of one file in each other's place."""
        with (self._folder / name).open("r+b") as file:
            pieces = []
            for which in (block, other):
                file.seek(which * BLOCK)
                pieces.append(file.read(BLOCK))
            for which, piece in zip((other, block), pieces, strict=True):
                file.seek(which * BLOCK)
                file.write(piece)
        self._note(name, block, "misplaced")
        self._note(name, other, "misplaced")

    def shift(self, name: str, block: int) -> None:
        """The block's bytes moved by eight."""
        with (self._folder / name).open("r+b") as file:
            file.seek(block * BLOCK)
            piece = file.read(BLOCK)
            file.seek(block * BLOCK)
            file.write(piece[8:] + piece[:8])
        self._note(name, block, "misplaced")

    def copy(self, name: str, block: int, source: str) -> None:
        """The same block of another file."""
        piece = bytearray(BLOCK)
        with (self._folder / source).open("rb") as file:
            file.seek(block * BLOCK)
            file.readinto(piece)
        with (self._folder / name).open("r+b") as file:
            file.seek(block * BLOCK)
            file.write(piece)
        self._note(name, block, "foreign")

    def truncate(self, name: str, blocks: int, keep: int) -> None:
        """The file ends after `keep` of its blocks."""
        os.truncate(self._folder / name, keep * BLOCK)
        for block in range(keep, blocks):
            self._note(name, block, "truncated")

    def many(self, names: list[str], blocks: int, count: int) -> None:
        """`count` damaged blocks of every kind, spread over the files by the seed."""
        tail = max(1, count // 100 // len(names))
        free = {name: list(range(blocks - tail)) for name in names}
        for places in free.values():
            self._random.shuffle(places)
        simple: list[Callable[[str, int], None]]
        simple = [self.flip, self.punch, self.shift, self.overwrite]
        target = count - tail * len(names)
        turn = 0
        while len(self.done) < target:
            name = names[turn % len(names)]
            source = names[(turn + 1) % len(names)]
            kind = turn // len(names) % (len(simple) + 2)
            block = free[name].pop()
            if kind < len(simple):
                simple[kind](name, block)
            elif kind == len(simple) and len(self.done) + 2 <= target:
                self.swap(name, block, free[name].pop())
            elif source != name and block in free[source]:
                # The source's block must stay whole.
                free[source].remove(block)
                self.copy(name, block, source)
            else:
                self.flip(name, block)
            turn += 1
        for name in names:
            self.truncate(name, blocks, blocks - tail)

    def _note(self, name: str, block: int, *names: str) -> None:
        self.done.append(Spoiled(name, block * BLOCK, frozenset(names)))
