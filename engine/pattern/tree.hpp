// Trees of directories and items: their numbers, and names whose digits are rewritten in place.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pattern/expression.hpp"

namespace venturi::pattern {

/// Directories in a tree of `depth` levels below its root with `branch` children each; the root
/// counts. Throws base::Error (exit 2) beyond 10^9.
std::uint64_t tree_nodes(std::int64_t depth, std::int64_t branch);

/// The first directory that holds items: the root, or the first of the deepest ones.
std::uint64_t first_item_node(const schema::Tree& tree);

/// A stretch of the items of a tree, by their positions.
struct ItemPart {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// What one of `owners` has of `total` items that belong to all of them together.
ItemPart item_part(std::uint64_t total, std::uint64_t owners, std::uint64_t owner) noexcept;

/// The parts of the names of a tree's items and of its directories below the root.
std::vector<schema::NamePart> item_name_parts(const schema::Tree& tree);
std::vector<schema::NamePart> directory_name_parts(const schema::Tree& tree);

/// The longest name of a directory entry on Linux.
inline constexpr std::size_t kMostNameBytes = 255;
/// What may follow an item's name: of links to it, and while it is being renamed.
inline constexpr const char* kLinkSuffix = ".link";
inline constexpr const char* kSymlinkSuffix = ".symlink";
inline constexpr const char* kAsideSuffix = "-XX";

/// Names in a tree for one owner: what is fixed is rendered once, digits in place.
class TreeName {
 public:
  /// `rank` in the slots is the owner's. Throws base::Error (exit 2) at `files.tree`.
  TreeName(const std::vector<schema::NamePart>& parts, const Slots& slots);

  /// The name with these numbers, valid until the next call.
  const char* operator()(std::uint64_t node, std::uint64_t item, std::uint64_t index) noexcept {
    return count_up(node, item, index) ? text_.data() : render(node, item, index);
  }

 private:
  /// A number and the text behind it.
  struct Varying {
    schema::NameField field;
    std::size_t width;
    std::string text;
    /// Of the last name: its number, and where its last digit is.
    std::uint64_t number = 0;
    std::size_t last_digit = 0;
  };

  static std::uint64_t number_of(schema::NameField field, std::uint64_t node, std::uint64_t item,
                                 std::uint64_t index) noexcept {
    if (field == schema::NameField::kNode) return node;
    return field == schema::NameField::kItem ? item : index;
  }
  /// Most names differ from the one before by one digit; false if this one does not.
  bool count_up(std::uint64_t node, std::uint64_t item, std::uint64_t index) noexcept {
    if (!has_name_) return false;
    for (Varying& part : varying_) {
      const std::uint64_t number = number_of(part.field, node, item, index);
      if (number == part.number) continue;
      char& digit = text_[part.last_digit];
      if (number != part.number + 1 || digit == '9') return false;
      ++digit;
      part.number = number;
    }
    return true;
  }
  const char* render(std::uint64_t node, std::uint64_t item, std::uint64_t index) noexcept;
  char* add_text(char* end, std::string_view text) noexcept;

  std::array<char, kMostNameBytes + 1> text_{};
  std::size_t fixed_bytes_ = 0;
  std::vector<Varying> varying_;
  bool has_name_ = false;
};

/// The path of node k below the tree's path: empty for the root, else `/<...>/<name of k>`.
std::string tree_node_path(std::uint64_t node, std::uint64_t branch, TreeName& names);

/// Name parts with the values that they have now, as a text from which `names_of` makes them again:
/// `%n3;`, `%t3;` and `%x3;` are a node, an item of the tree and an index with so many digits, `%%`
/// is a percent sign.
std::string text_of_names(const std::vector<schema::NamePart>& parts, const Slots& slots);
/// Nothing if the text has another form.
std::optional<std::vector<schema::NamePart>> names_of(std::string_view text);

}  // namespace venturi::pattern
