// One line for each system call: which note is made of it.
#define _GNU_SOURCE
#include "by_number.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "wrap.h"

// Numbers that older headers lack; the same on all processors.
enum { kOpenAt2 = 437, kAccessAt2 = 439, kSetModeAt2 = 452 };

// The arguments of the call.
#define FD(i) ((int)p[i])
#define TEXT(i) ((const char*)p[i])
#define AT(i) ((const off64_t*)p[i])
#define HERE AT_FDCWD

#define ON(name, what)                                            \
  static void name(const Call* call, const long p[6], long got) { \
    (void)call;                                                   \
    (void)p;                                                      \
    (void)got;                                                    \
    what;                                                         \
  }

static void on_fd(const Call* call, int fd, Kind kind) {
  note_descriptor(call, fd, (What){kPosix, kind, UNKNOWN_OFFSET, 0, 0});
}

static void on_path(const Call* call, Kind kind, int folder, const char* path) {
  if (is_folder_meant(call, folder, path))
    on_fd(call, folder, kind);
  else
    note_path(call, kind, folder, path, UNKNOWN_OFFSET);
}

static void on_opened(const Call* call, int folder, const char* path, long flags, long got) {
  note_open(call, folder, path, (int)flags, (int)got);
  note_clocks();
}

static long flags_in(const Call* call, const struct open_how* how) {
  return call->error != 0 && !is_readable(how, sizeof *how) ? 0 : (long)how->flags;
}

ON(read_, note_data(call, FD(0), kRead, got))
ON(write_, note_data(call, FD(0), kWrite, got))
ON(read_at, note_data_at(call, FD(0), kRead, p[3], got))
ON(write_at, note_data_at(call, FD(0), kWrite, p[3], got))
ON(seek, note_seek(call, FD(0), got))
ON(open_at, on_opened(call, FD(0), TEXT(1), p[2], got))
ON(open_at_2, on_opened(call, FD(0), TEXT(1), flags_in(call, (const struct open_how*)p[2]), got))
ON(duplicate, got >= 0 ? descriptor_duplicate(FD(0), (int)got) : (void)0)
ON(control, note_control(FD(0), FD(1), p[2], (int)got))
ON(sync_, on_fd(call, FD(0), kSync))
ON(sync_all, note(call, NULL, (What){kPosix, kSync, UNKNOWN_OFFSET, 0, 0}))
ON(sync_data, on_fd(call, FD(0), kDataSync))
ON(sync_range, note_descriptor(call, FD(0), (What){kPosix, kDataSync, p[1], p[2], (uint32_t)p[3]}))
ON(resize, note_descriptor(call, FD(0), (What){kPosix, kTruncate, p[1], 0, 0}))
ON(resize_path, note_path(call, kTruncate, HERE, TEXT(0), p[1]))
ON(allocate, note_descriptor(call, FD(0), (What){kPosix, kAllocate, p[2], p[3], (uint32_t)p[1]}))
ON(copy_range, note_copy(call, kCopy, FD(2), FD(0), AT(3), AT(1), got))
ON(send, note_copy(call, kSend, FD(0), FD(1), NULL, AT(2), got))
ON(splice_, note_splice(call, FD(0), AT(1), FD(2), AT(3), got))
ON(tee_, note_splice(call, FD(0), NULL, FD(1), NULL, got))
ON(status, on_fd(call, FD(0), kStat))
ON(status_at, on_path(call, kStat, FD(0), TEXT(1)))
ON(link_text, note_path(call, kStat, FD(0), TEXT(1), UNKNOWN_OFFSET))
ON(unlink_at,
   note_path(call, p[2] & AT_REMOVEDIR ? kRmdir : kUnlink, FD(0), TEXT(1), UNKNOWN_OFFSET))
ON(mkdir_at, note_path(call, kMkdir, FD(0), TEXT(1), UNKNOWN_OFFSET))
ON(rename_at, note_two_paths(call, kRename, FD(0), TEXT(1), FD(2), TEXT(3)))
ON(link_at, note_two_paths(call, kLink, FD(0), TEXT(1), FD(2), TEXT(3)))
ON(symlink_at, note_symlink(call, TEXT(0), FD(1), TEXT(2)))
ON(mode_at, note_attribute(call, kMode, FD(0), TEXT(1)))
ON(owner_at, note_attribute(call, kOwner, FD(0), TEXT(1)))
ON(times_at, note_attribute(call, kTimes, FD(0), TEXT(1)))
ON(mode_of, note_attribute(call, kMode, FD(0), NULL))
ON(owner_of, note_attribute(call, kOwner, FD(0), NULL))
ON(extended_set, note_attribute(call, set_by(call, TEXT(1)), HERE, TEXT(0)))
ON(extended_set_of, note_attribute(call, set_by(call, TEXT(1)), FD(0), NULL))
ON(extended_get, note_attribute(call, kGetExtended, HERE, TEXT(0)))
ON(extended_get_of, note_attribute(call, kGetExtended, FD(0), NULL))
ON(extended_remove, note_attribute(call, kSetExtended, HERE, TEXT(0)))
ON(extended_remove_of, note_attribute(call, kSetExtended, FD(0), NULL))
ON(list, note_names(call, FD(0), (const void*)p[1], got))
ON(synced_memory, p[2] & MS_SYNC ? note_memory_sync(call, (const void*)p[0]) : (void)0)
ON(shared_blocks, note_device_control(call, FD(0), (unsigned long)p[1], p[2]))

#include "old_numbers.h"

static const Numbered kNumbered[] = {[SYS_read] = {read_, kIntoMemory},
                                     [SYS_write] = {write_, kFromMemory},
                                     [SYS_pread64] = {read_at, kIntoMemory},
                                     [SYS_pwrite64] = {write_at, kFromMemory},
                                     [SYS_readv] = {read_, kIntoParts},
                                     [SYS_writev] = {write_, kFromParts},
                                     [SYS_preadv] = {read_at, kIntoParts},
                                     [SYS_pwritev] = {write_at, kFromParts},
                                     [SYS_preadv2] = {read_at, kIntoParts},
                                     [SYS_pwritev2] = {write_at, kFromParts},
                                     [SYS_lseek] = {seek, kNone},
                                     [SYS_openat] = {open_at, kNone},
                                     [kOpenAt2] = {open_at_2, kNone},
                                     [SYS_dup] = {duplicate, kNone},
                                     [SYS_dup3] = {duplicate, kNone},
                                     [SYS_fcntl] = {control, kNone},
                                     [SYS_fsync] = {sync_, kNone},
                                     [SYS_syncfs] = {sync_, kNone},
                                     [SYS_sync] = {sync_all, kNone},
                                     [SYS_fdatasync] = {sync_data, kNone},
                                     [SYS_sync_file_range] = {sync_range, kNone},
                                     [SYS_ftruncate] = {resize, kNone},
                                     [SYS_truncate] = {resize_path, kNone},
                                     [SYS_fallocate] = {allocate, kNone},
                                     [SYS_copy_file_range] = {copy_range, kNone},
                                     [SYS_sendfile] = {send, kNone},
                                     [SYS_splice] = {splice_, kNone},
                                     [SYS_tee] = {tee_, kNone},
                                     [SYS_vmsplice] = {write_, kNone},
                                     [SYS_fstat] = {status, kNone},
                                     [SYS_newfstatat] = {status_at, kNone},
                                     [SYS_statx] = {status_at, kNone},
                                     [SYS_faccessat] = {status_at, kNone},
                                     [kAccessAt2] = {status_at, kNone},
                                     [SYS_readlinkat] = {link_text, kNone},
                                     [SYS_unlinkat] = {unlink_at, kNone},
                                     [SYS_mkdirat] = {mkdir_at, kNone},
                                     [SYS_renameat] = {rename_at, kNone},
                                     [SYS_renameat2] = {rename_at, kNone},
                                     [SYS_linkat] = {link_at, kNone},
                                     [SYS_symlinkat] = {symlink_at, kNone},
                                     [SYS_fchmodat] = {mode_at, kNone},
                                     [kSetModeAt2] = {mode_at, kNone},
                                     [SYS_fchownat] = {owner_at, kNone},
                                     [SYS_utimensat] = {times_at, kNone},
                                     [SYS_fchmod] = {mode_of, kNone},
                                     [SYS_fchown] = {owner_of, kNone},
                                     [SYS_setxattr] = {extended_set, kNone},
                                     [SYS_lsetxattr] = {extended_set, kNone},
                                     [SYS_fsetxattr] = {extended_set_of, kNone},
                                     [SYS_getxattr] = {extended_get, kNone},
                                     [SYS_lgetxattr] = {extended_get, kNone},
                                     [SYS_fgetxattr] = {extended_get_of, kNone},
                                     [SYS_listxattr] = {extended_get, kNone},
                                     [SYS_llistxattr] = {extended_get, kNone},
                                     [SYS_flistxattr] = {extended_get_of, kNone},
                                     [SYS_removexattr] = {extended_remove, kNone},
                                     [SYS_lremovexattr] = {extended_remove, kNone},
                                     [SYS_fremovexattr] = {extended_remove_of, kNone},
                                     [SYS_getdents64] = {list, kNone},
                                     [SYS_msync] = {synced_memory, kNone},
                                     [SYS_ioctl] = {shared_blocks, kNone},
                                     OLD_NUMBERS};

const Numbered* numbered(long number) {
  const long count = (long)(sizeof kNumbered / sizeof *kNumbered);
  return number >= 0 && number < count && kNumbered[number].note ? &kNumbered[number] : NULL;
}
