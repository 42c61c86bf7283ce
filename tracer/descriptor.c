// The table of descriptors. Reading it takes no lock; descriptions are never given back.
#define _GNU_SOURCE
#include "descriptor.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "spool.h"

enum { kPage = 1024, kPages = 1024, kOpensAtOnce = 512 };

typedef Open* _Atomic Slot;
static Slot* _Atomic pages[kPages];
static _Atomic uint32_t table_lock;
static Open* free_opens;

static Slot* slot_of(int fd, bool make) {
  if (fd < 0 || fd >= kPage * kPages) return NULL;
  Slot* page = atomic_load_explicit(&pages[fd / kPage], memory_order_acquire);
  if (page == NULL && make) {
    Slot* fresh = memory(kPage * sizeof(Slot));
    if (fresh == NULL) return NULL;
    if (atomic_compare_exchange_strong(&pages[fd / kPage], &page, fresh)) page = fresh;
  }
  return page ? &page[fd % kPage] : NULL;
}

static Open* make_open(const Open* content) {
  Open* open = NULL;
  const Held held = lock(&table_lock);
  if (held.taken) {
    if (free_opens == NULL) {
      Open* fresh = memory(kOpensAtOnce * sizeof(Open));
      for (int i = 0; fresh && i < kOpensAtOnce; ++i) {
        fresh[i].free = free_opens;
        free_opens = &fresh[i];
      }
    }
    open = free_opens;
    if (open) free_opens = open->free;
    if (open) *open = *content;
  }
  unlock(&table_lock, held);
  return open;
}

static void release(Open* open) {
  if (open == NULL || atomic_fetch_sub(&open->references, 1) != 1) return;
  const Held held = lock(&table_lock);
  if (held.taken) {
    open->free = free_opens;
    free_opens = open;
  }
  unlock(&table_lock, held);
}

bool is_in_vfork_child(void) {
  return header != NULL && header->process != (uint32_t)process_now();
}

Open* descriptor_open(int fd, Name* path, int flags) {
  Slot* slot = slot_of(fd, true);
  if (slot == NULL || is_in_vfork_child()) return NULL;
  Open* open = make_open(&(Open){.path = path,
                                 .references = 1,
                                 .is_append = (flags & O_APPEND) != 0,
                                 .is_close_on_exec = (flags & O_CLOEXEC) != 0,
                                 .is_no_file = path == NULL || path->is_no_file});
  if (open == NULL) return NULL;
  release(atomic_exchange(slot, open));
  return open;
}

// As `adopt`, with room for a path.
static Open* adopt_in(char* text, int fd) {
  char link[32] = "/proc/self/fd/";
  decimal((uint64_t)fd, link + 14);
  const long bytes = read_link(link, text, kPathBytes);
  if (bytes < 0) return NULL;
  if (header && strstr(text, "io_uring")) atomic_fetch_add(&header->rings, 1);
  if (text[0] != '/') {
    char* end = strchr(text, ':');  // pipe:[1234]: one name for all pipes
    if (end) *end = 0;
  }
  static const char kDeleted[] = " (deleted)";
  if ((size_t)bytes > sizeof kDeleted &&
      strcmp(text + bytes - (sizeof kDeleted - 1), kDeleted) == 0)
    text[(size_t)bytes - (sizeof kDeleted - 1)] = 0;
  const long flags = raw(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
  const long kept = raw(SYS_fcntl, fd, F_GETFD, 0, 0, 0, 0);
  if (flags < 0) return NULL;
  Name* name = name_of_text(text);
  Open* open = name ? descriptor_open(fd, name, (int)flags & ~O_CLOEXEC) : NULL;
  if (open == NULL) return NULL;
  open->is_close_on_exec = (kept & FD_CLOEXEC) != 0;
  open->is_shared = true;
  const long position = raw(SYS_lseek, fd, 0, SEEK_CUR, 0, 0, 0);
  open->is_no_file = position < 0;
  atomic_store(&open->position, position < 0 ? 0 : position);
  atomic_store(&open->stream_position, position < 0 ? 0 : position);
  return open;
}

static __attribute__((noinline)) Open* adopt_on_stack(int fd) {
  char text[kPathBytes];
  return adopt_in(text, fd);
}

// A descriptor that was opened before the tracer, or behind its back.
static Open* adopt(int fd) {
  char* text = borrow_path();
  if (text == NULL) return adopt_on_stack(fd);
  Open* open = adopt_in(text, fd);
  give_back_path(text);
  return open;
}

Open* descriptor_find(int fd) {
  Slot* slot = slot_of(fd, false);
  Open* open = slot ? atomic_load_explicit(slot, memory_order_acquire) : NULL;
  return open || fd < 0 ? open : adopt(fd);
}

void descriptor_duplicate(int from, int to) {
  if (from == to || is_in_vfork_child()) return;
  Open* open = descriptor_find(from);
  Slot* slot = slot_of(to, true);
  if (slot == NULL) return;
  if (open) atomic_fetch_add(&open->references, 1);
  release(atomic_exchange(slot, open));
}

void descriptor_close(int fd) {
  Slot* slot = slot_of(fd, false);
  if (slot && !is_in_vfork_child()) release(atomic_exchange(slot, NULL));
}

Open* descriptor_take(int fd) {
  Open* open = descriptor_find(fd);
  Slot* slot = slot_of(fd, false);
  return open && slot && !is_in_vfork_child() ? atomic_exchange(slot, NULL) : open;
}

void descriptor_let_go(Open* open) {
  if (!is_in_vfork_child()) release(open);
}

void descriptor_close_range(unsigned first, unsigned last) {
  if (is_in_vfork_child()) return;
  for (unsigned page = first / kPage; page < kPages && page <= last / kPage; ++page) {
    Slot* slots = atomic_load(&pages[page]);
    for (unsigned i = 0; slots && i < kPage; ++i) {
      const unsigned fd = page * kPage + i;
      if (fd >= first && fd <= last) release(atomic_exchange(&slots[i], NULL));
    }
  }
}

static void mark_shared(bool is_fork) {
  for (int page = 0; page < kPages; ++page) {
    Slot* slots = atomic_load(&pages[page]);
    for (int i = 0; slots && i < kPage; ++i) {
      Open* open = atomic_load(&slots[i]);
      if (open && (is_fork || !open->is_close_on_exec)) open->is_shared = true;
    }
  }
}

void descriptors_are_shared(bool is_fork) {
  // With the lock none of them is given to another file meanwhile.
  const Held held = lock(&table_lock);
  mark_shared(is_fork);
  unlock(&table_lock, held);
}

void descriptors_are_inherited(void) { mark_shared(true); }
