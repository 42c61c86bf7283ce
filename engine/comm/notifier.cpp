// A notice is posted, taken by rank 0 at its next poll, or taken back.
#include "comm/notifier.hpp"

namespace venturi::comm {
namespace {

/// A rank 0 that has not taken a notice after this long will not.
constexpr std::uint64_t kPatienceNs = 1'000'000'000;

}  // namespace

void Notifier::tell(const Watch& watch, std::uint64_t now_ns) {
  if (posted_ns_ != 0 && now_ns - posted_ns_ > kPatienceNs && watch.is_silent(0, now_ns)) {
    posted_ns_ = 0;
    Notice own;
    // In the middle of a line of rank 0 there is no place for another one.
    const bool torn = first_.reporting.load(std::memory_order_relaxed) != 0;
    if (message_slot_.take(own) && !torn) speak_(own);
  }
  if (notices_.empty() || !message_slot_.post(notices_.front())) return;
  notices_.pop_front();
  posted_ns_ = now_ns;
}

void Notifier::flush() {
  Notice last;
  if (message_slot_.take(last)) speak_(last);
  for (const Notice& notice : notices_) speak_(notice);
  notices_.clear();
}

}  // namespace venturi::comm
