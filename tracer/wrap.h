// The form of a wrapper: call the next definition of the function, then note what it did.
#pragma once

#include <errno.h>

#include "note.h"
#include "spool.h"

#define EXPORT __attribute__((visibility("default")))

// The function that would have been called without us; one that fails where there is none.
typedef void (*Function)(void);
Function next_function(const char* name);

// `next`: that function, looked for once. What is called is a copy: GCC reads an atomic pointer
// that is called as if it were none.
#define NEXT(type, name)                       \
  static _Atomic(__typeof__(type)) known_next; \
  __typeof__(type) next = known_next;          \
  if (next == NULL) known_next = next = (__typeof__(type))next_function(name)

// A wrapper of `name`. `is_failure` and `what` are expressions in `result`, `call`, and the
// parameters; `what` runs after the call, and may change errno.
#define WRAP(type, name, parameters, arguments, is_failure, what) \
  EXPORT type name parameters {                                   \
    NEXT(type(*) parameters, #name);                              \
    Call call = {.start = begin()};                               \
    if (call.start == 0) return next arguments;                   \
    type result = next arguments;                                 \
    call_ended(&call, is_failure);                                \
    what;                                                         \
    errno = call.errno_after;                                     \
    return result;                                                \
  }

// The same of a call that looks at memory before.
#define WRAP_LOOKING(type, name, parameters, arguments, is_failure, look, what) \
  EXPORT type name parameters {                                                 \
    NEXT(type(*) parameters, #name);                                            \
    Call call = {.start = begin()};                                             \
    if (call.start == 0) return next arguments;                                 \
    look;                                                                       \
    type result = next arguments;                                               \
    call_ended(&call, is_failure);                                              \
    what;                                                                       \
    errno = call.errno_after;                                                   \
    return result;                                                              \
  }

// The same of a call of this kind that moves `bytes` of `data`.
#define WRAP_MOVING(type, name, parameters, arguments, is_failure, kind, data, bytes, what) \
  WRAP_LOOKING(type, name, parameters, arguments, is_failure,                               \
               see_memory(&call, kind, data, bytes), what)

// The usual failure.
#define MINUS_1 (result == -1)

// What the wrappers of mmap and execve do, for those who make these calls by their number. The
// functions themselves may be another library's by then, which makes the call by number.
void* map_noted(void* address, size_t bytes, int protection, int flags, int fd, off_t at);
// -errno: it failed.
long execute_noted(const char* path, char* const words[], char* const environment[]);
