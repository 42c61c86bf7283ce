// What bench/tracer_cost.py runs under each tracer: pairs of 512-byte requests to a cached file.
// Prints the nanoseconds of CPU per request, unless there is a word too many.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { kBytes = 512, kBlocks = 1024 };

static double cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int count, char** words) {
  static char data[kBytes];
  const int pairs = count > 2 ? atoi(words[2]) : 0;
  const int fd = count > 2 ? open(words[1], O_RDWR | O_CREAT, 0600) : -1;
  if (fd < 0) return 2;
  const double begin = cpu_ns();
  for (int i = 0; i < pairs; ++i) {
    const off_t at = (off_t)(i % kBlocks) * kBytes;
    if (pwrite(fd, data, kBytes, at) != kBytes || pread(fd, data, kBytes, at) != kBytes) return 1;
  }
  if (count == 3) printf("%.1f\n", (cpu_ns() - begin) / (2.0 * pairs));
  return 0;
}
