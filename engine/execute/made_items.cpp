// Blocks of items are found by a key of their tree, owner, directory and place in it.
#include "execute/made_items.hpp"

#include "base/random.hpp"
#include "execute/context.hpp"
#include "execute/tree_set.hpp"
#include "pattern/tree.hpp"

namespace venturi::execute {
namespace {

constexpr std::array<const char*, 4> kSuffixes{"", pattern::kLinkSuffix, pattern::kSymlinkSuffix,
                                               pattern::kAsideSuffix};

EntryKind kind_of(const schema::File& file) {
  if (file.keep) return EntryKind::kKeptItems;
  return file.prestage ? EntryKind::kStagedItems : EntryKind::kItems;
}

}  // namespace

MadeItems::MadeItems(Context& context, FileState& file, const OpenTree& tree,
                     std::uint64_t per_node)
    : is_real_(file.plain->traits().real_files),
      context_(context),
      file_(file),
      tree_(tree),
      manifest_(&*context.manifest),
      per_node_(per_node) {}

void MadeItems::enter(std::uint64_t node, const backend::Identity& directory) noexcept {
  node_ = node;
  directory_ = directory;
  blocks_ = {};
}

Entry MadeItems::entry_of(ItemName name, std::uint64_t index) const {
  const bool has_type = name == ItemName::kOwn || name == ItemName::kAside;
  return {
      .kind = kind_of(*file_.plan),
      .identity = directory_,
      .path = path_of_node(file_, tree_, node_),
      .block = {.names = tree_.names + kSuffixes[static_cast<std::size_t>(name)],
                .node = node_,
                .per_node = per_node_,
                .first = index / ItemBlock::kItems * ItemBlock::kItems,
                .directories = has_type && file_.plan->tree->kind == schema::ItemKind::kDirectory}};
}

void MadeItems::find(ItemName name, std::uint64_t index) {
  Block& block = blocks_[static_cast<std::size_t>(name)];
  block.number = index / ItemBlock::kItems;
  // The same name in a directory that was made anew is another block.
  const std::uint64_t directory = base::combine(directory_.inode, directory_.birth_ns);
  const std::uint64_t tree = base::combine(tree_.path_key, base::key_of(tree_.names));
  const std::uint64_t place = base::combine(node_, block.number);
  const std::uint64_t key = base::combine(base::combine(tree, directory),
                                          base::combine(place, static_cast<std::uint64_t>(name)));
  block.place = manifest_->place_of_items(key, [&] { return entry_of(name, index); });
}

void MadeItems::note_removed(ItemName name, std::uint64_t index) {
  if ((count_of(name, index) & kCountMask) != 0) manifest_->note_removal_of_others();
}

bool MadeItems::is_ours(ItemName name, std::uint64_t index) {
  if (!is_real_) return true;
  if (is_made(count_of(name, index)) && !context_.removes_others) return true;
  return manifest_->any_made(entry_of(name, index), index % ItemBlock::kItems);
}

}  // namespace venturi::execute
