// The file that each traced process writes: a header page, then windows of several kinds.
//
// All of it is mapped memory, so whatever was stored survives the process, however it ends.
// src/venturi/capture/process_file.py reads it.
#pragma once

#include <stdatomic.h>
#include <stdint.h>

enum { kVersion = 3, kHeaderBytes = 4096, kWindowHeaderBytes = 64 };

// As in venturi.model.operation.Kind and venturi.model.trace.Layer; a test compares them.
typedef enum {
  kOpen,
  kClose,
  kRead,
  kWrite,
  kSeek,
  kSync,
  kDataSync,
  kStat,
  kUnlink,
  kRename,
  kLink,
  kMkdir,
  kRmdir,
  kList,
  kTruncate,
  kAllocate,
  kMap,
  kCopy,
  kAttribute,
  kBarrier,
  kClone,
  kSend,
  kKinds,
  // Not operations: repetitions of calls (Run); a program was started (detail: its process); void:
  // it was not, after all.
  kRun = 253,
  kStarted = 254,
  kVoid = 255,
} Kind;

typedef enum {
  kPosix,
  kStdio,
  kMpiio,
  kHdf5File,
  kHdf5Dataset,
  kPnetcdfFile,
  kPnetcdfVariable,
  kLayers
} Layer;

// Bits of `detail` of reads and writes, as in venturi.model.operation.
enum { kCollective = 1, kNonBlocking = 2, kInView = 4, kNotAFile = 8, kScattered = 16 };
// And of their memory: it was looked at, and had no pages yet; then where it is, 25 bits in units
// of 16 bytes; 0: unknown.
enum { kLooked = 32, kFresh = 64, kMemoryShift = 7, kMemoryUnit = 16, kMemoryMask = 0x1ffffff };

// `detail` of an attribute's call, as in venturi.model.operation: what it is about.
typedef enum { kMode = 1, kOwner, kTimes, kSetExtended, kGetExtended } Attribute;

// `bytes` of a symbolic link.
enum { kSymbolic = 1 };

// `detail` of a mapping.
enum { kStoresReachFile = 1 };

// Beside the flags of an open: made by several ranks together.
#define kCollectiveOpen (UINT32_C(1) << 31)
// With hints of the caller's own for MPI-IO.
#define kHintedOpen (UINT32_C(1) << 30)

#define NO_FILE UINT32_MAX
#define UNKNOWN_OFFSET INT64_C(-1)

typedef struct {
  _Atomic int64_t start;  // in ticks; 0: this record was never completed
  int64_t end;
  int64_t offset;
  int64_t bytes;
  uint32_t file;
  uint32_t detail;
  uint32_t thread;
  uint16_t error;
  uint8_t layer;
  uint8_t kind;
} Record;

// How often a call was repeated at once, in the place of a record. Calls are repeated in cycles of
// `period`: so many records, then as many of these, each for the record that stands `period` before
// it. Each repetition is `offset_step` and `address_step` behind the one before.
typedef struct {
  _Atomic int64_t times;  // 0: this was never completed; the first slots may have one more
  int64_t took;           // in ticks, by all repetitions
  int64_t between;        // from the end of the call before to the beginning, by all repetitions
  int64_t offset_step;
  int32_t address_step;
  uint32_t address_rest;  // of the first call's memory, modulo kMemoryUnit
  uint32_t period;
  uint16_t slot;
  uint8_t layer;
  uint8_t kind;  // kRun
} Run;

// Why recording ended before the process did.
typedef enum { kNotStopped, kByError, kByFilter, kByStrictMode, kByHiddenTime } StopReason;

// Two readings of the clocks, so that ticks become time.
typedef struct {
  int64_t ticks;
  int64_t monotonic_ns;
} Reading;

// Bytes that the kernel counted for a process, whoever made the calls.
typedef struct {
  uint64_t read;
  uint64_t written;
} Moved;

typedef struct {
  char magic[8];
  uint32_t version;
  uint32_t process;
  uint32_t parent;
  int32_t rank;  // -1: none
  int64_t realtime_ns;
  Reading first;
  Reading last;
  _Atomic int64_t ended_ns;       // monotonic; 0: not yet, or not in an orderly way
  _Atomic uint64_t file_bytes;    // where the next window begins
  _Atomic uint64_t dropped;       // operations without a record: limit, full disk
  _Atomic uint64_t shared_maps;   // writable shared mappings: stores into them are not seen
  _Atomic uint64_t rings;         // io_uring instances
  _Atomic uint64_t records;       // operations that threads may note
  _Atomic int32_t stopped_error;  // errno that ended the recording; 0: none did
  int32_t ticks_are_ns;
  char host[64];
  char program[256];
  char counters[2048];  // names of the counters, in their order, by spaces
  // By all threads and by children that were waited for, then by the first thread; when recording
  // began, and at an orderly end (nothing read: not known).
  Moved moved_first[2];
  Moved moved_last[2];
  _Atomic uint64_t unrecorded;  // children that could not make a file of their own
  _Atomic uint64_t starved;     // of `dropped`: those for which no descriptor was free
  _Atomic uint64_t contexts;    // of the kernel's asynchronous I/O, made by calls that are seen
  uint64_t unseen_contexts;     // 1: at the end there were some, and none was seen being made
  uint64_t unseen_rings;        // the same of io_uring
  _Atomic uint64_t devices;     // mappings of devices that hold data
  _Atomic uint64_t stopped_by;  // a StopReason
} Header;

typedef enum { kRecords = 1, kNames = 2, kCounters = 3 } WindowKind;

typedef struct {
  uint32_t kind;
  uint32_t bytes;         // with this header
  _Atomic uint32_t used;  // records, bytes of names, or sets of counters; may exceed the capacity
  uint32_t capacity;
  uint8_t unused[kWindowHeaderBytes - 16];
} Window;

// In a window of names, followed by `dimensions` sizes, as many chunk sizes, and the text; the
// whole is padded to 8 bytes.
typedef struct {
  uint32_t file_and_1;  // 0: not complete
  uint32_t text_bytes;
  uint32_t within_and_1;
  uint32_t element_bytes;
  uint32_t dimensions;
  uint32_t cache_and_1;  // bytes that keep chunks, as far as they fit; 0: unknown
} NameEntry;

_Static_assert(sizeof(Record) == 48, "the reader knows 48 bytes");
_Static_assert(sizeof(Run) == sizeof(Record), "one stands in the place of the other");
_Static_assert(sizeof(Header) <= kHeaderBytes, "the header is one page");
_Static_assert(sizeof(Window) == kWindowHeaderBytes, "the reader knows 64 bytes");
_Static_assert(sizeof(NameEntry) == 24, "the reader knows 24 bytes");
