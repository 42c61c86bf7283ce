// Opening, closing and duplicating descriptors; directories.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "wrap.h"

// The mode behind the flags is there only where the flags say so.
#define MODE_BEHIND(flags)                                         \
  mode_t mode = 0;                                                 \
  if (((flags) & O_CREAT) || ((flags) & O_TMPFILE) == O_TMPFILE) { \
    va_list list;                                                  \
    va_start(list, flags);                                         \
    mode = va_arg(list, mode_t);                                   \
    va_end(list);                                                  \
  }

static void opened(const Call* call, int folder, const char* path, int flags, int fd) {
  note_open(call, folder, path, flags, fd);
  note_clocks();
}

typedef int (*OpenFunction)(const char*, int, mode_t);
typedef int (*OpenAtFunction)(int, const char*, int, mode_t);

static int open_by(OpenFunction next, const char* path, int flags, mode_t mode) {
  Call call = {.start = begin()};
  const int fd = next(path, flags, mode);
  if (call.start == 0) return fd;
  call_ended(&call, fd < 0);
  opened(&call, AT_FDCWD, path, flags, fd);
  errno = call.errno_after;
  return fd;
}

static int open_at_by(OpenAtFunction next, int folder, const char* path, int flags, mode_t mode) {
  Call call = {.start = begin()};
  const int fd = next(folder, path, flags, mode);
  if (call.start == 0) return fd;
  call_ended(&call, fd < 0);
  opened(&call, folder, path, flags, fd);
  errno = call.errno_after;
  return fd;
}

#define WRAP_OPEN(name)                               \
  EXPORT int name(const char* path, int flags, ...) { \
    NEXT(OpenFunction, #name);                        \
    MODE_BEHIND(flags)                                \
    return open_by(next, path, flags, mode);          \
  }
WRAP_OPEN(open)
WRAP_OPEN(open64)

#define WRAP_OPEN_AT(name)                                        \
  EXPORT int name(int folder, const char* path, int flags, ...) { \
    NEXT(OpenAtFunction, #name);                                  \
    MODE_BEHIND(flags)                                            \
    return open_at_by(next, folder, path, flags, mode);           \
  }
WRAP_OPEN_AT(openat)
WRAP_OPEN_AT(openat64)

// Not every C library has this one; who wants it may ask for the symbol, as Venturi's engine does.
EXPORT int openat2(int folder, const char* path, const struct open_how* how, size_t bytes) {
  Call call = {.start = begin()};
  const long got = raw(SYS_openat2, folder, (long)path, (long)how, (long)bytes, 0, 0);
  const bool is_failure = got < 0;
  if (is_failure) errno = (int)-got;
  const int fd = is_failure ? -1 : (int)got;
  if (call.start == 0) return fd;
  call_ended(&call, is_failure);
  const int flags = is_failure && !is_readable(how, sizeof *how) ? 0 : (int)how->flags;
  opened(&call, folder, path, flags, fd);
  errno = call.errno_after;
  return fd;
}

int __open_2(const char*, int);
int __open64_2(const char*, int);
int __openat_2(int, const char*, int);
int __openat64_2(int, const char*, int);
WRAP(int, __open_2, (const char* path, int flags), (path, flags), MINUS_1,
     opened(&call, AT_FDCWD, path, flags, result))
WRAP(int, __open64_2, (const char* path, int flags), (path, flags), MINUS_1,
     opened(&call, AT_FDCWD, path, flags, result))
WRAP(int, __openat_2, (int folder, const char* path, int flags), (folder, path, flags), MINUS_1,
     opened(&call, folder, path, flags, result))
WRAP(int, __openat64_2, (int folder, const char* path, int flags), (folder, path, flags), MINUS_1,
     opened(&call, folder, path, flags, result))

enum { kCreates = O_CREAT | O_WRONLY | O_TRUNC };
WRAP(int, creat, (const char* path, mode_t mode), (path, mode), MINUS_1,
     opened(&call, AT_FDCWD, path, kCreates, result))
WRAP(int, creat64, (const char* path, mode_t mode), (path, mode), MINUS_1,
     opened(&call, AT_FDCWD, path, kCreates, result))

// These make names of their own, and write them into `path`.
#define WRAP_MAKE(name, parameters, arguments)    \
  WRAP(int, name, parameters, arguments, MINUS_1, \
       opened(&call, AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL, result))
WRAP_MAKE(mkstemp, (char* path), (path))
WRAP_MAKE(mkstemp64, (char* path), (path))
WRAP_MAKE(mkostemp, (char* path, int flags), (path, flags))
WRAP_MAKE(mkostemp64, (char* path, int flags), (path, flags))
WRAP_MAKE(mkstemps, (char* path, int suffix), (path, suffix))
WRAP_MAKE(mkstemps64, (char* path, int suffix), (path, suffix))
WRAP_MAKE(mkostemps, (char* path, int suffix, int flags), (path, suffix, flags))
WRAP_MAKE(mkostemps64, (char* path, int suffix, int flags), (path, suffix, flags))
WRAP(char*, mkdtemp, (char* path), (path), result == NULL,
     note_path(&call, kMkdir, AT_FDCWD, path, UNKNOWN_OFFSET))

// POSIX's shared memory: named as a file, but no storage.
static void memory_opened(int fd) {
  descriptor_close(fd);
  const Open* open = descriptor_find(fd);
  if (open) name_is_memory(open->path);
}
WRAP(int, shm_open, (const char* name, int flags, mode_t mode), (name, flags, mode), MINUS_1,
     memory_opened(result))

EXPORT int close(int fd) {
  NEXT(int (*)(int), "close");
  Call call = {.start = begin()};
  if (call.start == 0) return next(fd);
  note_list_end(fd);
  Open* open = descriptor_take(fd);
  const int result = next(fd);
  call_ended(&call, result != 0);
  note_close(&call, kPosix, open);
  note_clocks();
  errno = call.errno_after;
  return result;
}

EXPORT int close_range(unsigned first, unsigned last, int how) {
  NEXT(int (*)(unsigned, unsigned, int), "close_range");
  if (how == 0 && begin() != 0) descriptor_close_range(first, last);
  return next(first, last, how);
}

EXPORT void closefrom(int first) {
  NEXT(void (*)(int), "closefrom");
  if (begin() != 0) descriptor_close_range(first < 0 ? 0 : (unsigned)first, UINT32_MAX);
  next(first);
}

WRAP(int, dup, (int fd), (fd), MINUS_1, result >= 0 ? descriptor_duplicate(fd, result) : (void)0)
WRAP(int, dup2, (int fd, int to), (fd, to), MINUS_1,
     result >= 0 ? descriptor_duplicate(fd, to) : (void)0)
WRAP(int, dup3, (int fd, int to, int flags), (fd, to, flags), MINUS_1,
     result >= 0 ? descriptor_duplicate(fd, to) : (void)0)

// The third argument is a number or a pointer, or is not there; a register is read either way.
#define WRAP_CONTROL(name)                                         \
  EXPORT int name(int fd, int command, ...) {                      \
    NEXT(int (*)(int, int, ...), #name);                           \
    va_list list;                                                  \
    va_start(list, command);                                       \
    const long argument = va_arg(list, long);                      \
    va_end(list);                                                  \
    const int result = next(fd, command, argument);                \
    const int errno_after = errno;                                 \
    if (begin() != 0) note_control(fd, command, argument, result); \
    errno = errno_after;                                           \
    return result;                                                 \
  }
WRAP_CONTROL(fcntl)
WRAP_CONTROL(fcntl64)

static void opened_folder(const Call* call, const char* path, DIR* folder) {
  note_open(call, AT_FDCWD, path, O_DIRECTORY | O_CLOEXEC, folder ? dirfd(folder) : -1);
}
WRAP(DIR*, opendir, (const char* path), (path), result == NULL, opened_folder(&call, path, result))

WRAP(struct dirent*, readdir, (DIR * folder), (folder), false,
     note_entries(&call, dirfd(folder), result != NULL, result == NULL))
WRAP(struct dirent64*, readdir64, (DIR * folder), (folder), false,
     note_entries(&call, dirfd(folder), result != NULL, result == NULL))
WRAP(ssize_t, getdents64, (int fd, void* entries, size_t room), (fd, entries, room), MINUS_1,
     note_names(&call, fd, entries, result))

EXPORT int closedir(DIR* folder) {
  NEXT(int (*)(DIR*), "closedir");
  Call call = {.start = begin()};
  if (call.start == 0) return next(folder);
  const int fd = dirfd(folder);
  note_list_end(fd);
  Open* open = descriptor_take(fd);
  const int result = next(folder);
  call_ended(&call, result != 0);
  note_close(&call, kPosix, open);
  errno = call.errno_after;
  return result;
}

#define WRAP_SCAN(name, entry)                                                      \
  WRAP(int, name,                                                                   \
       (const char* path, struct entry*** list, int (*choose)(const struct entry*), \
        int (*order)(const struct entry**, const struct entry**)),                  \
       (path, list, choose, order), MINUS_1,                                        \
       note(&call, name_after(&call, AT_FDCWD, path),                               \
            (What){kPosix, kList, UNKNOWN_OFFSET, result < 0 ? 0 : result, 0}))
WRAP_SCAN(scandir, dirent)
WRAP_SCAN(scandir64, dirent64)
