// Brings what a watching process noticed to whoever may write to stdout.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "comm/message_slot.hpp"
#include "comm/watch.hpp"

namespace venturi::comm {

/// Rank 0 is the only one that writes to stdout, so that no line is torn; it takes notices from
/// the message slot. Where it is silent itself, the watching process speaks.
class Notifier {
 public:
  using Speak = std::function<void(const Notice&)>;

  /// `first` are the counters of rank 0, which is the first one of those that are watched.
  Notifier(MessageSlot& message_slot, const Counters& first, Speak speak)
      : message_slot_(message_slot), first_(first), speak_(std::move(speak)) {}

  void add(const Notice& notice) { notices_.push_back(notice); }
  /// To be called a few times a second.
  void tell(const Watch& watch, std::uint64_t now_ns);
  /// Rank 0 is gone: says what is left to be said.
  void flush();

 private:
  MessageSlot& message_slot_;
  const Counters& first_;
  Speak speak_;
  std::deque<Notice> notices_;
  std::uint64_t posted_ns_ = 0;
};

}  // namespace venturi::comm
