"""The container around a Darshan log's modules: header, job, names, and compressed regions.

Pure Python, for all versions since 3.0 in both byte orders. It never reads outside a region and
never holds more than a limit, so damaged logs end in a ContainerError and nothing else.
"""

from __future__ import annotations

import bz2
import struct
import zlib
from dataclasses import dataclass

MAGIC = 6567223
_OLDEST = {"POSIX": 1, "MPI-IO": 2, "H5F": 3, "PNETCDF_FILE": 4, "STDIO": 7}
_WITH_DATASETS = {"POSIX": 1, "MPI-IO": 2, "H5F": 3, "H5D": 4, "PNETCDF_FILE": 5, "STDIO": 8}
_PLACES = {
    (3, 0): _OLDEST | {"DXT_POSIX": 8, "DXT_MPIIO": 9},
    (3, 20): _WITH_DATASETS | {"DXT_POSIX": 9, "DXT_MPIIO": 10, "HEATMAP": 14},
    (3, 41): _WITH_DATASETS
    | {"PNETCDF_VAR": 6, "STDIO": 9, "DXT_POSIX": 10, "DXT_MPIIO": 11, "HEATMAP": 15},
}
"""Places in the table of modules, by the first version of the log in which they hold."""

MOST_REGION_BYTES = 2**30
"""A region that unpacks to more is damaged, or nothing that fits this machine's memory."""

_WIDE_SINCE = (3, 41)
"""From here on the header has 64 modules and flags of 64 bits; before, 16 and 32."""

_FIRST_NAMES_WITHOUT_LENGTH = (3, 10)

_PRIVATE_BYTES = 8192
"""A build of Darshan that was never released leaves so many zero bytes behind the header, and
counts them in the map of regions; all else is as in its version. No region begins with a zero."""

LONGEST_HEADER_BYTES = 2**14
"""More than any header, with what a private build leaves behind it."""

_ABOUT_BYTES = 1024
"""What the job's record has for facts about the log, before the program's command."""

_STEP_BYTES = 2**22
_CHUNK_BYTES = 2**18


class ContainerError(ValueError):
    """A log that is not what it should be; the text says what and at which byte."""


@dataclass(frozen=True)
class DarshanJob:
    """The job, as the log's first region tells it."""

    started_ns: int
    """Since 1970; whole seconds before 3.41."""
    seconds: float
    """From the stamps of start and end; whole seconds before 3.41."""
    ranks: int
    job: int
    """The batch system's number; else the number of a process."""
    library_version: str
    command: str
    """Path and arguments of the program, cut where Darshan cuts them."""


@dataclass(frozen=True)
class Region:
    """A module's records, unpacked."""

    body: bytes
    version: int
    is_partial: bool
    """The run-time library lacked memory for more records."""
    is_torn: bool
    """The file ends, or the compressed stream breaks, inside the region."""


class Container:
    """A log's bytes with their map."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        if len(data) < 360:
            raise ContainerError(f"the header is cut at byte {len(data)}")
        self.log_version = data[:8].split(b"\0")[0].decode("ascii", "replace")
        try:
            major, minor = (int(part) for part in self.log_version.split("."))
        except ValueError:
            raise ContainerError(f"byte 0: '{self.log_version}' is no version") from None
        if major != 3 or minor < 0:
            raise ContainerError(f"byte 0: version {self.log_version} is not read, only 3.x")
        self._version = (major, minor)
        self._places = _PLACES[max(first for first in _PLACES if first <= self._version)]
        self.order = self._byte_order()
        modules, flags_at, flags = (64, 24, "Q") if self._version >= _WIDE_SINCE else (16, 20, "I")
        maps_at = flags_at + struct.calcsize("=" + flags)
        versions_at = maps_at + 16 * (modules + 1)
        self._maps_at = maps_at
        self._header_bytes = versions_at + 4 * modules
        if len(data) < self._header_bytes:
            raise ContainerError(f"the header is cut at byte {len(data)}")
        behind = data[self._header_bytes : self._header_bytes + _PRIVATE_BYTES]
        self.is_private = behind == bytes(_PRIVATE_BYTES)
        """The header is that of the private build."""
        self._header_bytes += _PRIVATE_BYTES * self.is_private
        self._compression = data[16]
        if self._compression > 2:
            raise ContainerError(f"byte 16: unknown compression {self._compression}")
        (self._partial,) = struct.unpack_from(self.order + flags, data, flags_at)
        self._maps = struct.unpack_from(f"{self.order}{2 * (modules + 1)}Q", data, maps_at)
        self._versions = struct.unpack_from(f"{self.order}{modules}I", data, versions_at)

    def _byte_order(self) -> str:
        for order in "<>":
            if struct.unpack_from(order + "q", self._data, 8)[0] == MAGIC:
                return order
        raise ContainerError("byte 8: the magic number is missing")

    def standard(self) -> bytes:
        """The log with the header that released libraries write and read."""
        if not self.is_private:
            return self._data
        maps = [
            value - _PRIVATE_BYTES * (place % 2 == 0 and value >= self._header_bytes)
            for place, value in enumerate(self._maps)
        ]
        head = bytearray(self._data[: self._header_bytes - _PRIVATE_BYTES])
        struct.pack_into(f"{self.order}{len(maps)}Q", head, self._maps_at, *maps)
        return bytes(head) + self._data[self._header_bytes :]

    def job(self) -> DarshanJob:
        """The job's facts. Raises ContainerError."""
        end = self._maps[0] or len(self._data)
        body, _ = self._unpack(self._header_bytes, end - self._header_bytes)
        wide = self._version >= _WIDE_SINCE
        count = 7 if wide else 5
        if len(body) < 8 * count:
            raise ContainerError(f"byte {self._header_bytes}: the job's record is cut")
        numbers = struct.unpack_from(f"{self.order}{count}q", body)
        if wide:
            _, started, started_ns, ended, ended_ns, ranks, job = numbers
            seconds = ended - started + (ended_ns - started_ns) / 1e9
        else:
            _, started, ended, ranks, job = numbers
            started_ns = 0
            seconds = float(ended - started)
        if not (0 < ranks < 2**31 and 0 <= started < 2**40 and seconds < 2**40):
            raise ContainerError(f"byte {self._header_bytes}: the job's record is impossible")
        about = body[8 * count :].split(b"\0")[0].decode("utf-8", "replace")
        pairs = dict(line.partition("=")[::2] for line in about.splitlines())
        command = body[8 * count + _ABOUT_BYTES :].split(b"\0")[0].partition(b"\n")[0]
        started_ns += started * 1_000_000_000
        return DarshanJob(
            started_ns,
            max(0.0, seconds),
            ranks,
            job,
            pairs.get("lib_ver", ""),
            command.decode("utf-8", "replace"),
        )

    def names(self) -> dict[int, str]:
        """Names of files and datasets by record id; what is torn is left out."""
        if self._version < _FIRST_NAMES_WITHOUT_LENGTH:
            return {}
        body, _ = self._unpack(self._maps[0], self._maps[1])
        names = {}
        place = 0
        while place + 9 <= len(body):
            end = body.find(b"\0", place + 8)
            if end < 0:
                break
            (identity,) = struct.unpack_from(self.order + "Q", body, place)
            names[identity] = body[place + 8 : end].decode("utf-8", "replace")
            place = end + 1
        return names

    def has(self, module: str) -> bool:
        """Whether the log holds records of a module, such as POSIX, DXT_POSIX or HEATMAP."""
        place = self._places.get(module)
        return place is not None and self._maps[2 * place + 3] > 0

    def region(self, module: str) -> Region:
        """The records of such a module, unpacked. Raises ContainerError."""
        number = self._places[module]
        body, is_torn = self._unpack(self._maps[2 * number + 2], self._maps[2 * number + 3])
        is_partial = bool(self._partial >> number & 1)
        return Region(body, self._versions[number], is_partial, is_torn)

    def is_whole(self, module: str) -> bool:
        """Whether the records of a module can all be unpacked."""
        place = self._places.get(module)
        return place is not None and self._can_unpack(2 * place + 2)

    def are_names_whole(self) -> bool:
        """Whether the names of files can all be unpacked."""
        return self._can_unpack(0)

    def unmapped_bytes(self) -> int:
        """Bytes behind the job's record that belong to no region by the log's table of regions.

        Darshan leaves none, so there was a region that the table has lost.
        """
        regions = sorted(zip(self._maps[::2], self._maps[1::2], strict=True))
        reached: int
        lost: int
        reached, lost = self._maps[0], 0
        for offset, length in regions:
            if length:
                lost += max(0, offset - reached)
                reached = max(reached, offset + length)
        return lost + max(0, len(self._data) - reached)

    def _can_unpack(self, at: int) -> bool:
        try:
            _, is_torn = self._unpack(self._maps[at], self._maps[at + 1])
        except ContainerError:
            return False
        return not is_torn

    def _unpack(self, offset: int, length: int) -> tuple[bytes, bool]:
        """What a region holds: one or several streams, one after the other; and if it is torn."""
        if offset < self._header_bytes or offset > len(self._data) or length < 0:
            raise ContainerError(f"a region lies outside of the file (byte {offset})")
        is_torn = offset + length > len(self._data)
        data = self._data[offset : offset + length]
        if self._compression == 2:
            return data, is_torn
        out = bytearray()
        left = memoryview(data)
        while left:
            try:
                taken, is_whole = _unpack_stream(self._compression, left, out, offset)
            except (zlib.error, OSError) as error:
                if not out:
                    raise ContainerError(f"byte {offset}: {error}") from None
                return bytes(out), True
            is_torn |= not is_whole
            left = left[taken:]
        return bytes(out), is_torn


def _unpack_stream(
    compression: int, data: memoryview, out: bytearray, offset: int
) -> tuple[int, bool]:
    """Adds one stream's content to `out`; its length in the file, and whether it had an end."""
    stream = zlib.decompressobj() if compression == 0 else _Bzip2()
    place = 0
    while place < len(data) and not stream.eof:
        piece = bytes(data[place : place + _CHUNK_BYTES])
        place += len(piece)
        while piece and not stream.eof:
            out += stream.decompress(piece, _STEP_BYTES)
            _check_size(out, offset)
            piece = stream.unconsumed_tail
    if not stream.eof:
        out += stream.flush()
    return place - len(stream.unused_data), stream.eof


class _Bzip2:
    """A bzip2 stream with the interface that zlib's streams have."""

    unconsumed_tail = b""

    def __init__(self) -> None:
        self._stream = bz2.BZ2Decompressor()

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    def decompress(self, data: bytes, step_bytes: int) -> bytes:
        """All that a piece holds, unless that is more than a region may hold."""
        out = bytearray(self._stream.decompress(data, step_bytes))
        while not (self.eof or self._stream.needs_input or len(out) > MOST_REGION_BYTES):
            out += self._stream.decompress(b"", step_bytes)
        return bytes(out)

    def flush(self) -> bytes:
        return b""


def _check_size(out: bytearray, offset: int) -> None:
    if len(out) > MOST_REGION_BYTES:
        raise ContainerError(
            f"byte {offset}: a region unpacks to more than {MOST_REGION_BYTES} bytes"
        )
