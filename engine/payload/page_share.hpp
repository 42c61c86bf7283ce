// Which shares of 4 KiB pages, and of the bytes in them, are data of their own.
#pragma once

#include <cmath>
#include <cstdint>

namespace venturi::payload {

inline constexpr std::uint64_t kPageBytes = 4096;

/// Bytes at the beginning of each page that are not zero; a multiple of 8.
inline std::uint64_t data_bytes_of_page(double compressibility) noexcept {
  constexpr std::uint64_t kWordBytes = 8;
  constexpr double kWords = static_cast<double>(kPageBytes / kWordBytes);
  return static_cast<std::uint64_t>(std::lround((1.0 - compressibility) * kWords)) * kWordBytes;
}

/// All pages are their own source.
inline constexpr std::uint64_t kAllUnique = std::uint64_t{1} << 32U;

/// Share of pages that are their own source, in units of 2^-32.
inline std::uint64_t unique_share(double duplicates) noexcept {
  return static_cast<std::uint64_t>(std::lround((1.0 - duplicates) * 4294967296.0));
}

/// The page whose bytes page p has: its own number, or, of a duplicate, that of an earlier one.
/// Page p is its own source if the number of sources up to it, (p + 1) * unique, grows there.
constexpr std::uint64_t source_of_page(std::uint64_t page, std::uint64_t unique) noexcept {
  if (unique >= kAllUnique) return page;
  __extension__ using Wide = unsigned __int128;
  const Wide sources = (Wide{page} + 1) * unique >> 32U;
  if (sources == 0) return 0;
  return static_cast<std::uint64_t>(((sources << 32U) + unique - 1) / unique) - 1;
}

}  // namespace venturi::payload
