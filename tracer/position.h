// Positions of descriptors and streams.
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "single.h"

// Moves a position by what was moved; where that began.
static inline int64_t advance(_Atomic int64_t* position, int64_t bytes) {
  if (!is_single_threaded()) return atomic_fetch_add(position, bytes);
  const int64_t before = atomic_load_explicit(position, memory_order_relaxed);
  atomic_store_explicit(position, before + bytes, memory_order_relaxed);
  return before;
}
