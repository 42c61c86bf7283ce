// Streams of wide characters. Bytes are counted as the locale encodes the characters, or by the
// stream's position where a call does not tell its characters.
#define _GNU_SOURCE
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#include "wrap.h"

#define DATA(kind, bytes) note_stream(&call, stream, kind, (int64_t)(bytes))
#define IS_BROKEN(value) (result == (value) && ferror_unlocked(stream))

static int64_t bytes_of_character(wint_t character) {
  if (character < 0x80) return 1;
  char bytes[MB_LEN_MAX];
  mbstate_t state = {0};
  const size_t count = character == WEOF ? 0 : wcrtomb(bytes, (wchar_t)character, &state);
  return count == (size_t)-1 ? 1 : (int64_t)count;
}

static int64_t bytes_of_text(const wchar_t* text) {
  int64_t bytes = 0;
  for (; text && *text; ++text) bytes += bytes_of_character((wint_t)*text);
  return bytes;
}

#define WRAP_GET(name)                                           \
  WRAP(wint_t, name, (FILE * stream), (stream), IS_BROKEN(WEOF), \
       DATA(kRead, bytes_of_character(result)))
WRAP_GET(fgetwc)
WRAP_GET(getwc)
WRAP_GET(fgetwc_unlocked)
WRAP_GET(getwc_unlocked)

#define WRAP_PUT(name)                                                                        \
  WRAP(wint_t, name, (wchar_t character, FILE * stream), (character, stream), result == WEOF, \
       DATA(kWrite, bytes_of_character(result)))
WRAP_PUT(fputwc)
WRAP_PUT(putwc)
WRAP_PUT(fputwc_unlocked)
WRAP_PUT(putwc_unlocked)

wchar_t* __fgetws_chk(wchar_t*, size_t, int, FILE*);
wchar_t* __fgetws_unlocked_chk(wchar_t*, size_t, int, FILE*);
#define WRAP_LINE(name)                                                                \
  WRAP(wchar_t*, name, (wchar_t * text, int room, FILE* stream), (text, room, stream), \
       IS_BROKEN(NULL), DATA(kRead, bytes_of_text(result)))
WRAP_LINE(fgetws)
WRAP_LINE(fgetws_unlocked)
#define WRAP_CHECKED_LINE(name)                                               \
  WRAP(wchar_t*, name, (wchar_t * text, size_t size, int room, FILE* stream), \
       (text, size, room, stream), IS_BROKEN(NULL), DATA(kRead, bytes_of_text(result)))
WRAP_CHECKED_LINE(__fgetws_chk)
WRAP_CHECKED_LINE(__fgetws_unlocked_chk)

#define WRAP_TEXT(name)                                                            \
  WRAP(int, name, (const wchar_t* text, FILE* stream), (text, stream), result < 0, \
       DATA(kWrite, result < 0 ? 0 : bytes_of_text(text)))
WRAP_TEXT(fputws)
WRAP_TEXT(fputws_unlocked)

// On the standard streams.
#define ON(standard, kind, bytes) note_stream(&call, standard, kind, (int64_t)(bytes))
#define WRAP_GET_HERE(name)                                                \
  WRAP(wint_t, name, (void), (), result == WEOF && ferror_unlocked(stdin), \
       ON(stdin, kRead, bytes_of_character(result)))
WRAP_GET_HERE(getwchar)
WRAP_GET_HERE(getwchar_unlocked)
#define WRAP_PUT_HERE(name)                                            \
  WRAP(wint_t, name, (wchar_t character), (character), result == WEOF, \
       ON(stdout, kWrite, bytes_of_character(result)))
WRAP_PUT_HERE(putwchar)
WRAP_PUT_HERE(putwchar_unlocked)

enum { kMostPrinted = 1024 };

// What was printed is printed once more, into memory: the result counts characters, and asking the
// stream for its position would encode its whole buffer. Of a longer text each counts one byte.
static int64_t bytes_printed(int characters, const wchar_t* format, va_list list) {
  wchar_t text[kMostPrinted];
  if (characters <= 0) return 0;
  if (MB_CUR_MAX == 1 || characters >= kMostPrinted) return characters;
  return vswprintf(text, kMostPrinted, format, list) == characters ? bytes_of_text(text)
                                                                   : characters;
}

// How much a scan took shows in the stream's position only.
static void scanned(const Call* call, FILE* stream, off64_t before) {
  const off64_t after = before < 0 ? -1 : ftello64(stream);
  note_stream(call, stream, kRead, after > before ? after - before : 0);
}

// The variadic forms end in those with a list: one record.
#define VARIADIC(result_of)     \
  va_list list;                 \
  va_start(list, format);       \
  const int result = result_of; \
  va_end(list);                 \
  return result;

#define WRAP_PRINT(name, parameters, arguments)         \
  EXPORT int name parameters {                          \
    NEXT(int(*) parameters, #name);                     \
    Call call = {.start = begin()};                     \
    if (call.start == 0) return next arguments;         \
    va_list again;                                      \
    va_copy(again, list);                               \
    const int result = next arguments;                  \
    call_ended(&call, result < 0);                      \
    DATA(kWrite, bytes_printed(result, format, again)); \
    va_end(again);                                      \
    errno = call.errno_after;                           \
    return result;                                      \
  }
int __vfwprintf_chk(FILE*, int, const wchar_t*, va_list);
WRAP_PRINT(vfwprintf, (FILE * stream, const wchar_t* format, va_list list), (stream, format, list))
WRAP_PRINT(__vfwprintf_chk, (FILE * stream, int how, const wchar_t* format, va_list list),
           (stream, how, format, list))
EXPORT int vwprintf(const wchar_t* format, va_list list) { return vfwprintf(stdout, format, list); }
EXPORT int __vwprintf_chk(int how, const wchar_t* format, va_list list) {
  return __vfwprintf_chk(stdout, how, format, list);
}
EXPORT int fwprintf(FILE* stream, const wchar_t* format,
                    ...){VARIADIC(vfwprintf(stream, format, list))} EXPORT
    int wprintf(const wchar_t* format, ...){VARIADIC(vfwprintf(stdout, format, list))} EXPORT
    int __fwprintf_chk(FILE* stream, int how, const wchar_t* format,
                       ...){VARIADIC(__vfwprintf_chk(stream, how, format, list))} EXPORT
    int __wprintf_chk(int how, const wchar_t* format,
                      ...){VARIADIC(__vfwprintf_chk(stdout, how, format, list))}

// Headers may give the scanning functions another name; these are by their own.
#define WRAP_SCAN(prefix)                                                                       \
  int prefix##scan_list(FILE*, const wchar_t*, va_list) __asm__(#prefix "vfwscanf");            \
  int prefix##scan_list_here(const wchar_t*, va_list) __asm__(#prefix "vwscanf");               \
  int prefix##scan(FILE*, const wchar_t*, ...) __asm__(#prefix "fwscanf");                      \
  int prefix##scan_here(const wchar_t*, ...) __asm__(#prefix "wscanf");                         \
  EXPORT int prefix##scan_list(FILE* stream, const wchar_t* format, va_list list) {             \
    NEXT(int (*)(FILE*, const wchar_t*, va_list), #prefix "vfwscanf");                          \
    Call call = {.start = begin()};                                                             \
    const off64_t before = call.start ? ftello64(stream) : -1;                                  \
    const int result = next(stream, format, list);                                              \
    if (call.start == 0) return result;                                                         \
    call_ended(&call, result == EOF && ferror_unlocked(stream));                                \
    scanned(&call, stream, before);                                                             \
    errno = call.errno_after;                                                                   \
    return result;                                                                              \
  }                                                                                             \
  EXPORT int prefix##scan_list_here(const wchar_t* format, va_list list) {                      \
    return prefix##scan_list(stdin, format, list);                                              \
  }                                                                                             \
  EXPORT int prefix##scan(FILE* stream, const wchar_t* format, ...){VARIADIC(prefix##scan_list( \
      stream, format, list))} EXPORT int prefix##scan_here(const wchar_t* format, ...) {        \
    VARIADIC(prefix##scan_list(stdin, format, list))                                            \
  }
WRAP_SCAN() WRAP_SCAN(__isoc99_) WRAP_SCAN(__isoc23_)
