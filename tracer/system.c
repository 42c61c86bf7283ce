// System calls, clocks, memory and locks for the tracer's own use.
#define _GNU_SOURCE
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "call.h"

enum { kTriesForLock = 100000, kPaths = 32 };

_Atomic uint32_t generation = 1;

long raw(long number, long a, long b, long c, long d, long e, long f) {
  const long parts[6] = {a, b, c, d, e, f};
  return kernel(number, parts);
}

int64_t clock_ns(int clock) {
  struct timespec now = {0, 0};
  const int before = errno;
  clock_gettime(clock, &now);
  errno = before;
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int process_now(void) { return (int)raw(SYS_getpid, 0, 0, 0, 0, 0, 0); }

// A change of the signal mask in a way that does not exist: the kernel reads the new mask, then
// refuses.
static bool is_word_readable(uintptr_t at) {
  enum { kNoWay = -1, kMaskBytes = 8 };
  return raw(SYS_rt_sigprocmask, kNoWay, (long)at, 0, kMaskBytes, 0, 0) != -EFAULT;
}

bool is_readable(const void* data, size_t bytes) {
  enum { kWord = 8, kPageBytes = 4096 };
  const uintptr_t first = (uintptr_t)data & ~(uintptr_t)(kWord - 1);
  const uintptr_t last = ((uintptr_t)data + (bytes ? bytes - 1 : 0)) & ~(uintptr_t)(kWord - 1);
  // The first page is never mapped, and no mask at all would be none to read.
  if (first < kPageBytes || last < first || !is_word_readable(first)) return false;
  for (uintptr_t page = (first | (kPageBytes - 1)) + 1; page <= last; page += kPageBytes)
    if (!is_word_readable(page)) return false;
  return true;
}

bool is_readable_text(const char* text) {
  enum { kPageBytes = 4096 };
  for (;;) {
    if (!is_readable(text, 1)) return false;
    const size_t room = kPageBytes - ((uintptr_t)text & (kPageBytes - 1));
    if (memchr(text, 0, room) != NULL) return true;
    text += room;
  }
}

void* memory(size_t bytes) {
  const long got =
      raw(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return got < 0 && got > -4096 ? NULL : (void*)got;
}

long read_file(const char* path, char* text, size_t room) {
  const long fd = raw(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
  if (fd < 0) return fd;
  long total = 0;
  while ((size_t)total + 1 < room) {
    const long got = raw(SYS_read, fd, (long)(text + total), (long)room - 1 - total, 0, 0, 0);
    if (got <= 0) break;
    total += got;
  }
  raw(SYS_close, fd, 0, 0, 0, 0, 0);
  text[total] = 0;
  return total;
}

long read_link(const char* path, char* text, size_t room) {
  const long got = raw(SYS_readlinkat, AT_FDCWD, (long)path, (long)text, (long)room - 1, 0, 0);
  if (got >= 0) text[got] = 0;
  return got;
}

static Held take(_Atomic uint32_t* word, bool is_old_free) {
  Held held = {0, false};
  const uint64_t all = UINT64_MAX;
  raw(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)&held.signals, sizeof all, 0, 0);
  const uint32_t ours = atomic_load(&generation);
  for (int i = 0; i < kTriesForLock && !held.taken; ++i) {
    uint32_t owner = atomic_load(word);
    if (owner == 0 || (is_old_free && owner != ours))
      held.taken = atomic_compare_exchange_weak(word, &owner, ours);
    if (!held.taken && i > 100) raw(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
  }
  return held;
}

Held lock(_Atomic uint32_t* word) { return take(word, true); }
Held lock_for_all(_Atomic uint32_t* word) { return take(word, false); }

void unlock(_Atomic uint32_t* word, Held held) {
  if (held.taken) atomic_store(word, 0);
  raw(SYS_rt_sigprocmask, SIG_SETMASK, (long)&held.signals, 0, sizeof held.signals, 0, 0);
}

size_t decimal(uint64_t value, char* text) {
  char reversed[20];
  size_t count = 0;
  do reversed[count++] = (char)('0' + value % 10);
  while ((value /= 10) > 0);
  for (size_t i = 0; i < count; ++i) text[i] = reversed[count - 1 - i];
  text[count] = 0;
  return count;
}

// What threads of the parent had borrowed is free in a child, as with locks.
static char borrowed[kPaths][kPathBytes];
static _Atomic uint32_t borrowers[kPaths];

char* borrow_path(void) {
  const uint32_t ours = atomic_load(&generation);
  for (int i = 0; i < kPaths; ++i) {
    uint32_t owner = atomic_load_explicit(&borrowers[i], memory_order_relaxed);
    if (owner != ours && atomic_compare_exchange_strong(&borrowers[i], &owner, ours))
      return borrowed[i];
  }
  return NULL;
}

void give_back_path(char* path) {
  atomic_store(&borrowers[(size_t)(path - borrowed[0]) / kPathBytes], 0);
}
