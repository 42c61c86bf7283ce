// Reading the columns of a loop's table.
#include "pattern/turn_columns.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/error.hpp"

namespace venturi::pattern {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoDigit = 64;
constexpr unsigned kBitsOfDigit = 6;
constexpr unsigned kBitsOfByte = 8;

constexpr std::array<std::uint8_t, 256> kValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (std::size_t i = 0; i < kDigits.size(); ++i) {
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}();

/// The bytes behind base64; nothing where it is none.
std::string decoded(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  bytes.reserve(text.size() * kBitsOfDigit / kBitsOfByte);
  std::uint32_t waiting = 0;
  unsigned bits = 0;
  for (const char digit : text) {
    const std::uint8_t value = kValues[static_cast<unsigned char>(digit)];
    if (value == kNoDigit) return {};
    waiting = (waiting << kBitsOfDigit) | value;
    bits += kBitsOfDigit;
    if (bits < kBitsOfByte) continue;
    bits -= kBitsOfByte;
    bytes.push_back(static_cast<char>(waiting >> bits));
  }
  return bytes;
}

template <class Integer>
std::int64_t number_at(const std::string& bytes, std::uint64_t place) {
  Integer found = 0;
  std::memcpy(&found, bytes.data() + place * sizeof(Integer), sizeof(Integer));
  return found;
}

}  // namespace

TurnColumns::TurnColumns(const std::vector<schema::TurnColumn>& columns, std::uint64_t rows,
                         const std::string& where) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::string bytes = decoded(columns[i].values);
    const std::size_t width = rows == 0 ? 0 : bytes.size() / rows;
    const bool fits = width == 1 || width == 2 || width == 4 || width == 8;
    if (!fits || width * rows != bytes.size()) {
      throw base::plan_error(fmt::format("{}.columns[{}].values", where, i),
                             fmt::format("is not base64 of {} numbers", rows));
    }
    columns_.push_back({static_cast<std::size_t>(columns[i].variable), width, std::move(bytes)});
  }
}

void TurnColumns::set(Slots& slots, std::uint64_t row) const {
  for (const Numbers& column : columns_) {
    std::int64_t number = 0;
    switch (column.width) {
      case 1:
        number = number_at<std::int8_t>(column.bytes, row);
        break;
      case 2:
        number = number_at<std::int16_t>(column.bytes, row);
        break;
      case 4:
        number = number_at<std::int32_t>(column.bytes, row);
        break;
      default:
        number = number_at<std::int64_t>(column.bytes, row);
    }
    slots[column.slot] = number;
  }
}

void TurnColumns::reset(Slots& slots) const {
  for (const Numbers& column : columns_) slots[column.slot] = std::int64_t{0};
}

}  // namespace venturi::pattern
