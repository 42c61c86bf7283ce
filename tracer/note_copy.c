// Calls that move data between two descriptors, or tell something to one.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "note.h"
#include "position.h"
#include "system.h"

static uint32_t id_of(const Open* open) {
  if (open->path == NULL || open->path->is_left_out) return NO_FILE;
  write_name(open->path);
  return open->path->id;
}

void note_copy(const Call* call, Kind kind, int to, int from, const int64_t* to_offset,
               const int64_t* from_offset, int64_t result) {
  Open* source = descriptor_find(from);
  Open* target = descriptor_find(to);
  if (source == NULL || target == NULL) return;
  const int64_t bytes = result > 0 ? result : 0;
  // The calls leave their offsets behind what they moved; one that failed may have read neither.
  if (call->error != 0) from_offset = to_offset = NULL;
  const int64_t at = from_offset ? *from_offset - bytes : advance(&source->position, bytes);
  if (to_offset == NULL) advance(&target->position, bytes);
  note(call, source->path, (What){kPosix, kind, at, bytes, id_of(target)});
}

void note_clone(const Call* call, int to, int from, int64_t from_offset, int64_t bytes) {
  const Open* source = descriptor_find(from);
  const Open* target = descriptor_find(to);
  if (source == NULL || target == NULL) return;
  struct stat status;
  if (bytes == 0 && raw(SYS_fstat, from, (long)&status, 0, 0, 0, 0) == 0)
    bytes = status.st_size > from_offset ? status.st_size - from_offset : 0;
  if (call->error != 0) bytes = 0;
  note(call, source->path, (What){kPosix, kClone, from_offset, bytes, id_of(target)});
}

static void note_side(const Call* call, int fd, Kind kind, const off64_t* at, int64_t result) {
  if (at != NULL && result > 0)
    note_data_at(call, fd, kind, *at - result, result);
  else
    note_data(call, fd, kind, result);
}

void note_splice(const Call* call, int from, const off64_t* from_at, int to, const off64_t* to_at,
                 int64_t result) {
  note_side(call, from, kRead, from_at, result);
  note_side(call, to, kWrite, to_at, result);
}

void note_device_control(const Call* call, int to, unsigned long request, long argument) {
  if (request == FICLONE) note_clone(call, to, (int)argument, 0, 0);
  if (request != FICLONERANGE) return;
  const struct file_clone_range* range = (const struct file_clone_range*)argument;
  if (call->error != 0 && !is_readable(range, sizeof *range)) return;
  note_clone(call, to, (int)range->src_fd, (int64_t)range->src_offset, (int64_t)range->src_length);
}

void note_control(int fd, int command, long argument, int result) {
  if (result < 0) return;
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) descriptor_duplicate(fd, result);
  if (command != F_SETFL && command != F_SETFD) return;
  Open* open = descriptor_find(fd);
  if (open && command == F_SETFL) open->is_append = (argument & O_APPEND) != 0;
  if (open && command == F_SETFD) open->is_close_on_exec = (argument & FD_CLOEXEC) != 0;
}
