// Paths as the trace knows them: absolute, interned, and either recorded or left out.
#pragma once

#include <stdbool.h>

#include "counter.h"

typedef struct Name {
  struct Name* _Atomic next;  // in its bucket
  uint64_t hash;
  uint32_t id;
  _Atomic uint32_t generation;  // of the process in whose file it stands
  uint32_t text_bytes;
  _Atomic bool is_left_out;  // only counted, in one sum for all such files
  bool is_no_file;           // pipe, socket
  bool is_dataset;
  uint32_t within_and_1;
  uint32_t element_bytes;
  uint32_t cache_and_1;  // as in NameEntry
  uint32_t dimensions;
  uint64_t* shape;  // then as many sizes of a chunk
  Counters* _Atomic counters[kLayers];
  char text[];
} Name;

// The name of `path`, relative to the directory `folder` (an AT_FDCWD or descriptor); NULL where
// it cannot be told.
Name* name_of(int folder, const char* path);

// The name of an absolute path, or of what is no path, as it stands.
Name* name_of_text(const char* text);

// What stands under this name is memory that processes share, no storage: left out from now on,
// unless the filter asks for it.
void name_is_memory(Name* name);

// Where all that the filter leaves out is counted.
Name* left_out(void);

// The name itself, or `left_out` where the filter leaves it out.
Name* counted_as(Name* name);

typedef struct {
  const Name* file;
  uint32_t element_bytes;
  uint32_t cache_and_1;  // of chunks, in bytes; 0: unknown
  uint32_t dimensions;
  uint64_t shape[16];  // dimensions, then as many sizes of a chunk (0: not chunked)
} Dataset;
Name* name_of_dataset(const char* text, const Dataset* dataset);

// The counters of a file in a layer; NULL where there is no space for them.
Counters* counters_of(Name* name, Layer layer);

// Sees to it that the name stands in this process's file.
void write_name(Name* name);
