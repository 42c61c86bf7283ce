// System calls that programs make by their number, for want of a function in older C libraries.
//
// Folders are read so by programs that want many names at a time, rings of requests are made so,
// programs lock themselves in so, and modes are set so of what must be no link.
#define _GNU_SOURCE
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel_aio.h"
#include "wrap.h"

// SYS_io_uring_setup and SYS_fchmodat2, the same on all processors.
enum { kRingSetup = 425, kSetMode = 452 };

// Not so where it only asks whether it could, with no rules.
static bool is_locking_in(long number, const long parts[6]) {
  if (number == SYS_prctl)
    return parts[0] == PR_SET_SECCOMP && (parts[1] == SECCOMP_MODE_STRICT || parts[2] != 0);
  return number == SYS_seccomp && (parts[0] == SECCOMP_SET_MODE_STRICT ||
                                   (parts[0] == SECCOMP_SET_MODE_FILTER && parts[2] != 0));
}

// As many arguments as there may be: a register is read either way.
EXPORT long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long parts[6];
  for (int i = 0; i < 6; ++i) parts[i] = va_arg(list, long);
  va_end(list);
  if (is_locking_in(number, parts)) spool_stop();
  if (number == SYS_io_submit) {
    const long taken = submit_requests((unsigned long)parts[0], parts[1], (void*)parts[2]);
    if (taken < 0) errno = (int)-taken;
    return taken < 0 ? -1 : taken;
  }
  Call call = {.start = number == SYS_getdents64 || number == kSetMode ? begin() : 0};
  const long got = raw(number, parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]);
  const bool is_failure = got < 0 && got > -4096;
  if (is_failure) errno = (int)-got;
  if (number == kRingSetup && !is_failure && begin() != 0) atomic_fetch_add(&header->rings, 1);
  if (number == SYS_io_setup && !is_failure && begin() != 0) atomic_fetch_add(&header->contexts, 1);
  if (call.start != 0) {
    call_ended(&call, is_failure);
    if (number == kSetMode)
      note_attribute(&call, kMode, (int)parts[0], (const char*)parts[1]);
    else
      note_names(&call, (int)parts[0], (const void*)parts[1], is_failure ? -1 : got);
    errno = call.errno_after;
  }
  return is_failure ? -1 : got;
}
