"""Every option of a job that fio 3.33 knows: run, without effect here, or refused and why."""

from __future__ import annotations

from venturi.compat.option import nearest


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ALIASES = {
    "readwrite": "rw",
    "blocksize": "bs",
    "blockalign": "ba",
    "blocksize_range": "bsrange",
    "blocksize_unaligned": "bs_unaligned",
    "iodepth_batch_submit": "iodepth_batch",
    "iodepth_batch_complete": "iodepth_batch_complete_min",
    "io_limit": "io_size",
    "fill_fs": "fill_device",
    "fileoffset": "offset",
    "nr_files": "nrfiles",
    "timeout": "runtime",
    "iomem": "mem",
    "ratemin": "rate_min",
    "ratecycle": "rate_cycle",
    "wait_for_previous": "stonewall",
    "disable_bw": "disable_bw_measurement",
    "ss": "steadystate",
    "ss_dur": "steadystate_duration",
    "ss_ramp": "steadystate_ramp_time",
}

SWITCHES = frozenset(
    _words(
        "bs_unaligned norandommap time_based verify_only exitall exitall_on_error stonewall "
        "new_group thread group_reporting zero_buffers refill_buffers"
    )
)
"""Options that may stand without a value."""

RUN = frozenset(
    _words(
        "name description wait_for filename directory filename_format rw bs bsrange bssplit "
        "randrepeat randseed allrandrepeat norandommap ioengine iodepth size io_size filesize "
        "offset offset_increment number_ios random_distribution nrfiles file_service_type "
        "openfiles fallocate fadvise_hint fsync fdatasync direct buffered overwrite loops "
        "numjobs startdelay runtime time_based verify do_verify rwmixread rwmixwrite thinktime "
        "thinktime_spin thinktime_blocks rate rate_iops rate_process invalidate sync "
        "create_on_open end_fsync fsync_on_close unlink stonewall kb_base write_bw_log "
        "write_lat_log write_iops_log write_hist_log scramble_buffers fixedbufs registerfiles "
        "hipri group_reporting ramp_time"
    )
)
"""Options that a job is read from."""

_KEPT = "the record keeps every distribution of latencies"
_OWN_CLOCK = "the engine times every request by one clock"
_LOGS = "the record keeps every request"
_REPORT = "each job is a phase of the report, all its ranks together, with each rank's own times"

WITHOUT_EFFECT = {
    "new_group": _REPORT,
    "thread": "ranks are processes, which share no table of open files",
    "unit_base": "reports have bytes",
    "clocksource": _OWN_CLOCK,
    "gtod_reduce": _OWN_CLOCK,
    "random_generator": "orders are permutations and draws of our own",
    "create_serialize": "all files are there before the first measured phase",
    "unique_filename": "a run has files of its own",
    "refill_buffers": "every request writes data of its own",
    "verify_state_save": "no such state is written",
    "trim_verify_zero": "nothing is trimmed",
    "per_job_logs": _LOGS,
    "bwavgtime": _LOGS,
    "iopsavgtime": _LOGS,
    "log_entries": _LOGS,
    "log_avg_msec": _LOGS,
    "log_hist_msec": _LOGS,
    "log_hist_coarseness": _LOGS,
    "log_max_value": _LOGS,
    "log_offset": _LOGS,
    "log_unix_epoch": _LOGS,
    "log_compression": _LOGS,
    "log_compression_cpus": _LOGS,
    "log_store_compressed": _LOGS,
    "log_alternate_epoch": _LOGS,
    "log_alternate_epoch_clock_id": _LOGS,
    "clat_percentiles": _KEPT,
    "lat_percentiles": _KEPT,
    "slat_percentiles": _KEPT,
    "percentile_list": _KEPT,
    "significant_figures": _KEPT,
    "disable_lat": _KEPT,
    "disable_clat": _KEPT,
    "disable_slat": _KEPT,
    "disable_bw_measurement": _KEPT,
    "block_error_percentiles": _KEPT,
    "disk_util": "the record has what the system says of the device",
}
"""Options that are accepted and change nothing, and why nothing is missing."""

_DEPTH = "the engine keeps all of iodepth in flight and submits whatever is free"
_ZONES = "files have no zones"
_TRIM = "nothing is trimmed: it would need a block device, and a run touches its own files only"
_LATENCY = "a job does not change its own load while it is measured"
_CHECK = "what is written bears stamps in every word, and all of it is checked after the job"
_PLACES = "the launcher places ranks, and their priority is the system's"
_RIGHTS = "a run keeps the rights of who started it"
_BUFFERS = "a request's data neither compress nor repeat"
_DONE = "a job ends by itself; Venturi's `--deadline` and limits end runs"
_NEVER = "commands are never executed on behalf of a job file"
_REPLAY = "`venturi derive` makes workloads of traces"
_SYSTEM = "a run changes no settings of the system"
_FLOW = "jobs do not wait for each other's counts"
_STEADY = "a run says itself how far its repetitions scatter"

FIXED: dict[str, tuple[str, str]] = {
    "ba": ("", "random places are multiples of bs"),
    "bs_unaligned": ("0", "requests have whole sizes"),
    "iodepth_batch": ("1", _DEPTH),
    "iodepth_batch_complete_min": ("1", _DEPTH),
    "iodepth_batch_complete_max": ("1", _DEPTH),
    "iodepth_low": ("", _DEPTH),
    "serialize_overlap": ("0", _DEPTH),
    "io_submit_mode": ("inline", "a rank has no second thread"),
    "offset_align": ("0", "give offset in bytes"),
    "rw_sequencer": ("sequential", "random access goes to a new place with each request"),
    "percentage_random": ("100", "an access pattern is sequential or random"),
    "lockfile": ("none", "the engine takes no locks around a transfer"),
    "file_append": ("0", "a run's own files are new, and have no end to go on from"),
    "fill_device": ("0", "a run does not fill a file system"),
    "write_barrier": ("0", "use fsync or fdatasync"),
    "atomic": ("0", "the engine does not know RWF_ATOMIC"),
    "mem": ("malloc", "requests use ordinary memory of the process"),
    "verify_fatal": ("0", "wrong data are counted and located, and the run goes on"),
    "verify_dump": ("0", "wrong data are counted and located"),
    "verify_async": ("0", _CHECK),
    "verify_backlog": ("0", _CHECK),
    "verify_state_load": ("0", _CHECK),
    "verify_only": ("0", _CHECK),
    "zonemode": ("none", _ZONES),
    "zonesize": ("0", _ZONES),
    "zonecapacity": ("0", _ZONES),
    "zonerange": ("0", _ZONES),
    "zoneskip": ("0", _ZONES),
    "read_beyond_wp": ("0", _ZONES),
    "max_open_zones": ("0", _ZONES),
    "job_max_open_zones": ("0", _ZONES),
    "ignore_zone_limits": ("0", _ZONES),
    "trim_percentage": ("0", _TRIM),
    "lockmem": ("0", "`cache: {occupy: ...}` of a workload locks memory"),
    "nice": ("0", _PLACES),
    "thinktime_blocks_type": ("complete issue", "a rank waits after requests that ended"),
    "thinktime_iotime": ("0", "a rank waits after a number of requests"),
    "rate_ignore_thinktime": ("0", "use rate or thinktime"),
    "latency_run": ("0", _LATENCY),
    "create_fsync": ("1", "files that exist before a phase are on storage"),
    "create_only": ("0", "a run removes what it made"),
    "allow_file_create": ("1", "a run makes its own files"),
    "allow_mounted_write": ("0", "a run never touches a device"),
    "pre_read": ("0", "`invalidate=0` leaves what the layout wrote in memory"),
    "unlink_each_loop": ("0", "the files of a job stay until the run is over"),
    "exitall": ("0", _DONE),
    "exitall_on_error": ("0", _DONE),
    "stats": ("1", "every phase is measured"),
    "zero_buffers": ("0", _BUFFERS),
    "dedupe_percentage": ("0", _BUFFERS),
    "dedupe_global": ("0", _BUFFERS),
    "buffer_compress_percentage": ("0", _BUFFERS),
    "unified_rw_reporting": ("none 0", "reads and writes are told apart"),
    "continue_on_error": ("none", "a request that fails ends its rank's work"),
    "error_dump": ("0", "errors are counted and located"),
    "flow": ("0", _FLOW),
    "flow_id": ("0", _FLOW),
    "flow_sleep": ("0", _FLOW),
    "replay_no_stall": ("0", _REPLAY),
    "read_iolog_chunked": ("0", _REPLAY),
    "sqthread_poll": ("0", "no thread of the kernel polls for a rank"),
    "nowait": ("0", "the engine does not know RWF_NOWAIT"),
    "uncached": ("0", "the engine does not know RWF_UNCACHED"),
    "force_async": ("0", "the kernel decides which requests its workers take"),
    "thp": ("0", "the kernel's default holds for mapped memory"),
    "userspace_reap": ("0", "requests in flight go through io_uring"),
}
"""Options of which only these values are accepted, and why no others are."""

REFUSED = {
    **dict.fromkeys(
        _words(
            "verify_interval verify_offset verify_pattern verify_backlog_batch experimental_verify"
        ),
        _CHECK,
    ),
    **dict.fromkeys(_words("trim_backlog trim_backlog_batch"), _TRIM),
    **dict.fromkeys(
        _words("latency_target latency_window latency_percentile max_latency"), _LATENCY
    ),
    **dict.fromkeys(_words("rate_min rate_iops_min rate_cycle"), _LATENCY),
    **dict.fromkeys(
        _words(
            "prio prioclass cpumask cpus_allowed cpus_allowed_policy numa_cpu_nodes "
            "numa_mem_policy gtod_cpu sqthread_poll_cpu cmdprio_percentage cmdprio_class "
            "cmdprio cmdprio_bssplit"
        ),
        _PLACES,
    ),
    **dict.fromkeys(_words("uid gid cgroup cgroup_nodelete cgroup_weight"), _RIGHTS),
    **dict.fromkeys(
        _words("buffer_pattern buffer_compress_chunk dedupe_mode dedupe_working_set_percentage"),
        _BUFFERS,
    ),
    **dict.fromkeys(_words("exec_prerun exec_postrun"), _NEVER),
    **dict.fromkeys(
        _words(
            "write_iolog read_iolog replay_redirect replay_scale replay_align "
            "replay_time_scale replay_skip merge_blktrace_file merge_blktrace_scalars "
            "merge_blktrace_iters"
        ),
        _REPLAY,
    ),
    **dict.fromkeys(_words("zone_reset_threshold zone_reset_frequency"), _ZONES),
    **dict.fromkeys(_words("steadystate steadystate_duration steadystate_ramp_time"), _STEADY),
    "ioscheduler": _SYSTEM,
    "hugepage-size": "requests use ordinary memory of the process",
    "opendir": "a job reads files that it names or makes",
    "ignore_error": "an error makes the result INVALID",
    "sync_file_range": "use fsync or fdatasync",
    "write_hint": "the engine gives the storage no hints on the life of data",
    "exit_what": _DONE,
    "profile": "it is a set of jobs inside of fio; write them as a job file",
    "log_prio": _PLACES,
    "nonvectored": "the engine chooses the kernel's call",
    "cmd_type": "requests go to files",
    "cpuload": "`venturi health` measures the processors",
    "cpuchunks": "`venturi health` measures the processors",
}
"""Options that are never run, and why."""

KNOWN = (*RUN, *WITHOUT_EFFECT, *FIXED, *REFUSED)


def option_named(word: str) -> str:
    """The option's first name."""
    return ALIASES.get(word, word)


def is_switch(word: str) -> bool:
    """Whether an option may stand without a value."""
    return option_named(word) in SWITCHES


def nearest_option(word: str, others: tuple[str, ...] = ()) -> str:
    """A hint: the known option that is most like this word."""
    return nearest(word, [*KNOWN, *ALIASES, *others])


def fio_option_list() -> str:
    """Return the options that run, the others, and where the page about them is."""
    lines = ["venturi compat fio -- OPTIONS JOBFILES: options of jobs that this command runs"]
    lines += [f"  --{name}" for name in sorted(RUN)]
    lines.append("  accepted without an effect: " + ", ".join(sorted(WITHOUT_EFFECT)))
    lines.append("docs/compatibility/fio.md says what each one does here, or why it is refused.")
    return "\n".join(lines)


def objection(word: str, value: str | None) -> str:
    """Why an option with this value does not run; empty if it does or has no effect."""
    name = option_named(word)
    if name not in KNOWN:
        hint = nearest_option(word)
        return "fio has no such option" + (f"; {hint}" if hint else "")
    if value is None and name not in SWITCHES:
        return "a value is needed"
    if name in REFUSED:
        return f"is refused: {REFUSED[name]}"
    if name in FIXED:
        allowed, reason = FIXED[name]
        given = "1" if value is None else value.strip()
        if given not in allowed.split():
            return f"is refused: {reason}"
    return ""
