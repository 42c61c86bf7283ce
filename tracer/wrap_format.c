// Streams of formatted text. Making text of values, and values of text, is computing: the record of
// a call lasts as long as its bytes take to get into the stream, or out of it.
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>

#include "stream_place.h"
#include "wrap.h"

enum { kMostText = 1024 };

static bool write_text(FILE* stream, const char* text, int bytes) {
  NEXT(size_t (*)(const void*, size_t, size_t, FILE*), "fwrite");
  return next(text, 1, (size_t)bytes, stream) == (size_t)bytes;
}

// Not in every C library.
static int make_checked(char* text, int how, const char* format, va_list list) {
  NEXT(int (*)(char*, size_t, int, size_t, const char*, va_list), "__vsnprintf_chk");
  return next(text, kMostText, how, kMostText, format, list);
}

static void printed(Call* call, FILE* stream, int result) {
  call_ended(call, result < 0);
  if (call->start > call->end) call->start = call->end;
  note_stream(call, stream, kWrite, result > 0 ? result : 0);
  errno = call->errno_after;
}

// The text is made first, and then written as it is. A text that is too long for that is made
// again by the call itself, which takes as long once more.
#define WRAP_PRINT(name, parameters, arguments, make)     \
  EXPORT int name parameters {                            \
    NEXT(int(*) parameters, #name);                       \
    Call call = {.start = begin()};                       \
    if (call.start == 0) return next arguments;           \
    char text[kMostText];                                 \
    const int before = errno;                             \
    va_list again;                                        \
    va_copy(again, list);                                 \
    int result = make;                                    \
    va_end(again);                                        \
    errno = before;                                       \
    const int64_t made = ticks_now();                     \
    if (result > 0 && result < kMostText) {               \
      call.start = made;                                  \
      if (!write_text(stream, text, result)) result = -1; \
    } else {                                              \
      call.start = made + (made - call.start);            \
      result = next arguments;                            \
    }                                                     \
    printed(&call, stream, result);                       \
    return result;                                        \
  }
int __vfprintf_chk(FILE*, int, const char*, va_list);
int __vprintf_chk(int, const char*, va_list);
int __fprintf_chk(FILE*, int, const char*, ...);
int __printf_chk(int, const char*, ...);
WRAP_PRINT(vfprintf, (FILE * stream, const char* format, va_list list), (stream, format, list),
           vsnprintf(text, sizeof text, format, again))
WRAP_PRINT(__vfprintf_chk, (FILE * stream, int how, const char* format, va_list list),
           (stream, how, format, list), make_checked(text, how, format, again))

// The variadic forms end in those above: one record.
#define LISTED(result_of)       \
  va_list list;                 \
  va_start(list, format);       \
  const int result = result_of; \
  va_end(list);                 \
  return result
EXPORT int vprintf(const char* format, va_list list) { return vfprintf(stdout, format, list); }
EXPORT int __vprintf_chk(int how, const char* format, va_list list) {
  return __vfprintf_chk(stdout, how, format, list);
}
EXPORT int fprintf(FILE* stream, const char* format, ...) {
  LISTED(vfprintf(stream, format, list));
}
EXPORT int printf(const char* format, ...) { LISTED(vfprintf(stdout, format, list)); }
EXPORT int __fprintf_chk(FILE* stream, int how, const char* format, ...) {
  LISTED(__vfprintf_chk(stream, how, format, list));
}
EXPORT int __printf_chk(int how, const char* format, ...) {
  LISTED(__vfprintf_chk(stdout, how, format, list));
}

enum { kTries = 32, kTakenBytes = 8 };

// What taking some bytes from a buffer lasts in a record, in ticks: the shortest of some tries.
static int64_t taking_ticks(void) {
  static _Atomic int64_t known;
  if (known != 0) return known;
  NEXT(size_t (*)(void*, size_t, size_t, FILE*), "fread");
  char there[kTries * kTakenBytes] = {0}, taken[kTakenBytes];
  int64_t shortest = INT64_MAX;
  FILE* memory = fmemopen(there, sizeof there, "r");
  for (int i = 0; memory && i < kTries; ++i) {
    const int64_t start = ticks_now();
    const bool is_fine = next(taken, 1, kTakenBytes, memory) == kTakenBytes;
    const int64_t took = ticks_now() - start;
    if (is_fine && took < shortest) shortest = took;
  }
  if (memory) fclose(memory);
  known = shortest == INT64_MAX ? 1 : shortest + (shortest == 0);
  return known;
}

// A scan that did not fill the buffer was computing, all but the taking of its bytes. One that did
// computed as long as the last ones without.
static void scan_ended(Call* call, int64_t bytes, intptr_t step) {
  static _Thread_local int64_t computing __attribute__((tls_model("initial-exec")));
  const int64_t took = call->end - call->start, taking = taking_ticks();
  const bool is_filled = step != bytes;
  if (!is_filled) computing += (took - computing) / 8;
  const int64_t moving = is_filled && took - computing > taking ? took - computing : taking;
  if (moving < took) call->start = call->end - moving;
}

// How much a scan took shows in the stream's position only.
static void scanned(Call* call, FILE* stream, off64_t position, uintptr_t place) {
  const off64_t after = position < 0 ? -1 : ftello64(stream);
  const int64_t bytes = after > position ? after - position : 0;
  scan_ended(call, bytes, (intptr_t)(place_of(stream) - place));
  note_stream(call, stream, kRead, bytes);
}
// Headers may give these functions another name; they are meant by their own.
#define WRAP_SCAN(prefix)                                                        \
  int prefix##scan_list(FILE*, const char*, va_list) __asm__(#prefix "vfscanf"); \
  int prefix##scan_list_here(const char*, va_list) __asm__(#prefix "vscanf");    \
  int prefix##scan(FILE*, const char*, ...) __asm__(#prefix "fscanf");           \
  int prefix##scan_here(const char*, ...) __asm__(#prefix "scanf");              \
  EXPORT int prefix##scan_list(FILE* stream, const char* format, va_list list) { \
    NEXT(int (*)(FILE*, const char*, va_list), #prefix "vfscanf");               \
    Call call = {.start = begin()};                                              \
    if (call.start == 0) return next(stream, format, list);                      \
    const off64_t position = ftello64(stream);                                   \
    const uintptr_t place = place_of(stream);                                    \
    const int result = next(stream, format, list);                               \
    call_ended(&call, result == EOF && ferror_unlocked(stream));                 \
    scanned(&call, stream, position, place);                                     \
    errno = call.errno_after;                                                    \
    return result;                                                               \
  }                                                                              \
  EXPORT int prefix##scan_list_here(const char* format, va_list list) {          \
    return prefix##scan_list(stdin, format, list);                               \
  }                                                                              \
  EXPORT int prefix##scan(FILE* stream, const char* format, ...) {               \
    LISTED(prefix##scan_list(stream, format, list));                             \
  }                                                                              \
  EXPORT int prefix##scan_here(const char* format, ...) {                        \
    LISTED(prefix##scan_list(stdin, format, list));                              \
  }
WRAP_SCAN()
WRAP_SCAN(__isoc99_)
WRAP_SCAN(__isoc23_)

// To a descriptor, without a stream of the program's: a write of what was printed.
int __vdprintf_chk(int, int, const char*, va_list);
int __dprintf_chk(int, int, const char*, ...);
WRAP(int, vdprintf, (int fd, const char* format, va_list list), (fd, format, list), result < 0,
     note_data(&call, fd, kWrite, result))
WRAP(int, __vdprintf_chk, (int fd, int how, const char* format, va_list list),
     (fd, how, format, list), result < 0, note_data(&call, fd, kWrite, result))
EXPORT int dprintf(int fd, const char* format, ...) { LISTED(vdprintf(fd, format, list)); }
EXPORT int __dprintf_chk(int fd, int how, const char* format, ...) {
  LISTED(__vdprintf_chk(fd, how, format, list));
}
