// Random access to equal slots, each once or drawn anew every time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/random.hpp"
#include "pattern/permutation.hpp"
#include "pattern/piece.hpp"

namespace venturi::pattern {

/// Slots of a region and the requests that one rank makes to them: number `first`, and every
/// `step`-th from there on. What a request touches depends on its number alone, so the requests of
/// all ranks together touch the same slots on every number of ranks.
struct SlotShape {
  std::int64_t base_bytes = 0;
  std::uint64_t slots = 0;
  std::uint64_t count = 0;
  std::uint64_t first = 0;
  std::uint64_t step = 0;
  std::uint64_t size_bytes = 0;
  bool replacement = false;
};

/// Throws base::Error (exit 2) when an offset or a number does not fit, or when a slot would be
/// touched twice without replacement.
void check_slots(const SlotShape& shape);

/// Uniform random access: a keyed permutation of the slots, or with replacement.
class RandomCursor {
 public:
  static constexpr bool kUniform = true;
  using Shape = SlotShape;

  /// Throws like `check_slots`.
  RandomCursor(const Shape& shape, std::uint64_t key);
  [[nodiscard]] std::uint64_t left() const noexcept { return shape_.count - done_; }
  /// Touches only the first `slots` slots; without replacement, each at most once.
  void keep_within(std::uint64_t slots);
  /// Makes only the first `requests` requests, where they are.
  void stop_after(std::uint64_t requests) noexcept {
    shape_.count = std::min(shape_.count, requests);
  }
  /// The same number for all ranks whose requests with the same number touch the same place; never
  /// 0, 1 or the largest one.
  [[nodiscard]] std::uint64_t digest() const noexcept;
  /// The next request; only if `left()` > 0.
  Piece take() noexcept { return {next(), shape_.size_bytes}; }
  /// Its offset alone.
  std::uint64_t next() noexcept {
    const std::uint64_t index = shape_.first + done_ * shape_.step;
    ++done_;
    const std::uint64_t slot =
        shape_.replacement ? base::uniform(key_, index, shape_.slots) : permutation_(index);
    return static_cast<std::uint64_t>(shape_.base_bytes) + slot * shape_.size_bytes;
  }

 private:
  Shape shape_;
  std::uint64_t key_;
  Permutation permutation_;
  std::uint64_t done_ = 0;
};

}  // namespace venturi::pattern
