// All pairs of ranks in steps of disjoint pairs: a 1-factorisation of the complete graph.
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace venturi::kernel {

/// Steps until each two of `ranks` met exactly once.
[[nodiscard]] constexpr std::uint64_t pairing_steps(std::uint64_t ranks) noexcept {
  return ranks < 2 ? 0 : ranks - 1 + ranks % 2;
}

/// The steps in a random order, the same for the same key.
[[nodiscard]] inline std::vector<std::uint64_t> shuffled_steps(std::uint64_t ranks,
                                                               std::uint64_t key) {
  std::vector<std::uint64_t> order(pairing_steps(ranks));
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  for (std::uint64_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[base::uniform(key, i, i)]);
  }
  return order;
}

/// With whom `rank` is in a step, by the circle method; nobody where it pauses, once for each rank
/// of an odd number.
[[nodiscard]] constexpr std::optional<std::uint64_t> partner_in(std::uint64_t step,
                                                                std::uint64_t rank,
                                                                std::uint64_t ranks) noexcept {
  const std::uint64_t steps = pairing_steps(ranks);
  if (steps == 0) return std::nullopt;
  const std::uint64_t fixed = steps;  // the last of an even number, who stays in the middle
  std::uint64_t partner = 0;
  if (rank == fixed) {
    partner = step % steps;
  } else {
    partner = (2 * step + steps - rank) % steps;
    if (partner == rank) partner = fixed;
  }
  if (partner >= ranks) return std::nullopt;
  return partner;
}

}  // namespace venturi::kernel
