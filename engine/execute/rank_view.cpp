// The place of a rank: its slots, and the names of its files.
#include "execute/rank_view.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/error.hpp"
#include "base/random.hpp"
#include "pattern/name.hpp"

namespace venturi::execute {
namespace {

constexpr auto kRankSlot = static_cast<std::size_t>(schema::Slot::kRank);
constexpr auto kNodeSlot = static_cast<std::size_t>(schema::Slot::kNode);
constexpr auto kNodeRankSlot = static_cast<std::size_t>(schema::Slot::kNodeRank);
constexpr auto kNodeRanksSlot = static_cast<std::size_t>(schema::Slot::kNodeRanks);

pattern::Value number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

/// Which ranks share a node.
pattern::Neighbours neighbours_of(const comm::Group& group) {
  std::vector<std::uint32_t> nodes;
  nodes.reserve(group.size());
  for (std::size_t rank = 0; rank < group.size(); ++rank) {
    nodes.push_back(static_cast<std::uint32_t>(group.node_of(rank)));
  }
  return pattern::Neighbours(std::move(nodes));
}

}  // namespace

RankView::RankView(const schema::Plan& the_plan, const Part& the_part, comm::Group& the_group,
                   comm::Group& the_world)
    : plan(the_plan),
      part(the_part),
      group(the_group),
      world(the_world),
      slots(the_plan.slots.size()),
      paths_(the_plan.files.size()) {
  using enum schema::Slot;
  for (std::size_t rank = 0; rank < group.size(); ++rank) {
    const std::size_t node = group.node_of(rank);
    if (node >= ranks_of_node_.size()) ranks_of_node_.resize(node + 1);
    place_on_node_.push_back(ranks_of_node_[node]++);
  }
  take_place_of(group.rank());
  slots[static_cast<std::size_t>(kRanks)] = number(group.size());
  slots[static_cast<std::size_t>(kWorld)] = number(world.size());
  slots[static_cast<std::size_t>(kInstance)] = number(part.instance);
  evaluator.set_neighbours(neighbours_of(group));
}

void RankView::take_place_of(std::uint64_t rank) {
  const std::size_t node = group.node_of(rank);
  slots[kRankSlot] = number(rank);
  slots[kNodeSlot] = number(node);
  slots[kNodeRankSlot] = number(place_on_node_[rank]);
  slots[kNodeRanksSlot] = number(ranks_of_node_[node]);
}

const pattern::TurnColumns& RankView::columns_of(const std::vector<schema::TurnColumn>& columns,
                                                 std::uint64_t rows) {
  static const pattern::TurnColumns kNone;
  if (columns.empty()) return kNone;
  const auto known = columns_.find(&columns);
  if (known != columns_.end()) return known->second;
  return columns_.emplace(&columns, pattern::TurnColumns(columns, rows, "for")).first->second;
}

LoopTurns RankView::turns_of(const schema::For& loop) {
  const std::uint64_t count = evaluator.count(loop.count, slots, "for.count");
  const std::uint64_t first =
      loop.first ? evaluator.count(*loop.first, slots, "for.first") : std::uint64_t{0};
  const auto rows = static_cast<std::uint64_t>(loop.rows);
  if (!loop.columns.empty() && (first > rows || count > rows - first)) {
    throw base::plan_error(
        "for", fmt::format("{} rows from row {} on are not in a table of {}", count, first, rows));
  }
  return {.first = first, .count = count, .columns = columns_of(loop.columns, rows)};
}

std::uint64_t RankView::owner_of(const schema::Expression& owner) {
  const std::uint64_t rank = evaluator.count(owner, slots, "owner");
  if (rank >= group.size()) {
    throw base::plan_error("owner", fmt::format("there is no rank {}", rank));
  }
  return rank;
}

std::uint64_t RankView::first_sharer(const schema::File& file, std::uint64_t rank) const {
  switch (file.sharing) {
    case schema::Sharing::kAll:
      return 0;
    case schema::Sharing::kRank:
      return rank;
    case schema::Sharing::kEvery:
      return rank - rank % static_cast<std::uint64_t>(file.every);
    case schema::Sharing::kNode:
      break;
  }
  std::uint64_t first = 0;
  while (group.node_of(first) != group.node_of(rank)) ++first;
  return first;
}

std::uint64_t RankView::sharer_index(const schema::File& file, std::uint64_t rank) const {
  if (file.sharing == schema::Sharing::kNode) return place_on_node_[rank];
  return rank - first_sharer(file, rank);
}

std::string RankView::path_of(const schema::File& file) const {
  std::string path;
  pattern::render_path(file.path, slots, path);
  if (file.foreign) return path;
  if (const char* fault = pattern::path_fault(path)) {
    throw base::plan_error("files.path", fmt::format("{}: {}", fault, path));
  }
  return path;
}

const std::string& RankView::current_path(std::size_t file) {
  KnownPath& known = paths_[file];
  bool is_same = !known.path.empty();
  std::size_t place = 0;
  for (const schema::PathPart& part : plan.files[file].path) {
    if (!part.value) continue;
    const std::int64_t number = evaluator.integer(*part.value, slots, "files.path");
    if (place == known.numbers.size()) known.numbers.push_back(number);
    is_same = is_same && known.numbers[place] == number;
    known.numbers[place++] = number;
  }
  if (!is_same) {
    known.path.clear();
    known.path = path_of(plan.files[file]);
  }
  return known.path;
}

std::uint64_t RankView::family_key(const schema::File& file) const {
  pattern::Slots family = slots;
  family[kRankSlot] = std::int64_t{0};
  family[kNodeSlot] = std::int64_t{0};
  family[kNodeRankSlot] = std::int64_t{0};
  family[kNodeRanksSlot] = std::int64_t{0};
  std::string path;
  pattern::render_path(file.path, family, path);
  return base::key_of(path);
}

ActAs::ActAs(RankView& view, std::uint64_t rank)
    : view_(view),
      before_(static_cast<std::uint64_t>(view.slots[kRankSlot].integer())),
      is_other_(rank != before_) {
  if (is_other_) view.take_place_of(rank);
}

ActAs::~ActAs() {
  if (is_other_) view_.take_place_of(before_);
}

}  // namespace venturi::execute
