// What bench/tracer_cost.py runs under each tracer: small calls of streams on a cached file.
// Prints the nanoseconds of CPU per call of each kind.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static const char* const kNames[] = {"fwrite", "fread", "fputc",  "fgetc",
                                     "fputs",  "fgets", "fprintf"};
enum { kKinds = sizeof kNames / sizeof *kNames };

static long one(int kind, FILE* file, int turn) {
  static char data[64];
  switch (kind) {
    case 0:
      return (long)fwrite(&turn, sizeof turn, 1, file);
    case 1:
      return (long)fread(&data, sizeof turn, 1, file);
    case 2:
      return fputc('x', file);
    case 3:
      return fgetc(file);
    case 4:
      return fputs("fifteen letters\n", file);
    case 5:
      return fgets(data, sizeof data, file) != NULL;
    default:
      return fprintf(file, "%8d\n", turn);
  }
}

int main(int count, char** words) {
  if (count < 3) return 2;
  const int calls = atoi(words[2]);
  for (int kind = 0; kind < kKinds; ++kind) {
    const int reads = kind == 1 || kind == 3 || kind == 5;
    FILE* file = fopen(words[1], reads ? "r" : "w");
    if (file == NULL) return 3;
    const double begin = cpu_ns();
    for (int i = 0; i < calls; ++i)
      if (one(kind, file, i) < 0) return 4;
    printf("%s %.2f\n", kNames[kind], (cpu_ns() - begin) / calls);
    fclose(file);
  }
  return 0;
}
