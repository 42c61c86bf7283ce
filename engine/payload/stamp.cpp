// Filling, checking and explaining stamped bytes.
#include "payload/stamp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "payload/page_share.hpp"

namespace venturi::payload {
namespace {

constexpr std::uint64_t kWordBytes = 8;
constexpr std::uint64_t kWordsPerPage = kPageBytes / kWordBytes;
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

/// Whether three words follow each other in some file that was stamped with some key.
bool is_stamped(std::span<const std::byte> words) {
  constexpr std::uint64_t kNear = std::uint64_t{1} << 20U;
  if (words.size() < 3 * kWordBytes) return false;
  const auto origin = [&](std::size_t i) {
    return base::unmix(load(words.data() + i * kWordBytes));
  };
  return (origin(0) ^ origin(1)) < kNear && (origin(1) ^ origin(2)) < kNear;
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

Stamp::Stamp(std::uint64_t key, double compressibility, double duplicates)
    : key_(key),
      data_bytes_(data_bytes_of_page(compressibility)),
      unique_(unique_share(duplicates)) {}

Stamp::Stamp(const Origin& origin)
    : Stamp(key_of(origin, origin.generation), origin.compressibility, origin.duplicates) {
  origin_ = origin;
}

std::optional<std::uint64_t> Stamp::key_in(std::span<const std::byte> beginning) {
  constexpr std::ptrdiff_t kLeastWords = 3;
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < beginning.size() / kWordBytes; ++i) {
    const std::uint64_t word = load(beginning.data() + i * kWordBytes);
    if (word != 0) keys.push_back(base::unmix(word) ^ i);
  }
  if (keys.empty()) return std::nullopt;
  // What more than half of them say is in the middle.
  const auto middle = keys.begin() + static_cast<std::ptrdiff_t>(keys.size() / 2);
  std::nth_element(keys.begin(), middle, keys.end());
  const auto votes = std::count(keys.begin(), keys.end(), *middle);
  const bool most = 2 * votes > static_cast<std::ptrdiff_t>(keys.size());
  return votes >= kLeastWords && most ? std::optional(*middle) : std::nullopt;
}

std::uint64_t Stamp::source_of(std::uint64_t page) const noexcept {
  return source_of_page(page, unique_);
}

std::uint64_t Stamp::word(std::uint64_t index) const noexcept {
  if (index * kWordBytes % kPageBytes >= data_bytes_) return 0;
  const std::uint64_t source = source_of(index / kWordsPerPage) * kWordsPerPage;
  return base::mix(key_ ^ (source + index % kWordsPerPage));
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
      const std::uint64_t source = source_of((offset + at) / kPageBytes) * kWordsPerPage;
      const std::uint64_t first = source + in_page / kWordBytes;
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
  for (std::size_t at = split.head; at < split.head + split.body;) {
    // One page at a time: where it begins, its source changes.
    const std::uint64_t in_page = (offset + at) % kPageBytes;
    const std::size_t run =
        std::min<std::size_t>(split.head + split.body - at, kPageBytes - in_page);
    const std::uint64_t source = source_of((offset + at) / kPageBytes) * kWordsPerPage;
    const std::uint64_t data_words = data_bytes_ / kWordBytes;
    for (std::uint64_t i = in_page / kWordBytes; i < (in_page + run) / kWordBytes; ++i) {
      const std::uint64_t expected = i < data_words ? base::mix(key_ ^ (source + i)) : 0;
      difference |= load(data.data() + at) ^ expected;
      at += kWordBytes;
    }
  }
  const std::size_t end = split.head + split.body;
  return difference == 0 && (end == data.size() || part_matches(end, data.size() - end));
}

Finding Stamp::examine(std::span<const std::byte> data, std::uint64_t offset) const {
  Finding out;
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const std::uint64_t at = offset + i;
    const std::uint64_t expected = word(at / kWordBytes) >> (8 * (at % kWordBytes)) & 0xffU;
    if (std::to_integer<std::uint64_t>(data[i]) == expected) continue;
    if (!first) first = i;
    ++out.bytes;
  }
  if (!first) return out;
  out.offset = offset + *first;
  const std::uint64_t index = out.offset / kWordBytes;
  const std::uint64_t begin = index * kWordBytes;
  if (begin < offset || begin + kWordBytes > offset + data.size()) {
    out.damage = schema::Damage::kCorrupt;
    out.what = fmt::format("corrupt: odd bytes at offset {} differ", out.offset);
    return out;
  }
  const std::size_t words = (data.size() - (begin - offset)) / kWordBytes;
  name(data.subspan(begin - offset, words * kWordBytes), index, out);
  return out;
}

void Stamp::name(std::span<const std::byte> words, std::uint64_t index, Finding& out) const {
  using enum schema::Damage;
  const std::uint64_t at = index * kWordBytes;
  const std::uint64_t found = load(words.data());
  const std::uint64_t difference = found ^ word(index);
  const auto say = [&](schema::Damage damage, std::string what) {
    out.damage = damage;
    out.what = std::move(what);
  };
  if (found == kPoison) return say(kUnread, fmt::format("not read: offset {} was not filled", at));
  if (found == 0) {
    return say(kHole, fmt::format("hole: zeros at offset {} where data was written", at));
  }
  if (std::popcount(difference) <= 2) {
    return say(kFlipped,
               fmt::format("flipped bit: {} bit(s) differ at offset {}, the first is bit {} of "
                           "byte {}",
                           std::popcount(difference), at, std::countr_zero(difference) % 8,
                           at + static_cast<unsigned>(std::countr_zero(difference)) / 8));
  }
  const std::uint64_t origin = base::unmix(found);
  if ((origin ^ key_) < kPlausibleWords) {
    return say(kMisplaced, fmt::format("misplaced: offset {} holds what belongs to offset {}", at,
                                       (origin ^ key_) * kWordBytes));
  }
  if (is_stale(origin, index, out)) return;
  if (is_stamped(words)) {
    return say(kForeign, fmt::format("foreign: offset {} holds data of another file, or of a run "
                                     "before this one",
                                     at));
  }
  say(kCorrupt,
      fmt::format("corrupt: offset {} holds {:#018x} instead of {:#018x}", at, found, word(index)));
}

bool Stamp::is_stale(std::uint64_t origin, std::uint64_t index, Finding& out) const {
  const std::uint64_t place = source_of(index / kWordsPerPage) * kWordsPerPage;
  if (!origin_) return false;
  for (std::uint64_t g = 0; g <= origin_->generation + kLaterGenerations; ++g) {
    if ((origin ^ key_of(*origin_, g)) != place + index % kWordsPerPage) continue;
    out.damage = schema::Damage::kStale;
    out.what = fmt::format("stale: offset {} holds generation {} instead of {}", index * kWordBytes,
                           g, origin_->generation);
    return true;
  }
  return false;
}

void conceal(std::span<std::byte> data) noexcept {
  for (std::size_t at = 0; at + kWordBytes <= data.size(); at += kWordBytes) {
    const std::uint64_t word = load(data.data() + at);
    const std::uint64_t other = word == 0 ? 0 : ~word;
    std::memcpy(data.data() + at, &other, kWordBytes);
  }
}

void poison(std::span<std::byte> data) noexcept {
  for (std::size_t at = 0; at < data.size(); at += kPageBytes) {
    std::memcpy(data.data() + at, &kPoison, std::min<std::size_t>(kWordBytes, data.size() - at));
  }
}

}  // namespace venturi::payload
