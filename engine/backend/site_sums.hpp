// The pair of checksums that SciDAC's libraries keep of a lattice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace venturi::backend {

/// Of each site a CRC-32, turned left by the site's number modulo 29 and modulo 31; all XORed.
/// Source: USQCD QIO, `DML_checksum_accum`.
class SiteSums {
 public:
  explicit SiteSums(std::uint64_t site_bytes) : site_bytes_(site_bytes) {}

  /// What follows on what was added before.
  void add(std::span<const std::byte> data) noexcept;
  /// How much was added.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return site_ * site_bytes_ + filled_; }

  /// Of all sites that are complete.
  [[nodiscard]] std::uint32_t first() const noexcept { return first_; }
  [[nodiscard]] std::uint32_t second() const noexcept { return second_; }

 private:
  std::uint64_t site_bytes_;
  std::uint64_t site_ = 0;
  /// Of the site that is not complete yet: its bytes so far, and their CRC-32.
  std::uint64_t filled_ = 0;
  std::uint32_t crc_ = 0;
  std::uint32_t first_ = 0;
  std::uint32_t second_ = 0;
};

}  // namespace venturi::backend
