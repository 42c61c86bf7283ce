// Programs that this one becomes or starts, and its end.
#define _GNU_SOURCE
#include <alloca.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "program.h"
#include "start.h"
#include "wrap.h"

// Whether or not anything is recorded here, the next program gets the tracer.
#define ENVIRONMENT(environment, takes)                                                      \
  (!(takes)                  ? without_tracer(environment, alloca(tracer_room(environment))) \
   : has_tracer(environment) ? (char**)(environment)                                         \
                             : with_tracer(environment, alloca(tracer_room(environment))))

static Record* leave(const char* path) {
  if (begin() == 0) return NULL;
  descriptors_are_shared(false);
  Record* record = note_start(path, process_now());
  if (!is_in_vfork_child()) spool_end();
  return record;
}

static void stay(Record* record) {
  const int before = errno;
  if (record) record->kind = kVoid;
  if (!is_in_vfork_child()) spool_go_on();
  errno = before;
}

#define WRAP_EXEC(name, first, parameters, arguments) \
  EXPORT int name parameters {                        \
    NEXT(int(*) parameters, #name);                   \
    Record* record = leave(first);                    \
    const int result = next arguments;                \
    stay(record);                                     \
    return result;                                    \
  }
WRAP_EXEC(execve, path, (const char* path, char* const words[], char* const environment[]),
          (path, words, ENVIRONMENT(environment, takes_tracer(path, false))))
WRAP_EXEC(execvpe, path, (const char* path, char* const words[], char* const environment[]),
          (path, words, ENVIRONMENT(environment, takes_tracer(path, true))))
WRAP_EXEC(fexecve, "<descriptor>", (int fd, char* const words[], char* const environment[]),
          (fd, words, ENVIRONMENT(environment, true)))
WRAP_EXEC(execveat, path,
          (int folder, const char* path, char* const words[], char* const environment[], int how),
          (folder, path, words, ENVIRONMENT(environment, takes_tracer(path, false)), how))

long execute_noted(const char* path, char* const words[], char* const environment[]) {
  Record* record = leave(path);
  char** const given = ENVIRONMENT(environment, takes_tracer(path, false));
  const long got = raw(SYS_execve, (long)path, (long)words, (long)given, 0, 0, 0);
  stay(record);
  return got;
}

EXPORT int execv(const char* path, char* const words[]) { return execve(path, words, environ); }
EXPORT int execvp(const char* path, char* const words[]) { return execvpe(path, words, environ); }

// The words behind a variadic call's first, up to its NULL, as an array on the stack.
#define WORDS                                         \
  va_list list;                                       \
  size_t count = 1;                                   \
  va_start(list, word);                               \
  while (va_arg(list, char*) != NULL) ++count;        \
  va_end(list);                                       \
  char** words = alloca((count + 1) * sizeof(char*)); \
  words[0] = (char*)word;                             \
  va_start(list, word);                               \
  for (size_t i = 1; i <= count; ++i) words[i] = va_arg(list, char*)
EXPORT int execl(const char* path, const char* word, ...) {
  WORDS;
  va_end(list);
  return execve(path, words, environ);
}
EXPORT int execlp(const char* path, const char* word, ...) {
  WORDS;
  va_end(list);
  return execvpe(path, words, environ);
}
EXPORT int execle(const char* path, const char* word, ...) {
  WORDS;
  char** environment = va_arg(list, char**);
  va_end(list);
  return execve(path, words, environment);
}

#define WRAP_SPAWN(name, is_searched)                                                             \
  EXPORT int name(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,    \
                  const posix_spawnattr_t* how, char* const words[], char* const environment[]) { \
    NEXT(__typeof__(&name), #name);                                                               \
    if (begin() != 0) descriptors_are_shared(false);                                              \
    pid_t started = 0;                                                                            \
    const int result = next(&started, path, actions, how, words,                                  \
                            ENVIRONMENT(environment, takes_tracer(path, is_searched)));           \
    const int before = errno;                                                                     \
    if (process && result == 0) *process = started;                                               \
    if (result == 0 && begin() != 0) note_start(path, started);                                   \
    errno = before;                                                                               \
    return result;                                                                                \
  }
WRAP_SPAWN(posix_spawn, false)
WRAP_SPAWN(posix_spawnp, true)

EXPORT int system(const char* command) {
  NEXT(int (*)(const char*), "system");
  keep_tracer();
  if (begin() != 0) descriptors_are_shared(false);
  return next(command);
}

EXPORT FILE* popen(const char* command, const char* mode) {
  NEXT(FILE * (*)(const char*, const char*), "popen");
  keep_tracer();
  if (begin() != 0) descriptors_are_shared(false);
  return next(command, mode);
}

#define WRAP_EXIT(name)                                  \
  EXPORT __attribute__((noreturn)) void name(int code) { \
    NEXT(void (*)(int), #name);                          \
    if (!is_in_vfork_child()) spool_end();               \
    next(code);                                          \
    __builtin_unreachable();                             \
  }
WRAP_EXIT(_exit)
WRAP_EXIT(_Exit)
