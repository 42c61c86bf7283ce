// The event document: generated from the model of the same name by `make gen`; do not edit.
// clang-format off
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "schema/plan.hpp"

namespace venturi::schema {

struct Event;

/// Which way a metric improves.
enum class Better { kHigher, kLower, kNone };
inline constexpr std::array<std::string_view, 3> kBetterWords{"higher", "lower", "none"};
[[nodiscard]] constexpr std::span<const std::string_view> words_of(Better) {
  return kBetterWords;
}
[[nodiscard]] constexpr std::string_view to_string(Better value) {
  return kBetterWords[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing if the word is none of `Better`.
[[nodiscard]] std::optional<Better> parse_better(std::string_view word);

/// Why a phase ended.
enum class StoppedBy { kWork, kLimit, kDeadline, kError };
inline constexpr std::array<std::string_view, 4> kStoppedByWords{"work", "limit", "deadline",
    "error"};
[[nodiscard]] constexpr std::span<const std::string_view> words_of(StoppedBy) {
  return kStoppedByWords;
}
[[nodiscard]] constexpr std::string_view to_string(StoppedBy value) {
  return kStoppedByWords[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing if the word is none of `StoppedBy`.
[[nodiscard]] std::optional<StoppedBy> parse_stopped_by(std::string_view word);

/// Whether the data of a phase was in memory before it began.
enum class CacheState { kCold, kWarm, kMixed, kUnknown, kNone };
inline constexpr std::array<std::string_view, 5> kCacheStateWords{"cold", "warm", "mixed",
    "unknown", "none"};
[[nodiscard]] constexpr std::span<const std::string_view> words_of(CacheState) {
  return kCacheStateWords;
}
[[nodiscard]] constexpr std::string_view to_string(CacheState value) {
  return kCacheStateWords[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing if the word is none of `CacheState`.
[[nodiscard]] std::optional<CacheState> parse_cache_state(std::string_view word);

/// What is wrong with bytes that were read back.
enum class Damage { kHole, kFlipped, kStale, kMisplaced, kTruncated, kUnread, kForeign, kCorrupt };
inline constexpr std::array<std::string_view, 8> kDamageWords{"hole", "flipped", "stale",
    "misplaced", "truncated", "unread", "foreign", "corrupt"};
[[nodiscard]] constexpr std::span<const std::string_view> words_of(Damage) {
  return kDamageWords;
}
[[nodiscard]] constexpr std::string_view to_string(Damage value) {
  return kDamageWords[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing if the word is none of `Damage`.
[[nodiscard]] std::optional<Damage> parse_damage(std::string_view word);

/// Which of a point's samples stands for all of them.
enum class KernelStatistic { kMax, kMin, kMedian, kMean };
inline constexpr std::array<std::string_view, 4> kKernelStatisticWords{"max", "min", "median",
    "mean"};
[[nodiscard]] constexpr std::span<const std::string_view> words_of(KernelStatistic) {
  return kKernelStatisticWords;
}
[[nodiscard]] constexpr std::string_view to_string(KernelStatistic value) {
  return kKernelStatisticWords[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing if the word is none of `KernelStatistic`.
[[nodiscard]] std::optional<KernelStatistic> parse_kernel_statistic(std::string_view word);

/// What the run's directory lies on, as the kernel said at one moment.
struct TargetFacts {
  /// The file system's type by the mount table; `unknown` where that does not tell.
  std::string type = {};
  /// The type by statfs.
  std::int64_t magic = 0;
  /// `major:minor`.
  std::string device = {};
  std::string source = {};
  std::string mount = {};
};

/// The clock that all durations of the run come from.
struct ClockFacts {
  /// `tsc`, `monotonic` or `simulated`.
  std::string source = {};
  double resolution_ns = 0.0;
  double overhead_ns = 0.0;
  /// Bound of the clock offset between nodes.
  double offset_uncertainty_s = 0.0;
  /// What is added to each host's clock to get the first one's, in the order of `hosts`; empty
  /// where there is one. Clocks count from when their hosts were started.
  std::vector<std::int64_t> offset_of_host_ns;
};

/// The value of an enclosing loop's variable.
struct Iteration {
  std::string name = {};
  std::int64_t value = 0;
};

/// A log-linear histogram: 2^bits buckets for each power of two, of nanoseconds.
///
/// With n = 2^bits, bucket i < n holds the value i; above, bucket i covers
/// [(n + i % n) << (i // n - 1), (n + 1 + i % n) << (i // n - 1)), at most 1/n of its values.
/// Only buckets that hold something are listed.
struct Histogram {
  /// 10; absent in the earliest records, which have 4.
  std::int64_t bits = 4;
  std::vector<std::int64_t> bucket;
  std::vector<std::int64_t> count;
  std::int64_t min_ns = 0;
  std::int64_t max_ns = 0;
};

/// All operations of one kind in a phase, over all ranks.
struct OperationSummary {
  OperationKind kind = {};
  std::int64_t bytes = 0;
  std::int64_t operations = 0;
  std::int64_t errors = 0;
  /// The largest of the ranks' sums.
  double seconds = 0.0;
  Histogram latency = {};
};

/// How many requests of one size a phase made, over all ranks.
struct RequestSize {
  OperationKind kind = {};
  std::int64_t bytes = 0;
  std::int64_t count = 0;
};

/// Times of a phase: `total` is last end - first start; the others, the largest rank's sum.
struct PhaseSeconds {
  double open = 0.0;
  double transfer = 0.0;
  double close = 0.0;
  double compute = 0.0;
  double total = 0.0;
  /// For signals of other groups.
  double wait = 0.0;
  /// Inside of calls that one rank made for all who share a file, itself included; the rest of
  /// their transfers is handing over bytes.
  double serving = 0.0;
};

/// One value per rank of the group, in rank order.
struct RankTimes {
  std::vector<std::int64_t> bytes;
  std::vector<std::int64_t> operations;
  std::vector<double> open_s;
  std::vector<double> transfer_s;
  std::vector<double> close_s;
  std::vector<double> total_s;
  /// Seconds after the phase's first start.
  std::vector<double> start_s;
  /// When its first operation was done, in seconds after the phase's first start.
  std::vector<double> first_s;
  /// When its last operation was done, in seconds after the phase's first start.
  std::vector<double> last_s;
  /// Its slowest operation.
  std::vector<double> longest_s;
};

/// What was completed in each bin of time after the phase's first start, over all ranks.
struct TimeLine {
  double bin_s = 0.0;
  std::vector<std::int64_t> bytes_written;
  std::vector<std::int64_t> bytes_read;
  std::vector<std::int64_t> operations;
};

/// Requests that began at a rate, not when the one before had ended, over all ranks.
///
/// Their latency counts from the intended start, so waiting behind a slow one is part of it.
struct OpenLoop {
  std::int64_t requests = 0;
  /// Those whose time had come while the rank was still busy.
  std::int64_t late = 0;
  /// The largest delay of a start.
  double most_late_s = 0.0;
  /// Requests per second, all ranks together.
  double wanted_per_s = 0.0;
  double achieved_per_s = 0.0;
  /// From the intended start to the end.
  Histogram response = {};
  /// From the real start to the end.
  Histogram service = {};
};

/// What one server of the file system did in a phase, as its clients saw it.
///
/// Only of whole files, the first 64 of each rank, and only where the file system says which
/// server holds a file (GlusterFS, unless it cuts files into pieces).
struct ServerShare {
  /// `host:/folder` of the brick; several, where each of them holds a copy or a part.
  std::string server = {};
  std::int64_t ranks = 0;
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  /// Time in which ranks moved data of these files, made it persistent or closed them: the sum
  /// over the ranks.
  double sum_s = 0.0;
  /// From when the first rank began that to when the last one had done it.
  double span_s = 0.0;
};

/// One of the first errors of a phase.
struct ErrorDetail {
  std::int64_t rank = 0;
  OperationKind operation = {};
  std::string path = {};
  std::int64_t offset = 0;
  /// 0 where the system gave none.
  std::int64_t errno_ = 0;
  std::string what = {};
  /// What is wrong with bytes that were read back; absent for other errors.
  std::optional<Damage> damage = {};
  /// How many bytes are wrong.
  std::int64_t bytes = 0;
  /// When it was seen, in seconds after the phase's first start; absent in earlier records.
  std::optional<double> at_s = {};
};

/// The engine is there, on the right number of ranks.
struct Hello {
  std::string run = {};
  /// Version of the engine.
  std::string engine = {};
  /// `alone`, `forked` or `mpi`, with the library's version.
  std::string comm = {};
  std::int64_t ranks = 0;
  /// The host of each node, in order.
  std::vector<std::string> hosts;
  std::vector<std::int64_t> node_of_rank;
  ClockFacts clock = {};
  /// UTC, ISO 8601.
  std::string time = {};
};

/// A phase begins.
struct PhaseStarted {
  std::string path = {};
  std::string group = {};
  std::int64_t instance = 0;
  std::int64_t repetition = 0;
  std::vector<Iteration> iteration;
  /// Seconds since hello.
  double at_s = 0.0;
  std::optional<double> limit_s = {};
};

/// How far the running phase is.
struct Progress {
  std::string path = {};
  std::int64_t repetition = 0;
  /// Seconds since the phase started.
  double at_s = 0.0;
  std::int64_t bytes = 0;
  std::int64_t operations = 0;
  /// Ranks that are still at work.
  std::int64_t active = 0;
};

/// A word and its value.
struct Fact {
  std::string name = {};
  std::string value = {};
};

/// What one of the numbers that name a point counts.
struct KernelAxis {
  std::string name = {};
  /// `B` for bytes; empty: a bare number, such as a rank.
  std::string unit = {};
};

/// One thing that a kernel measured, with every sample in the order of measurement.
struct KernelPoint {
  /// One number for each axis of the series.
  std::vector<std::int64_t> at;
  std::vector<double> samples;
  /// The figure of the kernel that this point is; a metric of the run has its name.
  std::string figure = {};
};

/// Points of a kernel that differ in numbers alone.
struct KernelSeries {
  std::string name = {};
  /// `B/s`, `s`, `flop/s`, ..., as metrics have it.
  std::string unit = {};
  Better better = {};
  KernelStatistic statistic = {};
  std::vector<KernelAxis> axes;
  std::vector<KernelPoint> points;
};

/// What one kernel measured of the machine. Values were checked, or there are none.
struct KernelResult {
  std::string name = {};
  /// A change of the kernel that may change its numbers gives it another one.
  std::int64_t version = 0;
  /// Those that measured.
  std::int64_t ranks = 0;
  /// Why there is no number: a check that failed, memory that was not there. Empty: it is fine.
  std::string failure = {};
  /// What the numbers depend on: sizes of caches, page size, instructions, compiler.
  std::vector<Fact> facts;
  std::vector<KernelSeries> series;
};

/// A phase ended and this is what was measured.
struct PhaseFinished {
  std::string path = {};
  std::string group = {};
  std::int64_t instance = 0;
  std::int64_t repetition = 0;
  /// Seconds from hello to the phase's first start.
  double at_s = 0.0;
  std::int64_t bytes = 0;
  std::int64_t operations = 0;
  std::int64_t errors = 0;
  std::int64_t ranks = 0;
  std::vector<RequestSize> request_sizes;
  /// Requests of sizes beyond the 32 that are kept apart on a rank.
  std::int64_t other_requests = 0;
  RankTimes per_rank = {};
  TimeLine time_line = {};
  StoppedBy stopped_by = {};
  CacheState cache = {};
  std::string cache_reason = {};
  /// Share of the data's pages that was in memory before the phase; absent: not looked at.
  std::optional<double> cached_share = {};
  /// Bytes that were written and then made persistent inside the phase's time.
  std::int64_t bytes_durable = 0;
  /// By how much an interface that compresses, and says so, made less of what was written.
  std::int64_t bytes_saved = 0;
  std::int64_t short_transfers = 0;
  /// Reads that brought other bytes than were written.
  std::int64_t corrupt_operations = 0;
  std::int64_t corrupt_bytes = 0;
  std::optional<TargetFacts> target_before = {};
  std::optional<TargetFacts> target_after = {};
  /// How the target is another one than at the start of the run; empty: it is the same.
  std::string target_change = {};
  /// By name, where the file system says on which server a file is.
  std::vector<ServerShare> servers;
  /// Requests began at a rate; absent: each when the one before had ended.
  std::optional<OpenLoop> open_loop = {};
  /// Names that fitted, where the phase looked for some.
  std::optional<std::int64_t> found = {};
  /// What kernels measured, in the order in which they ran.
  std::vector<KernelResult> kernels;
  std::vector<ErrorDetail> details;
  std::vector<Iteration> iteration;
  PhaseSeconds seconds = {};
  std::vector<OperationSummary> by_operation;
  /// The weakest means, inside the phase's time, that covered all that was written.
  SyncMode flushed = {};
};

/// Time of a group between its phases, as its first rank saw it.
struct Pause {
  /// Seconds since hello.
  double at_s = 0.0;
  double seconds = 0.0;
  /// For signals of other groups; else it computed.
  bool waits = false;
};

/// All pauses of one group in a repetition, at its end; only where several groups act.
struct Paused {
  std::string group = {};
  std::int64_t instance = 0;
  std::int64_t repetition = 0;
  /// In order; at most 4096.
  std::vector<Pause> pauses;
};

/// A rank asks for a command to be run, by a file in the journal; it is no line of output.
struct CommandRequest {
  /// Among the workload's commands where one is asked for, among the run's where it ran.
  std::int64_t number = 0;
  std::string command = {};
  /// Of the phase.
  std::string path = {};
  std::string group = {};
  std::int64_t instance = 0;
  std::int64_t repetition = 0;
  std::vector<Iteration> iteration;
  double limit_s = 0.0;
};

/// What an interface's library says is in force for a file, such as hints of MPI-IO.
struct FileFacts {
  /// The entry of the plan.
  std::string file = {};
  std::vector<Fact> facts;
};

/// Something that the reader of the result must know.
struct Warning {
  std::string what = {};
  /// For so long no process of a node ran, nor the one that watches them: they were stopped, or
  /// the machine slept or had no time for them. What was measured meanwhile says nothing about the
  /// storage.
  std::optional<double> stopped_s = {};
};

/// What goes on, for who looks on; no result depends on it.
struct Remark {
  std::string what = {};
};

/// The run cannot go on.
struct Failed {
  /// A word for programs: `target`, `plan`, `ranks`, `io`, `verification`, `interrupted`, ...
  std::string code = {};
  std::string message = {};
  std::string hint = {};
  /// Phase path, file or plan path.
  std::string where = {};
  std::int64_t exit_code = 0;
};

/// The run came to its end.
struct Finished {
  double at_s = 0.0;
  /// Those that were completed.
  std::int64_t repetitions = 0;
  std::int64_t errors = 0;
  /// Files that were made and are still there, because `keep` asked for it.
  std::vector<std::string> left;
};

/// One of these, by `event`.
struct Event {
  std::variant<Hello, PhaseStarted, Progress, PhaseFinished, Paused, CommandRequest, FileFacts,
               Warning, Remark, Failed, Finished> value;
};

/// Reads one event from JSON text. Throws `base::Error` with the path of the fault as `where`,
/// such as `groups[0].program[1].file`; empty means the document as a whole.
[[nodiscard]] Event decode_event(std::string_view text);

/// Writes one event as one line of JSON, every field written, without the line's end.
/// Throws `std::domain_error` if a number is not finite.
[[nodiscard]] std::string encode_event(const Event& value);

}  // namespace venturi::schema
