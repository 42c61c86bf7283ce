// Filling, checking and explaining stamped bytes.
#include "payload/stamp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/random.hpp"

namespace venturi::payload {
namespace {

constexpr std::uint64_t kWordBytes = 8;
constexpr std::uint64_t kPageBytes = 4096;
constexpr double kWordsPerPage = static_cast<double>(kPageBytes) / static_cast<double>(kWordBytes);
/// Offsets beyond this (2 PiB) are taken for chance, not for a misplaced block.
constexpr std::uint64_t kPlausibleWords = std::uint64_t{1} << 48U;
/// Generations beyond the expected one that are tried.
constexpr std::uint64_t kLaterGenerations = 16;
constexpr std::uint64_t kPoison = 0xdeadbeefcafef00dU;

static_assert(std::endian::native == std::endian::little, "stamps are little-endian words");

std::uint64_t key_of(const Stamp::Origin& origin, std::uint64_t generation) {
  return base::combine(base::combine(origin.seed, origin.path_key), generation);
}

std::uint64_t load(const std::byte* from) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, from, kWordBytes);
  return word;
}

/// Splits bytes at `offset` into a part before the first whole word, whole words and a rest.
struct Split {
  std::size_t head;
  std::size_t body;

  Split(std::size_t size, std::uint64_t offset)
      : head(std::min<std::size_t>(size, (kWordBytes - offset % kWordBytes) % kWordBytes)),
        body((size - head) / kWordBytes * kWordBytes) {}
};

}  // namespace

Stamp::Stamp(const Origin& origin)
    : origin_(origin),
      key_(key_of(origin, origin.generation)),
      data_bytes_(
          static_cast<std::uint64_t>(std::lround((1.0 - origin.compressibility) * kWordsPerPage)) *
          kWordBytes) {}

std::uint64_t Stamp::word(std::uint64_t index) const noexcept {
  return index * kWordBytes % kPageBytes < data_bytes_ ? base::mix(key_ ^ index) : 0;
}

void Stamp::fill(std::span<std::byte> data, std::uint64_t offset) const {
  const Split split(data.size(), offset);
  const auto fill_part = [&](std::size_t at, std::size_t bytes) {
    const std::uint64_t whole = word((offset + at) / kWordBytes);
    const auto* source = reinterpret_cast<const std::byte*>(&whole);
    std::memcpy(data.data() + at, source + (offset + at) % kWordBytes, bytes);
  };
  if (split.head > 0) fill_part(0, split.head);
  std::size_t at = split.head;
  const std::size_t end = split.head + split.body;
  while (at < end) {
    const std::uint64_t in_page = (offset + at) % kPageBytes;
    const bool zeros = in_page >= data_bytes_;
    const std::size_t run =
        std::min<std::size_t>(end - at, (zeros ? kPageBytes : data_bytes_) - in_page);
    std::byte* out = data.data() + at;
    if (zeros) {
      std::memset(out, 0, run);
    } else {
      const std::uint64_t first = (offset + at) / kWordBytes;
      for (std::size_t i = 0; i < run / kWordBytes; ++i) {
        const std::uint64_t value = base::mix(key_ ^ (first + i));
        std::memcpy(out + i * kWordBytes, &value, kWordBytes);
      }
    }
    at += run;
  }
  if (end < data.size()) fill_part(end, data.size() - end);
}

bool Stamp::matches(std::span<const std::byte> data, std::uint64_t offset) const {
  const Split split(data.size(), offset);
  const auto part_matches = [&](std::size_t at, std::size_t bytes) {
    const std::uint64_t whole = word((offset + at) / kWordBytes);
    const auto* source = reinterpret_cast<const std::byte*>(&whole);
    return std::memcmp(data.data() + at, source + (offset + at) % kWordBytes, bytes) == 0;
  };
  if (split.head > 0 && !part_matches(0, split.head)) return false;
  std::uint64_t difference = 0;
  const std::uint64_t first = (offset + split.head) / kWordBytes;
  const std::byte* from = data.data() + split.head;
  for (std::size_t i = 0; i < split.body / kWordBytes; ++i) {
    difference |= load(from + i * kWordBytes) ^ word(first + i);
  }
  const std::size_t end = split.head + split.body;
  return difference == 0 && (end == data.size() || part_matches(end, data.size() - end));
}

std::string Stamp::explain(std::span<const std::byte> data, std::uint64_t offset) const {
  const bool all_zero =
      std::all_of(data.begin(), data.end(), [](std::byte b) { return b == std::byte{0}; });
  if (all_zero) return "hole: only zeros where data was written";
  const Split split(data.size(), offset);
  const std::uint64_t first = (offset + split.head) / kWordBytes;
  for (std::size_t i = 0; i < split.body / kWordBytes; ++i) {
    const std::uint64_t found = load(data.data() + split.head + i * kWordBytes);
    if (found != word(first + i)) return explain_word(found, first + i);
  }
  return fmt::format("corrupt: odd bytes at offset {} differ",
                     split.head > 0 ? offset : offset + split.head + split.body);
}

std::string Stamp::explain_word(std::uint64_t found, std::uint64_t index) const {
  const std::uint64_t at = index * kWordBytes;
  const std::uint64_t difference = found ^ word(index);
  if (found == kPoison) return fmt::format("not read: offset {} was not filled", at);
  if (found == 0) return fmt::format("hole: zeros at offset {} where data was written", at);
  if (std::popcount(difference) <= 2) {
    return fmt::format("flipped bit: {} bit(s) differ at offset {}, the first is bit {} of byte {}",
                       std::popcount(difference), at, std::countr_zero(difference) % 8,
                       at + static_cast<unsigned>(std::countr_zero(difference)) / 8);
  }
  const std::uint64_t origin = base::unmix(found);
  if ((origin ^ key_) < kPlausibleWords) {
    return fmt::format("misplaced: offset {} holds what belongs to offset {}", at,
                       (origin ^ key_) * kWordBytes);
  }
  for (std::uint64_t g = 0; g <= origin_.generation + kLaterGenerations; ++g) {
    if ((origin ^ key_of(origin_, g)) == index) {
      return fmt::format("stale: offset {} holds generation {} instead of {}", at, g,
                         origin_.generation);
    }
  }
  return fmt::format("corrupt: offset {} holds {:#018x} instead of {:#018x}", at, found,
                     word(index));
}

void poison(std::span<std::byte> data) noexcept {
  for (std::size_t at = 0; at < data.size(); at += kPageBytes) {
    std::memcpy(data.data() + at, &kPoison, std::min<std::size_t>(kWordBytes, data.size() - at));
  }
}

}  // namespace venturi::payload
