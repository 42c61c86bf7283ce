// The name of this machine.
#pragma once

#include <string>

namespace venturi::comm {

/// The host's name, or `unknown`.
std::string host_name();

}  // namespace venturi::comm
