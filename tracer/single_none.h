// Whether the process has one thread only, where the C library does not tell: perhaps not.
#pragma once

#include <stdbool.h>

static inline bool is_single_threaded(void) { return false; }
