// Six threads use the same names, descriptors and streams at once, while the process forks.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kThreads = 6, kTimes = 200, kChildren = 4 };
static int shared;

static void must(int is_fine) {
  if (!is_fine) abort();
}

static void list(void) {
  DIR* folder = opendir(".");
  must(folder != NULL);
  while (readdir(folder) != NULL) continue;
  closedir(folder);
}

static void* work(void* number) {
  char name[64];
  struct stat found;
  for (int i = 0; i < kTimes; ++i) {
    snprintf(name, sizeof name, "file.%d", i % 16);
    const int fd = open(name, O_WRONLY | O_CREAT, 0600);
    const int other = dup(fd);
    must(pwrite(fd, name, 1 + (size_t)(i % 12), 100L * (long)number) > 0);
    must(close(fd) == 0 && pwrite(other, name, 1, 0) == 1 && close(other) == 0);
    must(stat(name, &found) == 0 && write(shared, "x", 1) == 1);
    if (i % 20 == 0) list();
    FILE* stream = fopen("stream", "a");
    must(stream != NULL && fputs("line\n", stream) >= 0 && fclose(stream) == 0);
  }
  return NULL;
}

// Threads come and go, so that what one left is taken by the next.
static void* work_in_turns(void* number) {
  for (int i = 0; i < 2; ++i) {
    pthread_t thread;
    must(pthread_create(&thread, NULL, work, number) == 0 && pthread_join(thread, NULL) == 0);
  }
  return NULL;
}

int main(void) {
  shared = open("shared", O_WRONLY | O_CREAT | O_APPEND, 0600);
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, work_in_turns, (void*)i);
  for (int i = 0; i < kChildren; ++i) {
    if (fork() == 0) {
      const int fd = open("child", O_WRONLY | O_CREAT, 0600);
      must(write(fd, "x", 1) == 1 && close(fd) == 0);
      _exit(0);
    }
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  int failed = 0;
  for (int state; wait(&state) > 0;) failed |= state != 0;
  return failed;
}
