"""The secret key that words are replaced by, and files that only their owner may read."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from venturi.model.error import UserError

KEY_BYTES = 32
_PRIVATE = 0o600


def new_key() -> bytes:
    """One that nobody has."""
    return secrets.token_bytes(KEY_BYTES)


def key_in(path: Path) -> bytes:
    """The key in a file, which is made where there is none. Raises UserError."""
    try:
        text = path.read_text("ascii").strip()
    except FileNotFoundError:
        text = new_key().hex()
        write_private(path, text + "\n")
    except (OSError, UnicodeDecodeError):
        raise UserError(
            f"'{path}' cannot be read as a key", "name a file that --key made"
        ) from None
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise UserError(
            f"'{path}' is no key: that is a line of {2 * KEY_BYTES} hexadecimal digits",
            "name a file that does not exist yet, and it is made",
        )
    return key


def write_private(path: Path, text: str) -> None:
    """Writes a file that only its owner can read, which must not exist. Raises UserError."""
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE), "w") as file:
            file.write(text)
    except OSError as error:
        raise UserError(f"'{path}' cannot be written: {error.strerror}") from None
