// Elements by their tags; attributes, comments and namespaces are passed over.
#include "backend/s3/xml.hpp"

#include <array>
#include <utility>

namespace venturi::backend::s3 {
namespace {

constexpr std::array<std::pair<std::string_view, char>, 5> kEntities{
    {{"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&amp;", '&'}}};

std::string unescaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    char byte = text.front();
    std::size_t length = 1;
    for (const auto& [entity, stands_for] : kEntities) {
      if (!text.starts_with(entity)) continue;
      byte = stands_for;
      length = entity.size();
    }
    out.push_back(byte);
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace

std::vector<std::string_view> elements(std::string_view xml, std::string_view name) {
  const std::string open = "<" + std::string(name);
  const std::string close = "</" + std::string(name) + ">";
  std::vector<std::string_view> found;
  std::size_t at = 0;
  while ((at = xml.find(open, at)) != std::string_view::npos) {
    at += open.size();
    const bool is_tag = at < xml.size() && (xml[at] == '>' || xml[at] == ' ');
    const std::size_t begin = is_tag ? xml.find('>', at) : std::string_view::npos;
    if (!is_tag) continue;
    const std::size_t end = begin == std::string_view::npos ? begin : xml.find(close, begin);
    if (end == std::string_view::npos) break;
    found.push_back(xml.substr(begin + 1, end - begin - 1));
    at = end + close.size();
  }
  return found;
}

std::string text_of(std::string_view xml, std::string_view name) {
  const auto found = elements(xml, name);
  return found.empty() ? "" : unescaped(found.front());
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char byte : text) {
    bool is_plain = true;
    for (const auto& [entity, stands_for] : kEntities) {
      if (byte != stands_for) continue;
      out += entity;
      is_plain = false;
    }
    if (is_plain) out.push_back(byte);
  }
  return out;
}

}  // namespace venturi::backend::s3
