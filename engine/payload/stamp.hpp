// What the bytes of a file are: words that say file, generation, write and offset, and can be
// inverted.
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

/// Which writes of a file its bytes may come from.
struct Writes {
  /// The number of the oldest write that a reader may find; nothing: any write.
  std::optional<std::uint64_t> first = {};
  /// The numbers of all writes; empty: they are not known.
  std::span<const std::uint64_t> numbers = {};
  /// Some began or ended inside of a word, so a word may have bytes of two of them.
  bool split_words = false;
};

/// The 8-byte word number i of a file is mix(key ^ w << 44 ^ i), where the key is made of the seed,
/// the file's path and the generation of its content, and w is the number of the write that put it
/// there, modulo 2^20. The mix is a bijection, so a wrong word tells where it came from, and a word
/// that a lost write should have replaced tells that it is older. Of each 4 KiB the share
/// `compressibility` at the end is zero. Of the 4 KiB pages the share `duplicates` repeats the page
/// before.
class Stamp {
 public:
  /// Everything that the words depend on but the offset.
  struct Origin {
    std::uint64_t seed = 0;
    std::uint64_t path_key = 0;
    std::uint64_t generation = 0;
    double compressibility = 0.0;
    double duplicates = 0.0;
    /// The number of the write.
    std::uint64_t write = 0;
  };

  explicit Stamp(const Origin& origin);
  /// Of a file of which no more is known than the key of its words.
  Stamp(std::uint64_t key, double compressibility, double duplicates);
  /// The key that most words of a file's beginning bear, zeros aside; nothing where none has most.
  [[nodiscard]] static std::optional<std::uint64_t> key_in(std::span<const std::byte> beginning);

  /// Bytes of these writes match, too, and not only those of the stamp's own.
  void accept(const Writes& writes) noexcept { accepted_ = writes; }

  /// Writes what the file has from `offset` on; offsets and sizes may be odd.
  void fill(std::span<std::byte> data, std::uint64_t offset) const;
  /// Whether the bytes are what the file should have from `offset` on.
  [[nodiscard]] bool matches(std::span<const std::byte> data, std::uint64_t offset) const;
  /// What is wrong with bytes that do not match, by the first wrong one; all are counted.
  [[nodiscard]] Finding examine(std::span<const std::byte> data, std::uint64_t offset) const;

  /// The page whose bytes a page has: its own number, or, of a duplicate, that of an earlier one.
  [[nodiscard]] std::uint64_t source_of(std::uint64_t page) const noexcept;

 private:
  /// The word that a write puts at a place.
  [[nodiscard]] std::uint64_t word(std::uint64_t index, std::uint64_t write) const noexcept;
  [[nodiscard]] bool is_zero(std::uint64_t index) const noexcept;
  /// What is XORed with the key at a place.
  [[nodiscard]] std::uint64_t place_of(std::uint64_t index) const noexcept;
  /// The number of the write that a word of this file at this place bears.
  [[nodiscard]] std::optional<std::uint64_t> write_of(std::uint64_t word,
                                                      std::uint64_t index) const noexcept;
  [[nodiscard]] bool accepts(std::uint64_t write) const noexcept;
  /// The first accepted write in the data; its own if there is none.
  [[nodiscard]] std::uint64_t likely_write(std::span<const std::byte> data,
                                           std::uint64_t offset) const noexcept;
  [[nodiscard]] bool has_write(std::span<const std::byte> data, std::uint64_t offset,
                               std::uint64_t write) const noexcept;
  /// Whether the bytes of one word are right; `likely` is the write of those around it.
  [[nodiscard]] bool is_right(std::span<const std::byte> part, std::uint64_t at,
                              std::uint64_t likely) const noexcept;
  [[nodiscard]] bool is_mixed(std::span<const std::byte> part, std::uint64_t at,
                              std::uint64_t likely) const noexcept;
  /// Names the damage of a run of words that begins with a wrong one.
  void name(std::span<const std::byte> words, std::uint64_t index, std::uint64_t likely,
            Finding& out) const;
  bool is_stale(std::uint64_t origin, std::uint64_t index, Finding& out) const;

  /// Nothing if only the key is known.
  std::optional<Origin> origin_;
  std::uint64_t key_;
  std::uint64_t write_ = 0;
  std::uint64_t data_bytes_;
  /// Share of pages that are their own source, in units of 2^-32.
  std::uint64_t unique_;
  /// Nothing: only those of its own write.
  std::optional<Writes> accepted_;
};

/// Makes of stamped words others that bear no key, so that nobody takes for stamps what is not to
/// be verified. Zeros stay, and what was equal is equal.
void conceal(std::span<std::byte> data) noexcept;

/// Marks memory so that a read that moves nothing cannot pass for one that did.
void poison(std::span<std::byte> data) noexcept;

}  // namespace venturi::payload
