// Rejection-inversion for Zipf's law.
#include "pattern/zipf.hpp"

#include <cmath>

#include "base/random.hpp"

namespace venturi::pattern {
namespace {

/// (exp(x) - 1) / x, continued through 0.
double relative_exp(double x) noexcept { return x == 0.0 ? 1.0 : std::expm1(x) / x; }

/// log(1 + x) / x, continued through 0.
double relative_log(double x) noexcept { return x == 0.0 ? 1.0 : std::log1p(x) / x; }

}  // namespace

Zipf::Zipf(std::uint64_t n, double exponent) noexcept
    : n_(n),
      exponent_(exponent),
      lowest_(integral(1.5) - 1.0),
      highest_(integral(static_cast<double>(n) + 0.5)),
      sure_(2.0 - inverse(integral(2.5) - density(2.0))) {}

double Zipf::integral(double x) const noexcept {
  const double log_x = std::log(x);
  return relative_exp((1.0 - exponent_) * log_x) * log_x;
}

double Zipf::inverse(double y) const noexcept {
  const double t = std::max(y * (1.0 - exponent_), -1.0);
  return std::exp(relative_log(t) * y);
}

double Zipf::density(double x) const noexcept { return std::exp(-exponent_ * std::log(x)); }

std::uint64_t Zipf::operator()(std::uint64_t key, std::uint64_t index) const noexcept {
  for (std::uint64_t attempt = 0;; ++attempt) {
    const double share = base::uniform_real(key + attempt, index);
    const double y = highest_ + share * (lowest_ - highest_);
    const double x = inverse(y);
    const double nearest = std::clamp(std::floor(x + 0.5), 1.0, static_cast<double>(n_));
    if (nearest - x <= sure_ || y >= integral(nearest + 0.5) - density(nearest)) {
      return std::min(static_cast<std::uint64_t>(nearest), n_);
    }
  }
}

ZipfCursor::ZipfCursor(const SlotShape& shape, double exponent, std::uint64_t key)
    : shape_(shape),
      exponent_(exponent),
      key_(key),
      zipf_(std::max<std::uint64_t>(shape.slots, 1), exponent),
      places_(shape.slots, key) {
  shape_.replacement = true;
  check_slots(shape_);
}

void ZipfCursor::keep_within(std::uint64_t slots) {
  if (slots >= shape_.slots) return;
  shape_.slots = slots;
  zipf_ = Zipf(std::max<std::uint64_t>(slots, 1), exponent_);
  places_ = Permutation(std::max<std::uint64_t>(slots, 1), key_);
  if (slots == 0) shape_.count = done_;
}

}  // namespace venturi::pattern
