// CRC-32 (polynomial of IEEE 802.3, reflected), eight bytes at a time, and the sums over sites.
#include "backend/site_sums.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace venturi::backend {
namespace {

constexpr std::size_t kSlices = 8;
using Tables = std::array<std::array<std::uint32_t, 256>, kSlices>;

/// `[k][b]`: what byte b does to the register when k zero bytes follow it.
constexpr Tables make_tables() {
  constexpr std::uint32_t kPolynomial = 0xedb88320U;
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t slice = 1; slice < kSlices; ++slice) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[slice - 1][byte];
      tables[slice][byte] = (before >> 8U) ^ tables[0][before & 0xffU];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();
static_assert(std::endian::native == std::endian::little);

/// The CRC-32 of what has one already, with more behind it.
std::uint32_t crc32(std::uint32_t crc, std::span<const std::byte> data) noexcept {
  crc = ~crc;
  for (; data.size() >= kSlices; data = data.subspan(kSlices)) {
    std::uint64_t word = 0;
    std::memcpy(&word, data.data(), sizeof word);
    word ^= crc;
    crc = 0;
    for (std::size_t slice = 0; slice < kSlices; ++slice) {
      crc ^= kTables[kSlices - 1 - slice][(word >> (8 * slice)) & 0xffU];
    }
  }
  for (const std::byte each : data) {
    crc = (crc >> 8U) ^ kTables[0][(crc ^ std::to_integer<std::uint32_t>(each)) & 0xffU];
  }
  return ~crc;
}

}  // namespace

void SiteSums::add(std::span<const std::byte> data) noexcept {
  constexpr std::uint64_t kFirstTurns = 29;
  constexpr std::uint64_t kSecondTurns = 31;
  while (!data.empty()) {
    const auto piece =
        static_cast<std::size_t>(std::min<std::uint64_t>(data.size(), site_bytes_ - filled_));
    crc_ = crc32(crc_, data.first(piece));
    filled_ += piece;
    data = data.subspan(piece);
    if (filled_ < site_bytes_) continue;
    first_ ^= std::rotl(crc_, static_cast<int>(site_ % kFirstTurns));
    second_ ^= std::rotl(crc_, static_cast<int>(site_ % kSecondTurns));
    ++site_;
    filled_ = 0;
    crc_ = 0;
  }
}

}  // namespace venturi::backend
