// What the bytes of a file are: words that say file, generation and offset, and can be inverted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "schema/event.hpp"

namespace venturi::payload {

/// What is wrong with bytes that are not what was written.
struct Finding {
  schema::Damage damage = {};
  /// The first wrong byte, in the file.
  std::uint64_t offset = 0;
  /// How many bytes are wrong.
  std::uint64_t bytes = 0;
  std::string what = {};
};

/// The 8-byte word number i of a file is mix(key ^ i), where the key is made of the seed, the
/// file's path and the generation of its content. The mix is a bijection, so a wrong word tells
/// where it came from. Of each 4 KiB the share `compressibility` at the end is zero. Of the 4 KiB
/// pages the share `duplicates` repeats the page before.
class Stamp {
 public:
  /// Everything that the words depend on but the offset.
  struct Origin {
    std::uint64_t seed = 0;
    std::uint64_t path_key = 0;
    std::uint64_t generation = 0;
    double compressibility = 0.0;
    double duplicates = 0.0;
  };

  explicit Stamp(const Origin& origin);
  /// Of a file of which no more is known than the key of its words.
  Stamp(std::uint64_t key, double compressibility, double duplicates);
  /// The key that most words of a file's beginning bear, zeros aside; nothing where none has most.
  [[nodiscard]] static std::optional<std::uint64_t> key_in(std::span<const std::byte> beginning);

  /// Writes what the file has from `offset` on; offsets and sizes may be odd.
  void fill(std::span<std::byte> data, std::uint64_t offset) const;
  /// Whether the bytes are what the file should have from `offset` on.
  [[nodiscard]] bool matches(std::span<const std::byte> data, std::uint64_t offset) const;
  /// What is wrong with bytes that do not match, by the first wrong one; all are counted.
  [[nodiscard]] Finding examine(std::span<const std::byte> data, std::uint64_t offset) const;

  /// The page whose bytes a page has: its own number, or, of a duplicate, that of an earlier one.
  [[nodiscard]] std::uint64_t source_of(std::uint64_t page) const noexcept;

 private:
  [[nodiscard]] std::uint64_t word(std::uint64_t index) const noexcept;
  /// Names the damage of a run of words that begins with a wrong one.
  void name(std::span<const std::byte> words, std::uint64_t index, Finding& out) const;
  bool is_stale(std::uint64_t origin, std::uint64_t index, Finding& out) const;

  /// Nothing if only the key is known.
  std::optional<Origin> origin_;
  std::uint64_t key_;
  std::uint64_t data_bytes_;
  /// Share of pages that are their own source, in units of 2^-32.
  std::uint64_t unique_;
};

/// Makes of stamped words others that bear no key, so that nobody takes for stamps what is not to
/// be verified. Zeros stay, and what was equal is equal.
void conceal(std::span<std::byte> data) noexcept;

/// Marks memory so that a read that moves nothing cannot pass for one that did.
void poison(std::span<std::byte> data) noexcept;

}  // namespace venturi::payload
