"""Packed submissions: a tar or zip file, of which only what is read is unpacked."""

from __future__ import annotations

import lzma
import re
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from venturi.compat.io500.settings import MOST_BYTES
from venturi.model.error import UserError

_MOST_UNPACKED_BYTES = 4 << 30
"""Of everything in an archive, also of what is not read."""
_NAMES = re.compile(r"\.(tar|tar\.(gz|bz2|xz)|tgz|tbz2|txz|zip)$", re.IGNORECASE)
_READ = re.compile(
    r"result_summary\.txt|result\.txt|config\.ini|config-orig\.ini|system-information\.txt"
    r"|(ior|mdtest)[-_][\w-]+\.txt|find[\w-]*\.csv"
)


def is_archive(path: Path) -> bool:
    """Whether a file's name says that it is packed."""
    return path.is_file() and _NAMES.search(path.name) is not None


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """A temporary folder with those files of an archive that the import reads.

    Links, devices, absolute names and names with `..` are left out. UserError for a damaged
    archive and for one that would unpack to more than 4 GiB.
    """
    with tempfile.TemporaryDirectory(prefix="venturi-") as folder:
        try:
            total = 0
            for name, size, data in _members(path):
                total += size
                if total > _MOST_UNPACKED_BYTES:
                    limit = f"{_MOST_UNPACKED_BYTES >> 30} GiB"
                    raise UserError(f"{path}: over {limit} unpacked", "unpack it, and name parts")
                if data is not None:
                    target = Path(folder, *name.parts)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(data)
        except (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, lzma.LZMAError) as bad:
            raise UserError(f"{path}: the archive is damaged: {bad}", "copy it again") from None
        except (OSError, RuntimeError, NotImplementedError, ValueError) as error:
            raise UserError(f"{path}: cannot be unpacked: {error}") from None
        yield Path(folder)


def _members(path: Path) -> Iterator[tuple[PurePosixPath, int, bytes | None]]:
    """Name and size of each file, and its bytes where they are read."""
    if path.suffix.lower() == ".zip":
        with zipfile.ZipFile(path) as pack:
            for info in pack.infolist():
                name = PurePosixPath(info.filename)
                wanted = not info.is_dir() and _is_read(name, info.file_size)
                yield name, info.file_size, pack.read(info) if wanted else None
        return
    with tarfile.open(path, "r|*") as tar:
        for member in tar:
            name = PurePosixPath(member.name)
            wanted = member.isreg() and _is_read(name, member.size)
            file = tar.extractfile(member) if wanted else None
            yield name, member.size, file.read() if file else None


def _is_read(name: PurePosixPath, size: int) -> bool:
    is_safe = not name.is_absolute() and ".." not in name.parts
    return is_safe and size <= MOST_BYTES and _READ.fullmatch(name.name) is not None
