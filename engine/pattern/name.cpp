// Rendering and judging paths.
#include "pattern/name.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.hpp"

namespace venturi::pattern {

void render_path(const std::vector<schema::PathPart>& parts, const Slots& slots, std::string& out) {
  Evaluator evaluator;
  render_path(parts, slots, evaluator, out);
}

void render_path(const std::vector<schema::PathPart>& parts, const Slots& slots,
                 Evaluator& evaluator, std::string& out) {
  out.clear();
  for (const schema::PathPart& part : parts) {
    out += part.text;
    if (!part.value) continue;
    const std::int64_t number = evaluator.integer(*part.value, slots, "files.path");
    if (number < 0) throw base::plan_error("files.path", "a number in a path is negative");
    std::array<char, 20> digits;
    const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    const auto count = static_cast<std::size_t>(end - digits.data());
    const auto width = static_cast<std::size_t>(part.width);
    if (count < width) out.append(width - count, '0');
    out.append(digits.data(), count);
  }
}

bool is_for_commands(std::string_view path) { return path.starts_with(".commands."); }

bool is_reserved(std::string_view path) {
  const std::string_view first = path.substr(0, path.find('/'));
  return first == ".venturi" || first.starts_with(".manifest.") || is_for_commands(first);
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

}  // namespace venturi::pattern
