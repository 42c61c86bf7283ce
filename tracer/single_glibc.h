// Whether the process has one thread only: the C library tells since 2.32.
#pragma once

#include <stdbool.h>
#include <sys/single_threaded.h>

static inline bool is_single_threaded(void) { return __libc_single_threaded; }
