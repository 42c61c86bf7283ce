// Calls on paths: status, links, directories, attributes.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "wrap.h"

#define AT_PATH(kind, folder, path) note_path(&call, kind, folder, path, UNKNOWN_OFFSET)
#define ON_FD(kind, fd) note_descriptor(&call, fd, (What){kPosix, kind, UNKNOWN_OFFSET, 0, 0})

// A call of one path, relative to the working directory.
#define WRAP_PATH(kind, name, parameters, arguments) \
  WRAP(int, name, parameters, arguments, MINUS_1, AT_PATH(kind, AT_FDCWD, path))

// A call of one path in a directory; with AT_EMPTY_PATH it means the descriptor itself.
#define WRAP_AT(kind, name, parameters, arguments) \
  WRAP(int, name, parameters, arguments, MINUS_1, note_at(&call, kind, folder, path))

static void note_at(const Call* call, Kind kind, int folder, const char* path) {
  if (is_folder_meant(call, folder, path))
    note_descriptor(call, folder, (What){kPosix, kind, UNKNOWN_OFFSET, 0, 0});
  else
    note_path(call, kind, folder, path, UNKNOWN_OFFSET);
}

struct stat64;
// Before glibc 2.33 the status calls had these names.
int __xstat(int, const char*, struct stat*);
int __xstat64(int, const char*, struct stat64*);
int __lxstat(int, const char*, struct stat*);
int __lxstat64(int, const char*, struct stat64*);
int __fxstat(int, int, struct stat*);
int __fxstat64(int, int, struct stat64*);
int __fxstatat(int, int, const char*, struct stat*, int);
int __fxstatat64(int, int, const char*, struct stat64*, int);
ssize_t __readlink_chk(const char*, char*, size_t, size_t);
ssize_t __readlinkat_chk(int, const char*, char*, size_t, size_t);

#define WRAP_STATS(suffix)                                                                         \
  WRAP_PATH(kStat, stat##suffix, (const char* path, struct stat##suffix* s), (path, s))            \
  WRAP_PATH(kStat, lstat##suffix, (const char* path, struct stat##suffix* s), (path, s))           \
  WRAP(int, fstat##suffix, (int fd, struct stat##suffix* s), (fd, s), MINUS_1, ON_FD(kStat, fd))   \
  WRAP_AT(kStat, fstatat##suffix, (int folder, const char* path, struct stat##suffix* s, int how), \
          (folder, path, s, how))                                                                  \
  WRAP_PATH(kStat, __xstat##suffix, (int version, const char* path, struct stat##suffix* s),       \
            (version, path, s))                                                                    \
  WRAP_PATH(kStat, __lxstat##suffix, (int version, const char* path, struct stat##suffix* s),      \
            (version, path, s))                                                                    \
  WRAP(int, __fxstat##suffix, (int version, int fd, struct stat##suffix* s), (version, fd, s),     \
       MINUS_1, ON_FD(kStat, fd))                                                                  \
  WRAP_AT(kStat, __fxstatat##suffix,                                                               \
          (int version, int folder, const char* path, struct stat##suffix* s, int how),            \
          (version, folder, path, s, how))
WRAP_STATS()
WRAP_STATS(64)
WRAP_AT(kStat, statx, (int folder, const char* path, int how, unsigned mask, struct statx* s),
        (folder, path, how, mask, s))
WRAP_PATH(kStat, access, (const char* path, int mode), (path, mode))
WRAP_PATH(kStat, eaccess, (const char* path, int mode), (path, mode))
WRAP_PATH(kStat, euidaccess, (const char* path, int mode), (path, mode))
WRAP_AT(kStat, faccessat, (int folder, const char* path, int mode, int how),
        (folder, path, mode, how))

#define WRAP_READLINK(name, parameters, arguments, folder) \
  WRAP(ssize_t, name, parameters, arguments, MINUS_1, AT_PATH(kStat, folder, path))
WRAP_READLINK(readlink, (const char* path, char* text, size_t room), (path, text, room), AT_FDCWD)
WRAP_READLINK(readlinkat, (int folder, const char* path, char* text, size_t room),
              (folder, path, text, room), folder)
WRAP_READLINK(__readlink_chk, (const char* path, char* text, size_t room, size_t most),
              (path, text, room, most), AT_FDCWD)
WRAP_READLINK(__readlinkat_chk,
              (int folder, const char* path, char* text, size_t room, size_t most),
              (folder, path, text, room, most), folder)

WRAP_PATH(kUnlink, unlink, (const char* path), (path))
WRAP_PATH(kRmdir, rmdir, (const char* path), (path))
// By definition: unlink, and for a directory rmdir.
WRAP_PATH(kUnlink, remove, (const char* path), (path))
WRAP(int, unlinkat, (int folder, const char* path, int how), (folder, path, how), MINUS_1,
     AT_PATH(how& AT_REMOVEDIR ? kRmdir : kUnlink, folder, path))
WRAP_PATH(kMkdir, mkdir, (const char* path, mode_t mode), (path, mode))
WRAP_AT(kMkdir, mkdirat, (int folder, const char* path, mode_t mode), (folder, path, mode))

#define TWO(kind, folder, path, to_folder, to) \
  note_two_paths(&call, kind, folder, path, to_folder, to)
WRAP(int, rename, (const char* path, const char* to), (path, to), MINUS_1,
     TWO(kRename, AT_FDCWD, path, AT_FDCWD, to))
WRAP(int, renameat, (int folder, const char* path, int to_folder, const char* to),
     (folder, path, to_folder, to), MINUS_1, TWO(kRename, folder, path, to_folder, to))
WRAP(int, renameat2, (int folder, const char* path, int to_folder, const char* to, unsigned how),
     (folder, path, to_folder, to, how), MINUS_1, TWO(kRename, folder, path, to_folder, to))
WRAP(int, link, (const char* path, const char* to), (path, to), MINUS_1,
     TWO(kLink, AT_FDCWD, path, AT_FDCWD, to))
WRAP(int, linkat, (int folder, const char* path, int to_folder, const char* to, int how),
     (folder, path, to_folder, to, how), MINUS_1, TWO(kLink, folder, path, to_folder, to))
// What a symbolic link holds is taken for a file's name, though it need not be one.
WRAP(int, symlink, (const char* target, const char* path), (target, path), MINUS_1,
     note_symlink(&call, target, AT_FDCWD, path))
WRAP(int, symlinkat, (const char* target, int folder, const char* path), (target, folder, path),
     MINUS_1, note_symlink(&call, target, folder, path))

#define WRAP_RESIZE(name, offset_type)                                           \
  WRAP(int, name, (const char* path, offset_type bytes), (path, bytes), MINUS_1, \
       note_path(&call, kTruncate, AT_FDCWD, path, bytes))
WRAP_RESIZE(truncate, off_t)
WRAP_RESIZE(truncate64, off64_t)

// A call about an attribute: of a path, of a path in a directory, of a descriptor.
#define WRAP_ATTRIBUTE(what, type, name, parameters, arguments) \
  WRAP(type, name, parameters, arguments, MINUS_1, note_attribute(&call, what, AT_FDCWD, path))
#define WRAP_ATTRIBUTE_AT(what, name, parameters, arguments) \
  WRAP(int, name, parameters, arguments, MINUS_1, note_attribute(&call, what, folder, path))
#define WRAP_ATTRIBUTE_OF_FD(what, type, name, parameters, arguments) \
  WRAP(type, name, parameters, arguments, MINUS_1, note_attribute(&call, what, fd, NULL))

WRAP_ATTRIBUTE(kMode, int, chmod, (const char* path, mode_t mode), (path, mode))
WRAP_ATTRIBUTE_OF_FD(kMode, int, fchmod, (int fd, mode_t mode), (fd, mode))
WRAP_ATTRIBUTE_AT(kMode, fchmodat, (int folder, const char* path, mode_t mode, int how),
                  (folder, path, mode, how))
WRAP_ATTRIBUTE(kOwner, int, chown, (const char* path, uid_t user, gid_t group), (path, user, group))
WRAP_ATTRIBUTE(kOwner, int, lchown, (const char* path, uid_t user, gid_t group),
               (path, user, group))
WRAP_ATTRIBUTE_OF_FD(kOwner, int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group))
WRAP_ATTRIBUTE_AT(kOwner, fchownat,
                  (int folder, const char* path, uid_t user, gid_t group, int how),
                  (folder, path, user, group, how))
WRAP_ATTRIBUTE(kTimes, int, utime, (const char* path, const struct utimbuf* times), (path, times))
WRAP_ATTRIBUTE(kTimes, int, utimes, (const char* path, const struct timeval times[2]),
               (path, times))
WRAP_ATTRIBUTE(kTimes, int, lutimes, (const char* path, const struct timeval times[2]),
               (path, times))
WRAP_ATTRIBUTE_AT(kTimes, futimesat, (int folder, const char* path, const struct timeval times[2]),
                  (folder, path, times))
WRAP_ATTRIBUTE_AT(kTimes, utimensat,
                  (int folder, const char* path, const struct timespec times[2], int how),
                  (folder, path, times, how))
WRAP_ATTRIBUTE_OF_FD(kTimes, int, futimens, (int fd, const struct timespec times[2]), (fd, times))
WRAP_ATTRIBUTE_OF_FD(kTimes, int, futimes, (int fd, const struct timeval times[2]), (fd, times))

#define KEY const char* key
WRAP_ATTRIBUTE(kGetExtended, ssize_t, getxattr, (const char* path, KEY, void* value, size_t bytes),
               (path, key, value, bytes))
WRAP_ATTRIBUTE(kGetExtended, ssize_t, lgetxattr, (const char* path, KEY, void* value, size_t bytes),
               (path, key, value, bytes))
WRAP_ATTRIBUTE_OF_FD(kGetExtended, ssize_t, fgetxattr, (int fd, KEY, void* value, size_t bytes),
                     (fd, key, value, bytes))
WRAP_ATTRIBUTE(set_by(&call, key), int, setxattr,
               (const char* path, KEY, const void* value, size_t bytes, int how),
               (path, key, value, bytes, how))
WRAP_ATTRIBUTE(set_by(&call, key), int, lsetxattr,
               (const char* path, KEY, const void* value, size_t bytes, int how),
               (path, key, value, bytes, how))
WRAP_ATTRIBUTE_OF_FD(set_by(&call, key), int, fsetxattr,
                     (int fd, KEY, const void* value, size_t bytes, int how),
                     (fd, key, value, bytes, how))
WRAP_ATTRIBUTE(kGetExtended, ssize_t, listxattr, (const char* path, char* list, size_t bytes),
               (path, list, bytes))
WRAP_ATTRIBUTE(kGetExtended, ssize_t, llistxattr, (const char* path, char* list, size_t bytes),
               (path, list, bytes))
WRAP_ATTRIBUTE_OF_FD(kGetExtended, ssize_t, flistxattr, (int fd, char* list, size_t bytes),
                     (fd, list, bytes))
WRAP_ATTRIBUTE(kSetExtended, int, removexattr, (const char* path, KEY), (path, key))
WRAP_ATTRIBUTE(kSetExtended, int, lremovexattr, (const char* path, KEY), (path, key))
WRAP_ATTRIBUTE_OF_FD(kSetExtended, int, fremovexattr, (int fd, KEY), (fd, key))
