// System calls that programs make by their number, for want of a function in older C libraries.
//
// What they do to files is noted as if it were done by the functions of the C library; rings of
// requests are made so, and programs lock themselves in so.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "by_number.h"
#include "kernel_aio.h"
#include "lock_in.h"
#include "wrap.h"

// The same on all processors.
enum { kRingSetup = 425, kCloseRange = 436 };

static long said(long got) {
  if (got >= 0 || got <= -4096) return got;
  errno = (int)-got;
  return -1;
}

static long in_kernel(long number, const long parts[6]) {
  return said(raw(number, parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]));
}

static long lock_in(long number, const long parts[6], StopReason reason) {
  const bool was_on = spool_stop(reason);
  const long got = in_kernel(number, parts);
  // With this flag the number of a thread that could not be locked in says that none was.
  const bool names_thread = number == SYS_seccomp && (parts[1] & SECCOMP_FILTER_FLAG_TSYNC) &&
                            !(parts[1] & SECCOMP_FILTER_FLAG_NEW_LISTENER) && got > 0;
  if (got == -1 || names_thread) spool_unstop(was_on);
  return got;
}

static StopReason reason_in(long number, const long parts[6]) {
  if (number == SYS_prctl) return reason_of_control((int)parts[0], parts[1], parts[2]);
  return number == SYS_seccomp ? reason_of_seccomp(parts[0], parts[2]) : kNotStopped;
}

// Calls of which more is to be done than a note.
static bool is_more(long number, const long parts[6], long* got) {
  switch (number) {
    case SYS_mmap:
      *got = (long)map_noted((void*)parts[0], (size_t)parts[1], (int)parts[2], (int)parts[3],
                             (int)parts[4], parts[5]);
      return true;
    case SYS_execve:
      *got = said(
          execute_noted((const char*)parts[0], (char* const*)parts[1], (char* const*)parts[2]));
      return true;
    case SYS_io_submit:
      *got = said(submit_requests((unsigned long)parts[0], parts[1], (void*)parts[2]));
      return true;
    default:
      return false;
  }
}

static long close_in_kernel(const long parts[6]) {
  const int fd = (int)parts[0];
  Call call = {.start = begin()};
  if (call.start == 0) return in_kernel(SYS_close, parts);
  note_list_end(fd);
  Open* open = descriptor_take(fd);
  const long got = in_kernel(SYS_close, parts);
  call_ended(&call, got != 0);
  note_close(&call, kPosix, open);
  errno = call.errno_after;
  return got;
}

static void look(Call* call, Looks looks, const long parts[6]) {
  const Kind kind = looks == kIntoMemory || looks == kIntoParts ? kRead : kWrite;
  if (looks == kIntoMemory || looks == kFromMemory)
    see_memory(call, kind, (const void*)parts[1], (size_t)parts[2]);
  else if (looks != kNone)
    see_parts(call, kind, (const struct iovec*)parts[1], (int)parts[2]);
}

static long noted(const Numbered* known, long number, const long parts[6]) {
  Call call = {.start = begin()};
  if (call.start == 0) return in_kernel(number, parts);
  look(&call, known->looks, parts);
  const long got = in_kernel(number, parts);
  call_ended(&call, got == -1);
  known->note(&call, parts, got);
  errno = call.errno_after;
  return got;
}

// What a call that is on no file changes nevertheless.
static void after(long number, long got, const long parts[6]) {
  if (got < 0 || begin() == 0) return;
  if (number == kRingSetup) atomic_fetch_add(&header->rings, 1);
  if (number == SYS_io_setup) atomic_fetch_add(&header->contexts, 1);
  if (number == kCloseRange && parts[2] == 0)
    descriptor_close_range((unsigned)parts[0], (unsigned)parts[1]);
}

// As many arguments as there may be: a register is read either way.
EXPORT long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long parts[6];
  for (int i = 0; i < 6; ++i) parts[i] = va_arg(list, long);
  va_end(list);
  const StopReason reason = reason_in(number, parts);
  if (reason != kNotStopped) return lock_in(number, parts, reason);
  long got;
  if (is_more(number, parts, &got)) return got;
  if (number == SYS_close) return close_in_kernel(parts);
  const Numbered* known = numbered(number);
  if (known != NULL) return noted(known, number, parts);
  if (number == SYS_exit_group && !is_in_vfork_child()) spool_end();
  got = in_kernel(number, parts);
  const int errno_after = errno;
  after(number, got, parts);
  errno = errno_after;
  return got;
}
