// Rendering and judging names.
#include "pattern/name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/error.hpp"

namespace venturi::pattern {
namespace {

constexpr std::uint64_t kMostNodes = 1'000'000'000;

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char letter) { return letter >= '0' && letter <= '9'; });
}

}  // namespace

void render_path(const std::vector<schema::PathPart>& parts, const Slots& slots, std::string& out) {
  Evaluator evaluator;
  out.clear();
  for (const schema::PathPart& part : parts) {
    out += part.text;
    if (!part.value) continue;
    const std::int64_t number = evaluator.integer(*part.value, slots, "files.path");
    if (number < 0) throw base::plan_error("files.path", "a number in a path is negative");
    fmt::format_to(std::back_inserter(out), "{:0{}}", number, part.width);
  }
}

bool is_reserved(std::string_view path) {
  const std::string_view first = path.substr(0, path.find('/'));
  return first == ".venturi" || first.starts_with(".manifest.");
}

const char* path_fault(std::string_view path) {
  if (path.empty()) return "the path is empty";
  if (path.front() == '/') return "the path is absolute";
  if (path.find('\0') != std::string_view::npos) return "the path contains a zero byte";
  if (path.find('\n') != std::string_view::npos) return "the path contains a line's end";
  if (path.back() == '/') return "the path ends with a slash";
  if (is_reserved(path)) return "the path is a name of the engine's own book-keeping";
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view component = path.substr(0, slash);
    if (component == "..") return "the path leaves the run's directory";
    if (component.empty() || component == ".") return "the path has an empty component";
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return nullptr;
}

std::uint64_t tree_nodes(std::int64_t depth, std::int64_t branch) {
  std::uint64_t nodes = 1;
  std::uint64_t level = 1;
  for (std::int64_t d = 0; d < depth; ++d) {
    level *= static_cast<std::uint64_t>(branch);
    nodes += level;
    if (nodes > kMostNodes) {
      throw base::plan_error("files.tree", "a tree of more than 10^9 directories");
    }
  }
  return nodes;
}

std::string tree_node_path(std::uint64_t node, std::uint64_t branch) {
  std::string path;
  for (; node > 0; node = (node - 1) / branch) path.insert(0, fmt::format("/d.{}", node));
  return path;
}

bool ItemName::matches(std::string_view name) {
  if (name.substr(0, 2) != "f.") return false;
  name.remove_prefix(2);
  const std::size_t dot = name.find('.');
  return dot != std::string_view::npos && all_digits(name.substr(0, dot)) &&
         all_digits(name.substr(dot + 1));
}

}  // namespace venturi::pattern
