// Streams: bytes and positions as the calls say. The requests below them are glibc's own, of the
// size of its buffer, and are not seen.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "wrap.h"

#undef fread_unlocked
#undef fwrite_unlocked

#define DATA(kind, bytes) note_stream(&call, stream, kind, (int64_t)(bytes))
#define IS_BROKEN(value) (result == (value) && ferror_unlocked(stream))

WRAP(FILE*, fopen, (const char* path, const char* mode), (path, mode), result == NULL,
     note_stream_open(&call, path, mode, result))
WRAP(FILE*, fopen64, (const char* path, const char* mode), (path, mode), result == NULL,
     note_stream_open(&call, path, mode, result))
WRAP(FILE*, fdopen, (int fd, const char* mode), (fd, mode), result == NULL,
     result ? note_stream_open(&call, NULL, mode, result) : (void)fd)
WRAP(FILE*, freopen, (const char* path, const char* mode, FILE* stream), (path, mode, stream),
     result == NULL, note_stream_open(&call, path, mode, result))
WRAP(FILE*, freopen64, (const char* path, const char* mode, FILE* stream), (path, mode, stream),
     result == NULL, note_stream_open(&call, path, mode, result))

EXPORT int fclose(FILE* stream) {
  NEXT(int (*)(FILE*), "fclose");
  Call call = {.start = begin()};
  const int fd = call.start ? fileno_unlocked(stream) : -1;
  if (fd < 0) return next(stream);
  Open* open = descriptor_take(fd);
  const int result = next(stream);
  call_ended(&call, result != 0);
  note_close(&call, kStdio, open);
  errno = call.errno_after;
  return result;
}

WRAP(int, fflush, (FILE * stream), (stream), result != 0,
     stream ? note_stream(&call, stream, kSync, 0) : (void)0)
WRAP(int, fflush_unlocked, (FILE * stream), (stream), result != 0,
     stream ? note_stream(&call, stream, kSync, 0) : (void)0)

size_t __fread_chk(void*, size_t, size_t, size_t, FILE*);
size_t __fread_unlocked_chk(void*, size_t, size_t, size_t, FILE*);
char* __fgets_chk(char*, size_t, int, FILE*);
char* __fgets_unlocked_chk(char*, size_t, int, FILE*);

#define WRAP_ITEMS(kind, name, type)                                                            \
  WRAP_MOVING(size_t, name, (type data, size_t size, size_t count, FILE* stream),               \
              (data, size, count, stream), IS_BROKEN(0) && count > 0, kind, data, size * count, \
              DATA(kind, result * size))
WRAP_ITEMS(kRead, fread, void*)
WRAP_ITEMS(kRead, fread_unlocked, void*)
WRAP_ITEMS(kWrite, fwrite, const void*)
WRAP_ITEMS(kWrite, fwrite_unlocked, const void*)

#define WRAP_CHECKED_ITEMS(name)                                                                \
  WRAP_MOVING(size_t, name, (void* data, size_t room, size_t size, size_t count, FILE* stream), \
              (data, room, size, count, stream), IS_BROKEN(0) && count > 0, kRead, data,        \
              size * count, DATA(kRead, result * size))
WRAP_CHECKED_ITEMS(__fread_chk)
WRAP_CHECKED_ITEMS(__fread_unlocked_chk)

#define LINE_BYTES (result ? strlen(text) : 0)
#define WRAP_LINE(name)                                                                          \
  WRAP(char*, name, (char* text, int room, FILE* stream), (text, room, stream), IS_BROKEN(NULL), \
       DATA(kRead, LINE_BYTES))
WRAP_LINE(fgets)
WRAP_LINE(fgets_unlocked)
#define WRAP_CHECKED_LINE(name)                                                                    \
  WRAP(char*, name, (char* text, size_t size, int room, FILE* stream), (text, size, room, stream), \
       IS_BROKEN(NULL), DATA(kRead, LINE_BYTES))
WRAP_CHECKED_LINE(__fgets_chk)
WRAP_CHECKED_LINE(__fgets_unlocked_chk)

#define GOT_LINE DATA(kRead, result > 0 ? result : 0)
ssize_t __getdelim(char**, size_t*, int, FILE*);
WRAP(ssize_t, getline, (char** line, size_t* room, FILE* stream), (line, room, stream),
     IS_BROKEN(-1), GOT_LINE)
WRAP(ssize_t, getdelim, (char** line, size_t* room, int end, FILE* stream),
     (line, room, end, stream), IS_BROKEN(-1), GOT_LINE)
WRAP(ssize_t, __getdelim, (char** line, size_t* room, int end, FILE* stream),
     (line, room, end, stream), IS_BROKEN(-1), GOT_LINE)

#define WRAP_GET(name) \
  WRAP(int, name, (FILE * stream), (stream), IS_BROKEN(EOF), DATA(kRead, result != EOF))
int _IO_getc(FILE*);
WRAP_GET(fgetc)
WRAP_GET(getc)
WRAP_GET(_IO_getc)
WRAP_GET(fgetc_unlocked)
WRAP_GET(getc_unlocked)

#define WRAP_PUT(name)                                                     \
  WRAP(int, name, (int byte, FILE* stream), (byte, stream), result == EOF, \
       DATA(kWrite, result != EOF))
int _IO_putc(int, FILE*);
WRAP_PUT(fputc)
WRAP_PUT(putc)
WRAP_PUT(_IO_putc)
WRAP_PUT(fputc_unlocked)
WRAP_PUT(putc_unlocked)

// Words of four bytes; of getw no result tells the end.
WRAP(int, putw, (int word, FILE* stream), (word, stream), result == EOF,
     DATA(kWrite, result == EOF ? 0 : sizeof word))
WRAP(int, getw, (FILE * stream), (stream), IS_BROKEN(EOF),
     DATA(kRead, feof_unlocked(stream) || ferror_unlocked(stream) ? 0 : sizeof result))

#define PUT_TEXT DATA(kWrite, result == EOF ? 0 : strlen(text))
WRAP(int, fputs, (const char* text, FILE* stream), (text, stream), result == EOF, PUT_TEXT)
WRAP(int, fputs_unlocked, (const char* text, FILE* stream), (text, stream), result == EOF, PUT_TEXT)

// On the standard streams.
#define ON(standard, kind, bytes) note_stream(&call, standard, kind, (int64_t)(bytes))
WRAP(int, puts, (const char* text), (text), result == EOF,
     ON(stdout, kWrite, result == EOF ? 0 : strlen(text) + 1))
WRAP(int, putchar, (int byte), (byte), result == EOF, ON(stdout, kWrite, result != EOF))
WRAP(int, putchar_unlocked, (int byte), (byte), result == EOF, ON(stdout, kWrite, result != EOF))
WRAP(int, getchar, (void), (), result == EOF && ferror_unlocked(stdin),
     ON(stdin, kRead, result != EOF))
WRAP(int, getchar_unlocked, (void), (), result == EOF && ferror_unlocked(stdin),
     ON(stdin, kRead, result != EOF))

#define PRINTED DATA(kWrite, result > 0 ? result : 0)
int __vfprintf_chk(FILE*, int, const char*, va_list);
int __vprintf_chk(int, const char*, va_list);
int __fprintf_chk(FILE*, int, const char*, ...);
int __printf_chk(int, const char*, ...);
WRAP(int, vfprintf, (FILE * stream, const char* format, va_list list), (stream, format, list),
     result < 0, PRINTED)
WRAP(int, __vfprintf_chk, (FILE * stream, int how, const char* format, va_list list),
     (stream, how, format, list), result < 0, PRINTED)

// The variadic forms end in those above: one record.
#define PRINT(result_of)        \
  va_list list;                 \
  va_start(list, format);       \
  const int result = result_of; \
  va_end(list);                 \
  return result;
EXPORT int vprintf(const char* format, va_list list) { return vfprintf(stdout, format, list); }
EXPORT int __vprintf_chk(int how, const char* format, va_list list) {
  return __vfprintf_chk(stdout, how, format, list);
}
EXPORT int fprintf(FILE* stream, const char* format,
                   ...){PRINT(vfprintf(stream, format, list))} EXPORT
    int printf(const char* format, ...){PRINT(vfprintf(stdout, format, list))} EXPORT
    int __fprintf_chk(FILE* stream, int how, const char* format,
                      ...){PRINT(__vfprintf_chk(stream, how, format, list))} EXPORT
    int __printf_chk(int how, const char* format, ...) {
  PRINT(__vfprintf_chk(stdout, how, format, list))
}

// How much a scan took shows in the stream's position only.
static void scanned(const Call* call, FILE* stream, off64_t before) {
  const off64_t after = before < 0 ? -1 : ftello64(stream);
  note_stream(call, stream, kRead, after > before ? after - before : 0);
}
// Headers may give these functions another name; they are meant by their own.
#define WRAP_SCAN(prefix)                                                                 \
  int prefix##scan_list(FILE*, const char*, va_list) __asm__(#prefix "vfscanf");          \
  int prefix##scan_list_here(const char*, va_list) __asm__(#prefix "vscanf");             \
  int prefix##scan(FILE*, const char*, ...) __asm__(#prefix "fscanf");                    \
  int prefix##scan_here(const char*, ...) __asm__(#prefix "scanf");                       \
  EXPORT int prefix##scan_list(FILE* stream, const char* format, va_list list) {          \
    NEXT(int (*)(FILE*, const char*, va_list), #prefix "vfscanf");                        \
    Call call = {.start = begin()};                                                       \
    const off64_t before = call.start ? ftello64(stream) : -1;                            \
    const int result = next(stream, format, list);                                        \
    if (call.start == 0) return result;                                                   \
    call_ended(&call, result == EOF && ferror_unlocked(stream));                          \
    scanned(&call, stream, before);                                                       \
    errno = call.errno_after;                                                             \
    return result;                                                                        \
  }                                                                                       \
  EXPORT int prefix##scan_list_here(const char* format, va_list list) {                   \
    return prefix##scan_list(stdin, format, list);                                        \
  }                                                                                       \
  EXPORT int prefix##scan(FILE* stream, const char* format, ...){PRINT(prefix##scan_list( \
      stream, format, list))} EXPORT int prefix##scan_here(const char* format, ...) {     \
    PRINT(prefix##scan_list(stdin, format, list))                                         \
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
EXPORT int dprintf(int fd, const char* format, ...){PRINT(vdprintf(fd, format, list))} EXPORT
    int __dprintf_chk(int fd, int how, const char* format,
                      ...){PRINT(__vdprintf_chk(fd, how, format, list))}
#define SOUGHT note_stream_seek(&call, stream)
WRAP(int, fseek, (FILE * stream, long at, int whence), (stream, at, whence), result != 0, SOUGHT)
    WRAP(int, fseeko, (FILE * stream, off_t at, int whence), (stream, at, whence), result != 0,
         SOUGHT) WRAP(int, fseeko64, (FILE * stream, off64_t at, int whence), (stream, at, whence),
                      result != 0, SOUGHT) WRAP(int, fsetpos, (FILE * stream, const fpos_t* at),
                                                (stream, at), result != 0, SOUGHT)
        WRAP(int, fsetpos64, (FILE * stream, const fpos64_t* at), (stream, at), result != 0, SOUGHT)

            EXPORT void rewind(FILE* stream) {
  NEXT(void (*)(FILE*), "rewind");
  Call call = {.start = begin()};
  next(stream);
  if (call.start == 0) return;
  call_ended(&call, false);
  SOUGHT;
  errno = call.errno_after;
}
