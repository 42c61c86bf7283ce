// Counting calls, by Darshan's definitions (darshan-posix.c) where there is one.
#include "counter.h"

#include <stdbool.h>
#include <string.h>

#include "single.h"
#include "spool.h"

// In the order of the fields of Counters; the last ones are not for readers.
static const char kNames_[] =
    "OPENS CLOSES READS WRITES SEEKS STATS FSYNCS FDSYNCS MMAPS UNLINKS RENAMES LINKS MKDIRS "
    "RMDIRS LISTS TRUNCATES ALLOCATES COPIES ATTRIBUTES "
    "COLL_OPENS COLL_READS COLL_WRITES NB_READS NB_WRITES "
    "BYTES_READ BYTES_WRITTEN MAX_BYTE_READ MAX_BYTE_WRITTEN "
    "CONSEC_READS CONSEC_WRITES SEQ_READS SEQ_WRITES RW_SWITCHES "
    "SIZE_READ_0_100 SIZE_READ_100_1K SIZE_READ_1K_10K SIZE_READ_10K_100K SIZE_READ_100K_1M "
    "SIZE_READ_1M_4M SIZE_READ_4M_10M SIZE_READ_10M_100M SIZE_READ_100M_1G SIZE_READ_1G_PLUS "
    "SIZE_WRITE_0_100 SIZE_WRITE_100_1K SIZE_WRITE_1K_10K SIZE_WRITE_10K_100K "
    "SIZE_WRITE_100K_1M SIZE_WRITE_1M_4M SIZE_WRITE_4M_10M SIZE_WRITE_10M_100M "
    "SIZE_WRITE_100M_1G SIZE_WRITE_1G_PLUS "
    "ACCESS*8 ACCESS_COUNT*8 STRIDE*8 STRIDE_COUNT*8 "
    "F_OPEN_START_TIMESTAMP F_READ_START_TIMESTAMP F_WRITE_START_TIMESTAMP "
    "F_CLOSE_START_TIMESTAMP F_OPEN_END_TIMESTAMP F_READ_END_TIMESTAMP F_WRITE_END_TIMESTAMP "
    "F_CLOSE_END_TIMESTAMP F_READ_TIME F_WRITE_TIME F_META_TIME F_MAX_READ_TIME "
    "F_MAX_WRITE_TIME _ _ _";

static Window* window;
static _Atomic uint32_t counters_lock;

void copy_counter_names(char* text, size_t room) {
  _Static_assert(sizeof kNames_ < sizeof((Header*)0)->counters, "the names fit the header");
  if (room >= sizeof kNames_) memcpy(text, kNames_, sizeof kNames_);
}

void reset_counters(void) { window = NULL; }

Counters* new_counters(uint32_t file, Layer layer) {
  Counters* set = NULL;
  const Held held = lock(&counters_lock);
  if (held.taken) {
    const bool is_room = window && atomic_load(&window->used) < window->capacity / sizeof(Counters);
    if (!is_room) {
      Window* fresh = new_window(kCounters, next_bytes(window));
      window = fresh ? fresh : window;
    }
    if (window && atomic_load(&window->used) < window->capacity / sizeof(Counters)) {
      const uint32_t i = atomic_load(&window->used);
      set = (Counters*)((char*)window + kWindowHeaderBytes) + i;
      set->layer = layer;
      set->file_and_1 = file + 1;
      atomic_store(&window->used, i + 1);
    }
  }
  unlock(&counters_lock, held);
  return set;
}

// The two forms of adding: a locked one costs five times as much, and most programs have one
// thread.
static void add(int64_t* counter, int64_t value) {
  if (is_single_threaded())
    *counter += value;
  else
    __atomic_fetch_add(counter, value, __ATOMIC_RELAXED);
}

// Highest and lowest are set without a lock: a lost race between two threads costs an extreme
// value that lies within a few calls of the true one.
static int64_t get(const int64_t* counter) { return __atomic_load_n(counter, __ATOMIC_RELAXED); }
static void set_to(int64_t* counter, int64_t value) {
  __atomic_store_n(counter, value, __ATOMIC_RELAXED);
}

static void raise_to(int64_t* counter, int64_t value) {
  if (value > get(counter)) set_to(counter, value);
}

static void span(int64_t* first, int64_t* last, const Record* call, int64_t start) {
  const int64_t before = get(first);
  if (before == 0 || start < before) set_to(first, start);
  raise_to(last, call->end);
}

// Darshan's buckets; upper edges are inclusive.
static int bucket(int64_t size) {
  static const int64_t kEdges[] = {100,     1 << 10,  10 << 10,  100 << 10, 1 << 20,
                                   4 << 20, 10 << 20, 100 << 20, 1 << 30};
  int i = 0;
  while (i < 9 && size > kEdges[i]) ++i;
  return i;
}

static void remember(int64_t* values, int64_t* counts, int64_t value) {
  for (int i = 0; i < kSizes; ++i) {
    int64_t there = get(&values[i]);  // 0: nothing yet, for it is remembered nowhere
    if (there == 0 && __atomic_compare_exchange_n(&values[i], &there, value, false,
                                                  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      there = value;
    if (there == value) {
      add(&counts[i], 1);
      return;
    }
  }
}

static void count_data(Counters* set, const Record* call, int64_t start) {
  const bool is_write = call->kind == kWrite;
  const int64_t took = call->end - start;
  add(is_write ? &set->writes : &set->reads, 1);
  if (call->detail & kCollective)
    add(is_write ? &set->collective_writes : &set->collective_reads, 1);
  if (call->detail & kNonBlocking)
    add(is_write ? &set->non_blocking_writes : &set->non_blocking_reads, 1);
  add(is_write ? &set->bytes_written : &set->bytes_read, call->bytes);
  add((is_write ? set->size_write : set->size_read) + bucket(call->bytes), 1);
  add(is_write ? &set->write_time : &set->read_time, took);
  raise_to(is_write ? &set->longest_write : &set->longest_read, took);
  span(is_write ? &set->write_start : &set->read_start, is_write ? &set->write_end : &set->read_end,
       call, start);
  if (call->bytes > 0) remember(set->access, set->access_count, call->bytes);
  if (get(&set->last_was_write) == (is_write ? 1 : 2)) add(&set->switches, 1);
  set_to(&set->last_was_write, is_write ? 2 : 1);
  if (call->offset < 0) return;
  int64_t* kept = is_write ? &set->next_write : &set->next_read;
  const int64_t next = get(kept);
  if (call->offset > (next > 0 ? next - 1 : 0))
    add(is_write ? &set->sequential_writes : &set->sequential_reads, 1);
  if (call->offset == next && next > 0)
    add(is_write ? &set->consecutive_writes : &set->consecutive_reads, 1);
  if (next > 0 && call->offset > next)
    remember(set->stride, set->stride_count, call->offset - next);
  if (call->bytes > 0)
    raise_to(is_write ? &set->max_byte_written : &set->max_byte_read,
             call->offset + call->bytes - 1);
  set_to(kept, call->offset + call->bytes);
}

void count(Counters* set, const Record* call) {
  // The order of the fields is that of Kind, but for reads and writes.
  static const size_t kField[kKinds] = {
      offsetof(Counters, opens),      offsetof(Counters, closes),
      offsetof(Counters, reads),      offsetof(Counters, writes),
      offsetof(Counters, seeks),      offsetof(Counters, syncs),
      offsetof(Counters, data_syncs), offsetof(Counters, stats),
      offsetof(Counters, unlinks),    offsetof(Counters, renames),
      offsetof(Counters, links),      offsetof(Counters, mkdirs),
      offsetof(Counters, rmdirs),     offsetof(Counters, lists),
      offsetof(Counters, truncates),  offsetof(Counters, allocates),
      offsetof(Counters, maps),       offsetof(Counters, copies),
      offsetof(Counters, attributes), 0,
      offsetof(Counters, copies),     offsetof(Counters, copies)};
  const int64_t start = atomic_load_explicit(&call->start, memory_order_relaxed);
  if (set == NULL || call->error != 0 || call->kind == kBarrier || call->kind >= kKinds) return;
  if (call->kind == kRead || call->kind == kWrite) {
    count_data(set, call, start);
    return;
  }
  add((int64_t*)((char*)set + kField[call->kind]), 1);
  add(&set->meta_time, call->end - start);
  if (call->kind == kOpen) {
    if (call->layer == kMpiio && (call->detail & kCollectiveOpen)) add(&set->collective_opens, 1);
    span(&set->open_start, &set->open_end, call, start);
  }
  if (call->kind == kClose) span(&set->close_start, &set->close_end, call, start);
}
