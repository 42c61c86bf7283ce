// Numbers as bytes of either order, and text.
#include "payload/literal.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/error.hpp"
#include "pattern/dataset.hpp"
#include "pattern/name.hpp"

namespace venturi::payload {
namespace {

constexpr const char* kWhere = "given";

/// The bits of a whole number, with or without a sign, in so many bytes.
std::uint64_t bits_of(std::int64_t number, std::uint64_t bytes) {
  const std::uint64_t bits = 8 * bytes;
  if (bits < 64) {
    const std::int64_t most = (std::int64_t{1} << bits) - 1;
    const std::int64_t least = -(std::int64_t{1} << (bits - 1));
    if (number < least || number > most) {
      throw base::plan_error(kWhere, "a number does not fit its type", "choose a larger 'type'");
    }
  }
  return static_cast<std::uint64_t>(number);
}

std::uint64_t bits_of(const schema::Expression& code, schema::ElementType type,
                      pattern::Evaluator& evaluator, const pattern::Slots& slots) {
  if (type == schema::ElementType::kF64) {
    return std::bit_cast<std::uint64_t>(evaluator.value(code, slots, kWhere).real());
  }
  if (type == schema::ElementType::kF32) {
    const auto number = static_cast<float>(evaluator.value(code, slots, kWhere).real());
    if (!std::isfinite(number)) throw base::plan_error(kWhere, "a number does not fit into f32");
    return std::bit_cast<std::uint32_t>(number);
  }
  return bits_of(evaluator.integer(code, slots, kWhere), pattern::element_bytes(type));
}

}  // namespace

void check(const schema::LiteralContent& literal, std::size_t slots, const std::string& where) {
  for (std::size_t i = 0; i < literal.numbers.size(); ++i) {
    pattern::validate(literal.numbers[i], slots, fmt::format("{}.numbers[{}]", where, i));
  }
  for (std::size_t i = 0; i < literal.text.size(); ++i) {
    if (!literal.text[i].value) continue;
    pattern::validate(*literal.text[i].value, slots, fmt::format("{}.text[{}].value", where, i));
  }
}

void render(const schema::LiteralContent& literal, pattern::Evaluator& evaluator,
            const pattern::Slots& slots, std::span<std::byte> out) {
  if (literal.numbers.empty()) {
    std::string text;
    pattern::render_path(literal.text, slots, evaluator, text);
    if (text.size() != out.size()) {
      throw base::plan_error(kWhere, "a number in the text has more digits than its width");
    }
    std::memcpy(out.data(), text.data(), text.size());
    return;
  }
  const std::uint64_t bytes = pattern::element_bytes(literal.type);
  if (literal.numbers.size() * bytes != out.size()) {
    throw base::plan_error(kWhere, "the numbers do not fill the request");
  }
  std::byte* at = out.data();
  for (const schema::Expression& code : literal.numbers) {
    const std::uint64_t bits = bits_of(code, literal.type, evaluator, slots);
    for (std::uint64_t i = 0; i < bytes; ++i) {
      const std::uint64_t place = literal.big_endian ? bytes - 1 - i : i;
      *at++ = static_cast<std::byte>(bits >> (8 * place));
    }
  }
}

}  // namespace venturi::payload
