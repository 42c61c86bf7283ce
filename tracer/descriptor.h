// What each descriptor of the process is: its file, its position, whether others move it.
#pragma once

#include <stdbool.h>

#include "name.h"

// An open file description, as far as this process knows it.
typedef struct Open {
  Name* path;
  _Atomic int64_t position;         // of read and write
  _Atomic int64_t stream_position;  // of stdio
  _Atomic uint32_t references;
  atomic_bool is_shared;  // with another process, so that the position must be asked
  bool is_append;
  bool is_no_file;
  bool is_close_on_exec;
  int64_t entries;     // of a directory: read since the last record
  int64_t list_start;  // when the first of them was
  int64_t list_ticks;  // how long the calls took
  struct Open* free;
} Open;

// What a descriptor is, looked up in the system where it is not known; NULL: nothing is known.
Open* descriptor_find(int fd);

// A new description behind a descriptor, whatever stood there.
Open* descriptor_open(int fd, Name* path, int flags);

// Two descriptors of one description from now on.
void descriptor_duplicate(int from, int to);

void descriptor_close(int fd);

// What the descriptor is, taken out of the table: before a close, since its number may be another
// thread's as soon as it is closed. `descriptor_let_go` ends its use.
Open* descriptor_take(int fd);
void descriptor_let_go(Open* open);

void descriptor_close_range(unsigned first, unsigned last);

// All descriptors that `fork`, or else an exec, hands on are shared from now on.
void descriptors_are_shared(bool is_fork);

// The same in the child of a fork, which has one thread, and locks that others of its parent held.
void descriptors_are_inherited(void);

// Whether this is a child of vfork, which must not change the table that it shares.
bool is_in_vfork_child(void);
