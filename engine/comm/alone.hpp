// A group of one process: every collective is the identity.
#pragma once

#include <memory>

#include "comm/channel.hpp"
#include "comm/shared_segment.hpp"

namespace venturi::comm {

/// The segment serves the process that watches.
std::unique_ptr<Channel> make_alone(SharedSegment& segment);

}  // namespace venturi::comm
