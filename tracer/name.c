// Interning of paths: found without a lock, added under one, never forgotten.
#define _GNU_SOURCE
#include "name.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "descriptor.h"
#include "filter.h"
#include "spool.h"

enum {
  kBuckets = 1 << 16,
  kArenaBytes = 256 << 10,
};

static Name* _Atomic buckets[kBuckets];
static _Atomic uint32_t names_lock;
static uint32_t window_generation;
static uint32_t names;
static char* arena;
static size_t arena_left;
static Window* window;
static Name* _Atomic the_left_out;

static uint64_t hash_of(const char* text, size_t bytes) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < bytes; ++i)
    hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
  return hash ^ hash >> 29;
}

static void* arena_take(size_t bytes) {
  bytes = (bytes + 15) & ~(size_t)15;
  if (bytes > arena_left) {
    char* fresh = memory(kArenaBytes);
    if (fresh == NULL) return NULL;
    arena = fresh;
    arena_left = kArenaBytes;
  }
  arena += bytes;
  arena_left -= bytes;
  return arena - bytes;
}

static Name* find(uint64_t hash, const char* text, size_t bytes) {
  for (Name* name = atomic_load(&buckets[hash % kBuckets]); name; name = atomic_load(&name->next))
    if (name->hash == hash && name->text_bytes == bytes && memcmp(name->text, text, bytes) == 0)
      return name;
  return NULL;
}

// The windows of the parent are not the child's.
static Held lock_names(void) {
  const Held held = lock(&names_lock);
  if (held.taken && window_generation != generation) {
    window_generation = generation;
    window = NULL;
    reset_counters();
  }
  return held;
}

static Name* add_name(uint64_t hash, const char* text, size_t bytes, const Dataset* dataset) {
  Name* name = arena_take(sizeof(Name) + bytes + 1);
  if (name == NULL) return NULL;
  *name = (Name){.hash = hash, .id = names++, .text_bytes = (uint32_t)bytes};
  memcpy(name->text, text, bytes);
  name->text[bytes] = 0;
  if (dataset) {
    const size_t size = 2 * dataset->dimensions * sizeof(uint64_t);
    name->is_dataset = true;
    name->within_and_1 = dataset->file ? dataset->file->id + 1 : 0;
    name->element_bytes = dataset->element_bytes;
    name->cache_and_1 = dataset->cache_and_1;
    name->shape = arena_take(size + 1);
    if (name->shape) {
      name->dimensions = dataset->dimensions;
      memcpy(name->shape, dataset->shape, size);
    }
  } else {
    name->is_no_file = text[0] != '/';
    name->is_left_out = leaves_out(name->text);
  }
  atomic_store(&name->next, atomic_load(&buckets[hash % kBuckets]));
  atomic_store(&buckets[hash % kBuckets], name);
  return name;
}

static Name* intern(const char* text, size_t bytes, const Dataset* dataset) {
  uint64_t hash = hash_of(text, bytes);
  // Datasets of several files may have one name, and one that is made anew has another shape.
  if (dataset && dataset->file) hash = hash * 31 + dataset->file->id + 1;
  for (uint32_t i = 0; dataset && i < 2 * dataset->dimensions; ++i)
    hash = (hash ^ dataset->shape[i]) * UINT64_C(0x100000001b3);
  if (dataset) hash = hash * 31 + dataset->element_bytes;
  Name* name = find(hash, text, bytes);
  if (name == NULL) {
    const Held held = lock_names();
    if (held.taken) {
      name = find(hash, text, bytes);
      if (name == NULL) name = add_name(hash, text, bytes, dataset);
    }
    unlock(&names_lock, held);
  }
  return name;
}

void name_is_memory(Name* name) {
  if (!filter.is_all_paths && filter.only[0] == 0) atomic_store(&name->is_left_out, true);
}

Name* counted_as(Name* name) { return name && name->is_left_out ? left_out() : name; }

Name* left_out(void) {
  Name* name = atomic_load(&the_left_out);
  if (name == NULL) {
    static const char kText[] = "<left out>";
    name = intern(kText, sizeof kText - 1, &(Dataset){0});
    atomic_store(&the_left_out, name);
  }
  return name;
}

Name* name_of_text(const char* text) { return intern(text, strlen(text), NULL); }

Name* name_of_dataset(const char* text, const Dataset* dataset) {
  return intern(text, strlen(text), dataset);
}

// Appends the components of `path` to the absolute path in `text`; false where it is too long.
static bool append(char* text, size_t* bytes, const char* path) {
  while (*path) {
    const size_t size = strcspn(path, "/");
    if (size == 2 && path[0] == '.' && path[1] == '.') {
      for (bool up = *bytes > 0; up; up = *bytes > 0 && text[*bytes] != '/') --*bytes;
    } else if (size > 0 && !(size == 1 && path[0] == '.')) {
      if (*bytes + size + 2 > kPathBytes) return false;
      text[(*bytes)++] = '/';
      memcpy(text + *bytes, path, size);
      *bytes += size;
    }
    path += size;
    path += strspn(path, "/");
  }
  text[*bytes] = 0;
  return true;
}

// As `name_of`, with room for the absolute path.
static Name* name_in(char* text, int folder, const char* path) {
  size_t bytes = 0;
  if (path[0] != '/') {
    if (folder == AT_FDCWD) {
      const long got = raw(SYS_getcwd, (long)text, kPathBytes, 0, 0, 0, 0);
      if (got <= 1 || text[0] != '/') return NULL;
      bytes = (size_t)got - 1;
      if (bytes == 1) bytes = 0;
    } else {
      const Open* open = descriptor_find(folder);
      if (open == NULL || open->path == NULL || open->path->is_no_file) return NULL;
      bytes = open->path->text_bytes;
      if (bytes + 2 > kPathBytes) return NULL;
      memcpy(text, open->path->text, bytes);
      if (bytes == 1) bytes = 0;
    }
  }
  text[bytes] = 0;
  if (!append(text, &bytes, path)) return NULL;
  if (bytes == 0) text[bytes++] = '/';
  text[bytes] = 0;
  return intern(text, bytes, NULL);
}

static __attribute__((noinline)) Name* name_on_stack(int folder, const char* path) {
  char text[kPathBytes];
  return name_in(text, folder, path);
}

Name* name_of(int folder, const char* path) {
  if (path == NULL) return NULL;
  char* text = borrow_path();
  if (text == NULL) return name_on_stack(folder, path);
  Name* name = name_in(text, folder, path);
  give_back_path(text);
  return name;
}

void write_name(Name* name) {
  if (name->generation == generation) return;
  const uint32_t shape_bytes = name->dimensions * 2 * (uint32_t)sizeof(uint64_t);
  const uint32_t bytes =
      ((uint32_t)sizeof(NameEntry) + shape_bytes + name->text_bytes + 7) & ~UINT32_C(7);
  const Held held = lock_names();
  if (held.taken && name->generation != generation) {
    for (int layer = 0; layer < kLayers; ++layer) atomic_store(&name->counters[layer], NULL);
    if (window == NULL || window->capacity - atomic_load(&window->used) < bytes) {
      Window* fresh = new_window(kNames, next_bytes(window));
      if (fresh) window = fresh;
    }
    if (window && window->capacity - atomic_load(&window->used) >= bytes) {
      const uint32_t used = atomic_load(&window->used);
      NameEntry* entry = (NameEntry*)((char*)window + kWindowHeaderBytes + used);
      *entry = (NameEntry){.text_bytes = name->text_bytes,
                           .within_and_1 = name->within_and_1,
                           .element_bytes = name->element_bytes,
                           .dimensions = name->dimensions,
                           .cache_and_1 = name->cache_and_1};
      if (shape_bytes > 0) memcpy(entry + 1, name->shape, shape_bytes);
      memcpy((char*)(entry + 1) + shape_bytes, name->text, name->text_bytes);
      entry->file_and_1 = name->id + 1;
      atomic_store(&window->used, used + bytes);
      name->generation = generation;
    }
  }
  unlock(&names_lock, held);
}

Counters* counters_of(Name* name, Layer layer) {
  write_name(name);
  if (name->generation != generation) return NULL;
  Counters* set = atomic_load_explicit(&name->counters[layer], memory_order_acquire);
  if (set == NULL) {
    Counters* fresh = new_counters(name->id, layer);
    // Of two threads the later one's set stays empty; the reader adds sets of one file.
    if (fresh == NULL || atomic_compare_exchange_strong(&name->counters[layer], &set, fresh))
      set = fresh;
  }
  return set;
}
