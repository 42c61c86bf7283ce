// A system call by the C library, on processors whose own instruction is not known here.
#pragma once

#include <errno.h>
#include <unistd.h>

static inline long kernel(long number, const long parts[6]) {
  const int before = errno;
  long result = syscall(number, parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]);
  if (result == -1) result = -errno;
  errno = before;
  return result;
}
