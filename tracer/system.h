// What the tracer asks of the system for itself: no function here is one that it wraps, none
// allocates, and none changes errno.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// A system call; the result, or -errno.
long raw(long number, long a, long b, long c, long d, long e, long f);

int64_t clock_ns(int clock);

// The kernel's number of this process, also between vfork and exec.
int process_now(void);

// Whether memory can be read, or the text in it up to its end: the kernel is asked, so that what it
// refuses with EFAULT is no signal to the program.
bool is_readable(const void* data, size_t bytes);
bool is_readable_text(const char* text);

// Private memory that is never given back; NULL where there is none.
void* memory(size_t bytes);

// Reads a small file; its bytes, without the NUL that is put behind, or -errno.
long read_file(const char* path, char* text, size_t room);

// What a link points to, NUL-terminated; its length, or -errno.
long read_link(const char* path, char* text, size_t room);

// Grows in each child of a fork: whatever carries another number belongs to the parent.
extern _Atomic uint32_t generation;

// Keeps signals away while a lock is held, so that no handler waits for its own thread.
// `taken` is false where the lock could not be had: what needs it must then be left out.
// A lock holds the generation of its owner: what a thread of the parent held is free in a child.
typedef struct {
  uint64_t signals;
  bool taken;
} Held;
Held lock(_Atomic uint32_t* word);
void unlock(_Atomic uint32_t* word, Held held);

// As `lock`, for who makes a new generation: only nobody's is free.
Held lock_for_all(_Atomic uint32_t* word);

// "12345" as text, NUL-terminated; its length.
size_t decimal(uint64_t value, char* text);

// Room for a path that takes nothing of the caller's stack, which may be a signal's small one;
// NULL where all of it is in use.
enum { kPathBytes = 4352 };
char* borrow_path(void);
void give_back_path(char* path);
