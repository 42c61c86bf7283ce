// The sections of a message, octet by octet.
#include "backend/grib.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>

namespace venturi::backend {
namespace {

constexpr std::uint64_t kPackedBytes = 2;
constexpr std::uint64_t kPlainBytes = 4;
/// Up to this truncation numbers are not packed.
constexpr std::uint64_t kPlainTruncation = 20;
constexpr std::uint64_t kLevels = 92;
constexpr std::uint64_t kSection0 = 16;
constexpr std::uint64_t kSection1 = 21;
constexpr std::uint64_t kSection3 = 28;
constexpr std::uint64_t kSection4 = 34 + 4 * 2 * kLevels;
constexpr std::uint64_t kSection5 = 35;
constexpr std::uint64_t kSection6 = 6;
constexpr std::uint64_t kSection7 = 5;
constexpr std::uint64_t kFrame =
    kSection0 + kSection1 + kSection3 + kSection4 + kSection5 + kSection6 + kSection7;
constexpr std::string_view kEnd = "7777";
/// Its length, its number, and the number of the rules for what follows.
constexpr std::uint64_t kLeastLocal = 7;
constexpr std::uint64_t kMostTruncation = 65'000;
/// Hybrid levels of a model.
constexpr std::uint64_t kHybrid = 105;
constexpr std::uint64_t kCentre = 98;
constexpr std::uint64_t kNoCentre = 65'535;
constexpr std::uint64_t kMissing = 255;

/// Real and imaginary parts of the coefficients of a triangular truncation.
constexpr std::uint64_t numbers(std::uint64_t truncation) {
  return (truncation + 1) * (truncation + 2);
}

constexpr std::uint64_t plain_numbers(std::uint64_t truncation) {
  return numbers(std::min(truncation, kPlainTruncation));
}

constexpr std::uint64_t data_bytes(std::uint64_t truncation) {
  const std::uint64_t plain = plain_numbers(truncation);
  return kPlainBytes * plain + kPackedBytes * (numbers(truncation) - plain);
}

constexpr std::uint64_t message_bytes(std::uint64_t truncation) {
  return kFrame + data_bytes(truncation) + kEnd.size();
}
static_assert(message_bytes(639) == 822'289);

/// The largest truncation that leaves nothing, or room for a section.
std::optional<std::uint64_t> truncation_of(std::uint64_t bytes) {
  std::uint64_t low = 0;
  std::uint64_t high = kMostTruncation;
  if (bytes < message_bytes(low)) return std::nullopt;
  while (low < high) {
    const std::uint64_t middle = (low + high + 1) / 2;
    (message_bytes(middle) <= bytes ? low : high) =
        message_bytes(middle) <= bytes ? middle : middle - 1;
  }
  const std::uint64_t left = bytes - message_bytes(low);
  if (left == 0 || left >= kLeastLocal) return low;
  if (low == 0) return std::nullopt;
  return low - 1;
}

/// Numbers of so many octets, the highest first.
class Octets {
 public:
  void add(std::uint64_t count, std::uint64_t number) {
    while (count-- > 0) octets_.push_back(static_cast<std::byte>(number >> (8 * count)));
  }
  void add(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    octets_.insert(octets_.end(), bytes.begin(), bytes.end());
  }
  void add_real(float number) { add(4, std::bit_cast<std::uint32_t>(number)); }
  void begin_section(std::uint64_t bytes, std::uint64_t number) {
    add(4, bytes);
    add(1, number);
  }
  [[nodiscard]] std::size_t size() const { return octets_.size(); }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(octets_); }

 private:
  std::vector<std::byte> octets_;
};

void add_identification(Octets& out, std::uint64_t bytes, std::uint64_t local_bytes) {
  out.add("GRIB");
  out.add(2, 65'535);
  out.add(1, 0);  // meteorology
  out.add(1, 2);  // edition
  out.add(8, bytes);
  out.begin_section(kSection1, 1);
  // A local section is read by the rules of a centre: this one has none.
  out.add(2, local_bytes > 0 ? kNoCentre : kCentre);
  out.add(2, 0);
  out.add(1, 5);  // tables
  out.add(1, 0);
  out.add(1, 1);  // the time is the start of a forecast
  out.add(2, 2021);
  for (const std::uint64_t part : {1, 1, 0, 0, 0}) out.add(1, part);
  out.add(1, 2);  // research
  out.add(1, 1);  // forecast
  if (local_bytes == 0) return;
  out.begin_section(local_bytes, 2);
  for (std::uint64_t i = 5; i < local_bytes; ++i) out.add(1, 0);
}

void add_grid(Octets& out, std::uint64_t truncation) {
  out.begin_section(kSection3, 3);
  out.add(1, 0);
  out.add(4, numbers(truncation));
  out.add(2, 0);
  out.add(2, 50);
  for (int i = 0; i < 3; ++i) out.add(4, truncation);
  out.add(2, 0x0101);  // associated Legendre functions of the first kind, complex
}

/// Temperature on a level; returns where the level's number stands.
std::size_t add_product(Octets& out) {
  out.begin_section(kSection4, 4);
  out.add(2, 2 * kLevels);
  out.add(2, 0);
  out.add(2, 0);  // temperature
  out.add(1, 2);  // forecast
  out.add(2, kMissing);
  out.add(3, 0);
  out.add(1, 1);  // hours
  out.add(4, 0);
  out.add(1, kHybrid);
  out.add(1, 0);
  const std::size_t level_at = out.size();
  out.add(4, 0);
  out.add(2, kMissing << 8U | kMissing);
  out.add(4, 0xffffffff);
  // Pressure at a level is its share of the pressure at the surface.
  for (std::uint64_t i = 0; i < kLevels; ++i) out.add_real(0.0F);
  for (std::uint64_t i = 0; i < kLevels; ++i) {
    out.add_real(static_cast<float>(i) / static_cast<float>(kLevels - 1));
  }
  return level_at;
}

void add_representation(Octets& out, std::uint64_t truncation) {
  const std::uint64_t plain = std::min(truncation, kPlainTruncation);
  out.begin_section(kSection5, 5);
  out.add(4, numbers(truncation));
  out.add(2, 51);
  out.add_real(0.0F);
  out.add(2, 0x8010);  // packed numbers are multiples of 2^-16
  out.add(2, 0);
  out.add(1, 8 * kPackedBytes);
  out.add(4, 0);
  for (int i = 0; i < 3; ++i) out.add(2, plain);
  out.add(4, numbers(plain));
  out.add(1, 1);
}

}  // namespace

std::optional<Grib> Grib::of(std::uint64_t bytes) {
  const auto truncation = truncation_of(bytes);
  if (!truncation) return std::nullopt;
  Octets out;
  Grib made;
  made.bytes_ = bytes;
  add_identification(out, bytes, bytes - message_bytes(*truncation));
  add_grid(out, *truncation);
  made.level_at_ = add_product(out);
  add_representation(out, *truncation);
  out.begin_section(kSection6, 6);
  out.add(1, kMissing);
  out.begin_section(kSection7 + data_bytes(*truncation), 7);
  for (std::uint64_t i = 0; i < plain_numbers(*truncation); ++i) {
    out.add_real(1.0F / static_cast<float>(1 + i));
  }
  made.beginning_ = out.take();
  return made;
}

void Grib::frame(std::span<std::byte> message, std::uint32_t number) const {
  std::ranges::copy(beginning_, message.begin());
  for (std::size_t i = 0; i < 4; ++i) {
    message[level_at_ + i] = static_cast<std::byte>(number >> (8 * (3 - i)));
  }
  std::memcpy(message.data() + message.size() - kEnd.size(), kEnd.data(), kEnd.size());
}

}  // namespace venturi::backend
