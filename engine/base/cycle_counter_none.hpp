// Stands in for the time-stamp counter on processors whose counter we do not read.
#pragma once

#include <cstdint>

namespace venturi::base {

/// Always 0: there is no counter.
inline std::uint64_t cycle_counter() noexcept { return 0; }

/// Always false, so that the clock uses the operating system.
inline bool cycle_counter_invariant() noexcept { return false; }

/// Nothing to tell this processor.
inline void relax() noexcept {}

}  // namespace venturi::base
