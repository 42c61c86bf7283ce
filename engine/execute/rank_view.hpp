// Where a rank is: its plan, its place among the ranks, and what expressions stand for there.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "comm/group.hpp"
#include "pattern/expression.hpp"
#include "pattern/turn_columns.hpp"
#include "schema/plan.hpp"

namespace venturi::execute {

/// The turns of a loop: so many, from the first on, which is 0 without a table.
struct LoopTurns {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  const pattern::TurnColumns& columns;
};

/// One rank's view of its program. It does no I/O and waits for nobody.
class RankView {
 public:
  /// Which of the plan's groups a rank belongs to.
  struct Part {
    const schema::Group* plan = nullptr;
    std::uint64_t instance = 0;
  };

  /// `the_group` are the ranks of the part, `the_world` those of the whole run.
  RankView(const schema::Plan& the_plan, const Part& the_part, comm::Group& the_group,
           comm::Group& the_world);
  RankView(const RankView&) = delete;
  RankView& operator=(const RankView&) = delete;

  const schema::Plan& plan;
  const Part part;
  /// The ranks that run the same program together; ranks in a plan's program are theirs.
  comm::Group& group;
  /// All ranks, those of other groups, too.
  comm::Group& world;
  pattern::Slots slots;
  pattern::Evaluator evaluator;
  /// Slots of the loops around the current step.
  std::vector<std::size_t> loops;
  std::uint64_t repetition = 0;

  /// Makes expressions those of a rank: its number, its node, its place there.
  void take_place_of(std::uint64_t rank);
  /// The rank in whose place to act. Throws base::Error (exit 2) if there is no such rank.
  std::uint64_t owner_of(const schema::Expression& owner);
  /// The first rank of those that share the file with `rank`.
  [[nodiscard]] std::uint64_t first_sharer(const schema::File& file, std::uint64_t rank) const;
  /// Which of the sharers `rank` is, from 0.
  [[nodiscard]] std::uint64_t sharer_index(const schema::File& file, std::uint64_t rank) const;
  /// The path of the file for the current slots. Throws base::Error (exit 2) if it is unsafe.
  [[nodiscard]] std::string path_of(const schema::File& file) const;
  /// The same of an entry of the plan, by its number; it holds until the next call.
  const std::string& current_path(std::size_t file);
  /// A key of the file's path with rank and node 0: what all ranks can count alike.
  [[nodiscard]] std::uint64_t family_key(const schema::File& file) const;

  /// What a table of so many rows says of the variables of its loop.
  const pattern::TurnColumns& columns_of(const std::vector<schema::TurnColumn>& columns,
                                         std::uint64_t rows);
  /// The turns of a loop on this rank. Throws base::Error (exit 2) if its table has not so many.
  LoopTurns turns_of(const schema::For& loop);

  /// The place of a rank of the group among those of its node, from 0.
  [[nodiscard]] std::uint64_t place_on_node(std::uint64_t rank) const {
    return place_on_node_[rank];
  }
  [[nodiscard]] std::size_t nodes() const noexcept { return ranks_of_node_.size(); }
  /// How many ranks of the group are on this node.
  [[nodiscard]] std::size_t ranks_here() const { return ranks_of_node_[group.node()]; }

 private:
  /// A path, with the numbers in it.
  struct KnownPath {
    std::vector<std::int64_t> numbers;
    std::string path;
  };

  /// Of each rank, its place on its node; of each node, how many ranks it has.
  std::vector<std::uint32_t> place_on_node_;
  std::vector<std::uint32_t> ranks_of_node_;
  std::unordered_map<const void*, pattern::TurnColumns> columns_;
  /// Of each entry, the path that it had last; empty before.
  std::vector<KnownPath> paths_;
};

/// While it lives, `rank`, `node` and the place on the node in expressions are another rank's.
class ActAs {
 public:
  ActAs(RankView& view, std::uint64_t rank);
  ActAs(const ActAs&) = delete;
  ActAs& operator=(const ActAs&) = delete;
  ~ActAs();

 private:
  RankView& view_;
  std::uint64_t before_;
  bool is_other_;
};

}  // namespace venturi::execute
