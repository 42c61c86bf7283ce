// SHA-256 and the message code built on it (FIPS 180-4, RFC 2104), for signed requests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace venturi::backend::s3 {

inline constexpr std::size_t kDigestBytes = 32;
using Digest = std::array<std::uint8_t, kDigestBytes>;

/// A digest of bytes that come piece by piece.
class Sha256 {
 public:
  void update(std::string_view bytes);
  /// Ends the message and returns its digest; nothing may follow.
  [[nodiscard]] Digest finish();

 private:
  static constexpr std::size_t kBlockBytes = 64;

  void absorb(const std::uint8_t* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667U, 0xbb67ae85U, 0x3c6ef372U, 0xa54ff53aU,
                                      0x510e527fU, 0x9b05688cU, 0x1f83d9abU, 0x5be0cd19U};
  std::array<std::uint8_t, kBlockBytes> pending_{};
  std::size_t pending_bytes_ = 0;
  std::uint64_t total_bytes_ = 0;
};

/// The digest of a whole message.
[[nodiscard]] Digest sha256(std::string_view message);
/// The code of a message under a key.
[[nodiscard]] Digest hmac_sha256(std::string_view key, std::string_view message);
/// A digest as the bytes of a text, to be the key of another code.
[[nodiscard]] std::string bytes_of(const Digest& digest);
/// A digest in lower-case hexadecimal.
[[nodiscard]] std::string hex_of(const Digest& digest);

}  // namespace venturi::backend::s3
