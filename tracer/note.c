// What a call did, as a record in the trace and in the counters of its file.
#define _GNU_SOURCE
#include "note.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mapping.h"
#include "position.h"
#include "run.h"
#include "spool.h"

void call_ended(Call* call, bool is_failure) {
  call->end = ticks_now();
  call->errno_after = errno;
  call->error = is_failure ? errno : 0;
}

// The first page of the memory may be in use by its neighbours, so the second one is asked for.
static uint32_t looked_at(uintptr_t data, size_t bytes) {
  enum { kPageBytes = 4096 };
  const uintptr_t page = (data | (kPageBytes - 1)) + 1;
  unsigned char is_there = 0;
  if (page >= data + bytes) return 0;
  if (raw(SYS_mincore, (long)page, 1, (long)&is_there, 0, 0, 0) != 0) return 0;
  return kLooked | ((is_there & 1) ? 0 : kFresh);
}

void see_memory(Call* call, Kind kind, const void* data, size_t bytes) {
  enum { kAlwaysBytes = 65536, kLeastBytes = 4096, kChanceShift = 60 };
  if (spool.is_counters_only) return;
  const uintptr_t at = (uintptr_t)data;
  call->address = at;
  call->memory = (uint32_t)((at / kMemoryUnit) & kMemoryMask) << kMemoryShift;
  if (kind != kRead || bytes < kLeastBytes) return;
  // To ask takes about as long as a small read; one of sixteen of those, by chance, tells enough.
  const uint64_t chance = (uint64_t)call->start * UINT64_C(0x9E3779B97F4A7C15);
  if (bytes < kAlwaysBytes && chance >> kChanceShift != 0) return;
  call->memory |= looked_at(at, bytes);
  call->start = ticks_now();
}

// Of several parts of memory the first one is noted.
void see_parts(Call* call, Kind kind, const struct iovec* parts, int count) {
  if (spool.is_counters_only || count <= 0 || !is_readable(parts, sizeof *parts)) return;
  see_memory(call, kind, parts->iov_base, parts->iov_len);
}

static void store(const Record* made, uint64_t address) {
  if (run_takes(made, address)) return;
  Record* record = new_record();
  if (record == NULL) return;
  memcpy((char*)record + sizeof record->start, (const char*)made + sizeof made->start,
         sizeof *made - sizeof made->start);
  atomic_store_explicit(&record->start, made->start, memory_order_release);
  run_follows(record, address);
}

void note(const Call* call, Name* name, What what) {
  name = counted_as(name);
  Record made = {.start = call->start,
                 .end = call->end,
                 .offset = what.offset,
                 .bytes = what.bytes,
                 .file = NO_FILE,
                 .detail = what.detail | call->memory,
                 .error = (uint16_t)call->error,
                 .layer = (uint8_t)what.layer,
                 .kind = (uint8_t)what.kind};
  if (name != NULL) {
    const bool is_left_out = name == left_out();
    if (is_left_out) made.offset = UNKNOWN_OFFSET;
    if (made.error == 0) count(counters_of(name, what.layer), &made);
    if (is_left_out) return;
    write_name(name);
    made.file = name->id;
  }
  if (spool.is_counters_only) return;
  made.thread = thread_number();
  store(&made, call->address);
}

// Whether the kernel has read the path of a call: not yet, perhaps, where it failed in one of these
// ways, or in any where a filter stands before the kernel.
static bool is_path_read(int error) {
  switch (error) {
    case 0:
      return true;
    case EFAULT:
    case EINVAL:
    case ENAMETOOLONG:
    case ENOMEM:
    case ENOSYS:
    case EOPNOTSUPP:
    case EBADF:
    case EAGAIN:
    case E2BIG:
    case ERANGE:
      return false;
    default:
      return !spool.is_filtered;
  }
}

// Of two paths the kernel may have read the first one only, but where they do not fit together.
static bool are_paths_read(int error) {
  const bool is_of_both = error == EEXIST || error == EXDEV || error == ENOTEMPTY;
  return error == 0 || (is_of_both && !spool.is_filtered);
}

Name* name_after(const Call* call, int folder, const char* path) {
  return is_path_read(call->error) || is_readable_text(path) ? name_of(folder, path) : NULL;
}

void note_descriptor(const Call* call, int fd, What what) {
  const Open* open = descriptor_find(fd);
  if (open) note(call, open->path, what);
}

void note_data(const Call* call, int fd, Kind kind, int64_t result) {
  Open* open = descriptor_find(fd);
  if (open == NULL) return;
  What what = {kPosix, kind, UNKNOWN_OFFSET, result > 0 ? result : 0, 0};
  if (open->is_no_file) {
    what.detail = kNotAFile;
  } else if (result > 0 && (open->is_shared || (open->is_append && kind == kWrite))) {
    const long position = raw(SYS_lseek, fd, 0, SEEK_CUR, 0, 0, 0);
    if (position >= 0) {
      atomic_store(&open->position, position);
      what.offset = position - result;
    }
  } else {
    what.offset = advance(&open->position, what.bytes);
  }
  note(call, open->path, what);
}

void note_data_at(const Call* call, int fd, Kind kind, int64_t offset, int64_t result) {
  if (offset < 0) {  // preadv2 and pwritev2: at the position
    note_data(call, fd, kind, result);
    return;
  }
  note_descriptor(call, fd, (What){kPosix, kind, offset, result > 0 ? result : 0, 0});
}

void note_seek(const Call* call, int fd, int64_t position) {
  Open* open = descriptor_find(fd);
  if (open == NULL) return;
  if (position >= 0) atomic_store(&open->position, position);
  note(call, open->path, (What){kPosix, kSeek, position >= 0 ? position : UNKNOWN_OFFSET, 0, 0});
}

void note_open(const Call* call, int folder, const char* path, int flags, int fd) {
  Name* name = name_after(call, folder, path);
  if ((flags & O_TMPFILE) == O_TMPFILE) {
    // The path is a directory's; the file has the name that the system gives it.
    descriptor_close(fd);
    const Open* open = descriptor_find(fd);
    name = open ? open->path : NULL;
  } else if (fd >= 0) {
    descriptor_open(fd, name, flags);
  }
  note(call, name, (What){kPosix, kOpen, UNKNOWN_OFFSET, 0, (uint32_t)flags});
}

void note_close(const Call* call, Layer layer, Open* open) {
  if (open == NULL) return;
  note(call, open->path, (What){layer, kClose, UNKNOWN_OFFSET, 0, 0});
  descriptor_let_go(open);
}

void note_map(const Call* call, int fd, int64_t offset, size_t bytes, bool is_written_through) {
  const Open* open = descriptor_find(fd);
  if (open == NULL) return;
  if (is_written_through && call->error == 0 && open->path && !open->path->is_left_out)
    atomic_fetch_add(&header->shared_maps, 1);
  const uint32_t detail = is_written_through ? kStoresReachFile : 0;
  note(call, open->path, (What){kPosix, kMap, offset, (int64_t)bytes, detail});
}

void note_memory_sync(const Call* call, const void* address) {
  Name* name = mapping_find(address);
  if (name) note(call, name, (What){kPosix, kDataSync, UNKNOWN_OFFSET, 0, 0});
}

void note_entries(const Call* call, int fd, int64_t count, bool is_last) {
  Open* open = descriptor_find(fd);
  if (open == NULL) return;
  if (is_last && open->list_start == 0) return;  // the end, seen once more
  if (open->list_start == 0) {
    open->list_start = call->start;
    open->list_ticks = 0;
  }
  open->list_ticks += call->end - call->start;
  open->entries += count;
  if (is_last) note_list_end(fd);
}

void note_list_end(int fd) {
  Open* open = descriptor_find(fd);
  if (open == NULL || open->list_start == 0) return;
  const Call call = {.start = open->list_start, .end = open->list_start + open->list_ticks};
  note(&call, open->path, (What){kPosix, kList, UNKNOWN_OFFSET, open->entries, 0});
  open->entries = open->list_start = 0;
}

void note_names(const Call* call, int fd, const void* entries, int64_t bytes) {
  if (bytes < 0) note_descriptor(call, fd, (What){kPosix, kList, UNKNOWN_OFFSET, 0, 0});
  int64_t count = 0;
  for (int64_t at = 0; at < bytes; ++count)
    at += ((const struct dirent64*)((const char*)entries + at))->d_reclen;
  if (bytes >= 0) note_entries(call, fd, count, bytes == 0);
}

bool is_folder_meant(const Call* call, int folder, const char* path) {
  if (folder == AT_FDCWD) return false;
  return path == NULL || ((is_path_read(call->error) || is_readable(path, 1)) && *path == 0);
}

void note_path(const Call* call, Kind kind, int folder, const char* path, int64_t offset) {
  note(call, name_after(call, folder, path), (What){kPosix, kind, offset, 0, 0});
}

void note_attribute(const Call* call, Attribute what, int folder, const char* path) {
  const What said = {kPosix, kAttribute, UNKNOWN_OFFSET, 0, what};
  if (is_folder_meant(call, folder, path))
    note_descriptor(call, folder, said);
  else
    note(call, name_after(call, folder, path), said);
}

Attribute set_by(const Call* call, const char* key) {
  static const char kRights[] = "system.posix_acl_access";
  return call->error == 0 && strcmp(key, kRights) == 0 ? kMode : kSetExtended;
}

static void note_pair(const Call* call, What what, int folder, const char* path, int to_folder,
                      const char* to) {
  what.detail = NO_FILE;
  if (!are_paths_read(call->error) && !(is_readable_text(path) && is_readable_text(to))) {
    note(call, NULL, what);
    return;
  }
  Name* name = name_of(to_folder, to);
  if (name && !name->is_left_out) {
    write_name(name);
    what.detail = name->id;
  }
  note(call, name_of(folder, path), what);
}

void note_two_paths(const Call* call, Kind kind, int folder, const char* path, int to_folder,
                    const char* to) {
  note_pair(call, (What){kPosix, kind, UNKNOWN_OFFSET, 0, 0}, folder, path, to_folder, to);
}

void note_symlink(const Call* call, const char* target, int folder, const char* path) {
  note_pair(call, (What){kPosix, kLink, UNKNOWN_OFFSET, kSymbolic, 0}, folder, target, folder,
            path);
}

static int flags_of(const char* mode) {
  const bool both = strchr(mode, '+') != NULL;
  const int rest = (strchr(mode, 'x') ? O_EXCL : 0) | (strchr(mode, 'e') ? O_CLOEXEC : 0);
  switch (mode[0]) {
    case 'r':
      return rest | (both ? O_RDWR : O_RDONLY);
    case 'w':
      return rest | (both ? O_RDWR : O_WRONLY) | O_CREAT | O_TRUNC;
    default:
      return rest | (both ? O_RDWR : O_WRONLY) | O_CREAT | O_APPEND;
  }
}

void note_stream_open(const Call* call, const char* path, const char* mode, FILE* stream) {
  Name* name = path ? name_after(call, AT_FDCWD, path) : NULL;
  const int flags = flags_of(mode);
  if (stream) {
    const int fd = fileno_unlocked(stream);
    Open* open = path ? descriptor_open(fd, name, flags) : descriptor_find(fd);
    if (open && path == NULL) name = open->path;
    if (open && (flags & O_APPEND)) {
      const long end = raw(SYS_lseek, fd, 0, SEEK_END, 0, 0, 0);
      atomic_store(&open->stream_position, end < 0 ? 0 : end);
    }
  }
  note(call, name, (What){kStdio, kOpen, UNKNOWN_OFFSET, 0, (uint32_t)flags});
}

void note_stream(const Call* call, FILE* stream, Kind kind, int64_t bytes) {
  const int fd = fileno_unlocked(stream);
  if (fd < 0) return;  // in memory
  Open* open = descriptor_find(fd);
  if (open == NULL) return;
  What what = {kStdio, kind, UNKNOWN_OFFSET, bytes > 0 ? bytes : 0, 0};
  if (kind == kRead || kind == kWrite) {
    if (open->is_no_file)
      what.detail = kNotAFile;
    else
      what.offset = advance(&open->stream_position, what.bytes);
  }
  note(call, open->path, what);
}

void note_stream_seek(const Call* call, FILE* stream) {
  const int fd = fileno_unlocked(stream);
  Open* open = fd < 0 ? NULL : descriptor_find(fd);
  if (open == NULL) return;
  const int64_t position = call->error == 0 ? ftello64(stream) : -1;
  if (position >= 0) atomic_store(&open->stream_position, position);
  note(call, open->path, (What){kStdio, kSeek, position, 0, 0});
}

Record* note_start(const char* path, int process) {
  Name* name = path && is_readable_text(path) ? name_of_text(path) : NULL;
  if (name == NULL || header == NULL) return NULL;
  write_name(name);
  run_forget();  // the record may be in another window
  Record* record = new_record();
  if (record == NULL) return NULL;
  record->kind = kStarted;
  record->file = name->id;
  record->detail = (uint32_t)process;
  atomic_store_explicit(&record->start, ticks_now(), memory_order_release);
  return record;
}
