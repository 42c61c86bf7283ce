// What a message between ranks holds, so that its receiver can check it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace venturi::kernel {

/// A byte of a message's payload; neighbours and messages have different ones.
[[nodiscard]] constexpr std::byte payload_at(std::uint64_t key, std::uint64_t at) noexcept {
  return static_cast<std::byte>((at * 131 + (at >> 8U) * 17 + key * 29 + 7) & 0xffU);
}
/// Fills a message with the payload of a key.
void fill_payload(std::byte* data, std::uint64_t bytes, std::uint64_t key);
/// Throws base::Error, with `what` it was, for the first byte that is not of the payload.
void check_payload(const std::byte* data, std::uint64_t bytes, std::uint64_t key,
                   const std::string& what);

}  // namespace venturi::kernel
