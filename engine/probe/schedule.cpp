// The grid, what passes while an operation hangs, and the rate at which a sick storage is asked.
#include "probe/schedule.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace venturi::probe {
namespace {

constexpr std::array kMetadataTurn{Operation::kStat, Operation::kRead, Operation::kDelete,
                                   Operation::kCreate};
constexpr std::array kDataTurn{Operation::kDataWrite, Operation::kDataRead};
constexpr std::uint64_t kSickAfterNs = 60'000'000'000;
constexpr std::uint64_t kSickOperations = 3;
/// Turns that have to be well before the rate is the usual one again.
constexpr std::uint64_t kWellTurns = 3;
constexpr std::uint64_t kSlower = 10;

std::span<const Operation> operations_of(Kind kind) {
  if (kind == Kind::kData) return kDataTurn;
  return kMetadataTurn;
}

}  // namespace

Schedule::Schedule(Ring& ring, Storage& storage, Time& time)
    : ring_(ring),
      storage_(storage),
      time_(time),
      operations_(operations_of(ring.header().kind)),
      normal_step_ns_(std::max<std::uint64_t>(1, ring.header().interval_ns / operations_.size())),
      step_ns_(normal_step_ns_) {}

void Schedule::recover() {
  Header& head = ring_.header();
  const InFlight left = head.in_flight;
  if (left.operation == 0) return;
  const std::uint64_t step = std::max<std::uint64_t>(1, head.step_ns);
  const std::uint64_t alive = std::max(head.alive_monotonic_ns, left.scheduled_monotonic_ns);
  const std::uint64_t lasted = alive - left.scheduled_monotonic_ns;
  const auto first = static_cast<std::uint64_t>(
      std::find(operations_.begin(), operations_.end(), Operation(left.operation - 1)) -
      operations_.begin());
  const bool slow = step > normal_step_ns_;
  for (std::uint64_t passed = 0; passed <= lasted / step; ++passed) {
    const Operation own = operations_[(first + passed) % operations_.size()];
    const unsigned flags = kAbandoned | (passed > 0 ? kMissed : 0) | (slow ? kBackedOff : 0);
    ring_.append({.scheduled_ns = static_cast<std::int64_t>(left.scheduled_ns + passed * step),
                  .response_ns = static_cast<std::int64_t>(lasted - passed * step),
                  .operation = static_cast<std::uint8_t>(own),
                  .flags = static_cast<std::uint8_t>(flags)});
  }
  ring_.set_in_flight({});
}

void Schedule::run() {
  const std::uint64_t interval = ring_.header().interval_ns;
  const std::uint64_t wall = time_.wall_ns();
  const std::uint64_t now = time_.monotonic_ns();
  wall_offset_ns_ = static_cast<std::int64_t>(wall) - static_cast<std::int64_t>(now);
  const std::uint64_t within = (wall + interval - ring_.header().offset_ns % interval) % interval;
  due_ns_ = now + interval - within;
  ring_.header().step_ns = step_ns_;
  while (!time_.must_stop()) {
    storage_.make_ready(operation());
    time_.sleep_until(due_ns_);
    if (time_.must_stop()) break;
    take_turn();
  }
}

Operation Schedule::operation() const noexcept { return operations_[turn_ % operations_.size()]; }

std::uint64_t Schedule::wall_of(std::uint64_t monotonic_ns) const noexcept {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(monotonic_ns) + wall_offset_ns_);
}

void Schedule::follow_wall_clock() noexcept {
  const auto now = static_cast<std::int64_t>(time_.monotonic_ns());
  const std::int64_t offset = static_cast<std::int64_t>(time_.wall_ns()) - now;
  const auto most = static_cast<std::int64_t>(ring_.header().interval_ns / 2);
  if (std::abs(offset - wall_offset_ns_) > most) ring_.header().clock_steps += 1;
  wall_offset_ns_ = offset;
}

void Schedule::take_turn() {
  follow_wall_clock();
  const Operation own = operation();
  if (!storage_.is_due(own)) {
    append(own, kWithheld, 0, due_ns_, 0);
    advance();
    return skip_passed(time_.monotonic_ns());
  }
  ring_.set_in_flight({.operation = static_cast<std::uint64_t>(own) + 1,
                       .scheduled_monotonic_ns = due_ns_,
                       .scheduled_ns = wall_of(due_ns_)});
  const std::uint64_t start = time_.monotonic_ns();
  const Outcome outcome = storage_.perform(own);
  const std::uint64_t end = std::max(start, time_.monotonic_ns());
  const std::uint64_t own_ns = std::min(outcome.own_ns, end - start);
  const unsigned failed = outcome.error != 0 ? unsigned{kFailed} : 0U;
  append(own, static_cast<std::uint8_t>(outcome.flags | failed), outcome.error, end - own_ns,
         end - start - own_ns);
  ring_.set_in_flight({});
  const bool is_bad = outcome.error != 0 || end - due_ns_ > ring_.header().interval_ns / 2;
  advance();
  skip_passed(end);
  judge(is_bad, end);
}

void Schedule::append(Operation operation, std::uint8_t flags, int error, std::uint64_t end_ns,
                      std::uint64_t service_ns) {
  const unsigned slow = step_ns_ > normal_step_ns_ ? unsigned{kBackedOff} : 0U;
  ring_.append({.scheduled_ns = static_cast<std::int64_t>(wall_of(due_ns_)),
                .response_ns = static_cast<std::int64_t>(std::max(end_ns, due_ns_) - due_ns_),
                .service_ns = static_cast<std::int64_t>(service_ns),
                .operation = static_cast<std::uint8_t>(operation),
                .flags = static_cast<std::uint8_t>(flags | slow),
                .error = static_cast<std::int16_t>(error)});
}

void Schedule::advance() noexcept {
  due_ns_ += step_ns_;
  turn_ += 1;
}

void Schedule::skip_passed(std::uint64_t now_ns) {
  while (due_ns_ + step_ns_ <= now_ns) {
    append(operation(), kMissed, 0, now_ns, 0);
    advance();
  }
}

void Schedule::judge(bool was_bad, std::uint64_t now_ns) noexcept {
  if (ring_.header().backs_off == 0) return;
  if (was_bad) {
    good_operations_ = 0;
    if (bad_operations_++ == 0) bad_since_ns_ = now_ns;
  } else {
    bad_operations_ = 0;
    good_operations_ += 1;
  }
  const bool is_slow = step_ns_ > normal_step_ns_;
  if (!is_slow && bad_operations_ >= kSickOperations && now_ns - bad_since_ns_ > kSickAfterNs) {
    step_ns_ = normal_step_ns_ * kSlower;
  } else if (is_slow && good_operations_ >= kWellTurns * operations_.size()) {
    due_ns_ -= step_ns_ - normal_step_ns_;
    due_ns_ = std::max(due_ns_, now_ns);
    step_ns_ = normal_step_ns_;
  }
  ring_.header().step_ns = step_ns_;
}

}  // namespace venturi::probe
