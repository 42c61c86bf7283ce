// One request of a pattern: where it lies and how much it moves.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace venturi::pattern {

/// A part of an n-dimensional dataset; in memory its elements lie in row-major order.
struct Box {
  static constexpr std::size_t kMostDimensions = 8;

  /// Index into the file's datasets.
  std::size_t dataset = 0;
  /// Which of the equal copies.
  std::uint64_t copy = 0;
  std::size_t dimensions = 0;
  std::array<std::uint64_t, kMostDimensions> start{};
  std::array<std::uint64_t, kMostDimensions> extent{};
};

/// What a cursor yields.
struct Piece {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  /// For datasets only; valid until as many further pieces were taken as the step has in flight.
  const Box* box = nullptr;
  /// Goes the other way than its step: a read among writes.
  bool turned = false;
};

}  // namespace venturi::pattern
