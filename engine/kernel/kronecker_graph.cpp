// Edges of Kronecker graphs, and the components of a graph that fits into one rank's memory.
#include "kernel/kronecker_graph.hpp"

#include <algorithm>
#include <numeric>

#include "base/random.hpp"

namespace venturi::kernel {
namespace {

/// The chances of the quadrants of the matrix of neighbours, row by row, added up.
constexpr double kFirst = 0.57;
constexpr double kSecond = 0.57 + 0.19;
constexpr double kThird = 0.57 + 0.19 + 0.19;

}  // namespace

KroneckerGraph::KroneckerGraph(std::uint64_t seed, unsigned scale) noexcept
    : scale_(scale),
      key_(base::combine(seed, base::key_of("graph"))),
      order_(std::uint64_t{1} << scale, base::combine(key_, scale)) {}

Edge KroneckerGraph::edge(std::uint64_t number) const noexcept {
  const std::uint64_t key = base::combine(key_, number);
  Edge drawn;
  for (unsigned level = 0; level < scale_; ++level) {
    const double draw = base::uniform_real(key, level);
    const bool lower = draw >= kSecond;
    const bool right = lower ? draw >= kThird : draw >= kFirst;
    drawn.one = 2 * drawn.one + (lower ? 1 : 0);
    drawn.other = 2 * drawn.other + (right ? 1 : 0);
  }
  return {order_(drawn.one), order_(drawn.other)};
}

std::vector<std::uint64_t> components_of(const KroneckerGraph& graph, std::uint64_t edges) {
  // A tree of each component: what stands above a vertex has a smaller number.
  std::vector<std::uint64_t> above(graph.vertices());
  std::iota(above.begin(), above.end(), std::uint64_t{0});
  const auto top_of = [&](std::uint64_t vertex) {
    while (above[vertex] != vertex) vertex = above[vertex] = above[above[vertex]];
    return vertex;
  };
  for (std::uint64_t number = 0; number < edges; ++number) {
    const Edge edge = graph.edge(number);
    const std::uint64_t one = top_of(edge.one);
    const std::uint64_t other = top_of(edge.other);
    above[std::max(one, other)] = std::min(one, other);
  }
  for (std::uint64_t vertex = 0; vertex < above.size(); ++vertex) {
    above[vertex] = above[above[vertex]];  // whose own is right by now
  }
  return above;
}

}  // namespace venturi::kernel
