// Code that nobody needs: running it leaves the processor's caches of code as an application's
// computing does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace venturi::execute {

/// One of many alike pieces of code, each in a cache line or two of its own, with branches that
/// depend on what it is given.
using ColdPiece = std::uint64_t (*)(std::uint64_t);

/// All of them: more than a core's caches of code and of branches hold.
[[nodiscard]] std::span<const ColdPiece> cold_code();

}  // namespace venturi::execute
