// What system calls that programs make by their number do, in the words of the wrappers.
#pragma once

#include "note.h"

// Which of a call's arguments is memory that data moves into or out of.
typedef enum { kNone, kIntoMemory, kFromMemory, kIntoParts, kFromParts } Looks;

// `got` is what the call returned, -1 where it failed.
typedef struct {
  void (*note)(const Call* call, const long parts[6], long got);
  Looks looks;
} Numbered;

// NULL where the call is none on files, or needs more than a note.
const Numbered* numbered(long number);
