// What a message between ranks holds, and whether it came.
#include "kernel/message_payload.hpp"

#include <fmt/format.h>

#include "kernel/kernel.hpp"

namespace venturi::kernel {

void fill_payload(std::byte* data, std::uint64_t bytes, std::uint64_t key) {
  for (std::uint64_t at = 0; at < bytes; ++at) data[at] = payload_at(key, at);
}

void check_payload(const std::byte* data, std::uint64_t bytes, std::uint64_t key,
                   const std::string& what) {
  for (std::uint64_t at = 0; at < bytes; ++at) {
    if (data[at] == payload_at(key, at)) continue;
    throw wrong_value(fmt::format("{}: byte {} of {} is {}, not {}", what, at, bytes,
                                  std::to_integer<int>(data[at]),
                                  std::to_integer<int>(payload_at(key, at))));
  }
}

}  // namespace venturi::kernel
