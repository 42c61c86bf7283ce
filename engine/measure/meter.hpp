// What one rank measures in one phase.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "measure/histogram.hpp"
#include "measure/time_line.hpp"
#include "schema/event.hpp"

namespace venturi::measure {

inline constexpr std::size_t kKinds = schema::kOperationKindWords.size();

/// All operations of one kind.
struct Tally {
  std::uint64_t bytes = 0;
  std::uint64_t operations = 0;
  std::uint64_t errors = 0;
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
};

/// How many requests had this size.
struct SizeCount {
  schema::OperationKind kind = {};
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
};

/// Counts, times and latencies; made anew for each phase.
class Meter {
 public:
  static constexpr std::size_t kSizes = 32;
  static constexpr std::size_t kFaults = 16;

  explicit Meter(std::uint64_t epoch_ns) : time_line_(epoch_ns) {}

  /// One operation from `begin_ns` to `end_ns` that moved `bytes`.
  void record(schema::OperationKind kind, std::uint64_t begin_ns, std::uint64_t end_ns,
              std::uint64_t bytes) noexcept {
    Tally& tally = tallies_[static_cast<std::size_t>(kind)];
    const std::uint64_t ns = end_ns > begin_ns ? end_ns - begin_ns : 0;
    tally.bytes += bytes;
    ++tally.operations;
    tally.ns += ns;
    tally.latency.record(ns);
    TimeLine::Bin& bin = time_line_.at(end_ns);
    ++bin.operations;
    if (kind == schema::OperationKind::kWrite) {
      bin.bytes_written += bytes;
    } else if (kind == schema::OperationKind::kRead) {
      bin.bytes_read += bytes;
    }
  }
  /// `count` data requests of one size.
  void count_size(schema::OperationKind kind, std::uint64_t bytes, std::uint64_t count);
  /// An operation that went wrong; its time has been recorded already, or there is none.
  void fail(Fault fault);
  void count_short() noexcept { ++short_transfers_; }
  void add_compute(std::uint64_t ns) noexcept { compute_ns_ += ns; }
  /// Adds an enclosed phase.
  void merge(const Meter& inner);

  [[nodiscard]] std::uint64_t operations() const noexcept;
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  [[nodiscard]] std::uint64_t errors() const noexcept;
  [[nodiscard]] std::array<Tally, kKinds>& tallies() noexcept { return tallies_; }
  [[nodiscard]] const Tally& tally(schema::OperationKind kind) const noexcept {
    return tallies_[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] TimeLine& time_line() noexcept { return time_line_; }
  [[nodiscard]] const std::vector<SizeCount>& sizes() const noexcept { return sizes_; }
  [[nodiscard]] std::uint64_t other_requests() const noexcept { return other_requests_; }
  [[nodiscard]] const std::vector<Fault>& faults() const noexcept { return faults_; }
  [[nodiscard]] std::uint64_t short_transfers() const noexcept { return short_transfers_; }
  [[nodiscard]] std::uint64_t compute_ns() const noexcept { return compute_ns_; }

 private:
  std::array<Tally, kKinds> tallies_{};
  TimeLine time_line_;
  std::vector<SizeCount> sizes_;
  std::uint64_t other_requests_ = 0;
  std::vector<Fault> faults_;
  std::uint64_t short_transfers_ = 0;
  std::uint64_t compute_ns_ = 0;
};

}  // namespace venturi::measure
