"""Drawing: a Vega-Lite specification becomes a static SVG element for an HTML page."""

from __future__ import annotations

import html
import re
import resource
from typing import Any

from venturi.model.limit import soft_limit
from venturi.report.figure.drawing_process import DrawingProcess
from venturi.report.figure.theme import VEGA_LITE

_NOISE = (
    (re.compile(r' xmlns(:xlink)?="[^"]*"'), ""),
    (re.compile(r' (aria-hidden|role|aria-roledescription|aria-label)="[^"]*"'), ""),
    (re.compile(r' pointer-events="none"| version="1\.1"| opacity="1"'), ""),
    (re.compile(r' class="[^"]*"'), ""),
    (re.compile(r' font-family="[^"]*"'), ""),
    (re.compile(r'<path d="" display="none"/>'), ""),
    (re.compile(r'<path d="M0,0h0v0h0Z"/>'), ""),
    (re.compile(r"(\.\d{2})\d+"), r"\1"),
)
_NEEDS = (
    (resource.RLIMIT_AS, 80 << 30, "80 GiB of address space (ulimit -v 83886080)"),
    (resource.RLIMIT_NOFILE, 64, "64 open files (ulimit -n 64)"),
    (resource.RLIMIT_NPROC, 64, "64 processes and threads (ulimit -u 64)"),
)
"""The library reserves 64 GiB of addresses, opens some 20 files and starts threads."""
_MISSING = "the extra 'figures' is not installed: pip install 'vl-convert-python>=1.7,<2'"
_MARKUP = re.compile(r"<[^>]*>")
_SIZE = re.compile(r'^<svg width="([\d.]+)" height="([\d.]+)"')


def _slim(svg: str) -> str:
    """The same picture in fewer bytes: only what is inside tags is touched, never text."""

    def clean(tag: re.Match[str]) -> str:
        text = tag.group()
        for pattern, replacement in _NOISE:
            text = pattern.sub(replacement, text)
        return text

    return _MARKUP.sub(clean, svg)


def why_not_drawn() -> str:
    """Why figures cannot be drawn here; empty where they can.

    The drawing library ends the whole process where a limit stops it, so limits are looked at.
    """
    for kind, least, what in _NEEDS:
        limit = soft_limit(kind)
        if limit is not None and limit < least:
            return f"not drawn: this needs a limit of at least {what}"
    try:
        import vl_convert  # noqa: F401
    except ImportError:
        return f"not drawn: {_MISSING}"
    return ""


def begin() -> DrawingProcess | None:
    """A process that draws for `draw`, to be closed; None where figures or it cannot be."""
    if why_not_drawn():
        return None
    try:
        return DrawingProcess(VEGA_LITE)
    except OSError:
        return None


def draw(
    spec: dict[str, Any], name: str, label: str, process: DrawingProcess | None = None
) -> str | None:
    """The figure as an `<svg>` element; none where figures cannot be drawn.

    `name` keeps the element's ids apart from those of other figures on the page; `label` says
    in words what the figure shows, for readers who do not see it. `process` draws it, if it can.
    """
    if why_not_drawn():
        return None
    drawn = process.draw(spec) if process is not None else None
    if drawn is None:
        import vl_convert

        drawn = vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE, allowed_base_urls=[])
    text = _slim(drawn)
    text = re.sub(r'(<[^>]*) id="([^"]+)"', rf'\1 id="{name}-\2"', text)
    text = text.replace("url(#", f"url(#{name}-")
    size = _SIZE.match(text)
    if size is not None:
        text = text.replace(
            size.group(),
            f'<svg role="img" aria-label="{html.escape(label)}" style="width:{size.group(1)}px"',
            1,
        )
    return text
