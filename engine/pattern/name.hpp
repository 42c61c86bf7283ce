// Names: paths of files, directories of trees, and items whose digits are rewritten in place.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "pattern/expression.hpp"

namespace venturi::pattern {

/// The path relative to the run's directory. Throws base::Error (exit 2) at `files.path`.
void render_path(const std::vector<schema::PathPart>& parts, const Slots& slots, std::string& out);

/// Whether a relative path begins with a name that the engine uses itself in the run's directory.
bool is_reserved(std::string_view path);

/// Why the path must not be used by the engine, or nothing: it is absolute, empty, reserved, or
/// leaves the directory through `..`.
const char* path_fault(std::string_view path);

/// Directories in a tree of `depth` levels below its root with `branch` children each; the root
/// counts. Throws base::Error (exit 2) beyond 10^9.
std::uint64_t tree_nodes(std::int64_t depth, std::int64_t branch);

/// The path of node k below the tree's path: empty for the root, else `/d.<...>/d.<k>`.
std::string tree_node_path(std::uint64_t node, std::uint64_t branch);

/// The name of an item, `f.<owner>.<i>`, in a buffer where only the digits of `i` change.
class ItemName {
 public:
  explicit ItemName(std::uint64_t owner) {
    std::memcpy(text_.data(), "f.", 2);
    char* end = std::to_chars(text_.data() + 2, text_.data() + text_.size(), owner).ptr;
    *end++ = '.';
    digits_ = static_cast<std::size_t>(end - text_.data());
  }
  /// The name of item `i`, valid until the next call.
  const char* operator()(std::uint64_t i) noexcept {
    *std::to_chars(text_.data() + digits_, text_.data() + text_.size() - 1, i).ptr = '\0';
    return text_.data();
  }
  /// Whether a name is one that this class gives.
  static bool matches(std::string_view name);

 private:
  std::array<char, 48> text_{};
  std::size_t digits_ = 0;
};

}  // namespace venturi::pattern
