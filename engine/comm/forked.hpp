// One rank of a group whose members share memory.
#pragma once

#include <cstddef>

#include "comm/launch.hpp"
#include "comm/shared_segment.hpp"

namespace venturi::comm {

/// What rank `rank` does from its first to its last moment in the group; its exit code. A problem
/// of it ends the group.
int be_rank(const Launch& how, SharedSegment& segment, std::size_t rank);

}  // namespace venturi::comm
