// Requests of several sizes, and reads among writes, in exact shares and random order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <variant>
#include <vector>

#include "pattern/nest.hpp"
#include "pattern/permutation.hpp"
#include "pattern/random.hpp"
#include "pattern/zipf.hpp"

namespace venturi::pattern {

/// A size and direction of requests.
struct Kind {
  std::uint64_t bytes = 0;
  bool turned = false;
};

/// Which kind each of `count` requests is. Of all of them together each kind has its exact share
/// (rounded); a keyed permutation says in which order they come.
class Distribution {
 public:
  /// A size and its weight.
  struct Part {
    std::uint64_t bytes = 0;
    std::uint64_t weight = 1;
  };

  /// `parts` in order; of each, the share `turned` goes the other way.
  Distribution(std::uint64_t count, const std::vector<Part>& parts, double turned,
               std::uint64_t key);
  /// The kind of request `index` < count.
  [[nodiscard]] Kind operator()(std::uint64_t index) const noexcept {
    const std::uint64_t place = order_(index);
    auto found = quotas_.begin();
    while (place >= found->end) ++found;
    return found->kind;
  }
  /// Bytes of all requests. Throws base::Error (exit 2) when they do not fit into 63 bits.
  [[nodiscard]] std::uint64_t total_bytes() const;
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  /// The requests below `end`, and not below the end of the quota before, are of this kind.
  struct Quota {
    std::uint64_t end = 0;
    Kind kind;
  };

  std::uint64_t count_;
  Permutation order_;
  std::vector<Quota> quotas_;
};

/// Requests one behind the other, whatever their sizes.
class PackedPlaces {
 public:
  explicit PackedPlaces(std::uint64_t base_bytes) : next_bytes_(base_bytes) {}
  std::uint64_t next(std::uint64_t bytes) noexcept {
    const std::uint64_t offset = next_bytes_;
    next_bytes_ += bytes;
    return offset;
  }

 private:
  std::uint64_t next_bytes_;
};

/// Places of a regular or random pattern, or one behind the other, with dealt sizes and directions.
class MixedCursor {
 public:
  static constexpr bool kUniform = false;
  using Places = std::variant<PackedPlaces, NestCursor, RandomCursor, ZipfCursor>;

  MixedCursor(Places places, Distribution distribution, std::uint64_t largest_bytes);
  [[nodiscard]] std::uint64_t left() const noexcept { return left_; }
  /// Which requests go the other way.
  [[nodiscard]] const Distribution& distribution() const noexcept { return distribution_; }
  /// How many bytes the requests have so far.
  [[nodiscard]] std::uint64_t taken_bytes() const noexcept { return taken_bytes_; }
  /// Touches only the first `slots` places, or as many bytes in requests one behind the other.
  void keep_within(std::uint64_t slots);
  /// The next request; only if `left()` > 0.
  Piece take() noexcept {
    const Kind kind = next_kind_;
    ++done_;
    --left_;
    taken_bytes_ += kind.bytes;
    const std::uint64_t offset = place(kind.bytes);
    look_ahead();
    return {offset, kind.bytes, nullptr, kind.turned};
  }

 private:
  std::uint64_t place(std::uint64_t bytes) noexcept;
  /// Deals the next request and ends where it would go too far.
  void look_ahead() noexcept {
    if (left_ == 0) return;
    next_kind_ = distribution_(done_);
    if (next_kind_.bytes > most_bytes_ - taken_bytes_) left_ = 0;
  }

  Places places_;
  Distribution distribution_;
  std::uint64_t largest_bytes_;
  std::uint64_t most_bytes_;
  std::uint64_t left_;
  std::uint64_t done_ = 0;
  std::uint64_t taken_bytes_ = 0;
  Kind next_kind_;
};

}  // namespace venturi::pattern
