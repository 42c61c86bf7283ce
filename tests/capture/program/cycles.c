// Makes calls in cycles that chance decides: cycles SEED THREADS. The calls of a seed are always
// the same, so two captures of them tell of the same calls.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { kFiles = 3, kMostCalls = 5, kMostBytes = 2048, kThreads = 8, kBufferBytes = 1 << 20 };

typedef struct {
  uint64_t chance;
  int number;
  int files[kFiles];
  FILE* streams[kFiles];
  off_t at[kFiles];
} Thread;

typedef struct {
  int what, file, bytes;
  off_t step;
  int moves_memory;
} Step;

static char buffers[kThreads][kBufferBytes];

static int below(Thread* thread, int limit) {
  thread->chance ^= thread->chance << 13;
  thread->chance ^= thread->chance >> 7;
  thread->chance ^= thread->chance << 17;
  return (int)(thread->chance % (uint64_t)limit);
}

static void spin(int64_t ns) {
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < ns);
}

static void call(Thread* thread, const Step* step, int turn) {
  const int fd = thread->files[step->file];
  FILE* stream = thread->streams[step->file];
  char* data = buffers[thread->number] + (step->moves_memory ? turn * step->bytes % 4096 : 0);
  const off_t at = thread->at[step->file] + turn * step->step;
  long done = 0;
  switch (step->what) {
    case 0:
      done = pwrite(fd, data, (size_t)step->bytes, at);
      break;
    case 1:
      done = pread(fd, data, (size_t)step->bytes, at);
      break;
    case 2:
      done = write(fd, data, (size_t)step->bytes);
      break;
    case 3:
      done = read(fd, data, (size_t)step->bytes);
      break;
    case 4:
      done = lseek(fd, at, SEEK_SET);
      break;
    case 5:
      done = (long)fwrite(data, 1, (size_t)step->bytes, stream);
      break;
    case 6:
      done = (long)fread(data, 1, (size_t)step->bytes, stream);
      break;
    case 7:
      done = fputc('x', stream);
      break;
    case 8:
      done = fgetc(stream);
      break;
    case 9:
      done = fputs("some text\n", stream);
      break;
    case 10:
      done = fprintf(stream, "%d\n", turn);
      break;
    case 11:
      done = fseek(stream, at, SEEK_SET);
      break;
    case 12:
      done = fflush(stream);
      break;
    case 13:
      done = fdatasync(fd);
      break;
    default:
      done = access("nowhere", R_OK);
      break;
  }
  if (done < -1) exit(9);
}

static void cycles(Thread* thread) {
  Step steps[kMostCalls];
  const int count = 1 + below(thread, kMostCalls);
  // Streams want a seek between reading and writing: one way for each turn of the wheel.
  const int base = below(thread, 2) ? 0 : 5;
  for (int i = 0; i < count; ++i) {
    const int pick = below(thread, 12);
    steps[i] = (Step){.what = base == 0 ? pick % 5 : (int[]){5, 5, 7, 9, 10, 11, 12, 5}[pick % 8],
                      .file = below(thread, kFiles),
                      .bytes = 1 + below(thread, 4) * below(thread, kMostBytes / 4),
                      .step = below(thread, 3) * 512 - 256,
                      .moves_memory = below(thread, 2)};
    if (steps[i].step < 0) steps[i].step = 0;
    if (below(thread, 40) == 0) steps[i].what = 13 + below(thread, 2);
  }
  const int turns = below(thread, 4) ? below(thread, 40) : below(thread, 4000);
  const int breaks = below(thread, 3);
  for (int turn = 0; turn < turns; ++turn) {
    const int calls = turn == turns - 1 ? 1 + below(thread, count) : count;
    for (int i = 0; i < calls; ++i) call(thread, &steps[i], turn);
    if (breaks == 1 && below(thread, 200) == 0) spin(30000);
    if (breaks == 2 && below(thread, 2000) == 0) usleep(2000);
  }
  for (int i = 0; i < kFiles; ++i) fseek(thread->streams[i], 0, SEEK_SET);
  for (int turn = 0; turn < turns; ++turn)
    call(thread, &(Step){.what = base == 0 ? 3 : 8 - 2 * (count & 1), .file = 0, .bytes = 4}, turn);
  fseek(thread->streams[0], 0, SEEK_SET);
}

static void* work(void* given) {
  Thread* thread = given;
  for (int i = 0; i < kFiles; ++i) {
    char name[32];
    snprintf(name, sizeof name, "data.%d.%d", thread->number, i);
    thread->files[i] = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    snprintf(name, sizeof name, "stream.%d.%d", thread->number, i);
    thread->streams[i] = fopen(name, "w+");
    thread->at[i] = below(thread, 100000);
    if (thread->files[i] < 0 || thread->streams[i] == NULL) exit(8);
  }
  for (int i = 0; i < 20; ++i) cycles(thread);
  for (int i = 0; i < kFiles; ++i) {
    close(thread->files[i]);
    fclose(thread->streams[i]);
  }
  return NULL;
}

int main(int count, char** words) {
  static Thread threads[kThreads];
  pthread_t ids[kThreads];
  if (count < 3) return 7;
  const int used = atoi(words[2]);
  for (int i = 0; i < used; ++i)
    threads[i] = (Thread){(uint64_t)atoll(words[1]) * 2654435761u + 977 * (uint64_t)i + 1, i};
  for (int i = 1; i < used; ++i)
    if (pthread_create(&ids[i], NULL, work, &threads[i]) != 0) return 6;
  work(&threads[0]);
  for (int i = 1; i < used; ++i) pthread_join(ids[i], NULL);
  return 0;
}
