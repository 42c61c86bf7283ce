// Who locks itself in would be killed for what the tracer asks of the system, so recording stops
// before it does so, and goes on where it failed.
#define _GNU_SOURCE
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

#include "lock_in.h"
#include "wrap.h"

StopReason reason_of_control(int option, long value, long rules) {
  if (option == PR_SET_TSC && value == PR_TSC_SIGSEGV) return kByHiddenTime;
  if (option != PR_SET_SECCOMP) return kNotStopped;
  if (value == SECCOMP_MODE_STRICT) return kByStrictMode;
  return rules != 0 ? kByFilter : kNotStopped;
}

StopReason reason_of_seccomp(long operation, long rules) {
  if (operation == SECCOMP_SET_MODE_STRICT) return kByStrictMode;
  return operation == SECCOMP_SET_MODE_FILTER && rules != 0 ? kByFilter : kNotStopped;
}

EXPORT int prctl(int option, ...) {
  NEXT(int (*)(int, ...), "prctl");
  va_list list;
  va_start(list, option);
  unsigned long values[4];
  for (int i = 0; i < 4; ++i) values[i] = va_arg(list, unsigned long);
  va_end(list);
  const StopReason reason = reason_of_control(option, (long)values[0], (long)values[1]);
  const bool was_on = reason != kNotStopped && spool_stop(reason);
  const int result = next(option, values[0], values[1], values[2], values[3]);
  if (was_on && result < 0) spool_unstop(was_on);
  return result;
}

// libseccomp's way to do so.
EXPORT int seccomp_load(void* rules) {
  NEXT(int (*)(void*), "seccomp_load");
  const bool was_on = spool_stop(kByFilter);
  const int result = next(rules);
  if (result < 0) spool_unstop(was_on);
  return result;
}
