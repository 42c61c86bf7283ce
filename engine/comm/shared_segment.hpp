// The memory that forked ranks share, and the barrier and reductions in it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "comm/channel.hpp"
#include "comm/problem_text.hpp"

namespace venturi::comm {

/// Anonymous shared memory of `ranks` processes; made before they are forked.
class SharedSegment {
 public:
  /// The bytes that one rank hands over at a time.
  static constexpr std::size_t kSlotBytes = 8192;

  /// Throws base::Error when the memory cannot be had.
  explicit SharedSegment(std::size_t ranks);
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;
  ~SharedSegment();

  /// All ranks wait for each other. Throws when the group was aborted.
  void barrier(const Poll& poll);
  [[nodiscard]] std::byte* slot(std::size_t rank) noexcept;
  [[nodiscard]] std::byte* result() noexcept;
  [[nodiscard]] std::span<Counters> counters() noexcept;

  /// The rank left in order: its end is not a loss.
  void leave(std::size_t rank) noexcept;
  [[nodiscard]] bool has_left(std::size_t rank) const noexcept;

  void abort(const base::Problem& problem) noexcept;
  [[nodiscard]] bool aborted() const noexcept;
  /// The problem of the first abort; only after `aborted`.
  [[nodiscard]] base::Problem problem() const;

 private:
  struct Header {
    alignas(64) std::atomic<std::uint32_t> arrived = 0;
    alignas(64) std::atomic<std::uint32_t> generation = 0;
    std::atomic<std::uint32_t> sleepers = 0;
    /// 0 fine, 1 somebody is writing the problem, 2 it is written.
    alignas(64) std::atomic<std::uint32_t> abort_state = 0;
    ProblemText problem;
  };

  void wait_for_generation(std::uint32_t old, const Poll& poll);
  void check() const;

  std::size_t ranks_;
  std::size_t bytes_ = 0;
  std::byte* memory_ = nullptr;
  Header* header_ = nullptr;
  Counters* counters_ = nullptr;
  std::atomic<std::uint8_t>* left_ = nullptr;
  std::byte* result_ = nullptr;
  std::byte* slots_ = nullptr;
  /// Spinning helps only if every rank has a core of its own.
  bool spin_ = false;
};

}  // namespace venturi::comm
