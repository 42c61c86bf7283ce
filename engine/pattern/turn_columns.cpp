// Reading the columns of a loop's table.
#include "pattern/turn_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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
  constexpr std::size_t kDigitsOfGroup = 4;
  constexpr std::size_t kBytesOfGroup = 3;
  std::string bytes(text.size() * kBitsOfDigit / kBitsOfByte, '\0');
  char* out = bytes.data();
  std::uint8_t worst = 0;
  for (std::size_t at = 0; at < text.size(); at += kDigitsOfGroup) {
    const std::size_t digits = std::min(kDigitsOfGroup, text.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < kDigitsOfGroup; ++i) {
      const std::uint8_t value =
          i < digits ? kValues[static_cast<unsigned char>(text[at + i])] : std::uint8_t{0};
      worst = std::max(worst, value);
      group = (group << kBitsOfDigit) | value;
    }
    const std::size_t whole = digits * kBytesOfGroup / kDigitsOfGroup;
    for (std::size_t i = 0; i < whole; ++i) {
      *out++ = static_cast<char>(group >> (kBitsOfByte * (kBytesOfGroup - 1 - i)));
    }
  }
  return worst == kNoDigit ? std::string{} : bytes;
}

}  // namespace

template <class Integer>
std::uint64_t RowNumbers::alike_as(std::uint64_t row, std::uint64_t most) const noexcept {
  const Integer first = number<Integer>(row);
  std::uint64_t count = 1;
  while (count < most && number<Integer>(row + count) == first) ++count;
  return count;
}

std::uint64_t RowNumbers::alike(std::uint64_t row, std::uint64_t most) const noexcept {
  switch (width_) {
    case 1:
      return alike_as<std::int8_t>(row, most);
    case 2:
      return alike_as<std::int16_t>(row, most);
    case 4:
      return alike_as<std::int32_t>(row, most);
    default:
      return alike_as<std::int64_t>(row, most);
  }
}

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
    columns_.emplace_back(static_cast<std::size_t>(columns[i].variable), width, std::move(bytes));
  }
}

void TurnColumns::set(Slots& slots, std::uint64_t row) const {
  for (const RowNumbers& column : columns_) slots[column.slot()] = column.at(row);
}

void TurnColumns::reset(Slots& slots) const {
  for (const RowNumbers& column : columns_) slots[column.slot()] = std::int64_t{0};
}

const RowNumbers* TurnColumns::find(std::size_t slot) const noexcept {
  const auto found = std::ranges::find(columns_, slot, &RowNumbers::slot);
  return found == columns_.end() ? nullptr : &*found;
}

std::uint64_t TurnColumns::alike(std::uint64_t row, std::uint64_t most,
                                 std::span<const std::size_t> free) const noexcept {
  for (const RowNumbers& column : columns_) {
    if (most > 1 && std::ranges::find(free, column.slot()) == free.end()) {
      most = column.alike(row, most);
    }
  }
  return most;
}

}  // namespace venturi::pattern
