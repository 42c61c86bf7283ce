"""The step that measures the machine itself: a kernel and its options."""

from __future__ import annotations

from venturi.model.document import Document


class KernelStep(Document):
    """All ranks of the group run a kernel together; it touches no storage."""

    name: str
    """One of those in docs/health.md."""
    options: dict[str, str | int | float | bool] = {}
    """Of the kernel. A text may have `{expressions}` over parameters."""
