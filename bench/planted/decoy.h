// What looks bad in an application and costs nothing: each bit of DECOYS plants one.
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// Ends the program where a call failed, so that no run without its I/O is measured.
static void must(int is_well, const char* what) {
  if (!is_well) {
    perror(what);
    exit(1);
  }
}

// Works on the processor for so many milliseconds.
static void compute(int ms) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const double until = now.tv_sec + 1e-9 * now.tv_nsec + 1e-3 * ms;
  while (now.tv_sec + 1e-9 * now.tv_nsec < until) clock_gettime(CLOCK_MONOTONIC, &now);
}

// Memory with data in it: what a program writes it has computed, so that its pages are there. Those
// of memory that was never touched come one by one in the first write, and no proxy knows of them.
static char* computed(size_t bytes) {
  char* data = malloc(bytes);
  must(data != NULL, "malloc");
  return memset(data, 1, bytes);
}

// Makes a file of so many bytes in requests of 1 MiB at most.
static void make_file(const char* name, size_t bytes) {
  const size_t most = 1 << 20;
  char* block = computed(bytes < most ? bytes : most);
  const int file = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0644);
  must(file >= 0, name);
  for (size_t done = 0; done < bytes;) {
    const size_t part = bytes - done < most ? bytes - done : most;
    must(write(file, block, part) == (ssize_t)part, name);
    done += part;
  }
  close(file);
  free(block);
}

static const char line[] = "step is done, energy is what it was\n";

static void log_lines(void) {  // 1: small unaligned writes, a few
  const int file = open("progress.log", O_CREAT | O_TRUNC | O_WRONLY, 0644);
  must(file >= 0, "progress.log");
  for (int i = 0; i < 24; ++i) must(write(file, line, 36) == 36, "progress.log");
  close(file);
}

static void look_for_stop(void) {  // 2: a few stats of one name
  struct stat found;
  make_file("settings.txt", 300);
  for (int i = 0; i < 20; ++i) must(stat("settings.txt", &found) == 0, "settings.txt");
}

static void reopen(void) {  // 4: a few opens of one file
  char word[64];
  make_file("units.dat", 4096);
  for (int i = 0; i < 8; ++i) {
    const int file = open("units.dat", O_RDONLY);
    must(file >= 0, "units.dat");
    must(pread(file, word, sizeof word, 64 * i) == (ssize_t)sizeof word, "units.dat");
    close(file);
  }
}

static void hop(void) {  // 8: a few requests at places without order
  char word[100];
  make_file("index.bin", 1 << 20);
  const int file = open("index.bin", O_RDONLY);
  must(file >= 0, "index.bin");
  for (int i = 0; i < 16; ++i) {
    const off_t place = (off_t)(i * 7919 % 16) * 65521;
    must(pread(file, word, sizeof word, place) == (ssize_t)sizeof word, "index.bin");
  }
  close(file);
}

// All that DECOYS asks for.
static void decoys(void) {
  if (DECOYS & 1) log_lines();
  if (DECOYS & 2) look_for_stop();
  if (DECOYS & 4) reopen();
  if (DECOYS & 8) hop();
  compute(COMPUTE_MS);
}
