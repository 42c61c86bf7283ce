// What computing leaves behind in the processor's caches: an application's data in place of ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace venturi::execute {

/// Memory that is walked through, and code that is run, while a rank computes between two requests,
/// as fast as applications use up their caches. Without it the next request finds the kernel's data
/// and code, and its own, where the one before left them, which no application's does.
class Footprint {
 public:
  /// Computing begins. What was used too much before, because lines are used many at a time, is
  /// taken off.
  void begin();
  /// Uses as much memory and code as computing for so long does.
  void reach(std::uint64_t elapsed_ns);
  /// What was used since computing began, in units of 1 KiB; what was skipped counts, too.
  [[nodiscard]] std::uint64_t used_bytes() const noexcept { return bytes_.used; }
  /// The same of code, in units of 16 pieces of a cache line or two.
  [[nodiscard]] std::uint64_t used_pieces() const noexcept { return pieces_.used; }
  [[nodiscard]] const std::vector<std::byte>& memory() const noexcept { return memory_; }

 private:
  /// How much was to be used since computing began, and how much was.
  struct Use {
    std::uint64_t wanted = 0;
    std::uint64_t used = 0;

    void begin();
    /// So much is to be used by now; more than `most` at once is skipped.
    void want(std::uint64_t much, std::uint64_t most);
  };

  std::vector<std::byte> memory_;
  std::size_t at_ = 0;
  Use bytes_;
  Use pieces_;
  std::size_t next_piece_ = 0;
  /// What the pieces of code are given, so that their branches go both ways.
  std::uint64_t value_ = 1;
};

}  // namespace venturi::execute
