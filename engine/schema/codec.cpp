// JSON text, paths and single values: what the generated codec of every document is made of.
#include "schema/codec.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "base/error.hpp"

namespace venturi::schema::codec {
namespace {

constexpr std::size_t kMaxLevels = 128;

/// Follows the parser and stops it at what the library itself would let pass.
class Guard {
 public:
  void see(Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    const bool starts = event == Event::object_start || event == Event::array_start;
    if ((starts || event == Event::value) && !levels_.empty()) ++levels_.back().index;
    if (event == Event::key) add_key(parsed.get_ref<const std::string&>());
    if (starts) levels_.push_back({.is_list = event == Event::array_start});
    if (event == Event::object_end || event == Event::array_end) levels_.pop_back();
    if (levels_.size() > kMaxLevels) {
      throw base::plan_error("", "is nested deeper than " + std::to_string(kMaxLevels) + " levels");
    }
  }

 private:
  struct Level {
    bool is_list;
    std::size_t index = 0;  // of the next item
    std::string key = {};
    std::set<std::string> keys = {};
  };

  void add_key(const std::string& key) {
    levels_.back().key = key;
    if (levels_.back().keys.insert(key).second) return;
    std::string path;
    for (const Level& level : levels_) {
      if (level.is_list) path += "[" + std::to_string(level.index - 1) + "]";
      if (!level.is_list) path += (path.empty() ? "" : ".") + level.key;
    }
    throw base::plan_error(path, "is there twice");
  }

  std::vector<Level> levels_;
};

std::string listed(Words words) {
  std::string text;
  for (const std::string_view word : words) {
    text += (text.empty() ? "'" : ", '") + std::string(word) + "'";
  }
  return text;
}

}  // namespace

Json parse_text(std::string_view text) {
  // The library would skip a byte order mark and take a zero byte for the end.
  if (text.starts_with("\xEF\xBB\xBF") || text.find('\0') != std::string_view::npos) {
    throw base::plan_error("", "is not JSON: a byte order mark or a zero byte");
  }
  Guard guard;
  try {
    return Json::parse(text, [&guard](int, Json::parse_event_t event, Json& parsed) {
      guard.see(event, parsed);
      return true;
    });
  } catch (const Json::parse_error& error) {
    throw base::plan_error("", "is not JSON: wrong at byte " + std::to_string(error.byte));
  } catch (const Json::out_of_range&) {
    throw base::plan_error("", "holds a number beyond the range of a double");
  }
}

std::string to_text(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Node::path() const {
  if (parent_ == nullptr) return "";
  const std::string before = parent_->path();
  if (key_.data() == nullptr) return before + "[" + std::to_string(index_) + "]";
  return before + (before.empty() ? "" : ".") + std::string(key_);
}

void Node::fail(const std::string& message) const { throw base::plan_error(path(), message); }

void decode(const Node& node, bool& out) {
  if (!node.value().is_boolean()) node.fail("must be true or false");
  out = node.value().get<bool>();
}

void decode(const Node& node, std::int64_t& out, const Whole& bounds) {
  const Json& value = node.value();
  if (!value.is_number_integer()) {
    node.fail("must be an integer of 64 bits, without point or exponent");
  }
  const bool huge = value.is_number_unsigned() &&
                    value.get<std::uint64_t>() >
                        static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (huge || value.get<std::int64_t>() > bounds.high) {
    node.fail("must be at most " + std::to_string(bounds.high));
  }
  out = value.get<std::int64_t>();
  if (out < bounds.low) node.fail("must be at least " + std::to_string(bounds.low));
}

void decode(const Node& node, double& out, const Span& bounds) {
  if (!node.value().is_number()) node.fail("must be a number");
  out = node.value().get<double>();
  if (out < bounds.low) node.fail("must be at least " + Json(bounds.low).dump());
  if (out > bounds.high) node.fail("must be at most " + Json(bounds.high).dump());
}

void decode(const Node& node, std::string& out, const Size& size) {
  if (!node.value().is_string()) node.fail("must be a text");
  out = node.value().get_ref<const std::string&>();
  if (out.size() < size.least) node.fail("must not be empty");
}

void expect_list(const Node& node) {
  if (!node.value().is_array()) node.fail("must be a list");
}

void expect_items(const Node& node, const Size& size) {
  if (node.value().size() < size.least) {
    node.fail("must have at least " + std::to_string(size.least) + " items");
  }
}

std::size_t decode_word(const Node& node, Words words) {
  if (node.value().is_string()) {
    const auto found = std::ranges::find(words, node.value().get_ref<const std::string&>());
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  }
  node.fail("must be one of " + listed(words));
}

std::size_t decode_tag(const Node& node, std::string_view key, Words words) {
  if (!node.value().is_object()) node.fail("must be an object");
  const auto found = node.value().find(key);
  if (found == node.value().end()) Node(node.value(), node, key).fail("is missing");
  return decode_word(Node(*found, node, key), words);
}

Object::Object(const Node& node) : node_(node) {
  if (!node.value().is_object()) node.fail("must be an object");
}

const Json* Object::find(std::string_view key) {
  known_.push_back(key);
  const auto found = node_.value().find(key);
  return found == node_.value().end() ? nullptr : &*found;
}

void Object::constant(std::string_view key, std::string_view word) {
  const Json* found = find(key);
  if (found != nullptr) static_cast<void>(decode_word(Node(*found, node_, key), {&word, 1}));
}

void Object::required_constant(std::string_view key, std::string_view word) {
  if (find(key) == nullptr) Node(node_.value(), node_, key).fail("is missing");
  constant(key, word);
}

void Object::finish() const {
  for (const auto& [key, value] : node_.value().items()) {
    if (std::ranges::find(known_, key) == known_.end()) {
      Node(value, node_, key).fail("is an unknown key; known are " + listed(known_));
    }
  }
}

Json encode(double value) {
  if (!std::isfinite(value)) throw std::domain_error("a number of the document is not finite");
  return value;
}

}  // namespace venturi::schema::codec
