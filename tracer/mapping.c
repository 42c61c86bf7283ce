// The last mappings of a process, in a ring: a program that syncs them has few at a time.
#include "mapping.h"

enum { kMappings = 1024 };

typedef struct {
  _Atomic uintptr_t begin;
  _Atomic uintptr_t end;
  Name* _Atomic name;
} Mapping;

static Mapping mappings[kMappings];
static _Atomic uint64_t made;

void mapping_made(const void* address, size_t bytes, Name* name) {
  Mapping* one = &mappings[atomic_fetch_add(&made, 1) % kMappings];
  atomic_store(&one->end, 0);  // no address lies in it until it is whole
  atomic_store(&one->name, name);
  atomic_store(&one->begin, (uintptr_t)address);
  atomic_store(&one->end, (uintptr_t)address + bytes);
}

Name* mapping_find(const void* address) {
  const uintptr_t at = (uintptr_t)address;
  const uint64_t last = atomic_load(&made);
  for (uint64_t back = 1; back <= last && back <= kMappings; ++back) {
    const Mapping* one = &mappings[(last - back) % kMappings];
    const uintptr_t end = atomic_load(&one->end);
    if (at < end && at >= atomic_load(&one->begin)) return atomic_load(&one->name);
  }
  return NULL;
}
