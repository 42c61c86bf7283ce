// Finding trees by their path, and opening their directories.
#include "execute/tree_set.hpp"

#include <cerrno>

#include "base/random.hpp"
#include "execute/context.hpp"
#include "pattern/name.hpp"

namespace venturi::execute {

OpenTree& TreeSet::get(Context& context, FileState& file) {
  constexpr auto kRankSlot = static_cast<std::size_t>(schema::Slot::kRank);
  const schema::File& plan = *file.plan;
  pattern::render_path(plan.path, context.slots, context.evaluator, path_);
  const auto owner = static_cast<std::uint64_t>(context.slots[kRankSlot].integer());
  const std::uint64_t path_key = base::key_of(path_);
  const std::uint64_t key = base::combine(path_key, owner);
  if (const auto found = trees_.find(key); found != trees_.end()) return *found->second;
  if (trees_.size() >= kMostTrees) forget(*file.plain);
  auto tree = std::make_unique<OpenTree>(
      OpenTree{.path = context.path_of(plan),
               .path_key = path_key,
               .item_name = {pattern::item_name_parts(*plan.tree), context.slots},
               .directory_name = {pattern::directory_name_parts(*plan.tree), context.slots},
               .reach = &file.item_reaches[context.family_key(plan)],
               .sizes = {},
               .names = pattern::text_of_names(pattern::item_name_parts(*plan.tree), context.slots),
               .nodes = {}});
  return *trees_.emplace(key, std::move(tree)).first->second;
}

int TreeSet::directory(Context& context, FileState& file, OpenTree& tree, std::uint64_t node,
                       OpenTree::Node& out) {
  if (const auto found = tree.nodes.find(node); found != tree.nodes.end()) {
    out = found->second;
    return 0;
  }
  backend::Backend& storage = *file.plain;
  if (open_ >= kMostOpen) close_all(storage);
  const std::string path = path_of_node(file, tree, node);
  out = {};
  if (const int error = storage.open_directory(path.c_str(), out.directory)) return error;
  if (storage.identify(out.directory, out.identity) == 0 &&
      context.manifest->denies(path, out.identity)) {
    storage.close_directory(out.directory);
    return EEXIST;
  }
  tree.nodes.emplace(node, out);
  ++open_;
  return 0;
}

void TreeSet::close_all(backend::Backend& storage) noexcept {
  for (const auto& [key, tree] : trees_) {
    for (const auto& [number, node] : tree->nodes) storage.close_directory(node.directory);
    tree->nodes.clear();
  }
  open_ = 0;
}

void TreeSet::forget(backend::Backend& storage) noexcept {
  close_all(storage);
  trees_.clear();
}

std::string path_of_node(const FileState& file, const OpenTree& tree, std::uint64_t node) {
  const auto branch = static_cast<std::uint64_t>(file.plan->tree->branch);
  pattern::TreeName name = tree.directory_name;
  return tree.path + pattern::tree_node_path(node, branch, name);
}

}  // namespace venturi::execute
