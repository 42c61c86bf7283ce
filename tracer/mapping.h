// Which file stands behind mapped memory, so that an msync is a sync of that file.
#pragma once

#include <stddef.h>

#include "name.h"

// Memory through which stores reach a file of this name.
void mapping_made(const void* address, size_t bytes, Name* name);

// The file behind the memory at `address`, as it was mapped last; NULL: none that is still known.
Name* mapping_find(const void* address);
