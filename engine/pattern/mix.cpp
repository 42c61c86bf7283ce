// Quotas of a mix, and the places of its requests.
#include "pattern/mix.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "pattern/bound.hpp"

namespace venturi::pattern {
namespace {

/// count * part / whole, rounded down.
std::uint64_t proportion(std::uint64_t count, std::uint64_t part, std::uint64_t whole) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(Wide{count} * part / whole);
}

/// How many of the first `count` requests go the other way.
std::uint64_t turned_of(std::uint64_t count, double share) {
  return static_cast<std::uint64_t>(std::floor(static_cast<double>(count) * share + 0.5));
}

}  // namespace

Distribution::Distribution(std::uint64_t count, const std::vector<Part>& parts, double turned,
                           std::uint64_t key)
    : count_(count), order_(std::max<std::uint64_t>(count, 1), key) {
  std::uint64_t whole = 0;
  for (const Part& part : parts) whole += part.weight;
  std::uint64_t weight = 0;
  std::uint64_t begin = 0;
  for (const Part& part : parts) {
    weight += part.weight;
    const std::uint64_t end = proportion(count, weight, whole);
    const std::uint64_t others =
        std::min(turned_of(end, turned) - turned_of(begin, turned), end - begin);
    quotas_.push_back({begin + others, {part.bytes, true}});
    quotas_.push_back({end, {part.bytes, false}});
    begin = end;
  }
}

std::uint64_t Distribution::total_bytes() const {
  std::uint64_t sum = 0;
  std::uint64_t begin = 0;
  for (const Quota& quota : quotas_) {
    const std::uint64_t bytes = checked_product(quota.end - begin, quota.kind.bytes);
    if (__builtin_add_overflow(sum, bytes, &sum) || sum > kMostBytes) beyond();
    begin = quota.end;
  }
  return sum;
}

MixedCursor::MixedCursor(Places places, Distribution distribution, std::uint64_t largest_bytes)
    : places_(std::move(places)),
      distribution_(std::move(distribution)),
      largest_bytes_(largest_bytes),
      most_bytes_(std::numeric_limits<std::uint64_t>::max()),
      left_(distribution_.count()) {
  look_ahead();
}

std::uint64_t MixedCursor::place(std::uint64_t bytes) noexcept {
  if (auto* packed = std::get_if<PackedPlaces>(&places_)) return packed->next(bytes);
  if (auto* nest = std::get_if<NestCursor>(&places_)) return nest->next();
  if (auto* random = std::get_if<RandomCursor>(&places_)) return random->next();
  return std::get_if<ZipfCursor>(&places_)->next();
}

void MixedCursor::keep_within(std::uint64_t slots) {
  const auto keep = [&](auto& places) {
    places.keep_within(slots);
    left_ = std::min(left_, places.left());
  };
  if (std::holds_alternative<PackedPlaces>(places_)) {
    if (__builtin_mul_overflow(slots, largest_bytes_, &most_bytes_)) return;
    if (next_kind_.bytes > most_bytes_) left_ = 0;
  } else if (auto* nest = std::get_if<NestCursor>(&places_)) {
    keep(*nest);
  } else if (auto* random = std::get_if<RandomCursor>(&places_)) {
    keep(*random);
  } else {
    keep(*std::get_if<ZipfCursor>(&places_));
  }
}

}  // namespace venturi::pattern
