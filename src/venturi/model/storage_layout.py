"""How a parallel file system lays out new files, and what its user may still use of it."""

from __future__ import annotations

from venturi.model.document import Count, Document


class Quota(Document):
    """What somebody uses of a file system, and may use at most."""

    whose: str
    used_bytes: Count
    limit_bytes: Count | None = None
    """The hard limit; absent: none. So is that of files."""
    used_files: Count | None = None
    limit_files: Count | None = None


class StorageLayout(Document):
    """What Lustre, GPFS or BeeGFS say by their own commands of a directory, before a run."""

    parts: list[dict[str, str]] = []
    """Of new files: stripes, sizes, pools, in the words of the command. A composite layout has a
    part for each extent."""
    quotas: list[Quota] = []
    commands: list[str] = []
    """What was asked."""
    remarks: list[str] = []
    """What was not answered, and why."""
