// Options that kernels of messages share, and the sentence on what they need.
#pragma once

#include "kernel/description.hpp"

namespace venturi::kernel {

/// Sizes double from 1 byte to this one, after 0.
inline constexpr backend::OptionInfo kMostOption{
    "most",         "bytes", "4 MiB", "the largest message; sizes double from 1 byte on, after 0",
    "1 B to 1 GiB", 1.0,     0x1p30};
inline constexpr backend::OptionInfo kSizeSecondsOption{
    "size_s",      "real", "0.05", "how long each size is measured, in seconds",
    "0.001 to 60", 0.001,  60.0};

}  // namespace venturi::kernel
