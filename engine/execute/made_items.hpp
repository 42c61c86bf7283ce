// Which items of a tree this rank made: one character of the manifest for each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "backend/backend.hpp"
#include "execute/manifest.hpp"

namespace venturi::execute {

class Context;
struct FileState;
struct OpenTree;

/// The names that an item may have.
enum class ItemName : std::uint8_t { kOwn, kLink, kSymlink, kAside };

/// Notes before each call that makes a name that it is about to be made, and behind it whether it
/// was. So what a dead run left is known, and what others put there is told from it.
class MadeItems {
 public:
  /// For the items of a tree of one owner, `per_node` of them in each directory.
  MadeItems(Context& context, FileState& file, const OpenTree& tree, std::uint64_t per_node);

  /// The items that come now are in another directory.
  void enter(std::uint64_t node, const backend::Identity& directory) noexcept;

  void intend(ItemName name, std::uint64_t index, std::uint64_t now_ns) {
    if (!is_real_) return;
    unsigned char& count = count_of(name, index);
    manifest_->set_now(now_ns);
    count = static_cast<unsigned char>(kPending | (count & kCountMask));
  }
  /// What was intended was done, or not.
  void settle(ItemName name, std::uint64_t index, bool made) {
    change(name, index, made ? 1U : 0U);
  }
  /// The name is gone.
  void remove(ItemName name, std::uint64_t index) {
    if (!is_real_) return;
    change(name, index, kCountMask);
    if (!is_made(count_of(name, index))) note_removed(name, index);
  }
  /// Whether a rank of this run made the name.
  bool is_ours(ItemName name, std::uint64_t index);

 private:
  /// The block of one kind of names in which the last item was.
  struct Block {
    std::uint64_t number = std::numeric_limits<std::uint64_t>::max();
    std::size_t place = 0;
  };

  [[nodiscard]] std::size_t place_of(ItemName name, std::uint64_t index) {
    const Block& block = blocks_[static_cast<std::size_t>(name)];
    if (index / ItemBlock::kItems != block.number) [[unlikely]]
      find(name, index);
    return block.place + index % ItemBlock::kItems;
  }
  [[nodiscard]] unsigned char& count_of(ItemName name, std::uint64_t index) {
    return manifest_->count(place_of(name, index));
  }
  void change(ItemName name, std::uint64_t index, unsigned by) {
    if (!is_real_) return;
    unsigned char& count = count_of(name, index);
    count = static_cast<unsigned char>(kSettled | ((count + by) & kCountMask));
  }
  void note_removed(ItemName name, std::uint64_t index);
  void find(ItemName name, std::uint64_t index);
  [[nodiscard]] Entry entry_of(ItemName name, std::uint64_t index) const;

  bool is_real_;
  Context& context_;
  FileState& file_;
  const OpenTree& tree_;
  Manifest* manifest_;
  std::uint64_t per_node_;
  std::uint64_t node_ = 0;
  backend::Identity directory_;
  std::array<Block, 4> blocks_;
};

}  // namespace venturi::execute
