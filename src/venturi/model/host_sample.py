"""Counters of a host, read while a run goes on: what else worked there."""

from __future__ import annotations

from venturi.model.document import Count, Document, Positive, Real, Seconds


class HostSample(Document):
    """Counters at one moment. All of them only grow; differences between two samples count.

    Times of CPUs are sums over all CPUs of the host. `own` is the run: the engine, its ranks,
    their launcher and the command. Absent: this host does not say.
    """

    at_s: Seconds
    """Seconds after hello, by the monotonic clock."""
    wall_s: Real
    """The wall clock: seconds since 1970."""
    cpus: Positive
    user_s: Seconds
    """All processes, nice ones included."""
    system_s: Seconds
    io_wait_s: Seconds
    steal_s: Seconds
    """Taken by the hypervisor."""
    running: Count
    """Runnable processes at this moment; no counter."""
    own_processes: Count
    own_user_s: Seconds
    own_system_s: Seconds
    own_wait_s: Seconds | None = None
    """Time in which the engine's processes could run and had no CPU."""
    own_read_bytes: Count | None = None
    own_written_bytes: Count | None = None
    """From and to storage, as the kernel accounts it to the run's processes."""
    device_read_bytes: Count | None = None
    """The target's block device, all users of it."""
    device_written_bytes: Count | None = None
    pressure_cpu_s: Seconds | None = None
    """PSI, whole host: time in which some process waited for a CPU."""
    pressure_io_s: Seconds | None = None
    """... in which some process waited for I/O."""
    pressure_memory_s: Seconds | None = None
    """... in which all processes waited for memory (`full`)."""
    throttled: Count | None = None
    """Periods in which the run's control group was held at its CPU limit."""
    throttled_s: Seconds | None = None
    thermal_throttles: Count | None = None
    load_average: Real | None = None
    """Of the last minute; no counter, nor are those below up to the clock's error."""
    free_bytes: Count | None = None
    """Of the target's file system, for users; inodes too, 0 where they are not counted."""
    free_inodes: Count | None = None
    clock_synchronized: bool | None = None
    """Whether a daemon disciplines the wall clock, as the kernel says."""
    clock_error_s: Seconds | None = None
    """The wall clock's largest error, as the kernel estimates it."""
    stopped_s: Seconds = 0.0
    """Time in which a process of the run was seen stopped (SIGSTOP, a debugger)."""
    gap_s: Seconds = 0.0
    """Time in which the observer itself did not run although it was due, sum of gaps over 1 s."""
    clock_step_s: Seconds = 0.0
    """Sum of the wall clock's steps against the monotonic clock, without their sign."""


class HostLimits(Document):
    """What the run may use of its host."""

    cpus: Real
    """CPUs: the smallest of the host's, the affinity's, and the control groups' quota."""
    memory_bytes: Count | None = None
    """The smallest limit of the control groups; absent: none."""
