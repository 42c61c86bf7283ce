// The process's file: its header, its windows, and the records in them.
#define _GNU_SOURCE
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "counter.h"
#include "kernel_aio.h"
#include "moved.h"
#include "run.h"
#include "ticks.h"

enum {
  kFirstRecordsBytes = 32 << 10,
  kRecordsBytes = 1 << 20,
  kFirstBytes = 16 << 10,
  kMostBytes = 1 << 20,
  kZeroesBytes = 16 << 10,
  kMostIdle = 64,
  kAllowed = 1024,  // operations that a thread takes of the limit at a time
  // So much of the disk is left to the program: a tenth, but no more than a GiB.
  kReservedShare = 10,
  kMostReservedBytes = 1 << 30,
};

Spool spool = {.rank = -1};
Header* header;

static Live never;
Live* live = &never;

static atomic_bool is_wanted;   // survives a fork, unlike `live`
static atomic_bool is_full;     // no more windows of records
static atomic_bool is_starved;  // of descriptors, when the last window was asked for
static char path[sizeof spool.folder + 64];
static _Atomic uint32_t start_lock;
static _Atomic uint32_t window_lock;
static _Atomic uint32_t end_lock;  // the last one to be taken
static atomic_bool is_reading;     // the clocks, for the header
static Window* idle[kMostIdle];    // partly filled, of threads that ended
static int idle_count;
static _Atomic uint32_t threads;
static pthread_key_t thread_end;
static bool has_thread_end;
static _Atomic uint64_t zeroes_written;  // by us, and counted by the kernel as the program's

typedef struct {
  Window* window;
  Window* previous;  // still mapped, for whoever was interrupted while using it
  uint32_t generation;
  uint32_t number_and_1;
  int64_t allowed;  // operations that it may still note
} Mine;
static _Thread_local Mine mine __attribute__((tls_model("initial-exec")));

int64_t ticks_now(void) { return spool.is_ns ? clock_ns(CLOCK_MONOTONIC) : cpu_ticks(); }

int64_t begin(void) {
  if (__builtin_expect(atomic_load_explicit(&live->on, memory_order_acquire) == 0, 0) &&
      !spool_awake())
    return 0;
  return ticks_now();
}

static Reading reading(void) {
  return (Reading){.ticks = ticks_now(), .monotonic_ns = clock_ns(CLOCK_MONOTONIC)};
}

// One thread at a time, or a reading would be made of two; the others' would be no later.
void note_clocks(void) {
  if (header == NULL || atomic_exchange(&is_reading, true)) return;
  header->last = reading();
  atomic_store(&is_reading, false);
}

uint32_t thread_number(void) {
  if (mine.number_and_1 == 0) mine.number_and_1 = atomic_fetch_add(&threads, 1) + 1;
  return mine.number_and_1 - 1;
}

// Space for `bytes` at `offset`, so that a store into them cannot fail; 0 or an errno.
static int allocate(long fd, uint64_t offset, uint64_t bytes) {
  struct rlimit most;
  struct statfs place;
  if (raw(SYS_fstatfs, fd, (long)&place, 0, 0, 0, 0) == 0) {
    const uint64_t share = place.f_blocks * (uint64_t)place.f_bsize / kReservedShare;
    const uint64_t reserve = share < kMostReservedBytes ? share : kMostReservedBytes;
    if (place.f_bavail * (uint64_t)place.f_bsize < bytes + reserve) return ENOSPC;
  }
  // Growing beyond this limit would be a signal to the program.
  if (raw(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&most, 0, 0) == 0 &&
      most.rlim_cur != RLIM_INFINITY && offset + bytes > most.rlim_cur)
    return EFBIG;
  const long failed = -raw(SYS_fallocate, fd, 0, (long)offset, (long)bytes, 0, 0);
  if (failed != EOPNOTSUPP && failed != ENOSYS) return (int)failed;
  static const char zeroes[kZeroesBytes];
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t size = bytes - done < kZeroesBytes ? bytes - done : kZeroesBytes;
    const long got = raw(SYS_pwrite64, fd, (long)zeroes, (long)size, (long)(offset + done), 0, 0);
    if (got <= 0) return got == 0 ? ENOSPC : (int)-got;
    done += (uint64_t)got;
    atomic_fetch_add(&zeroes_written, (uint64_t)got);
  }
  return 0;
}

// A mapped part of the process's file, or NULL with the errno in `failed`.
static void* map_part(int flags, uint64_t offset, uint64_t bytes, int populate, int* failed) {
  const long fd =
      raw(SYS_openat, AT_FDCWD, (long)path, flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600, 0, 0);
  *failed = fd < 0 ? (int)-fd : allocate(fd, offset, bytes);
  long got = -1;
  if (*failed == 0) {
    got = raw(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE, MAP_SHARED | populate, fd,
              (long)offset);
    if (got < 0 && got > -4096) *failed = (int)-got;
  }
  if (fd >= 0) raw(SYS_close, fd, 0, 0, 0, 0, 0);
  return *failed == 0 ? (void*)got : NULL;
}

uint32_t next_bytes(const Window* last) {
  if (last == NULL) return kFirstBytes;
  return last->bytes < kMostBytes ? 2 * last->bytes : kMostBytes;
}

// The next part of the file; it is the file's once its header says how long it is.
static Window* add_window(WindowKind kind, uint32_t bytes) {
  const uint64_t offset = atomic_load(&header->file_bytes);
  int failed = 0;
  Window* window = map_part(0, offset, bytes, bytes >= kRecordsBytes ? MAP_POPULATE : 0, &failed);
  if (window == NULL) {
    // Without free descriptors for a moment: the next operation tries again.
    is_starved = failed == EMFILE || failed == ENFILE;
    if (!is_starved && failed != EINTR) {
      atomic_store(&header->stopped_error, failed);
      atomic_store(&header->stopped_by, kByError);
    }
    return NULL;
  }
  window->bytes = bytes;
  window->capacity = bytes - kWindowHeaderBytes;
  window->kind = kind;
  is_starved = false;
  atomic_store(&header->file_bytes, offset + bytes);
  return window;
}

Window* new_window(WindowKind kind, uint32_t bytes) {
  if (atomic_load(&header->stopped_error) != 0) return NULL;
  // Names, counters and records have locks of their own; the file's end is one.
  const Held held = lock(&end_lock);
  Window* window = held.taken ? add_window(kind, bytes) : NULL;
  unlock(&end_lock, held);
  if (window != NULL) note_clocks();
  return window;
}

static Window* records_window(void) {
  while (idle_count > 0) {
    Window* window = idle[--idle_count];
    if (atomic_load(&window->used) < window->capacity) return window;
  }
  Window* window = new_window(kRecords, mine.window ? kRecordsBytes : kFirstRecordsBytes);
  if (window == NULL) {
    is_full = atomic_load(&header->stopped_error) != 0;
    return NULL;
  }
  window->capacity = (window->bytes - kWindowHeaderBytes) / (uint32_t)sizeof(Record);
  return window;
}

// Gives the thread another window than `old`; false where there is none.
static bool next_window(const Window* old) {
  if (is_full) return false;
  const Held held = lock(&window_lock);
  bool is_fine = held.taken;
  const bool is_mine = mine.generation == generation;
  if (is_fine && (!is_mine || mine.window == old)) {
    if (!is_mine) {
      mine.window = mine.previous = NULL;
      mine.allowed = 0;
    }
    mine.generation = generation;
    Window* fresh = records_window();
    is_fine = fresh != NULL;
    if (is_fine) {
      if (mine.previous) raw(SYS_munmap, (long)mine.previous, mine.previous->bytes, 0, 0, 0, 0);
      mine.previous = mine.window;
      mine.window = fresh;
      if (has_thread_end) pthread_setspecific(thread_end, &mine);
    }
  }
  unlock(&window_lock, held);
  return is_fine;
}

bool may_record(void) {
  if (mine.allowed > 0) {
    --mine.allowed;
    return true;
  }
  if ((int64_t)atomic_load(&header->records) >= spool.limit) return false;
  const int64_t left = spool.limit - (int64_t)atomic_fetch_add(&header->records, kAllowed);
  if (left <= 0) return false;
  mine.allowed = (left < kAllowed ? left : kAllowed) - 1;
  return true;
}

static bool has_room(const Window* window) {
  return window != NULL && mine.generation == generation &&
         atomic_load_explicit(&window->used, memory_order_relaxed) < window->capacity;
}

Record* new_record(void) {
  if (spool.is_counters_only) return NULL;
  for (;;) {
    Window* window = mine.window;
    if (!has_room(window)) {
      if (next_window(window)) continue;
      break;
    }
    if (!may_record()) break;
    const uint32_t i = atomic_fetch_add_explicit(&window->used, 1, memory_order_relaxed);
    if (i < window->capacity) return (Record*)((char*)window + kWindowHeaderBytes) + i;
    ++mine.allowed;
  }
  atomic_fetch_add(&header->dropped, 1);
  if (is_starved) atomic_fetch_add(&header->starved, 1);
  return NULL;
}

// The window of a thread that ends is filled by the next one.
static void on_thread_end(void* unused) {
  (void)unused;
  const Held held = lock(&window_lock);
  if (held.taken && mine.window && mine.generation == generation && idle_count < kMostIdle) {
    idle[idle_count++] = mine.window;
    mine.window = NULL;
    run_forget();
    atomic_fetch_sub(&header->records, (uint64_t)mine.allowed);
    mine.allowed = 0;
  }
  unlock(&window_lock, held);
}

static void fill_header(void) {
  memcpy(header->magic, "VTRACE01", 8);
  header->process = (uint32_t)process_now();
  header->parent = (uint32_t)raw(SYS_getppid, 0, 0, 0, 0, 0, 0);
  header->rank = spool.rank;
  header->realtime_ns = clock_ns(CLOCK_REALTIME);
  header->first = header->last = reading();
  header->ticks_are_ns = spool.is_ns;
  const int before = errno;
  gethostname(header->host, sizeof header->host - 1);
  errno = before;
  read_link("/proc/self/exe", header->program, sizeof header->program);
  copy_counter_names(header->counters, sizeof header->counters);
  atomic_store(&header->file_bytes, kHeaderBytes);
  for (int i = 0; i < 2; ++i) header->moved_first[i] = moved_now(i == 1);
  atomic_store(&zeroes_written, 0);
  header->version = kVersion;
}

static bool make_file(void) {
  char* end = stpcpy(stpcpy(path, spool.folder), "/");
  end += decimal((uint64_t)process_now(), end);
  *end++ = '.';
  end += decimal((uint64_t)clock_ns(CLOCK_REALTIME), end);
  memcpy(end, ".vtrace", 8);
  int failed = 0;
  header = map_part(O_CREAT | O_EXCL, 0, kHeaderBytes, 0, &failed);
  if (header) fill_header();
  return header != NULL;
}

bool spool_start(void) {
  if (live == &never) {
    Live* page = memory(4096);
    if (page == NULL) return false;
    // Where the kernel cannot wipe, pthread_atfork still sees the children of fork itself.
    raw(SYS_madvise, (long)page, 4096, MADV_WIPEONFORK, 0, 0, 0);
    live = page;
    has_thread_end = pthread_key_create(&thread_end, on_thread_end) == 0;
  }
  is_wanted = make_file();
  is_full = false;
  atomic_store(&live->on, is_wanted);
  return is_wanted;
}

bool spool_awake(void) {
  if (!is_wanted) return false;
  const Held held = lock_for_all(&start_lock);
  if (held.taken && atomic_load(&live->on) == 0 && is_wanted) {
    Header* const parents = header;
    header = NULL;
    atomic_fetch_add(&generation, 1);
    atomic_store(&is_reading, false);
    idle_count = 0;
    if (!spool_start() && parents) atomic_fetch_add(&parents->unrecorded, 1);
  }
  unlock(&start_lock, held);
  return atomic_load(&live->on) != 0;
}

void spool_forked(void) {
  atomic_store(&live->on, 0);
  atomic_store(&threads, 0);
  mine.number_and_1 = 0;
  thread_number();
}

void spool_end(void) {
  if (header == NULL || atomic_load(&live->on) == 0) return;
  note_clocks();
  for (int i = 0; i < 2; ++i) {
    header->moved_last[i] = moved_now(i == 1);
    header->moved_last[i].written -= atomic_load(&zeroes_written);
  }
  header->unseen_contexts = has_unseen_context();
  header->unseen_rings = has_unseen_ring();
  atomic_store(&header->ended_ns, clock_ns(CLOCK_MONOTONIC));
}

void spool_go_on(void) {
  if (header != NULL && atomic_load(&live->on) != 0) atomic_store(&header->ended_ns, 0);
}

bool spool_stop(StopReason reason) {
  if (begin() == 0) return false;
  is_wanted = false;
  note_clocks();
  if (atomic_load(&header->stopped_error) == 0) {
    atomic_store(&header->stopped_error, EPERM);
    atomic_store(&header->stopped_by, reason);
  }
  atomic_store(&live->on, 0);
  return true;
}

void spool_unstop(bool was_on) {
  if (!was_on) return;
  if (atomic_load(&header->stopped_by) != kByError) {
    atomic_store(&header->stopped_error, 0);
    atomic_store(&header->stopped_by, kNotStopped);
  }
  atomic_store(&live->on, 1);
  is_wanted = true;
}
