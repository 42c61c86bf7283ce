// Waiting for intended starts: asleep while there is time, awake for the last part.
#include "execute/schedule.hpp"

#include <algorithm>
#include <cmath>

#include "base/random.hpp"

namespace venturi::execute {
namespace {

constexpr std::uint64_t kSliceNs = 10'000'000;

}  // namespace

Schedule::Schedule(Context& context, const schema::Transfer& step, std::uint64_t key)
    : context_(context),
      mean_ns_(base::kNsPerS / step.rate_per_s),
      poisson_(step.arrivals == schema::Arrivals::kPoisson),
      key_(key),
      start_ns_(context.clock.now_ns()),
      last_end_ns_(start_ns_) {
  if (poisson_) next_after_ns_ = distance_ns(0);
}

Schedule::~Schedule() {
  if (requests_ == 0) return;
  context_.meter().add_schedule(
      {.requests = requests_,
       .late = late_,
       .most_late_ns = most_late_ns_,
       .wanted_ns = static_cast<std::uint64_t>(static_cast<double>(requests_) * mean_ns_),
       .took_ns = last_end_ns_ - start_ns_});
}

double Schedule::distance_ns(std::uint64_t index) const noexcept {
  return poisson_ ? -std::log(base::uniform_real(key_, index)) * mean_ns_ : mean_ns_;
}

bool Schedule::wait() {
  const std::uint64_t next = next_ns();
  if (context_.clock.is_simulated()) context_.clock.advance_to(next);
  for (std::uint64_t now = context_.clock.now_ns(); now < next; now = context_.clock.now_ns()) {
    const std::uint64_t left = next - now;
    if (left > kAwakeNs) {
      const auto slice = static_cast<long>(std::min(left - kAwakeNs, kSliceNs));
      const timespec time{.tv_sec = 0, .tv_nsec = slice};
      nanosleep(&time, nullptr);
    }
    context_.tick(now);
    context_.check_limit(now);
    if (context_.idle()) return false;
  }
  return true;
}

bool Schedule::come_to_turn(std::uint64_t& intended_ns) {
  intended_ns = next_ns();
  const std::uint64_t now = context_.clock.now_ns();
  const std::uint64_t late_ns = started_ > 0 && now > intended_ns ? now - intended_ns : 0;
  if (!wait()) return false;
  start(late_ns);
  return true;
}

void Schedule::start(std::uint64_t late_ns) noexcept {
  late_ += static_cast<std::uint64_t>(late_ns > 0);
  most_late_ns_ = std::max(most_late_ns_, late_ns);
  ++started_;
  // Without the sum of rounded distances: fixed starts stay exact however many there are.
  next_after_ns_ =
      poisson_ ? next_after_ns_ + distance_ns(started_) : static_cast<double>(started_) * mean_ns_;
}

}  // namespace venturi::execute
