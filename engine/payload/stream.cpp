// A table, XORed with a key for each block.
#include "payload/stream.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/random.hpp"
#include "payload/page_share.hpp"

namespace venturi::payload {
namespace {

constexpr std::uint64_t kWordBytes = 8;

constexpr std::array<std::uint64_t, kPageBytes / kWordBytes> kTable = [] {
  std::array<std::uint64_t, kPageBytes / kWordBytes> words{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = base::combine(i, 0x76656e7475726921U);
  return words;
}();

/// Words that are handled at a time: every 64-bit processor has registers of 16 bytes.
using Words = std::uint64_t __attribute__((vector_size(16)));
/// Bytes of one turn.
constexpr std::size_t kGroup = 4 * sizeof(Words);

[[gnu::always_inline]] inline void put_words(std::byte* out, const std::byte* table,
                                             const Words& key) noexcept {
  Words words;
  std::memcpy(&words, table, sizeof words);
  words ^= key;
  std::memcpy(out, &words, sizeof words);
}

/// out[i] = table[i] ^ byte i % 8 of the key.
void copy_with_key(std::byte* out, const std::byte* table, std::uint64_t key,
                   std::size_t bytes) noexcept {
  const Words keys = {key, key};
  std::size_t at = 0;
  for (; at + kGroup <= bytes; at += kGroup) {
    put_words(out + at, table + at, keys);
    put_words(out + at + 16, table + at + 16, keys);
    put_words(out + at + 32, table + at + 32, keys);
    put_words(out + at + 48, table + at + 48, keys);
  }
  std::uint64_t word = 0;
  for (; at + kWordBytes <= bytes; at += kWordBytes) {
    std::memcpy(&word, table + at, kWordBytes);
    word ^= key;
    std::memcpy(out + at, &word, kWordBytes);
  }
  if (at == bytes) return;
  std::memcpy(&word, table + at, bytes - at);
  word ^= key;
  std::memcpy(out + at, &word, bytes - at);
}

}  // namespace

Stream::Stream(std::uint64_t key, double compressibility, double duplicates) noexcept
    : key_(key),
      data_bytes_(data_bytes_of_page(compressibility)),
      unique_(unique_share(duplicates)) {}

std::uint64_t Stream::key_of(std::uint64_t block) const noexcept {
  return base::combine(key_, 2 * source_of_page(block, unique_));
}

std::uint64_t Stream::next_key() noexcept { return base::combine(key_, 2 * keys_++ + 1); }

void Stream::fill(std::span<std::byte> out) noexcept {
  while (!out.empty()) {
    const std::uint64_t from = at_ % kPageBytes;
    const std::size_t bytes = std::min<std::size_t>(out.size(), kPageBytes - from);
    fill_block(out.first(bytes), at_ / kPageBytes, from);
    out = out.subspan(bytes);
    at_ += bytes;
  }
}

void Stream::fill_block(std::span<std::byte> out, std::uint64_t block,
                        std::uint64_t from) const noexcept {
  const std::size_t bytes =
      std::min<std::size_t>(out.size(), data_bytes_ - std::min(data_bytes_, from));
  const auto* table = reinterpret_cast<const std::byte*>(kTable.data()) + from;
  const std::uint64_t key =
      std::rotr(key_of(block), static_cast<int>(from % kWordBytes * kWordBytes));
  copy_with_key(out.data(), table, key, bytes);
  if (bytes < out.size()) std::memset(out.data() + bytes, 0, out.size() - bytes);
}

void Stream::mask(std::span<std::byte> data) noexcept {
  for (std::size_t page = 0; page < data.size(); page += kPageBytes) {
    const std::uint64_t key = next_key();
    const std::size_t end = std::min<std::size_t>(page + kPageBytes, data.size());
    for (std::size_t at = page; at + kWordBytes <= end; at += kWordBytes) {
      std::uint64_t word = 0;
      std::memcpy(&word, data.data() + at, kWordBytes);
      word = word == 0 ? 0 : word ^ key;
      std::memcpy(data.data() + at, &word, kWordBytes);
    }
  }
}

void Stream::mark(std::span<std::byte> data) noexcept {
  if (data_bytes_ < kWordBytes) return;
  for (std::size_t page = 0; page < data.size(); page += kPageBytes) {
    const std::uint64_t key = next_key();
    std::memcpy(data.data() + page, &key, std::min<std::size_t>(kWordBytes, data.size() - page));
  }
}

}  // namespace venturi::payload
