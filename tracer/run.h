// Runs of equal calls, which are kept as one: a program that reads a file in small pieces makes
// millions of calls that differ in their times alone.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "format.h"

// Whether the call continues, or begins, a run of its thread: then it needs no record.
bool run_takes(const Record* made, uint64_t address);

// A record of the thread was stored; a run may begin with it.
void run_follows(Record* record, uint64_t address);

// The thread gives its records away.
void run_forget(void);
