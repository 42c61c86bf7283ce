// Counting and naming what is in a tree.
#include "pattern/tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/error.hpp"

namespace venturi::pattern {
namespace {

constexpr std::uint64_t kMostNodes = 1'000'000'000;
constexpr std::size_t kMostDigits = 20;
constexpr const char* kWhere = "files.tree";

schema::NamePart text_part(const char* text) { return {.text = text}; }

schema::NamePart field_part(schema::NameField field) { return {.field = field}; }

schema::NamePart owner_part() {
  schema::NamePart part;
  part.value = schema::Expression{{.operator_ = schema::Operator::kVariable,
                                   .integer = static_cast<std::int64_t>(schema::Slot::kRank)}};
  return part;
}

/// Of nodes, items and indexes, in the order of `NameField`.
constexpr std::string_view kFieldLetters = "ntx";

}  // namespace

std::uint64_t tree_nodes(std::int64_t depth, std::int64_t branch) {
  std::uint64_t nodes = 1;
  std::uint64_t level = 1;
  for (std::int64_t d = 0; d < depth; ++d) {
    level *= static_cast<std::uint64_t>(branch);
    nodes += level;
    if (nodes > kMostNodes) throw base::plan_error(kWhere, "a tree of more than 10^9 directories");
  }
  return nodes;
}

std::uint64_t first_item_node(const schema::Tree& tree) {
  return tree.leaves && tree.depth > 0 ? tree_nodes(tree.depth - 1, tree.branch) : 0;
}

ItemPart item_part(std::uint64_t total, std::uint64_t owners, std::uint64_t owner) noexcept {
  __extension__ using Wide = unsigned __int128;
  const auto edge = [&](std::uint64_t before) {
    return static_cast<std::uint64_t>(Wide{total} * before / owners);
  };
  return {.first = edge(owner), .count = edge(owner + 1) - edge(owner)};
}

std::vector<schema::NamePart> item_name_parts(const schema::Tree& tree) {
  if (!tree.item_name.empty()) return tree.item_name;
  if (tree.owner != schema::ItemOwner::kRank) {
    return {text_part("f."), field_part(schema::NameField::kIndex)};
  }
  return {text_part("f."), owner_part(), text_part("."), field_part(schema::NameField::kIndex)};
}

std::vector<schema::NamePart> directory_name_parts(const schema::Tree& tree) {
  if (!tree.directory_name.empty()) return tree.directory_name;
  return {text_part("d."), field_part(schema::NameField::kNode)};
}

TreeName::TreeName(const std::vector<schema::NamePart>& parts, const Slots& slots) {
  Evaluator evaluator;
  std::string fixed;
  std::size_t most_bytes = std::strlen(kSymlinkSuffix);
  for (const schema::NamePart& part : parts) {
    std::string text = part.text;
    const auto width = static_cast<std::size_t>(part.width);
    if (part.value) {
      const std::uint64_t number = evaluator.count(*part.value, slots, "files.tree.names");
      fmt::format_to(std::back_inserter(text), "{:0{}}", number, width);
    }
    (varying_.empty() ? fixed : varying_.back().text) += text;
    most_bytes += text.size();
    if (!part.field) continue;
    varying_.push_back({.field = *part.field, .width = width, .text = {}});
    most_bytes += kMostDigits;
  }
  if (most_bytes > kMostNameBytes) {
    throw base::plan_error(kWhere, "names in the tree may be longer than 255 bytes");
  }
  fixed_bytes_ = static_cast<std::size_t>(add_text(text_.data(), fixed) - text_.data());
}

char* TreeName::add_text(char* end, std::string_view text) noexcept {
  std::memcpy(end, text.data(), text.size());
  return end + text.size();
}

const char* TreeName::render(std::uint64_t node, std::uint64_t item, std::uint64_t index) noexcept {
  char* end = text_.data() + fixed_bytes_;
  for (Varying& part : varying_) {
    part.number = number_of(part.field, node, item, index);
    char* digits_end = std::to_chars(end, text_.data() + text_.size(), part.number).ptr;
    const auto digits = static_cast<std::size_t>(digits_end - end);
    if (digits < part.width) {
      std::memmove(end + (part.width - digits), end, digits);
      std::memset(end, '0', part.width - digits);
      digits_end = end + part.width;
    }
    part.last_digit = static_cast<std::size_t>(digits_end - text_.data()) - 1;
    end = add_text(digits_end, part.text);
  }
  *end = '\0';
  has_name_ = true;
  return text_.data();
}

std::string tree_node_path(std::uint64_t node, std::uint64_t branch, TreeName& names) {
  std::string path;
  for (; node > 0; node = (node - 1) / branch) {
    path.insert(0, names(node, 0, 0));
    path.insert(0, "/");
  }
  return path;
}

std::string text_of_names(const std::vector<schema::NamePart>& parts, const Slots& slots) {
  Evaluator evaluator;
  std::string out;
  for (const schema::NamePart& part : parts) {
    std::string text = part.text;
    const auto width = static_cast<std::size_t>(part.width);
    if (part.value) {
      const std::uint64_t number = evaluator.count(*part.value, slots, "files.tree.names");
      fmt::format_to(std::back_inserter(text), "{:0{}}", number, width);
    }
    for (const char letter : text) out.append(letter == '%' ? 2 : 1, letter);
    if (part.field) {
      out += fmt::format("%{}{};", kFieldLetters[static_cast<std::size_t>(*part.field)], width);
    }
  }
  return out;
}

std::optional<std::vector<schema::NamePart>> names_of(std::string_view text) {
  std::vector<schema::NamePart> parts(1);
  while (!text.empty()) {
    const std::size_t percent = std::min(text.find('%'), text.size());
    parts.back().text += text.substr(0, percent);
    text.remove_prefix(percent);
    if (text.empty()) break;
    if (text.starts_with("%%")) {
      parts.back().text += '%';
      text.remove_prefix(2);
      continue;
    }
    const std::size_t end = text.find(';');
    const std::size_t letter = text.size() > 1 ? kFieldLetters.find(text[1]) : kFieldLetters.npos;
    if (end == std::string_view::npos || letter == kFieldLetters.npos) return std::nullopt;
    const auto [stop, error] =
        std::from_chars(text.data() + 2, text.data() + end, parts.back().width);
    const bool fits = error == std::errc{} && stop == text.data() + end &&
                      parts.back().width >= 0 && parts.back().width <= ssize_t{kMostNameBytes};
    if (!fits) return std::nullopt;
    parts.back().field = static_cast<schema::NameField>(letter);
    parts.emplace_back();
    text.remove_prefix(end + 1);
  }
  return parts;
}

}  // namespace venturi::pattern
