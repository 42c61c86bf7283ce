// A field as a GRIB message: everything but the packed numbers, which may be any bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace venturi::backend {

/// Messages of one size: GRIB 2 with spectral coefficients of a triangular truncation, complex
/// packing in 16 bits, and 92 levels of vertical coordinates, as large as fit; what the size has
/// beyond that is a section for local use. T639 is exactly 822 289 bytes. Numbers of templates and
/// places of octets: WMO, Manual on Codes, FM 92 GRIB edition 2 (3.50, 4.0, 5.51, 7.51).
class Grib {
 public:
  /// Nothing where a message cannot have this size.
  static std::optional<Grib> of(std::uint64_t bytes);

  /// Writes the frame over the beginning and the end of a message, whose packed numbers stay. The
  /// field's number becomes its level.
  void frame(std::span<std::byte> message, std::uint32_t number) const;

  /// Bytes of a message.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  Grib() = default;

  std::uint64_t bytes_ = 0;
  std::vector<std::byte> beginning_;
  std::size_t level_at_ = 0;
};

}  // namespace venturi::backend
