// The trees of one file entry that this rank works in: their names and open directories.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "backend/backend.hpp"
#include "pattern/item_size.hpp"
#include "pattern/tree.hpp"

namespace venturi::execute {

class Context;
class ItemReach;
struct FileState;

/// What stays of a tree of one owner from step to step, so that a step with one item is cheap.
struct OpenTree {
  std::string path;
  std::uint64_t path_key = 0;
  pattern::TreeName item_name;
  pattern::TreeName directory_name;
  ItemReach* reach = nullptr;
  pattern::ItemSizes sizes;
  /// Of the items, as `pattern::text_of_names` has them.
  std::string names;
  /// An open directory, and what it is.
  struct Node {
    backend::Directory directory = 0;
    backend::Identity identity;
  };
  std::unordered_map<std::uint64_t, Node> nodes;
};

/// Keeps a bounded number of trees and of open directories.
class TreeSet {
 public:
  /// The tree for the current slots, in which `rank` is the owner. Throws base::Error (exit 2) if
  /// its path or names are unsafe.
  OpenTree& get(Context& context, FileState& file);
  /// The directory of a node, or an errno; EEXIST if it is not the one that the run made.
  int directory(Context& context, FileState& file, OpenTree& tree, std::uint64_t node,
                OpenTree::Node& out);
  /// Closes all directories: their names may soon stand for others.
  void close_all(backend::Backend& storage) noexcept;
  /// Closes and forgets all trees.
  void forget(backend::Backend& storage) noexcept;

 private:
  static constexpr std::size_t kMostOpen = 256;
  static constexpr std::size_t kMostTrees = 1024;

  std::string path_;
  std::unordered_map<std::uint64_t, std::unique_ptr<OpenTree>> trees_;
  std::size_t open_ = 0;
};

/// The path of a node.
std::string path_of_node(const FileState& file, const OpenTree& tree, std::uint64_t node);

}  // namespace venturi::execute
