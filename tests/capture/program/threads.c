// Eight threads write 1,000 requests each to a file of their own and read a shared descriptor;
// then three children do the same.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kThreads = 8, kWrites = 1000, kChildren = 3 };
static int shared;

static void* work(void* number) {
  char name[64], byte;
  snprintf(name, sizeof name, "out.%d.%ld", getpid(), (long)number);
  const int fd = open(name, O_WRONLY | O_CREAT, 0600);
  for (int i = 0; i < kWrites; ++i)
    if (pwrite(fd, name, 16, 16L * i) != 16 || pread(shared, &byte, 1, 0) != 1) abort();
  close(fd);
  return NULL;
}

static void all(void) {
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, work, (void*)i);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
}

int main(void) {
  shared = open("shared", O_RDWR | O_CREAT, 0600);
  if (write(shared, "x", 1) != 1) return 1;
  all();
  for (int i = 0; i < kChildren; ++i)
    if (fork() == 0) {
      all();
      exit(0);
    }
  while (wait(NULL) > 0) continue;
  return 0;
}
