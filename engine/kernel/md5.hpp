// MD5 (R. Rivest, RFC 1321): a load for processors here, and no protection of anything.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace venturi::kernel {

/// The digest of a text, in the order in which it is printed.
[[nodiscard]] std::array<std::uint8_t, 16> md5_of(std::string_view text);

}  // namespace venturi::kernel
