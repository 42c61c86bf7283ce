// System calls that only older processors have; newer ones have those with a folder in their place.
#pragma once

ON(old_open, on_opened(call, HERE, TEXT(0), p[1], got))
ON(old_creat, on_opened(call, HERE, TEXT(0), O_CREAT | O_WRONLY | O_TRUNC, got))
ON(old_status, note_path(call, kStat, HERE, TEXT(0), UNKNOWN_OFFSET))
ON(old_unlink, note_path(call, kUnlink, HERE, TEXT(0), UNKNOWN_OFFSET))
ON(old_rmdir, note_path(call, kRmdir, HERE, TEXT(0), UNKNOWN_OFFSET))
ON(old_mkdir, note_path(call, kMkdir, HERE, TEXT(0), UNKNOWN_OFFSET))
ON(old_rename, note_two_paths(call, kRename, HERE, TEXT(0), HERE, TEXT(1)))
ON(old_link, note_two_paths(call, kLink, HERE, TEXT(0), HERE, TEXT(1)))
ON(old_symlink, note_symlink(call, TEXT(0), HERE, TEXT(1)))
ON(old_mode, note_attribute(call, kMode, HERE, TEXT(0)))
ON(old_owner, note_attribute(call, kOwner, HERE, TEXT(0)))
ON(old_times, note_attribute(call, kTimes, HERE, TEXT(0)))

#define OLD_NUMBERS                                                         \
  [SYS_open] = {old_open, kNone}, [SYS_creat] = {old_creat, kNone},         \
  [SYS_dup2] = {duplicate, kNone}, [SYS_stat] = {old_status, kNone},        \
  [SYS_lstat] = {old_status, kNone}, [SYS_access] = {old_status, kNone},    \
  [SYS_readlink] = {old_status, kNone}, [SYS_unlink] = {old_unlink, kNone}, \
  [SYS_rmdir] = {old_rmdir, kNone}, [SYS_mkdir] = {old_mkdir, kNone},       \
  [SYS_rename] = {old_rename, kNone}, [SYS_link] = {old_link, kNone},       \
  [SYS_symlink] = {old_symlink, kNone}, [SYS_chmod] = {old_mode, kNone},    \
  [SYS_chown] = {old_owner, kNone}, [SYS_lchown] = {old_owner, kNone},      \
  [SYS_utime] = {old_times, kNone}, [SYS_utimes] = {old_times, kNone},      \
  [SYS_futimesat] = {times_at, kNone}
