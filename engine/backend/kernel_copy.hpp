// Copies between open files that the kernel makes.
#pragma once

#include "backend/backend.hpp"

namespace venturi::backend {

/// Copies `from` to its end into `to`, first in the way that is asked for: blocks are shared
/// (FICLONE) where the file system can, else copy_file_range or sendfile. An errno, 0 for success;
/// ENOTSUP where the kernel cannot copy between these files, and has not.
[[nodiscard]] int copy_in_kernel(int from, int to, schema::CopyWay way, Copied& out);

}  // namespace venturi::backend
