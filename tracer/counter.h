// Counters per file and layer, always on: Darshan's names where the meaning is Darshan's.
#pragma once

#include <stddef.h>

#include "format.h"

// Sizes that a set remembers apart, with their counts; the reader takes the most frequent four.
enum { kSizes = 8 };

// One set. Times are ticks; names and order go into the file's header.
typedef struct {
  uint32_t file_and_1;  // 0: not complete
  uint32_t layer;
  int64_t opens, closes, reads, writes, seeks, stats, syncs, data_syncs, maps, unlinks, renames,
      links, mkdirs, rmdirs, lists, truncates, allocates, copies, attributes;
  int64_t collective_opens, collective_reads, collective_writes, non_blocking_reads,
      non_blocking_writes;
  int64_t bytes_read, bytes_written, max_byte_read, max_byte_written;
  int64_t consecutive_reads, consecutive_writes, sequential_reads, sequential_writes, switches;
  int64_t size_read[10], size_write[10];
  int64_t access[kSizes], access_count[kSizes], stride[kSizes], stride_count[kSizes];
  int64_t open_start, read_start, write_start, close_start;
  int64_t open_end, read_end, write_end, close_end;
  int64_t read_time, write_time, meta_time, longest_read, longest_write;
  // Not counters: what the next call is compared with.
  int64_t next_read, next_write, last_was_write;
} Counters;

void copy_counter_names(char* text, size_t room);

// A new set for a file in a layer of this process; NULL where there is no space.
Counters* new_counters(uint32_t file, Layer layer);

// Forgets the parent's windows, in the child of a fork.
void reset_counters(void);

// Counts a call that succeeded. `offset` may be unknown; `end` in ticks.
void count(Counters* set, const Record* call);
