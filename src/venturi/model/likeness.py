"""How far the operations of a derived workload are those of its application."""

from __future__ import annotations

from venturi.model.document import Count, Document, Real


class Likeness(Document):
    """The operations of a derived workload beside those of its application, one by one.

    Both are written out without a run. Files may have other names. Positions that are set and
    reads behind a file's end are not among the operations.
    """

    ranks: Count
    """How many ranks were compared."""
    is_whole: bool
    """Whether all operations of these ranks were compared; else as many of the first ones."""
    application: Count
    """How many operations of the application were compared."""
    proxy: Count
    """How many of the workload."""
    alike: Count
    """Those with a counterpart of the same kind and the same bytes."""
    placed: Count
    """Those with a counterpart in the same file and at the same offset, too."""
    ordered: Count
    """Those with such a counterpart that the same rank does just after the same one, or after as
    many as tell the two orders apart."""
    unplaced: Count = 0
    """Reads and writes of the application whose offsets were not compared, because on one side they
    are not known before a run, or count in a dataset."""
    requests: Count = 0
    """Where not all operations were compared: all reads and writes of the application, or of the
    workload, whichever are more."""
    requests_alike: Count = 0
    """Of these, by their number alone, those that have a counterpart of the same bytes."""
    is_equal: bool
    """Whether the two are the same from the first operation to the last."""
    seconds_between: Real
    """Of the application, from the end of an operation to the begin of the next: the sum of these
    ranks."""
    proxy_seconds_between: Real
    """What the workload computes in between."""
