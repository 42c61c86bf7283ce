// The time limit of a phase: everybody's own deadline, then the largest count for a bounded time.
#pragma once

#include <cstdint>
#include <limits>

#include "base/clock.hpp"
#include "comm/group.hpp"
#include "schema/event.hpp"

namespace venturi::execute {

/// Each rank works until its deadline, or to its end. Then all agree, once, on the largest number
/// of operations, and those that were stopped go on to that number, for at most the bound.
class Limiter {
 public:
  Limiter(comm::Group& group, base::Clock& clock, double bound_s)
      : group_(group), clock_(clock), bound_ns_(static_cast<std::uint64_t>(bound_s * 1e9)) {}

  /// The phase begins; until then nothing is limited.
  void begin(std::uint64_t start_ns, double limit_s) noexcept {
    deadline_ns_ = start_ns + static_cast<std::uint64_t>(limit_s * 1e9);
    state_ = State::kRunning;
  }
  /// The limit was not reached yet.
  [[nodiscard]] bool running() const noexcept { return state_ == State::kRunning; }
  [[nodiscard]] bool stopped() const noexcept { return state_ == State::kStopped; }
  /// Whether `check` would wait or stop: what is in flight must end before it.
  [[nodiscard]] bool due(std::uint64_t now_ns) const noexcept {
    return !is_for_others() && due_together(now_ns);
  }
  /// The same for `check_together`.
  [[nodiscard]] bool due_together(std::uint64_t now_ns) const noexcept {
    return (state_ == State::kRunning || state_ == State::kFinishing) && now_ns >= deadline_ns_;
  }
  /// How many operations may be done before the next check.
  [[nodiscard]] std::uint64_t allowance(std::uint64_t done) const noexcept {
    if (state_ != State::kFinishing) return std::numeric_limits<std::uint64_t>::max();
    return done < target_ ? target_ - done : 0;
  }
  /// The phase has calls that ranks make together: where one goes to the agreement and others to
  /// such a call they would wait for each other, so only those calls look when the limit comes.
  void only_together() noexcept { only_together_ = true; }
  /// All who make calls together are stopped, and know it: no such call is to come any more.
  void end_together() noexcept { ended_together_ = true; }
  [[nodiscard]] bool ended_together() const noexcept { return ended_together_; }
  /// To be called by all who make calls together once the limit is `due` for one of them.
  void check_together(std::uint64_t done) {
    check_at(std::numeric_limits<std::uint64_t>::max(), done);
  }
  /// To be called between operations: at the deadline it waits for the agreement.
  void check(std::uint64_t now_ns, std::uint64_t done) {
    if (!is_for_others()) check_at(now_ns, done);
  }
  /// The rank has nothing more to do that the limit could stop, and is about to wait for others
  /// that may not have come to it: meets them there.
  void settle(std::uint64_t done) {
    if (state_ != State::kRunning) return;
    agree(done, false);
    state_ = State::kSettled;
  }
  /// The rank is about to wait for all others in the middle of the phase. Where one of them comes
  /// to its limit before that, this is the agreement, and what is limited goes on behind the wait.
  void meet(std::uint64_t done) {
    if (state_ != State::kRunning || !agree(done, false, false)) return;
    state_ = State::kFinishing;
    deadline_ns_ = clock_.now_ns() + bound_ns_;
  }
  /// The rank's work is done or stopped; every rank calls it once. Says why the phase ended.
  schema::StoppedBy finish(std::uint64_t done) {
    if (state_ == State::kRunning) agree(done, false);
    state_ = State::kOff;
    const bool any_cut = group_.maximum(static_cast<std::uint64_t>(cut_)) != 0;
    if (any_cut) return schema::StoppedBy::kDeadline;
    return any_hit_ ? schema::StoppedBy::kLimit : schema::StoppedBy::kWork;
  }

 private:
  enum class State : std::uint8_t { kOff, kRunning, kFinishing, kSettled, kStopped };

  [[nodiscard]] bool is_for_others() const noexcept {
    return only_together_ && state_ == State::kRunning;
  }

  void check_at(std::uint64_t now_ns, std::uint64_t done) {
    if (state_ == State::kRunning && now_ns >= deadline_ns_) {
      agree(done, true);
      state_ = State::kFinishing;
      deadline_ns_ = clock_.now_ns() + bound_ns_;
      now_ns = clock_.now_ns();
    }
    if (state_ != State::kFinishing) return;
    if (done >= target_) {
      state_ = State::kStopped;
    } else if (now_ns >= deadline_ns_) {
      state_ = State::kStopped;
      cut_ = true;
    }
  }

  /// What all ranks have done at most. False where all of them only came to wait for each other.
  bool agree(std::uint64_t done, bool hit, bool stops = true) {
    std::uint64_t values[] = {done, static_cast<std::uint64_t>(hit), clock_.now_ns(),
                              static_cast<std::uint64_t>(stops)};
    group_.reduce(values, comm::Reduction::kMaximum);
    clock_.advance_to(clock_.is_simulated() ? values[2] : 0);
    if (values[3] == 0) return false;
    target_ = values[0];
    any_hit_ = values[1] != 0;
    return true;
  }

  comm::Group& group_;
  base::Clock& clock_;
  std::uint64_t bound_ns_;
  std::uint64_t deadline_ns_ = 0;
  std::uint64_t target_ = 0;
  State state_ = State::kOff;
  bool any_hit_ = false;
  bool cut_ = false;
  bool only_together_ = false;
  bool ended_together_ = false;
};

}  // namespace venturi::execute
