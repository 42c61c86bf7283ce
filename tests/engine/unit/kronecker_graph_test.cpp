// Edges of generated graphs, and the components that they make.
#include "kernel/kronecker_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "kernel/vertex_forest.hpp"

namespace venturi::kernel {
namespace {

TEST(KroneckerGraph, QuadrantsHaveTheirChances) {
  // With one bit a vertex is a quadrant's side; the random order may turn both about.
  constexpr std::uint64_t kDraws = 200'000;
  const KroneckerGraph graph(7, 1);
  std::array<double, 4> shares{};
  for (std::uint64_t number = 0; number < kDraws; ++number) {
    const Edge edge = graph.edge(number);
    shares[2 * edge.one + edge.other] += 1.0 / kDraws;
  }
  if (shares[0] < shares[3]) std::reverse(shares.begin(), shares.end());
  EXPECT_NEAR(shares[0], 0.57, 0.005);
  EXPECT_NEAR(shares[1], 0.19, 0.005);
  EXPECT_NEAR(shares[2], 0.19, 0.005);
  EXPECT_NEAR(shares[3], 0.05, 0.005);
}

TEST(KroneckerGraph, EdgesFollowFromSeedAndNumber) {
  const KroneckerGraph graph(1, 20);
  const KroneckerGraph same(1, 20);
  const KroneckerGraph other(2, 20);
  std::uint64_t equal = 0;
  for (std::uint64_t number = 0; number < 1000; ++number) {
    const Edge edge = graph.edge(number);
    EXPECT_LT(std::max(edge.one, edge.other), graph.vertices());
    EXPECT_EQ(edge.one, same.edge(number).one);
    EXPECT_EQ(edge.other, same.edge(number).other);
    if (edge.one == other.edge(number).one) ++equal;
  }
  EXPECT_LT(equal, 10U);
}

/// Passes labels along all edges until none falls.
std::vector<std::uint64_t> passed_on(const KroneckerGraph& graph, std::uint64_t edges) {
  std::vector<std::uint64_t> least(graph.vertices());
  std::iota(least.begin(), least.end(), std::uint64_t{0});
  for (bool falls = true; falls;) {
    falls = false;
    for (std::uint64_t number = 0; number < edges; ++number) {
      const Edge edge = graph.edge(number);
      if (least[edge.one] == least[edge.other]) continue;
      least[edge.one] = least[edge.other] = std::min(least[edge.one], least[edge.other]);
      falls = true;
    }
  }
  return least;
}

TEST(KroneckerGraph, ComponentsAreThoseOfLabelsPassedOn) {
  for (unsigned scale = 1; scale < 11; ++scale) {
    const KroneckerGraph graph(scale, scale);
    for (const std::uint64_t edges : {graph.vertices() / 2, graph.vertices(), std::uint64_t{1}}) {
      EXPECT_EQ(components_of(graph, edges), passed_on(graph, edges)) << scale << " " << edges;
    }
  }
}

TEST(VertexForest, TopIsTheLeastVertex) {
  constexpr std::uint64_t kFar = std::uint64_t{1} << 39U;
  VertexForest forest(6);
  forest.join(kFar + 9, kFar);
  forest.join(5, 5);
  forest.join(8, kFar + 9);
  forest.join(7, 9);
  EXPECT_EQ(forest.size(), 6U);
  const auto top = [&](std::uint64_t vertex) {
    return forest.vertex(forest.top(forest.place(vertex)));
  };
  EXPECT_EQ(top(kFar + 9), 8U);
  EXPECT_EQ(top(kFar), 8U);
  EXPECT_EQ(top(5), 5U);
  EXPECT_EQ(top(9), 7U);
  EXPECT_EQ(forest.size(), 6U);
}

}  // namespace
}  // namespace venturi::kernel
