// What one rank measures in one phase.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/histogram.hpp"
#include "measure/operation_log.hpp"
#include "measure/time_line.hpp"
#include "schema/event.hpp"

namespace venturi::measure {

inline constexpr std::size_t kKinds = schema::kOperationKindWords.size();

/// All operations of one kind.
struct alignas(64) Tally {
  std::uint64_t bytes = 0;
  std::uint64_t operations = 0;
  std::uint64_t errors = 0;
  /// Time in which at least one of them was under way.
  std::uint64_t ns = 0;
  Histogram latency;
};

/// An operation that went wrong.
struct Fault {
  schema::OperationKind kind = {};
  std::string path = {};
  std::uint64_t offset = 0;
  /// 0 where the system gave none.
  int error = 0;
  std::string what = {};
  std::uint64_t at_ns = 0;
  /// Of bytes that were read back and are wrong, and how many those are.
  std::optional<schema::Damage> damage = {};
  std::uint64_t bytes = 0;
};

/// How many requests had this size.
struct SizeCount {
  schema::OperationKind kind = {};
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
};

/// Bytes that were moved, and the time in which bytes were moved or made persistent, or files
/// closed.
struct Work {
  std::uint64_t bytes = 0;
  std::uint64_t ns = 0;
};

/// Requests that began at a rate.
struct OpenLoop {
  std::uint64_t requests = 0;
  /// Those whose time had come while the rank was still busy.
  std::uint64_t late = 0;
  std::uint64_t most_late_ns = 0;
  /// How long they should have taken, and how long they took.
  std::uint64_t wanted_ns = 0;
  std::uint64_t took_ns = 0;
  /// From the intended start, and from the real one.
  Histogram response = {};
  Histogram service = {};
};

/// Counts, times and latencies; made anew for each phase.
class Meter {
 public:
  class Series;

  static constexpr std::size_t kSizes = 32;
  static constexpr std::size_t kFaults = 16;

  explicit Meter(std::uint64_t epoch_ns) : time_line_(epoch_ns) {}

  /// One operation from `begin_ns` to `end_ns` that moved `bytes`.
  void record(schema::OperationKind kind, std::uint64_t begin_ns, std::uint64_t end_ns,
              std::uint64_t bytes) {
    record_since(begin_ns, kind, begin_ns, end_ns, bytes);
  }
  /// The same where the latency counts from `since_ns`: before the operation's turn (it should have
  /// begun then), or before the time that is not yet counted (it overlapped with others).
  void record_since(std::uint64_t since_ns, schema::OperationKind kind, std::uint64_t begin_ns,
                    std::uint64_t end_ns, std::uint64_t bytes) {
    Tally& tally = tallies_[static_cast<std::size_t>(kind)];
    tally.bytes += bytes;
    ++tally.operations;
    tally.ns += end_ns > begin_ns ? end_ns - begin_ns : 0;
    if (!tally.latency.is_ready()) [[unlikely]]
      begin(tally, end_ns);
    tally.latency.count(end_ns > since_ns ? end_ns - since_ns : 0);
    last_ns_ = end_ns;
    if (log_ != nullptr) log_->add(kind, since_ns, end_ns, bytes);
    time_line_.at(end_ns).add(kind, 1, bytes);
  }
  /// A request that was due at `intended_ns` began later or then; beside `record_since`.
  void record_start(std::uint64_t intended_ns, std::uint64_t begin_ns, std::uint64_t end_ns) {
    open_loop_.response.record(end_ns > intended_ns ? end_ns - intended_ns : 0);
    open_loop_.service.record(end_ns > begin_ns ? end_ns - begin_ns : 0);
  }
  /// `count` data requests of one size.
  void count_size(schema::OperationKind kind, std::uint64_t bytes, std::uint64_t count);
  /// An operation that went wrong; its time has been recorded already, or there is none.
  void fail(Fault fault);
  /// A step's requests began at a rate.
  void add_schedule(const OpenLoop& loop);
  void count_short() noexcept { ++short_transfers_; }
  void add_compute(std::uint64_t ns) noexcept { compute_ns_ += ns; }
  /// Time in which the rank waited for signals.
  void add_wait(std::uint64_t ns) noexcept { wait_ns_ += ns; }
  /// Time inside of calls that the rank made for all who share a file.
  void add_serving(std::uint64_t ns) noexcept { serving_ns_ += ns; }
  /// So many names fitted what was looked for; 0 says that something was.
  void add_found(std::uint64_t names) noexcept { found_ = found_.value_or(0) + names; }
  /// Data that was written became persistent.
  void add_durable(std::uint64_t bytes) noexcept { durable_bytes_ += bytes; }
  /// Compression made what was written so much smaller.
  void add_saved(std::uint64_t bytes) noexcept { saved_bytes_ += bytes; }
  /// From here on every operation is written there, too; null: nowhere.
  void log_to(OperationLog* log) noexcept { log_ = log; }
  /// Where the next operation is, for the log.
  void place(std::uint64_t offset) noexcept {
    if (log_ != nullptr) log_->set_offset(offset);
  }
  /// Adds an enclosed phase.
  void merge(const Meter& inner);

  [[nodiscard]] std::uint64_t operations() const noexcept;
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  [[nodiscard]] std::uint64_t errors() const noexcept;
  [[nodiscard]] Work work() const noexcept;
  [[nodiscard]] std::array<Tally, kKinds>& tallies() noexcept { return tallies_; }
  [[nodiscard]] const Tally& tally(schema::OperationKind kind) const noexcept {
    return tallies_[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] TimeLine& time_line() noexcept { return time_line_; }
  [[nodiscard]] const std::vector<SizeCount>& sizes() const noexcept { return sizes_; }
  [[nodiscard]] std::uint64_t other_requests() const noexcept { return other_requests_; }
  [[nodiscard]] const std::vector<Fault>& faults() const noexcept { return faults_; }
  [[nodiscard]] std::uint64_t short_transfers() const noexcept { return short_transfers_; }
  [[nodiscard]] const OpenLoop& open_loop() const noexcept { return open_loop_; }
  [[nodiscard]] std::uint64_t compute_ns() const noexcept { return compute_ns_; }
  [[nodiscard]] std::uint64_t wait_ns() const noexcept { return wait_ns_; }
  [[nodiscard]] std::uint64_t serving_ns() const noexcept { return serving_ns_; }
  [[nodiscard]] std::optional<std::uint64_t> found() const noexcept { return found_; }
  [[nodiscard]] std::uint64_t durable_bytes() const noexcept { return durable_bytes_; }
  [[nodiscard]] std::uint64_t saved_bytes() const noexcept { return saved_bytes_; }
  [[nodiscard]] std::uint64_t corrupt_operations() const noexcept { return corrupt_operations_; }
  [[nodiscard]] std::uint64_t corrupt_bytes() const noexcept { return corrupt_bytes_; }
  /// When the first and the last operation ended; 0 if there was none.
  [[nodiscard]] std::uint64_t first_ns() const noexcept { return first_ns_; }
  [[nodiscard]] std::uint64_t last_ns() const noexcept { return last_ns_; }

 private:
  /// Operations of one kind, one after the other, in one bin of the time line.
  struct Sum {
    /// When the last one ended, and when the first would have begun had there been no time
    /// between them.
    std::uint64_t last_ns = 0;
    std::uint64_t begin_ns = 0;
    std::uint64_t operations = 0;
    std::uint64_t bytes = 0;
    std::uint64_t least_ns = ~std::uint64_t{0};
    std::uint64_t most_ns = 0;
  };

  /// Adds a sum to all but the buckets of the latencies.
  void add(schema::OperationKind kind, Sum sum) noexcept;
  /// Adds what ended before another bin of the time line, or the phase, began at `end_ns`; when
  /// that bin ends.
  [[gnu::noinline, gnu::cold]] std::uint64_t turn(schema::OperationKind kind, Sum sum,
                                                  std::uint64_t end_ns) noexcept;
  /// The first operation of a kind, which may be the first of all. Kept out of the loops.
  [[gnu::noinline, gnu::cold]] void begin(Tally& tally, std::uint64_t end_ns);

  std::array<Tally, kKinds> tallies_{};
  TimeLine time_line_;
  /// Where to look for a size, so that one among many is found at once: three in four of these are
  /// free (0), the others are the number of its count.
  static constexpr std::size_t kPlaces = 4 * kSizes;
  std::array<std::uint8_t, kPlaces> places_ = {};
  std::vector<SizeCount> sizes_;
  std::uint64_t other_requests_ = 0;
  std::vector<Fault> faults_;
  std::uint64_t short_transfers_ = 0;
  std::uint64_t compute_ns_ = 0;
  std::uint64_t wait_ns_ = 0;
  std::uint64_t serving_ns_ = 0;
  std::optional<std::uint64_t> found_;
  std::uint64_t durable_bytes_ = 0;
  std::uint64_t saved_bytes_ = 0;
  std::uint64_t corrupt_operations_ = 0;
  std::uint64_t corrupt_bytes_ = 0;
  std::uint64_t first_ns_ = 0;
  std::uint64_t last_ns_ = 0;
  OperationLog* log_ = nullptr;
  OpenLoop open_loop_;
};

/// Operations of one kind, each beginning where the one before ended: what they have in common is
/// added up on the way and counted once. The meter is complete when the series is gone. Its loops
/// are the hottest of all, so nothing that they change has an address: it stays in registers.
class Meter::Series {
 public:
  /// Throws std::bad_alloc.
  Series(Meter& meter, schema::OperationKind kind, std::uint64_t begin_ns)
      : meter_(meter),
        kind_(kind),
        counts_(meter.tallies_[static_cast<std::size_t>(kind)].latency.counts()),
        log_(meter.log_),
        turn_ns_(meter.first_ns_ != 0 && meter.time_line_.is_at(begin_ns)
                     ? meter.time_line_.end_ns()
                     : 0),
        sum_{.last_ns = begin_ns, .begin_ns = begin_ns} {}
  Series(const Series&) = delete;
  Series& operator=(const Series&) = delete;
  ~Series() { meter_.add(kind_, sum_); }

  /// One operation that ended at `end_ns`, which is no earlier than the end before.
  void add(std::uint64_t end_ns, std::uint64_t offset, std::uint64_t bytes) noexcept {
    add_since(sum_.last_ns, end_ns, offset, bytes);
  }
  /// The same of one that began later than the one before ended.
  void add_since(std::uint64_t begin_ns, std::uint64_t end_ns, std::uint64_t offset,
                 std::uint64_t bytes) noexcept {
    if (end_ns >= turn_ns_) [[unlikely]] {
      turn_ns_ = meter_.turn(kind_, sum_, end_ns);
      sum_ = {.last_ns = begin_ns, .begin_ns = begin_ns};
    }
    if (log_ != nullptr) [[unlikely]] {
      log_->set_offset(offset);
      log_->add(kind_, begin_ns, end_ns, bytes);
    }
    count(begin_ns, end_ns, bytes);
  }
  /// Whether an operation that ends then is counted and nothing else.
  [[nodiscard]] bool only_counts(std::uint64_t end_ns) const noexcept {
    return end_ns < turn_ns_ && log_ == nullptr;
  }
  /// `add_since` of an operation that is counted and nothing else.
  void count(std::uint64_t begin_ns, std::uint64_t end_ns, std::uint64_t bytes) noexcept {
    const std::uint64_t took_ns = end_ns - begin_ns;
    ++counts_[Histogram::bucket_of(took_ns)];
    sum_.begin_ns += begin_ns - sum_.last_ns;
    sum_.last_ns = end_ns;
    sum_.least_ns = std::min(sum_.least_ns, took_ns);
    sum_.most_ns = std::max(sum_.most_ns, took_ns);
    sum_.bytes += bytes;
    ++sum_.operations;
  }

 private:
  Meter& meter_;
  schema::OperationKind kind_;
  std::uint64_t* counts_;
  OperationLog* log_;
  /// When the bin of the time line ends into which the operations go; 0 before it is known.
  std::uint64_t turn_ns_;
  Sum sum_;
};

}  // namespace venturi::measure
