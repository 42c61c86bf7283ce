"""Writes `src/venturi/model/kernel.py` from what the engine says of its kernels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from generate.interface import described_by_engine, option_text, string_text

MODULE = Path("src/venturi/model/kernel.py")

HEAD = '''\
"""Kernels that measure the machine: generated from `venturi-engine describe` by `make gen`.

Do not edit: each entry is written in C++, beside its kernel in engine/kernel.
"""

from __future__ import annotations

from venturi.model.interface_entry import InterfaceOption
from venturi.model.kernel_entry import KernelEntry, KernelFigure

KERNELS: dict[str, KernelEntry] = {
'''
_STEP = "    "


def text() -> str:
    """The text of the module, from the engine that is built."""
    return text_of(described_by_engine("kernels"))


def text_of(kernels: list[dict[str, Any]]) -> str:
    """The text of the module for these kernels."""
    return HEAD + "".join(_entry(row["name"], row["description"]) for row in kernels) + "}\n"


def _entry(name: str, about: dict[str, Any]) -> str:
    lines = [
        f"{_STEP * 2}{key}={string_text(key, about[key], 2)},\n" for key in ("about", "likeness")
    ]
    lines += [
        f"{_STEP * 2}{key}={about[key]},\n" for key in ("version", "least_ranks") if about[key] != 1
    ]
    lines += [f"{_STEP * 2}needs_mpi=True,\n"] if about["needs_mpi"] else []
    lines += [f"{_STEP * 2}figures=(\n", *map(_figure, about["figures"]), f"{_STEP * 2}),\n"]
    options = "".join(f"{_STEP * 3}{option_text(option, 3)},\n" for option in about["options"])
    lines += [f"{_STEP * 2}options=(\n{options}{_STEP * 2}),\n"] if options else []
    return f"{_STEP}{string_text('', name, 1)}: KernelEntry(\n{''.join(lines)}{_STEP}),\n"


def _figure(figure: dict[str, str]) -> str:
    inner = "".join(
        f"{_STEP * 4}{key}={string_text(key, figure[key], 4)},\n"
        for key in ("name", "unit", "about")
    )
    return f"{_STEP * 3}KernelFigure(\n{inner}{_STEP * 3}),\n"
