// The hand-written half of the codec: JSON text, places in it, and the checks of single values.
// Only the .cpp files of this folder include it, because it is the only one that knows JSON.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace venturi::schema::codec {

using Json = nlohmann::ordered_json;
using Words = std::span<const std::string_view>;

/// Parses JSON text. Throws `base::Error` on wrong syntax, a key that is there twice, a number
/// beyond a double, and more than 128 levels.
[[nodiscard]] Json parse_text(std::string_view text);

/// One line of JSON. Bytes that are not UTF-8 become U+FFFD, so a strange file name is no error.
[[nodiscard]] std::string to_text(const Json& value);

/// A value of a document with its way from the root, which is spelled only when it is needed.
class Node {
 public:
  explicit Node(const Json& value) : value_(value) {}
  Node(const Json& value, const Node& parent, std::string_view key)
      : value_(value), parent_(&parent), key_(key) {}
  Node(const Json& value, const Node& parent, std::size_t index)
      : value_(value), parent_(&parent), index_(index) {}

  [[nodiscard]] const Json& value() const { return value_; }
  [[nodiscard]] std::string path() const;
  [[noreturn]] void fail(const std::string& message) const;

 private:
  const Json& value_;
  const Node* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = 0;
};

// The checks, outermost first: a list of counts takes `Size` and then `Whole`.

/// Bounds of an integer, both included.
struct Whole {
  std::int64_t low = std::numeric_limits<std::int64_t>::min();
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
};

/// Bounds of a real number, both included.
struct Span {
  double low = std::numeric_limits<double>::lowest();
  double high = std::numeric_limits<double>::max();
};

/// The least number of bytes of a text, or of items of a list.
struct Size {
  std::size_t least = 0;
};

void decode(const Node& node, bool& out);
void decode(const Node& node, std::int64_t& out, const Whole& bounds = {});
void decode(const Node& node, double& out, const Span& bounds = {});
void decode(const Node& node, std::string& out, const Size& size = {});

/// Fails if the value is not a list.
void expect_list(const Node& node);
/// Fails if a list has fewer items than that.
void expect_items(const Node& node, const Size& size);

/// The index of the text among the words; fails, naming the words, if it is none of them.
[[nodiscard]] std::size_t decode_word(const Node& node, Words words);

/// The same for the word under `key` that says which member of a union an object is.
[[nodiscard]] std::size_t decode_tag(const Node& node, std::string_view key, Words words);

/// The value of a word, or nothing if it is none of the enum's words.
template <class Enum>
[[nodiscard]] std::optional<Enum> find_word(std::string_view word) {
  const Words words = words_of(Enum{});
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == word) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

template <class Enum>
  requires std::is_enum_v<Enum>
void decode(const Node& node, Enum& out) {
  out = static_cast<Enum>(decode_word(node, words_of(out)));
}

template <class Value, class... Checks>
void decode(const Node& node, std::optional<Value>& out, const Checks&... checks) {
  out.reset();
  if (!node.value().is_null()) decode(node, out.emplace(), checks...);
}

template <class Item, class... Checks>
void decode(const Node& node, std::vector<Item>& out, const Size& size, const Checks&... checks) {
  expect_list(node);
  out.assign(node.value().size(), Item{});
  for (std::size_t i = 0; i < out.size(); ++i) {
    decode(Node(node.value()[i], node, i), out[i], checks...);
  }
  // Faults of items come first, as in the model.
  expect_items(node, size);
}

/// Decodes a union whose object says under `key`, by one of `tags`, which member it is.
template <class... Members>
void decode_union(const Node& node, std::string_view key, Words tags,
                  std::variant<Members...>& out) {
  const std::size_t chosen = decode_tag(node, key, tags);
  std::size_t index = 0;
  ((index++ == chosen ? decode(node, out.template emplace<Members>()) : void()), ...);
}

/// Reads an object key by key; `finish` then fails on a key that was not asked for.
class Object {
 public:
  explicit Object(const Node& node);

  template <class Value, class... Checks>
  void required(std::string_view key, Value& out, const Checks&... checks) {
    const Json* found = find(key);
    if (found == nullptr) Node(node_.value(), node_, key).fail("is missing");
    decode(Node(*found, node_, key), out, checks...);
  }

  template <class Value, class... Checks>
  void optional(std::string_view key, Value& out, const Checks&... checks) {
    const Json* found = find(key);
    if (found != nullptr) decode(Node(*found, node_, key), out, checks...);
  }

  /// A key that may be absent but can have no other value.
  void constant(std::string_view key, std::string_view word);

  /// A key that must be there and can have no other value.
  void required_constant(std::string_view key, std::string_view word);

  void finish() const;

 private:
  [[nodiscard]] const Json* find(std::string_view key);

  const Node& node_;
  std::vector<std::string_view> known_;
};

[[nodiscard]] inline Json encode(bool value) { return value; }
[[nodiscard]] inline Json encode(std::int64_t value) { return value; }
[[nodiscard]] inline Json encode(const std::string& value) { return value; }
/// Throws `std::domain_error` on a number that is not finite: JSON has no word for it.
[[nodiscard]] Json encode(double value);

template <class Enum>
  requires std::is_enum_v<Enum>
[[nodiscard]] Json encode(const Enum& value) {
  return std::string(to_string(value));
}

template <class Item>
[[nodiscard]] Json encode(const std::vector<Item>& values);

template <class Value>
[[nodiscard]] Json encode(const std::optional<Value>& value) {
  return value ? encode(*value) : Json(nullptr);
}

template <class Item>
[[nodiscard]] Json encode(const std::vector<Item>& values) {
  Json out = Json::array();
  for (const Item& value : values) out.push_back(encode(value));
  return out;
}

}  // namespace venturi::schema::codec
