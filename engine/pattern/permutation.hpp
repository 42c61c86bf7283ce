// Random order without replacement in constant memory.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "base/random.hpp"

namespace venturi::pattern {

/// A keyed bijection of [0, size). Large ones are a Feistel network over the next even number of
/// bits, walked until it lands inside (Black and Rogaway 2002, "Ciphers with arbitrary finite
/// domains"); at most four turns on average. Four rounds show a bias in pairs of places at all
/// sizes, six do not; on few places no number of rounds is enough, so these are shuffled.
class Permutation {
 public:
  Permutation(std::uint64_t size, std::uint64_t key) noexcept
      : size_(size),
        key_(key),
        half_bits_((static_cast<unsigned>(std::bit_width(size > 1 ? size - 1 : 1)) + 1) / 2),
        mask_((std::uint64_t{1} << half_bits_) - 1) {
    if (size <= kFew) shuffle_few();
  }

  /// Where `index` < size goes.
  [[nodiscard]] std::uint64_t operator()(std::uint64_t index) const noexcept {
    if (size_ <= kFew) return few_[index];
    do {
      index = shuffle(index);
    } while (index >= size_);
    return index;
  }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

 private:
  static constexpr std::uint64_t kRounds = 6;
  static constexpr std::uint64_t kFew = 256;

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

  /// Fisher and Yates, from the end on.
  void shuffle_few() noexcept {
    for (std::uint64_t i = 0; i < size_; ++i) few_[i] = static_cast<std::uint8_t>(i);
    for (std::uint64_t i = size_; i > 1; --i) {
      std::swap(few_[i - 1], few_[base::uniform(key_, i, i)]);
    }
  }

  std::uint64_t size_;
  std::uint64_t key_;
  unsigned half_bits_;
  std::uint64_t mask_;
  std::array<std::uint8_t, kFew> few_{};
};

}  // namespace venturi::pattern
