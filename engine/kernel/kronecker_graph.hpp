// Stochastic Kronecker graphs, as Graph500 makes them.
#pragma once

#include <cstdint>
#include <vector>

#include "pattern/permutation.hpp"

namespace venturi::kernel {

/// Two vertices that are joined.
struct Edge {
  std::uint64_t one = 0;
  std::uint64_t other = 0;
};

/// A graph of 2^scale vertices. Which two of them an edge joins follows from the seed and the
/// number of the edge: each bit of their numbers by the chances 0.57, 0.19, 0.19 and 0.05 of
/// Graph500's specification; then the vertices are put in random order. Edges may come twice,
/// and join a vertex with itself.
class KroneckerGraph {
 public:
  KroneckerGraph(std::uint64_t seed, unsigned scale) noexcept;

  [[nodiscard]] std::uint64_t vertices() const noexcept { return order_.size(); }
  [[nodiscard]] Edge edge(std::uint64_t number) const noexcept;

 private:
  unsigned scale_;
  std::uint64_t key_;
  pattern::Permutation order_;
};

/// The least vertex of the component of each vertex, where a graph has so many edges: by one rank,
/// in its memory.
[[nodiscard]] std::vector<std::uint64_t> components_of(const KroneckerGraph& graph,
                                                       std::uint64_t edges);

}  // namespace venturi::kernel
