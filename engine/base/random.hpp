// Seeded, stateless random numbers: a bijective 64-bit mix, its inverse, and uniform choices.
#pragma once

#include <cstdint>
#include <string_view>

namespace venturi::base {

inline constexpr std::uint64_t kMixFirst = 0xbf58476d1ce4e5b9U;
inline constexpr std::uint64_t kMixSecond = 0x94d049bb133111ebU;

/// SplitMix64's finaliser (Steele, Lea, Flood 2014, variant 13 of Stafford): a bijection.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30U)) * kMixFirst;
  x = (x ^ (x >> 27U)) * kMixSecond;
  return x ^ (x >> 31U);
}

/// The inverse of an odd factor modulo 2^64, by Newton's iteration.
[[nodiscard]] constexpr std::uint64_t inverse_factor(std::uint64_t odd) noexcept {
  std::uint64_t inverse = odd;
  for (int round = 0; round < 6; ++round) inverse *= 2 - odd * inverse;
  return inverse;
}

/// The inverse of `mix`.
[[nodiscard]] constexpr std::uint64_t unmix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 31U) ^ (x >> 62U)) * inverse_factor(kMixSecond);
  x = (x ^ (x >> 27U) ^ (x >> 54U)) * inverse_factor(kMixFirst);
  return x ^ (x >> 30U) ^ (x >> 60U);
}

/// One key out of two.
[[nodiscard]] constexpr std::uint64_t combine(std::uint64_t a, std::uint64_t b) noexcept {
  return mix(mix(a + 0x9e3779b97f4a7c15U) ^ b);
}

/// A key of a text (FNV-1a, then mixed).
[[nodiscard]] constexpr std::uint64_t key_of(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  }
  return mix(hash);
}

/// Uniform in [0, bound), the same for the same key and index; unbiased (Lemire 2019).
[[nodiscard]] inline std::uint64_t uniform(std::uint64_t key, std::uint64_t index,
                                           std::uint64_t bound) noexcept {
  __extension__ using Wide = unsigned __int128;
  std::uint64_t draw = combine(key, index);
  Wide product = Wide{draw} * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < threshold) {
      draw = mix(draw + 0x9e3779b97f4a7c15U);
      product = Wide{draw} * bound;
    }
  }
  return static_cast<std::uint64_t>(product >> 64U);
}

/// Uniform in (0, 1), the same for the same key and index; 53 bits.
[[nodiscard]] inline double uniform_real(std::uint64_t key, std::uint64_t index) noexcept {
  constexpr double kStep = 1.0 / 9007199254740992.0;
  return (static_cast<double>(combine(key, index) >> 11U) + 0.5) * kStep;
}

}  // namespace venturi::base
