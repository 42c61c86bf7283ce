// The time stamp counter of x86; used only where the kernel itself keeps time by it.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <x86intrin.h>

static inline int64_t cpu_ticks(void) { return (int64_t)__rdtsc(); }
static const bool kHasCpuTicks = true;
