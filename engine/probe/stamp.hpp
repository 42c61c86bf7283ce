// What a probe's files hold: bytes that do not compress and that name the probe, so that whoever
// reads a file knows whose it is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/random.hpp"

namespace venturi::probe {

/// The first bytes of a file of the pool and of each page of a data block.
struct Stamp {
  std::uint64_t key_high = 0;
  std::uint64_t key_low = 0;
  /// Of a file its number, of a page its offset in the data file.
  std::uint64_t place = 0;
  /// Makes two writes of one place differ.
  std::uint64_t draw = 0;

  [[nodiscard]] bool is_of(const Stamp& other) const noexcept {
    return key_high == other.key_high && key_low == other.key_low && place == other.place;
  }
};
static_assert(sizeof(Stamp) == 32);

/// Fills memory with random bytes of a key.
inline void fill_random(std::span<std::byte> memory, std::uint64_t key) noexcept {
  for (std::size_t at = 0; at < memory.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word = base::combine(key, at);
    std::memcpy(memory.data() + at, &word, std::min(sizeof word, memory.size() - at));
  }
}

/// Writes a stamp to the beginning of memory, which holds at least that many bytes.
inline void put_stamp(std::span<std::byte> memory, const Stamp& stamp) noexcept {
  std::memcpy(memory.data(), &stamp, sizeof stamp);
}

/// The stamp at the beginning of memory, which holds at least that many bytes.
inline Stamp stamp_of(std::span<const std::byte> memory) noexcept {
  Stamp stamp;
  std::memcpy(&stamp, memory.data(), sizeof stamp);
  return stamp;
}

}  // namespace venturi::probe
