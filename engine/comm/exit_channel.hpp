// What a process says right before its launcher ends it.
#pragma once

#include <cstdint>

namespace venturi::comm {

void pause_for(std::uint64_t ns) noexcept;

/// Waits, for a bounded time, until the reader of stdout and stderr has taken in what was written
/// and had time to pass it on: a launcher that is told to abort may drop the rest.
void let_output_arrive() noexcept;

}  // namespace venturi::comm
