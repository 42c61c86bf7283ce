// Brings what a watching process noticed to whoever may write to stdout.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "comm/bulletin.hpp"
#include "comm/watch.hpp"

namespace venturi::comm {

/// Rank 0 is the only one that writes to stdout, so that no line is torn; it takes notices from
/// the bulletin. Where it is silent itself, the watching process speaks.
class Herald {
 public:
  using Speak = std::function<void(const Notice&)>;

  /// `first` are the counters of rank 0, which is the first one of those that are watched.
  Herald(Bulletin& bulletin, const Counters& first, Speak speak)
      : bulletin_(bulletin), first_(first), speak_(std::move(speak)) {}

  void add(const Notice& notice) { notices_.push_back(notice); }
  /// To be called a few times a second.
  void tell(const Watch& watch, std::uint64_t now_ns);
  /// Rank 0 is gone: says what is left to be said.
  void flush();

 private:
  Bulletin& bulletin_;
  const Counters& first_;
  Speak speak_;
  std::deque<Notice> notices_;
  std::uint64_t posted_ns_ = 0;
};

}  // namespace venturi::comm
