// Reading, writing, seeking, syncing, truncating, copying, mapping: calls on descriptors.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "mapping.h"
#include "wrap.h"

#define ONLY_FD(kind) (What){kPosix, kind, UNKNOWN_OFFSET, 0, 0}

ssize_t __read_chk(int, void*, size_t, size_t);
ssize_t __pread_chk(int, void*, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void*, size_t, off64_t, size_t);

WRAP_MOVING(ssize_t, read, (int fd, void* data, size_t bytes), (fd, data, bytes), MINUS_1, kRead,
            data, bytes, note_data(&call, fd, kRead, result))
WRAP_MOVING(ssize_t, __read_chk, (int fd, void* data, size_t bytes, size_t room),
            (fd, data, bytes, room), MINUS_1, kRead, data, bytes,
            note_data(&call, fd, kRead, result))
WRAP_MOVING(ssize_t, write, (int fd, const void* data, size_t bytes), (fd, data, bytes), MINUS_1,
            kWrite, data, bytes, note_data(&call, fd, kWrite, result))

#define WRAP_PARTS(name, kind)                                                                    \
  WRAP_LOOKING(ssize_t, name, (int fd, const struct iovec* parts, int count), (fd, parts, count), \
               MINUS_1, see_parts(&call, kind, parts, count), note_data(&call, fd, kind, result))
WRAP_PARTS(readv, kRead)
WRAP_PARTS(writev, kWrite)

#define WRAP_AT(name, type, kind, offset_type)                                  \
  WRAP_MOVING(ssize_t, name, (int fd, type data, size_t bytes, offset_type at), \
              (fd, data, bytes, at), MINUS_1, kind, data, bytes,                \
              note_data_at(&call, fd, kind, at, result))
WRAP_AT(pread, void*, kRead, off_t)
WRAP_AT(pread64, void*, kRead, off64_t)
WRAP_AT(pwrite, const void*, kWrite, off_t)
WRAP_AT(pwrite64, const void*, kWrite, off64_t)
#define WRAP_CHECKED_AT(name, offset_type)                                                    \
  WRAP_MOVING(ssize_t, name, (int fd, void* data, size_t bytes, offset_type at, size_t room), \
              (fd, data, bytes, at, room), MINUS_1, kRead, data, bytes,                       \
              note_data_at(&call, fd, kRead, at, result))
WRAP_CHECKED_AT(__pread_chk, off_t)
WRAP_CHECKED_AT(__pread64_chk, off64_t)

#define WRAP_PARTS_AT(name, kind, offset_type)                                                \
  WRAP_LOOKING(ssize_t, name, (int fd, const struct iovec* parts, int count, offset_type at), \
               (fd, parts, count, at), MINUS_1, see_parts(&call, kind, parts, count),         \
               note_data_at(&call, fd, kind, at, result))
WRAP_PARTS_AT(preadv, kRead, off_t)
WRAP_PARTS_AT(preadv64, kRead, off64_t)
WRAP_PARTS_AT(pwritev, kWrite, off_t)
WRAP_PARTS_AT(pwritev64, kWrite, off64_t)

#define WRAP_PARTS_FLAGS(name, kind, offset_type)                                          \
  WRAP_LOOKING(ssize_t, name,                                                              \
               (int fd, const struct iovec* parts, int count, offset_type at, int how),    \
               (fd, parts, count, at, how), MINUS_1, see_parts(&call, kind, parts, count), \
               note_data_at(&call, fd, kind, at, result))
WRAP_PARTS_FLAGS(preadv2, kRead, off_t)
WRAP_PARTS_FLAGS(preadv64v2, kRead, off64_t)
WRAP_PARTS_FLAGS(pwritev2, kWrite, off_t)
WRAP_PARTS_FLAGS(pwritev64v2, kWrite, off64_t)

WRAP(off_t, lseek, (int fd, off_t offset, int whence), (fd, offset, whence), MINUS_1,
     note_seek(&call, fd, result))
WRAP(off64_t, lseek64, (int fd, off64_t offset, int whence), (fd, offset, whence), MINUS_1,
     note_seek(&call, fd, result))

WRAP(int, fsync, (int fd), (fd), MINUS_1, note_descriptor(&call, fd, ONLY_FD(kSync)))
WRAP(int, fdatasync, (int fd), (fd), MINUS_1, note_descriptor(&call, fd, ONLY_FD(kDataSync)))
WRAP(int, syncfs, (int fd), (fd), MINUS_1, note_descriptor(&call, fd, ONLY_FD(kSync)))
WRAP(int, sync_file_range, (int fd, off64_t at, off64_t bytes, unsigned how), (fd, at, bytes, how),
     MINUS_1, note_descriptor(&call, fd, (What){kPosix, kDataSync, at, bytes, how}))

EXPORT void sync(void) {
  NEXT(Function, "sync");
  Call call = {.start = begin()};
  next();
  if (call.start == 0) return;
  call_ended(&call, false);
  note(&call, NULL, ONLY_FD(kSync));
  errno = call.errno_after;
}

#define WRAP_RESIZE(name, offset_type)                               \
  WRAP(int, name, (int fd, offset_type bytes), (fd, bytes), MINUS_1, \
       note_descriptor(&call, fd, (What){kPosix, kTruncate, bytes, 0, 0}))
WRAP_RESIZE(ftruncate, off_t)
WRAP_RESIZE(ftruncate64, off64_t)

#define WRAP_ALLOCATE(name, offset_type)                                                        \
  WRAP(int, name, (int fd, int mode, offset_type at, offset_type bytes), (fd, mode, at, bytes), \
       MINUS_1, note_descriptor(&call, fd, (What){kPosix, kAllocate, at, bytes, (uint32_t)mode}))
WRAP_ALLOCATE(fallocate, off_t)
WRAP_ALLOCATE(fallocate64, off64_t)

// These two return their error.
#define WRAP_POSIX_ALLOCATE(name, offset_type)                                         \
  WRAP(int, name, (int fd, offset_type at, offset_type bytes), (fd, at, bytes), false, \
       (call.error = result, note_descriptor(&call, fd, (What){kPosix, kAllocate, at, bytes, 0})))
WRAP_POSIX_ALLOCATE(posix_fallocate, off_t)
WRAP_POSIX_ALLOCATE(posix_fallocate64, off64_t)

WRAP(ssize_t, copy_file_range,
     (int from, off64_t* from_at, int to, off64_t* to_at, size_t bytes, unsigned how),
     (from, from_at, to, to_at, bytes, how), MINUS_1,
     note_copy(&call, kCopy, to, from, to_at, from_at, result))
WRAP(ssize_t, sendfile, (int to, int from, off_t* at, size_t bytes), (to, from, at, bytes), MINUS_1,
     note_copy(&call, kSend, to, from, NULL, at, result))
WRAP(ssize_t, sendfile64, (int to, int from, off64_t* at, size_t bytes), (to, from, at, bytes),
     MINUS_1, note_copy(&call, kSend, to, from, NULL, at, result))

WRAP(ssize_t, splice,
     (int from, off64_t* from_at, int to, off64_t* to_at, size_t bytes, unsigned how),
     (from, from_at, to, to_at, bytes, how), MINUS_1,
     note_splice(&call, from, from_at, to, to_at, result))
WRAP(ssize_t, tee, (int from, int to, size_t bytes, unsigned how), (from, to, bytes, how), MINUS_1,
     note_splice(&call, from, NULL, to, NULL, result))
WRAP(ssize_t, vmsplice, (int fd, const struct iovec* parts, size_t count, unsigned how),
     (fd, parts, count, how), MINUS_1, note_data(&call, fd, kWrite, result))

// The third argument is a number or a pointer, or is not there; a register is read either way.
EXPORT int ioctl(int fd, unsigned long request, ...) {
  NEXT(int (*)(int, unsigned long, ...), "ioctl");
  va_list list;
  va_start(list, request);
  const long argument = va_arg(list, long);
  va_end(list);
  const bool is_copy = request == FICLONE || request == FICLONERANGE;
  Call call = {.start = is_copy ? begin() : 0};
  const int result = next(fd, request, argument);
  if (call.start == 0) return result;
  call_ended(&call, result != 0);
  note_device_control(&call, fd, request, argument);
  errno = call.errno_after;
  return result;
}

// A device that holds data, such as persistent memory: loads and stores move it.
static bool is_data_device(int fd) {
  static const char* const kDevices[] = {"/dev/dax", "/dev/pmem", "/dev/mem", "/dev/nvme"};
  const Open* open = descriptor_find(fd);
  if (open == NULL || open->path == NULL || strncmp(open->path->text, "/dev/", 5) != 0)
    return false;
  for (size_t i = 0; i < sizeof kDevices / sizeof *kDevices; ++i)
    if (strncmp(open->path->text, kDevices[i], strlen(kDevices[i])) == 0) return true;
  struct stat status;
  return raw(SYS_fstat, fd, (long)&status, 0, 0, 0, 0) == 0 && S_ISBLK(status.st_mode);
}

// Memory that is no file's is not our business, and allocators ask for it before we are ready.
void* map_noted(void* address, size_t bytes, int protection, int flags, int fd, off64_t at) {
  const bool is_file = fd >= 0 && !(flags & MAP_ANONYMOUS);
  Call call = {.start = is_file ? begin() : 0};
  const long got = raw(SYS_mmap, (long)address, (long)bytes, protection, flags, fd, at);
  const bool is_failure = got < 0 && got > -4096;
  if (is_failure) errno = (int)-got;
  if (call.start == 0) return is_failure ? MAP_FAILED : (void*)got;
  call_ended(&call, is_failure);
  const bool is_stored = (flags & MAP_SHARED) && (protection & PROT_WRITE);
  note_map(&call, fd, at, bytes, is_stored);
  if (!is_failure && is_data_device(fd)) atomic_fetch_add(&header->devices, 1);
  const Open* open = is_stored && !is_failure ? descriptor_find(fd) : NULL;
  if (open && open->path) mapping_made((void*)got, bytes, open->path);
  errno = call.errno_after;
  return is_failure ? MAP_FAILED : (void*)got;
}

EXPORT void* mmap(void* address, size_t bytes, int protection, int flags, int fd, off_t at) {
  return map_noted(address, bytes, protection, flags, fd, at);
}

EXPORT void* mmap64(void* address, size_t bytes, int protection, int flags, int fd, off64_t at) {
  return map_noted(address, bytes, protection, flags, fd, at);
}

// Without MS_SYNC it does nothing. The kernel writes what an fdatasync of that part would.
static void memory_synced(const Call* call, const void* address, int how) {
  if (how & MS_SYNC) note_memory_sync(call, address);
}
WRAP(int, msync, (void* address, size_t bytes, int how), (address, bytes, how), MINUS_1,
     memory_synced(&call, address, how))
