// Vertices that edges join to trees, where a rank has few of all vertices.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace venturi::kernel {

/// Numbers vertices in the order in which they come, and joins their trees (Tarjan's union and
/// find). On top of a tree stands the least vertex of it.
class VertexForest {
 public:
  /// For at most so many different vertices. Throws std::bad_alloc.
  explicit VertexForest(std::size_t most) : slots_(std::bit_ceil(2 * most + 2)) {}

  [[nodiscard]] std::size_t size() const noexcept { return vertices_.size(); }
  [[nodiscard]] std::uint64_t vertex(std::size_t place) const noexcept { return vertices_[place]; }

  /// The place of a vertex, a new one where it was not there yet.
  std::size_t place(std::uint64_t vertex) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = base::mix(vertex) & mask;
    while (slots_[slot].place != kNone && slots_[slot].vertex != vertex) slot = (slot + 1) & mask;
    if (slots_[slot].place == kNone) {
      slots_[slot] = {vertex, vertices_.size()};
      above_.push_back(vertices_.size());
      vertices_.push_back(vertex);
    }
    return slots_[slot].place;
  }
  /// The place on top of the tree that a place is in.
  std::size_t top(std::size_t place) noexcept {
    while (above_[place] != place) {
      above_[place] = above_[above_[place]];
      place = above_[place];
    }
    return place;
  }
  void join(std::uint64_t vertex, std::uint64_t other) {
    std::size_t upper = top(place(vertex));
    std::size_t lower = top(place(other));
    if (vertices_[upper] > vertices_[lower]) std::swap(upper, lower);
    above_[lower] = upper;
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  /// With the vertex beside its place, a search mostly touches one line of memory.
  struct Slot {
    std::uint64_t vertex = 0;
    std::size_t place = kNone;
  };

  std::vector<Slot> slots_;
  std::vector<std::uint64_t> vertices_;
  std::vector<std::size_t> above_;
};

}  // namespace venturi::kernel
