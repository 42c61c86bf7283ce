// Streams: bytes and positions as the calls say. The requests below them are glibc's own, of the
// size of its buffer, and are not seen.
#define _GNU_SOURCE
#include <fcntl.h>
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

#define SOUGHT note_stream_seek(&call, stream)
WRAP(int, fseek, (FILE * stream, long at, int whence), (stream, at, whence), result != 0, SOUGHT)
WRAP(int, fseeko, (FILE * stream, off_t at, int whence), (stream, at, whence), result != 0, SOUGHT)
WRAP(int, fseeko64, (FILE * stream, off64_t at, int whence), (stream, at, whence), result != 0,
     SOUGHT)
WRAP(int, fsetpos, (FILE * stream, const fpos_t* at), (stream, at), result != 0, SOUGHT)
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
