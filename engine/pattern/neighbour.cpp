// Ranks of other nodes.
#include "pattern/neighbour.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "base/random.hpp"

namespace venturi::pattern {

Neighbours::Neighbours(std::vector<std::uint32_t> node_of_rank)
    : node_of_rank_(std::move(node_of_rank)) {
  // A group may have only some of the nodes: they are numbered anew as they come.
  std::map<std::uint32_t, std::uint32_t> numbers;
  for (std::uint32_t& node : node_of_rank_) {
    node = numbers.try_emplace(node, static_cast<std::uint32_t>(numbers.size())).first->second;
  }
  nodes_ = static_cast<std::uint32_t>(numbers.size());
}

std::uint32_t Neighbours::node_of(std::int64_t rank) const {
  if (rank < 0 || static_cast<std::uint64_t>(rank) >= node_of_rank_.size()) {
    throw std::domain_error("there is no such rank");
  }
  return node_of_rank_[static_cast<std::size_t>(rank)];
}

std::int64_t Neighbours::same_slot_next_node(std::int64_t rank, std::int64_t nodes) const {
  const std::uint32_t own = node_of(rank);
  const auto modulo = [](std::int64_t a, std::int64_t b) { return (a % b + b) % b; };
  const auto wanted = static_cast<std::uint32_t>((own + modulo(nodes, nodes_)) % nodes_);
  const auto begin = node_of_rank_.begin();
  std::int64_t place = std::count(begin, begin + rank, own);
  const std::int64_t there = std::count(begin, node_of_rank_.end(), wanted);
  if (wanted == own) place += modulo(nodes, there);
  place %= there;
  auto found = std::find(begin, node_of_rank_.end(), wanted);
  for (; place > 0; --place) found = std::find(found + 1, node_of_rank_.end(), wanted);
  return found - begin;
}

std::int64_t Neighbours::random_remote_rank(std::int64_t rank, std::uint64_t key) const {
  const std::uint32_t own = node_of(rank);
  const auto ranks = static_cast<std::uint64_t>(node_of_rank_.size());
  const auto same =
      static_cast<std::uint64_t>(std::count(node_of_rank_.begin(), node_of_rank_.end(), own));
  const auto index = static_cast<std::uint64_t>(rank);
  if (same == ranks) return static_cast<std::int64_t>(base::uniform(key, index, ranks));
  std::uint64_t left = base::uniform(key, index, ranks - same);
  for (std::size_t other = 0;; ++other) {
    if (node_of_rank_[other] != own && left-- == 0) return static_cast<std::int64_t>(other);
  }
}

}  // namespace venturi::pattern
