// Bytes that neither compress nor repeat, for what is written without verification.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace venturi::payload {

/// An endless stream of 4 KiB blocks. Block b is a table of 4 KiB of random words, XORed with an
/// 8-byte key of its own. So no two blocks are equal, and no run of three bytes or more returns but
/// by chance, however far back a compressor looks; filling costs about what a copy of 4 KiB in the
/// first-level cache does. Of each block the share `compressibility` at the end is zero; the share
/// `duplicates` of the blocks repeats the block before.
class Stream {
 public:
  /// Streams of different keys share no block.
  Stream(std::uint64_t key, double compressibility, double duplicates) noexcept;

  /// Writes the next bytes of the stream.
  void fill(std::span<std::byte> out) noexcept;
  /// Makes bytes that were packed from an application's array unlike those of every other call;
  /// words of zeros stay.
  void mask(std::span<std::byte> data) noexcept;
  /// Gives each 4 KiB a mark of its own, and leaves the rest as it is.
  void mark(std::span<std::byte> data) noexcept;

 private:
  /// Writes the bytes of one block from `from` on.
  void fill_block(std::span<std::byte> out, std::uint64_t block, std::uint64_t from) const noexcept;
  [[nodiscard]] std::uint64_t key_of(std::uint64_t block) const noexcept;
  /// A key that no block has, another one at each call.
  std::uint64_t next_key() noexcept;

  std::uint64_t key_;
  std::uint64_t data_bytes_;
  /// Share of blocks that are their own source, in units of 2^-32.
  std::uint64_t unique_;
  /// Bytes that were written so far.
  std::uint64_t at_ = 0;
  std::uint64_t keys_ = 0;
};

}  // namespace venturi::payload
