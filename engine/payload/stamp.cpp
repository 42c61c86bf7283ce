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
/// Above these bits of a place stands the number of the write.
constexpr unsigned kPlaceBits = 44;
constexpr std::uint64_t kPlaceMask = (std::uint64_t{1} << kPlaceBits) - 1;
constexpr std::uint64_t kWriteMask = (std::uint64_t{1} << (64 - kPlaceBits)) - 1;
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

/// Calls `look(bytes, offset)` for each word, or part of one, while it says yes; whether it did to
/// the end.
template <class Look>
bool for_each_word(std::span<const std::byte> data, std::uint64_t offset, const Look& look) {
  for (std::size_t at = 0; at < data.size();) {
    const std::size_t bytes =
        std::min<std::size_t>(data.size() - at, kWordBytes - (offset + at) % kWordBytes);
    if (!look(data.subspan(at, bytes), offset + at)) return false;
    at += bytes;
  }
  return true;
}

}  // namespace

Stamp::Stamp(std::uint64_t key, double compressibility, double duplicates)
    : key_(key),
      data_bytes_(data_bytes_of_page(compressibility)),
      unique_(unique_share(duplicates)),
      accepted_(Writes{}) {}

Stamp::Stamp(const Origin& origin)
    : Stamp(key_of(origin, origin.generation), origin.compressibility, origin.duplicates) {
  origin_ = origin;
  accepted_.reset();
  write_ = origin.write & kWriteMask;
}

std::optional<std::uint64_t> Stamp::key_in(std::span<const std::byte> beginning) {
  constexpr std::ptrdiff_t kLeastWords = 3;
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < beginning.size() / kWordBytes; ++i) {
    const std::uint64_t word = load(beginning.data() + i * kWordBytes);
    if (word != 0) keys.push_back(base::unmix(word) ^ i);
  }
  if (keys.empty()) return std::nullopt;
  // Words of several writes differ in the bits above. What more than half of them say is in the
  // middle.
  const auto below = [](std::uint64_t key) { return key & kPlaceMask; };
  const auto middle = keys.begin() + static_cast<std::ptrdiff_t>(keys.size() / 2);
  std::ranges::nth_element(keys, middle, {}, below);
  const auto votes = std::ranges::count(keys, below(*middle), below);
  const bool most = 2 * votes > static_cast<std::ptrdiff_t>(keys.size());
  return votes >= kLeastWords && most ? std::optional(*middle) : std::nullopt;
}

std::uint64_t Stamp::source_of(std::uint64_t page) const noexcept {
  return source_of_page(page, unique_);
}

std::uint64_t Stamp::place_of(std::uint64_t index) const noexcept {
  return source_of(index / kWordsPerPage) * kWordsPerPage + index % kWordsPerPage;
}

bool Stamp::is_zero(std::uint64_t index) const noexcept {
  return index * kWordBytes % kPageBytes >= data_bytes_;
}

std::uint64_t Stamp::word(std::uint64_t index, std::uint64_t write) const noexcept {
  if (is_zero(index)) return 0;
  return base::mix(key_ ^ write << kPlaceBits ^ place_of(index));
}

std::optional<std::uint64_t> Stamp::write_of(std::uint64_t word,
                                             std::uint64_t index) const noexcept {
  const std::uint64_t rest = base::unmix(word) ^ key_ ^ place_of(index);
  if ((rest & kPlaceMask) != 0) return std::nullopt;
  return rest >> kPlaceBits;
}

bool Stamp::accepts(std::uint64_t write) const noexcept {
  if (!accepted_) return write == write_;
  if (!accepted_->first) return true;
  // Numbers come round again: half of them are newer.
  return ((write - *accepted_->first) & kWriteMask) <= kWriteMask / 2;
}

void Stamp::fill(std::span<std::byte> data, std::uint64_t offset) const {
  const Split split(data.size(), offset);
  const std::uint64_t key = key_ ^ write_ << kPlaceBits;
  const auto fill_part = [&](std::size_t at, std::size_t bytes) {
    const std::uint64_t whole = word((offset + at) / kWordBytes, write_);
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
        const std::uint64_t value = base::mix(key ^ (first + i));
        std::memcpy(out + i * kWordBytes, &value, kWordBytes);
      }
    }
    at += run;
  }
  if (end < data.size()) fill_part(end, data.size() - end);
}

/// Whether all bytes are those of one write.
bool Stamp::has_write(std::span<const std::byte> data, std::uint64_t offset,
                      std::uint64_t write) const noexcept {
  const Split split(data.size(), offset);
  const std::uint64_t key = key_ ^ write << kPlaceBits;
  const auto part_matches = [&](std::size_t at, std::size_t bytes) {
    const std::uint64_t whole = word((offset + at) / kWordBytes, write);
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
      const std::uint64_t expected = i < data_words ? base::mix(key ^ (source + i)) : 0;
      difference |= load(data.data() + at) ^ expected;
      at += kWordBytes;
    }
  }
  const std::size_t end = split.head + split.body;
  return difference == 0 && (end == data.size() || part_matches(end, data.size() - end));
}

std::uint64_t Stamp::likely_write(std::span<const std::byte> data,
                                  std::uint64_t offset) const noexcept {
  const Split split(data.size(), offset);
  for (std::size_t at = split.head; at < split.head + split.body; at += kWordBytes) {
    const std::uint64_t index = (offset + at) / kWordBytes;
    if (is_zero(index)) continue;
    const auto write = write_of(load(data.data() + at), index);
    if (write && accepts(*write)) return *write;
  }
  return write_;
}

bool Stamp::matches(std::span<const std::byte> data, std::uint64_t offset) const {
  const std::uint64_t likely = accepted_ ? likely_write(data, offset) : write_;
  if (accepts(likely) && has_write(data, offset, likely)) return true;
  if (!accepted_) return false;
  std::uint64_t before = likely;
  return for_each_word(data, offset, [&](std::span<const std::byte> part, std::uint64_t at) {
    if (!is_right(part, at, before)) return false;
    if (part.size() == kWordBytes && !is_zero(at / kWordBytes)) {
      before = write_of(load(part.data()), at / kWordBytes).value_or(before);
    }
    return true;
  });
}

bool Stamp::is_right(std::span<const std::byte> part, std::uint64_t at,
                     std::uint64_t likely) const noexcept {
  const std::uint64_t index = at / kWordBytes;
  if (is_zero(index)) {
    return std::all_of(part.begin(), part.end(), [](std::byte one) { return one == std::byte{}; });
  }
  if (part.size() == kWordBytes) {
    const auto write = write_of(load(part.data()), index);
    if (write) return accepts(*write);
    if (!accepted_ || !accepted_->split_words) return false;
  }
  return is_mixed(part, at, likely);
}

/// Whether the bytes of a word, or of a part of one, are the beginning of one accepted write and
/// the end of another.
bool Stamp::is_mixed(std::span<const std::byte> part, std::uint64_t at,
                     std::uint64_t likely) const noexcept {
  const std::uint64_t index = at / kWordBytes;
  std::size_t longest_head = 0;
  std::size_t longest_tail = 0;
  const auto compare = [&](std::uint64_t write) {
    if (!accepts(write)) return;
    const std::uint64_t whole = word(index, write);
    const auto* expected = reinterpret_cast<const std::byte*>(&whole) + at % kWordBytes;
    std::size_t head = 0;
    while (head < part.size() && part[head] == expected[head]) ++head;
    std::size_t tail = 0;
    while (tail < part.size() && part[part.size() - 1 - tail] == expected[part.size() - 1 - tail]) {
      ++tail;
    }
    longest_head = std::max(longest_head, head);
    longest_tail = std::max(longest_tail, tail);
  };
  compare(likely);
  compare(write_);
  if (accepted_) {
    for (const std::uint64_t write : accepted_->numbers) compare(write & kWriteMask);
  }
  const bool may_split = accepted_ && accepted_->split_words;
  return may_split ? longest_head + longest_tail >= part.size() : longest_head == part.size();
}

Finding Stamp::examine(std::span<const std::byte> data, std::uint64_t offset) const {
  Finding out;
  std::optional<std::uint64_t> first;
  const std::uint64_t likely = likely_write(data, offset);
  for_each_word(data, offset, [&](std::span<const std::byte> part, std::uint64_t at) {
    if (is_right(part, at, likely)) return true;
    const std::uint64_t whole = word(at / kWordBytes, likely);
    const auto* expected = reinterpret_cast<const std::byte*>(&whole) + at % kWordBytes;
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part[i] == expected[i]) continue;
      if (!first) first = at + i;
      ++out.bytes;
    }
    return true;
  });
  if (!first) return out;
  out.offset = *first;
  const std::uint64_t index = out.offset / kWordBytes;
  const std::uint64_t begin = index * kWordBytes;
  if (begin < offset || begin + kWordBytes > offset + data.size()) {
    out.damage = schema::Damage::kCorrupt;
    out.what = fmt::format("corrupt: odd bytes at offset {} differ", out.offset);
    return out;
  }
  const std::size_t words = (data.size() - (begin - offset)) / kWordBytes;
  name(data.subspan(begin - offset, words * kWordBytes), index, likely, out);
  return out;
}

void Stamp::name(std::span<const std::byte> words, std::uint64_t index, std::uint64_t likely,
                 Finding& out) const {
  using enum schema::Damage;
  const std::uint64_t at = index * kWordBytes;
  const std::uint64_t found = load(words.data());
  const std::uint64_t difference = found ^ word(index, likely);
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
  if (const auto write = write_of(found, index); write && origin_) {
    return say(kStale, fmt::format("stale: offset {} holds what an earlier write put there (number "
                                   "{}); a later one is lost",
                                   at, *write));
  }
  const std::uint64_t origin = base::unmix(found);
  const std::uint64_t rest = origin ^ key_;
  // Numbers of writes are small.
  if (rest >> kPlaceBits == likely || rest >> kPlaceBits <= write_) {
    return say(kMisplaced, fmt::format("misplaced: offset {} holds what belongs to offset {}", at,
                                       (rest & kPlaceMask) * kWordBytes));
  }
  if (is_stale(origin, index, out)) return;
  if (is_stamped(words)) {
    return say(kForeign, fmt::format("foreign: offset {} holds data of another file, or of a run "
                                     "before this one",
                                     at));
  }
  say(kCorrupt, fmt::format("corrupt: offset {} holds {:#018x} instead of {:#018x}", at, found,
                            word(index, likely)));
}

bool Stamp::is_stale(std::uint64_t origin, std::uint64_t index, Finding& out) const {
  if (!origin_) return false;
  for (std::uint64_t g = 0; g <= origin_->generation + kLaterGenerations; ++g) {
    if (((origin ^ key_of(*origin_, g) ^ place_of(index)) & kPlaceMask) != 0) continue;
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
