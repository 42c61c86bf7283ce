// Which server holds a file's data, on the file systems that tell it to their users.
#pragma once

#include <string>

namespace venturi::backend {

/// Whether the file system of an open directory says of each file which server holds all of its
/// data: GlusterFS does, unless it cuts files into pieces and deals these.
[[nodiscard]] bool tells_servers(int directory);

/// That server of a file below the directory: `host:/folder` of the brick, or of all bricks that
/// hold a copy or a part, in the order of their names. Empty where nothing is said.
[[nodiscard]] std::string server_of(int directory, const char* path);

}  // namespace venturi::backend
