// Which ranks share a node, and which rank to take when it should be one of another node.
#pragma once

#include <cstdint>
#include <vector>

namespace venturi::pattern {

/// The real map of ranks to nodes. Both choices take time in proportion to the ranks.
class Neighbours {
 public:
  Neighbours() = default;
  /// The node of each rank, by any numbers; nodes follow each other as they come.
  explicit Neighbours(std::vector<std::uint32_t> node_of_rank);

  /// The rank at the same place of the node that comes `nodes` after this rank's (before it, where
  /// negative); on a smaller node places are counted anew from its first. Where that is the same
  /// node, the rank `nodes` places further on it. Throws std::domain_error without such a rank.
  [[nodiscard]] std::int64_t same_slot_next_node(std::int64_t rank, std::int64_t nodes) const;

  /// Any rank of another node, each as likely as the others; any rank at all where there is only
  /// one node. Throws std::domain_error without such a rank.
  [[nodiscard]] std::int64_t random_remote_rank(std::int64_t rank, std::uint64_t key) const;

 private:
  [[nodiscard]] std::uint32_t node_of(std::int64_t rank) const;

  std::vector<std::uint32_t> node_of_rank_;
  std::uint32_t nodes_ = 0;
};

}  // namespace venturi::pattern
