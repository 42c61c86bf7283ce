// Skewed random access: few places are touched often, most of them rarely.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pattern/permutation.hpp"
#include "pattern/random.hpp"

namespace venturi::pattern {

/// Numbers 1 ... n, of which k comes with a probability in proportion to k ** -exponent, in
/// constant memory and time: rejection from the inverse of a continuous distribution (Hörmann and
/// Derflinger 1996, "Rejection-inversion to generate variates from monotone discrete
/// distributions"). The same number for the same key and index.
class Zipf {
 public:
  /// n >= 1, exponent > 0.
  Zipf(std::uint64_t n, double exponent) noexcept;
  [[nodiscard]] std::uint64_t operator()(std::uint64_t key, std::uint64_t index) const noexcept;

 private:
  /// The integral of x ** -exponent, up to a constant, and its inverse.
  [[nodiscard]] double integral(double x) const noexcept;
  [[nodiscard]] double inverse(double y) const noexcept;
  [[nodiscard]] double density(double x) const noexcept;

  std::uint64_t n_;
  double exponent_;
  double lowest_;
  double highest_;
  /// Below this distance to a whole number a point is taken without looking.
  double sure_;
};

/// Random access with replacement to slots whose frequencies follow Zipf's law; which slots are
/// the frequent ones is chosen by the key.
class ZipfCursor {
 public:
  static constexpr bool kUniform = true;

  /// Throws like `check_slots`; `exponent` > 0.
  ZipfCursor(const SlotShape& shape, double exponent, std::uint64_t key);
  [[nodiscard]] std::uint64_t left() const noexcept { return shape_.count - done_; }
  /// Touches only the first `slots` slots.
  void keep_within(std::uint64_t slots);
  /// The next request; only if `left()` > 0.
  Piece take() noexcept { return {next(), shape_.size_bytes}; }
  /// Its offset alone.
  std::uint64_t next() noexcept {
    const std::uint64_t index = shape_.first + done_ * shape_.step;
    ++done_;
    const std::uint64_t slot = places_(zipf_(key_, index) - 1);
    return static_cast<std::uint64_t>(shape_.base_bytes) + slot * shape_.size_bytes;
  }

 private:
  SlotShape shape_;
  double exponent_;
  std::uint64_t key_;
  Zipf zipf_;
  Permutation places_;
  std::uint64_t done_ = 0;
};

}  // namespace venturi::pattern
