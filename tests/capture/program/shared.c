// Maps a file so that stores reach it, others so that none do, and memory that only looks like
// files.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { kBytes = 4096 };

static int map(int fd, int protection, int flags) {
  if (fd < 0 || ftruncate(fd, kBytes) != 0) return 1;
  return mmap(NULL, kBytes, protection, flags, fd, 0) == MAP_FAILED;
}

static int map_file(const char* path, int protection, int flags) {
  return map(open(path, O_RDWR | O_CREAT, 0600), protection, flags);
}

int main(void) {
  const int both = PROT_READ | PROT_WRITE;
  char name[64];
  int failed = map_file("stored", both, MAP_SHARED);
  failed |= map_file("private", both, MAP_PRIVATE);
  failed |= map_file("only_read", PROT_READ, MAP_SHARED);
  mkdir("ompi.here.0", 0700);
  failed |= map_file("ompi.here.0/segment", both, MAP_SHARED);
  snprintf(name, sizeof name, "/dev/shm/vader_segment.%d", getpid());
  failed |= map_file(name, both, MAP_SHARED);
  unlink(name);
  snprintf(name, sizeof name, "/venturi_test_%d", getpid());
  failed |= map(shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600), both, MAP_SHARED);
  shm_unlink(name);
  failed |= map(memfd_create("memory", 0), both, MAP_SHARED);
  return failed;
}
