// The process's own file in the trace's folder, and the windows of it that are mapped.
//
// No descriptor stays open: a window is made by opening the file by name, so a program that
// closes all descriptors loses nothing. Space is allocated before it is mapped: a full disk ends
// the recording, never the program.
#pragma once

#include <stdbool.h>

#include "format.h"
#include "system.h"

typedef struct {
  char folder[3072];
  int64_t limit;  // operations per process
  bool is_counters_only;
  bool is_without_runs;  // each call has a record
  bool is_filtered;      // a filter of system calls was there before us
  bool is_ns;            // ticks are nanoseconds of the system's clock
  int rank;              // -1: none
} Spool;
extern Spool spool;

// A page that the kernel wipes in the child of every kind of fork, so that a child sees at once
// that the windows are not its own.
typedef struct {
  _Atomic uint32_t on;
} Live;
extern Live* live;

// This process's header; valid while `live->on`.
extern Header* header;

// Makes the file of this process and begins to record. False: there will be no recording.
bool spool_start(void);

// The slow path of `begin`: whether recording is to go on in this process, which may be a new one.
bool spool_awake(void);

// This is the child of a fork: what was mapped is the parent's.
void spool_forked(void);

// The process ends or becomes another program, or that failed and it goes on.
void spool_end(void);
void spool_go_on(void);

// From here on this process may neither read the clock nor ask the system for more: nothing is
// recorded any more, and the trace says why. Whether something was recorded until then.
bool spool_stop(StopReason reason);

// What would have made it so has failed: recording goes on where it was on.
void spool_unstop(bool was_on);

// Ticks now; 0 where nothing is recorded.
int64_t begin(void);
int64_t ticks_now(void);

// Notes the clocks, so that ticks of a process that is killed become time as well.
void note_clocks(void);

// Whether the thread may note one more operation, which is then counted.
bool may_record(void);

// A free record, or NULL. It counts once `start` is stored, which comes last.
Record* new_record(void);

// Number of the calling thread within its process, from 0.
uint32_t thread_number(void);

// A new window of a kind, zeroed; NULL where there is no space. Call it with signals held.
Window* new_window(WindowKind kind, uint32_t bytes);

// The size of the window after `last`, which may be NULL: each twice as large, to a bound.
uint32_t next_bytes(const Window* last);
