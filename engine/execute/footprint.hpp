// What computing leaves behind in the processor's caches: an application's data in place of ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace venturi::execute {

/// Memory that is walked through while a rank computes between two requests, as fast as
/// applications use up their caches. Without it the next request finds the kernel's data, and its
/// own, where the one before left them, which no application's does.
class Footprint {
 public:
  /// Computing begins. What was used too much before, because lines are used many at a time, is
  /// taken off.
  void begin();
  /// Uses as much memory as computing for so long does.
  void reach(std::uint64_t elapsed_ns);
  /// What was used since computing began, in units of 1 KiB; what was skipped counts, too.
  [[nodiscard]] std::uint64_t used_bytes() const noexcept { return used_bytes_; }
  [[nodiscard]] const std::vector<std::byte>& memory() const noexcept { return memory_; }

 private:
  std::vector<std::byte> memory_;
  std::size_t at_ = 0;
  std::uint64_t wanted_bytes_ = 0;
  std::uint64_t used_bytes_ = 0;
};

}  // namespace venturi::execute
