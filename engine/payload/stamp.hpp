// What the bytes of a file are: words that say file, generation and offset, and can be inverted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace venturi::payload {

/// The 8-byte word number i of a file is mix(key ^ i), where the key is made of the seed, the
/// file's path and the generation of its content. The mix is a bijection, so a wrong word tells
/// where it came from. Of each 4 KiB the share `compressibility` at the end is zero.
class Stamp {
 public:
  /// Everything that the words depend on but the offset.
  struct Origin {
    std::uint64_t seed = 0;
    std::uint64_t path_key = 0;
    std::uint64_t generation = 0;
    double compressibility = 0.0;
  };

  explicit Stamp(const Origin& origin);

  /// Writes what the file has from `offset` on; offsets and sizes may be odd.
  void fill(std::span<std::byte> data, std::uint64_t offset) const;
  /// Whether the bytes are what the file should have from `offset` on.
  [[nodiscard]] bool matches(std::span<const std::byte> data, std::uint64_t offset) const;
  /// What is wrong with bytes that do not match: hole, flipped bit, stale, misplaced or corrupt.
  [[nodiscard]] std::string explain(std::span<const std::byte> data, std::uint64_t offset) const;

 private:
  [[nodiscard]] std::uint64_t word(std::uint64_t index) const noexcept;
  [[nodiscard]] std::string explain_word(std::uint64_t found, std::uint64_t index) const;

  Origin origin_;
  std::uint64_t key_;
  std::uint64_t data_bytes_;
};

/// Marks memory so that a read that moves nothing cannot pass for one that did.
void poison(std::span<std::byte> data) noexcept;

}  // namespace venturi::payload
