// The open loop: an absolute grid on which each moment becomes exactly one sample.
#pragma once

#include <cstdint>
#include <span>

#include "probe/storage.hpp"
#include "probe/time.hpp"

namespace venturi::probe {

/// Follows the grid of one worker. Operations of an interval are spread evenly over it. One
/// operation is under way at a time; moments that pass meanwhile become samples that say so, with
/// the time until the storage answered.
class Schedule {
 public:
  Schedule(Ring& ring, Storage& storage, Time& time);

  /// Accounts for an operation that an earlier worker left under way. Call it once, first.
  void recover();
  /// Measures until the worker is to stop.
  void run();

 private:
  /// Does the operation of the moment `due_ns_`, and moves on to the next moment.
  void take_turn();
  void append(Operation operation, std::uint8_t flags, int error, std::uint64_t end_ns,
              std::uint64_t service_ns);
  void advance() noexcept;
  /// Moments that passed, but for the last, become samples of their own.
  void skip_passed(std::uint64_t now_ns);
  void judge(bool was_bad, std::uint64_t now_ns) noexcept;
  [[nodiscard]] Operation operation() const noexcept;
  [[nodiscard]] std::uint64_t wall_of(std::uint64_t monotonic_ns) const noexcept;
  /// Follows the wall clock; a step of more than half an interval is counted.
  void follow_wall_clock() noexcept;

  Ring& ring_;
  Storage& storage_;
  Time& time_;
  std::span<const Operation> operations_;
  std::uint64_t normal_step_ns_;
  std::uint64_t step_ns_;
  std::uint64_t due_ns_ = 0;
  std::uint64_t turn_ = 0;
  std::int64_t wall_offset_ns_ = 0;
  /// Since when every operation was late or failed; 0: the last one was well.
  std::uint64_t bad_since_ns_ = 0;
  std::uint64_t bad_operations_ = 0;
  std::uint64_t good_operations_ = 0;
};

}  // namespace venturi::probe
