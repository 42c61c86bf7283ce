// What the kernel says that this process moved, whoever made the calls: what it says beyond the
// calls that were seen was moved by calls that were not.
#pragma once

#include <stdbool.h>

#include "format.h"

// Bytes up to now; nothing where the kernel does not say. Children that ended and were waited for
// count as well, as long as it is not the first thread alone.
Moved moved_now(bool by_first_thread);
