"""The engines, as its own tests find them."""

from __future__ import annotations

from engine.conftest import engine as engine  # noqa: PLC0414
