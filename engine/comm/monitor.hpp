// The parent of forked ranks: reaps them, watches them, and ends them when the group breaks.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "comm/launch.hpp"
#include "comm/notifier.hpp"
#include "comm/shared_segment.hpp"
#include "comm/watch.hpp"

namespace venturi::comm {

/// Lives in a process that does no I/O on the target, so nothing there can stop it.
class Monitor {
 public:
  Monitor(SharedSegment& segment, const Launch& how);

  /// Forks all ranks; each runs `be`, which does not return. If the system refuses one of them,
  /// the group is aborted.
  void start(const std::function<void(std::size_t)>& be);
  /// Waits until all are gone, or until those that are left cannot be killed. Returns the largest
  /// exit code of those that left in order.
  int wait();
  /// The ranks that could not be killed, as words; empty if there are none.
  [[nodiscard]] std::string unkillable() const;

 private:
  std::size_t reap();
  void lose(std::size_t rank, int status);
  void pass_on(int number) const;
  void watch();
  /// Whether there is nothing left to wait for.
  bool enforce_end();

  SharedSegment& segment_;
  const Launch& how_;
  Watch watch_;
  Notifier notifier_;
  std::vector<pid_t> pids_;
  int code_ = 0;
  std::uint64_t aborted_ns_ = 0;
  bool overdue_ = false;
};

}  // namespace venturi::comm
