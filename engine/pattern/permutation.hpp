// Random order without replacement in constant memory.
#pragma once

#include <bit>
#include <cstdint>

#include "base/random.hpp"

namespace venturi::pattern {

/// A keyed bijection of [0, size): a Feistel network over the next even number of bits, walked
/// until it lands inside (Black and Rogaway 2002, "Ciphers with arbitrary finite domains"); at
/// most four turns on average.
class Permutation {
 public:
  Permutation(std::uint64_t size, std::uint64_t key) noexcept
      : size_(size),
        key_(key),
        half_bits_((static_cast<unsigned>(std::bit_width(size > 1 ? size - 1 : 1)) + 1) / 2),
        mask_((std::uint64_t{1} << half_bits_) - 1) {}

  /// Where `index` < size goes.
  [[nodiscard]] std::uint64_t operator()(std::uint64_t index) const noexcept {
    do {
      index = shuffle(index);
    } while (index >= size_);
    return index;
  }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

 private:
  static constexpr std::uint64_t kRounds = 4;

  [[nodiscard]] std::uint64_t shuffle(std::uint64_t index) const noexcept {
    std::uint64_t left = index >> half_bits_;
    std::uint64_t right = index & mask_;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const std::uint64_t next = left ^ (base::mix(key_ + (round << 56U) + right) & mask_);
      left = right;
      right = next;
    }
    return (left << half_bits_) | right;
  }

  std::uint64_t size_;
  std::uint64_t key_;
  unsigned half_bits_;
  std::uint64_t mask_;
};

}  // namespace venturi::pattern
